CREATE FUNCTION mart.recalls(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    counted_per text,
    evidence text,
    operation_id bigint,
    stage_id bigint,
    transfer_id bigint,
    mount_id bigint,
    interface text,
    class_of_service text,
    vsn text,
    tape_type text,
    size_bytes bigint,
    recall_s double precision,
    clock_step_s double precision,
    queue_s double precision,
    mount_s double precision,
    position_s double precision,
    transfer_s double precision,
    is_failed boolean,
    is_cancelled boolean,
    is_unfinished boolean,
    is_below_clock boolean,
    is_negative boolean,
    is_first_byte boolean,
    asked_at timestamptz,
    readable_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH tape_recalls AS MATERIALIZED (
    SELECT
        selected.*,
        (selected.ended_at AT TIME ZONE selected.timezone)::date AS ended_on
    FROM
        mart.tape_recalls(
            archive => recalls.archive,
            since => recalls.since,
            until => recalls.until,
            interface => recalls.interface,
            direction => recalls.direction,
            client => recalls.client,
            class_of_service => recalls.class_of_service
        ) AS selected
),

stages AS (
    SELECT
        stages.*,
        archives.timezone,
        (stages.staged_at AT TIME ZONE archives.timezone)::date AS ended_on
    FROM mart.stages
    INNER JOIN mart.archives ON stages.archive = archives.archive
    WHERE
        (recalls.archive IS NULL OR stages.archive = recalls.archive)
        AND stages.staged_at >= coalesce(recalls.since, timestamptz '-infinity')
        AND stages.staged_at < coalesce(recalls.until, timestamptz 'infinity')
        AND (recalls.interface IS NULL OR stages.interface = recalls.interface)
        AND coalesce(recalls.direction, 'get') = 'get'
        AND recalls.client IS NULL
        AND (recalls.class_of_service IS NULL OR stages.class_of_service = recalls.class_of_service)
),

-- Stages that did not end, where logs report when stages begin. Those that ended are stages.
starts AS (
    SELECT
        stage_starts.*,
        archives.timezone,
        (stage_starts.last_event_at AT TIME ZONE archives.timezone)::date AS ended_on
    FROM mart.stage_starts
    INNER JOIN mart.archives ON stage_starts.archive = archives.archive
    WHERE
        (recalls.archive IS NULL OR stage_starts.archive = recalls.archive)
        AND stage_starts.last_event_at >= coalesce(recalls.since, timestamptz '-infinity')
        AND stage_starts.last_event_at < coalesce(recalls.until, timestamptz 'infinity')
        AND (recalls.interface IS NULL OR stage_starts.interface = recalls.interface)
        AND coalesce(recalls.direction, 'get') = 'get'
        AND recalls.client IS NULL
        AND (recalls.class_of_service IS NULL OR stage_starts.class_of_service = recalls.class_of_service)
        AND stage_starts.stage_id IS NULL
),

-- The logs of stages that report when stages begin also report when one was cancelled.
reporting AS (
    SELECT
        reported.archive,
        reported.interface
    FROM mart.stage_starts AS reported
    WHERE recalls.archive IS NULL OR reported.archive = recalls.archive
    GROUP BY reported.archive, reported.interface
),

-- A file that was staged, or opened, was readable from then on. Otherwise, it was so by the first byte at the
-- latest. Where staging is bypassed, a file is never on disk. Only gets wait for tapes, so puts are not read.
requests AS (
    SELECT
        selected.*,
        (selected.ended_at AT TIME ZONE selected.timezone)::date AS ended_on,
        CASE
            WHEN selected.is_staging_bypassed THEN 'first byte'
            WHEN selected.staged_at IS NOT NULL THEN 'staged'
            WHEN selected.open_s IS NOT NULL THEN 'opened'
            ELSE 'first byte'
        END AS readable_by
    FROM
        mart.selected_requests(
            archive => recalls.archive,
            since => recalls.since,
            until => recalls.until,
            interface => recalls.interface,
            direction => 'get',
            client => recalls.client,
            class_of_service => recalls.class_of_service
        ) AS selected
    WHERE
        coalesce(recalls.direction, 'get') = 'get'
        AND NOT selected.is_cached
        AND NOT selected.is_warm_up
),

found AS (
    -- Once per stage, as tape servers report it.
    SELECT
        tape_recalls.archive,
        tape_recalls.kind,
        tape_recalls.timezone,
        'stage' AS counted_per,
        'tape operation' AS evidence,
        tape_recalls.operation_id,
        NULL::bigint AS stage_id,
        NULL::bigint AS transfer_id,
        tape_recalls.mount_id,
        tape_recalls.interface,
        tape_recalls.class_of_service,
        tape_recalls.vsn,
        tape_recalls.tape_type,

        tape_recalls.size_bytes,
        extract(EPOCH FROM tape_recalls.readable_at - tape_recalls.asked_at)::double precision AS wait_s,
        NULL::double precision AS step_s,
        tape_recalls.queue_s,
        tape_recalls.mount_s,
        tape_recalls.position_s,
        tape_recalls.transfer_s,

        tape_recalls.is_failed,
        NULL::boolean AS is_cancelled,
        tape_recalls.readable_at IS NULL AS is_unfinished,
        FALSE AS is_first_byte,

        tape_recalls.asked_at,
        tape_recalls.readable_at,
        tape_recalls.ended_at
    FROM tape_recalls
    WHERE tape_recalls.is_last

    UNION ALL

    -- Once per stage, as logs of stages report it, unless tape servers report the same stages.
    SELECT
        stages.archive,
        stages.kind,
        stages.timezone,
        'stage' AS counted_per,
        'stage' AS evidence,
        NULL::bigint AS operation_id,
        stages.stage_id,
        NULL::bigint AS transfer_id,
        NULL::bigint AS mount_id,
        stages.interface,
        stages.class_of_service,
        stages.vsn,
        NULL::text AS tape_type,

        stages.size_bytes,
        stages.duration_s + coalesce(stages.queue_s, 0) AS wait_s,
        stages.is_duration_coarse::integer::double precision AS step_s,
        stages.queue_s,
        NULL::double precision AS mount_s,
        NULL::double precision AS position_s,
        NULL::double precision AS transfer_s,

        CASE WHEN stages.is_failure_logged THEN stages.is_failed END AS is_failed,
        CASE WHEN reporting.archive IS NOT NULL THEN FALSE END AS is_cancelled,
        FALSE AS is_unfinished,
        FALSE AS is_first_byte,

        stages.staged_at
        - make_interval(secs => stages.duration_s + coalesce(stages.queue_s, 0)) AS asked_at,
        stages.staged_at AS readable_at,
        stages.staged_at AS ended_at
    FROM stages
    LEFT JOIN reporting ON stages.archive = reporting.archive AND stages.interface = reporting.interface
    WHERE
        NOT EXISTS (
            SELECT FROM tape_recalls
            WHERE
                tape_recalls.archive = stages.archive
                AND tape_recalls.interface = stages.interface
                AND tape_recalls.ended_on = stages.ended_on
        )

    UNION ALL

    SELECT
        starts.archive,
        starts.kind,
        starts.timezone,
        'stage' AS counted_per,
        'stage' AS evidence,
        NULL::bigint AS operation_id,
        NULL::bigint AS stage_id,
        NULL::bigint AS transfer_id,
        NULL::bigint AS mount_id,
        starts.interface,
        starts.class_of_service,
        starts.vsn,
        NULL::text AS tape_type,

        starts.size_bytes,
        NULL::double precision AS wait_s,
        NULL::double precision AS step_s,
        NULL::double precision AS queue_s,
        NULL::double precision AS mount_s,
        NULL::double precision AS position_s,
        NULL::double precision AS transfer_s,

        NULL::boolean AS is_failed,
        starts.outcome = 'cancelled' AS is_cancelled,
        starts.outcome = 'unfinished' AS is_unfinished,
        FALSE AS is_first_byte,

        starts.started_at AS asked_at,
        NULL::timestamptz AS readable_at,
        starts.last_event_at AS ended_at
    FROM starts
    WHERE
        NOT EXISTS (
            SELECT FROM tape_recalls
            WHERE
                tape_recalls.archive = starts.archive
                AND tape_recalls.interface = starts.interface
                AND tape_recalls.ended_on = starts.ended_on
        )

    UNION ALL

    -- Once per waiting request, as the logs of transfers report it.
    SELECT
        requests.archive,
        requests.kind,
        requests.timezone,
        'request' AS counted_per,
        requests.cache_evidence AS evidence,
        NULL::bigint AS operation_id,
        requests.stage_id,
        requests.transfer_id,
        NULL::bigint AS mount_id,
        requests.interface,
        requests.class_of_service,
        NULL::text AS vsn,
        NULL::text AS tape_type,

        requests.size_bytes,
        CASE
            -- A logged duration is better than the difference of two times.
            WHEN requests.readable_by = 'opened' THEN requests.open_s
            WHEN requests.readable_by = 'staged'
                THEN extract(EPOCH FROM requests.staged_at - requests.submitted_at)::double precision
            ELSE extract(EPOCH FROM requests.started_at - requests.submitted_at)::double precision
        END AS wait_s,
        CASE
            WHEN requests.kind = 'simulated' OR requests.readable_by = 'opened' THEN 0
            WHEN requests.readable_by = 'first byte' THEN requests.clock_step_s
        END AS step_s,
        NULL::double precision AS queue_s,
        NULL::double precision AS mount_s,
        NULL::double precision AS position_s,
        NULL::double precision AS transfer_s,

        requests.is_failed,
        NULL::boolean AS is_cancelled,
        num_nonnulls(requests.staged_at, requests.open_s, requests.started_at) = 0 AS is_unfinished,
        requests.readable_by = 'first byte' AS is_first_byte,

        requests.submitted_at AS asked_at,
        CASE requests.readable_by
            WHEN 'opened' THEN requests.opened_at
            WHEN 'staged' THEN requests.staged_at
            ELSE requests.started_at
        END AS readable_at,
        requests.ended_at
    FROM requests

    UNION ALL

    -- Once per waiting request, as tape servers report it, unless the logs of transfers report the requests.
    SELECT
        tape_recalls.archive,
        tape_recalls.kind,
        tape_recalls.timezone,
        'request' AS counted_per,
        'tape operation' AS evidence,
        tape_recalls.operation_id,
        NULL::bigint AS stage_id,
        NULL::bigint AS transfer_id,
        tape_recalls.mount_id,
        tape_recalls.interface,
        tape_recalls.class_of_service,
        tape_recalls.vsn,
        tape_recalls.tape_type,

        tape_recalls.size_bytes,
        extract(EPOCH FROM tape_recalls.readable_at - tape_recalls.received_at)::double precision AS wait_s,
        NULL::double precision AS step_s,
        NULL::double precision AS queue_s,
        NULL::double precision AS mount_s,
        NULL::double precision AS position_s,
        NULL::double precision AS transfer_s,

        tape_recalls.is_failed,
        NULL::boolean AS is_cancelled,
        tape_recalls.readable_at IS NULL AS is_unfinished,
        FALSE AS is_first_byte,

        tape_recalls.received_at AS asked_at,
        tape_recalls.readable_at,
        tape_recalls.ended_at
    FROM tape_recalls
    WHERE
        tape_recalls.received_at IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM requests
            WHERE
                requests.archive = tape_recalls.archive
                AND requests.ended_on = tape_recalls.ended_on
        )
),

-- A time without a fraction of a second counts as coming from a clock of whole seconds, as in mart.requests.
measured AS (
    SELECT
        found.*,
        CASE WHEN found.is_failed IS NOT TRUE THEN found.wait_s END AS measured_s,
        coalesce(
            found.step_s,
            (
                mod(extract(MICROSECONDS FROM found.readable_at)::bigint, 1000000) = 0
                OR mod(extract(MICROSECONDS FROM found.asked_at)::bigint, 1000000) = 0
            )::integer::double precision,
            0
        ) AS clock_step_s
    FROM found
)

SELECT
    measured.archive,
    measured.kind,
    measured.timezone,
    measured.counted_per,
    measured.evidence,
    measured.operation_id,
    measured.stage_id,
    measured.transfer_id,
    measured.mount_id,
    measured.interface,
    measured.class_of_service,
    measured.vsn,
    measured.tape_type,

    measured.size_bytes,
    CASE
        WHEN measured.measured_s >= 0 THEN measured.measured_s
        WHEN measured.measured_s > -measured.clock_step_s THEN 0
    END AS recall_s,
    measured.clock_step_s,
    measured.queue_s,
    measured.mount_s,
    measured.position_s,
    measured.transfer_s,

    measured.is_failed,
    measured.is_cancelled,
    measured.is_unfinished AND measured.is_failed IS NOT TRUE AS is_unfinished,
    coalesce(abs(measured.measured_s) < measured.clock_step_s, FALSE) AS is_below_clock,
    coalesce(measured.measured_s < 0 AND measured.measured_s <= -measured.clock_step_s, FALSE) AS is_negative,
    measured.is_first_byte AND NOT measured.is_unfinished AS is_first_byte,

    measured.asked_at,
    CASE WHEN measured.is_failed IS NOT TRUE THEN measured.readable_at END AS readable_at,
    measured.ended_at
FROM measured

$function$;
