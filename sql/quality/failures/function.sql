CREATE FUNCTION mart.failures(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{}',
    retry_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    counted_per text,
    interface text,
    direction text,
    client text,
    class_of_service text,
    status_code integer,
    status_text text,
    vsn text,
    drive text,
    attempt_count bigint,
    unknown_count bigint,
    failed_count bigint,
    retried_count bigint,
    not_retried_count bigint,
    made_good_count bigint,
    not_made_good_count bigint,
    failed_ratio double precision,
    retried_ratio double precision,
    made_good_ratio double precision,
    starts_on date,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A retry may come later than the range, by another interface or from another client. Materialized, so that
-- it is not computed again for each transfer, if the planner expects few of them.
WITH retries AS MATERIALIZED (
    SELECT found.*
    FROM
        mart.retries(
            archive => failures.archive,
            since => failures.since,
            until => failures.until
            + make_interval(secs => least(greatest(coalesce(failures.retry_s, 86400), 0), 3e9)),
            direction => failures.direction,
            retry_s => failures.retry_s
        ) AS found
),

attempts AS (
    SELECT
        transfers.archive,
        transfers.kind,
        'transfer' AS counted_per,
        transfers.interface,
        transfers.direction,
        transfers.client,
        transfers.class_of_service,
        CASE WHEN transfers.is_failed THEN transfers.status_code END AS status_code,
        CASE WHEN transfers.is_failed THEN transfers.status_text END AS status_text,
        NULL::text AS vsn,
        NULL::text AS drive,
        CASE WHEN transfers.is_failed OR transfers.is_failure_logged THEN transfers.is_failed END
            AS is_failed,
        retries.is_retried,
        retries.is_made_good,
        transfers.ended_at
    FROM
        mart.selected_transfers(
            archive => failures.archive,
            since => failures.since,
            until => failures.until,
            interface => failures.interface,
            direction => failures.direction,
            client => failures.client,
            class_of_service => failures.class_of_service
        ) AS transfers
    LEFT JOIN retries ON transfers.transfer_id = retries.transfer_id

    UNION ALL

    SELECT
        operations.archive,
        operations.kind,
        'tape operation' AS counted_per,
        operations.interface,
        operations.direction,
        NULL AS client,
        operations.class_of_service,
        NULL AS status_code,
        NULL AS status_text,
        operations.vsn,
        operations.drive,
        operations.is_failed,
        operations.is_retried,
        operations.is_made_good,
        operations.ended_at
    FROM
        mart.tape_attempts(
            archive => failures.archive,
            since => failures.since,
            until => failures.until,
            interface => failures.interface,
            direction => failures.direction,
            client => failures.client,
            class_of_service => failures.class_of_service,
            retry_s => failures.retry_s
        ) AS operations
),

-- Only the columns of the groupings that are asked for have values.
asked_for AS (
    SELECT
        attempts.archive,
        attempts.kind,
        archives.timezone,
        attempts.counted_per,
        CASE WHEN 'interface' = any(failures.grouped_by) THEN attempts.interface END AS interface,
        CASE WHEN 'direction' = any(failures.grouped_by) THEN attempts.direction END AS direction,
        CASE WHEN 'client' = any(failures.grouped_by) THEN attempts.client END AS client,
        CASE WHEN 'class_of_service' = any(failures.grouped_by) THEN attempts.class_of_service END
            AS class_of_service,
        CASE WHEN 'code' = any(failures.grouped_by) THEN attempts.status_code END AS status_code,
        CASE WHEN 'code' = any(failures.grouped_by) THEN attempts.status_text END AS status_text,
        CASE WHEN 'volume' = any(failures.grouped_by) THEN attempts.vsn END AS vsn,
        CASE WHEN 'drive' = any(failures.grouped_by) THEN attempts.drive END AS drive,
        attempts.is_failed,
        attempts.is_retried,
        attempts.is_made_good,
        CASE
            WHEN 'day' = any(failures.grouped_by)
                THEN (attempts.ended_at AT TIME ZONE archives.timezone)::date
            WHEN 'month' = any(failures.grouped_by)
                THEN date_trunc('month', attempts.ended_at AT TIME ZONE archives.timezone)::date
        END AS starts_on,
        attempts.ended_at
    FROM attempts
    -- A left join, because the planner would expect that only one attempt in 200 is of the archive.
    LEFT JOIN mart.archives ON attempts.archive = archives.archive
    WHERE
        failures.grouped_by
        <@ ARRAY[
            'code', 'client', 'volume', 'drive', 'interface', 'direction', 'class_of_service', 'day', 'month'
        ]
),

groups AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.timezone,
        asked_for.counted_per,
        asked_for.interface,
        asked_for.direction,
        asked_for.client,
        asked_for.class_of_service,
        asked_for.status_code,
        asked_for.status_text,
        asked_for.vsn,
        asked_for.drive,
        count(*) AS attempt_count,
        count(*) FILTER (WHERE asked_for.is_failed IS NULL) AS unknown_count,
        count(*) FILTER (WHERE asked_for.is_failed) AS failed_count,
        count(*) FILTER (WHERE asked_for.is_retried) AS retried_count,
        count(*) FILTER (WHERE NOT asked_for.is_retried) AS not_retried_count,
        count(*) FILTER (WHERE asked_for.is_made_good) AS made_good_count,
        count(*) FILTER (WHERE NOT asked_for.is_made_good) AS not_made_good_count,
        asked_for.starts_on,
        min(asked_for.ended_at) AS first_at,
        max(asked_for.ended_at) AS last_at
    FROM asked_for
    GROUP BY
        asked_for.starts_on,
        asked_for.status_code,
        asked_for.status_text,
        asked_for.vsn,
        asked_for.drive,
        asked_for.client,
        asked_for.class_of_service,
        asked_for.interface,
        asked_for.direction,
        asked_for.counted_per,
        asked_for.archive,
        asked_for.kind,
        asked_for.timezone
),

-- Only failed attempts have a code, so all codes of a group share its attempts.
shared AS (
    SELECT
        groups.*,
        sum(groups.attempt_count) OVER any_code AS shared_attempt_count,
        sum(groups.unknown_count) OVER any_code AS shared_unknown_count,
        sum(groups.failed_count) OVER any_code AS shared_failed_count
    FROM groups
    WINDOW
        any_code AS (
            PARTITION BY
                groups.archive,
                groups.counted_per,
                groups.interface,
                groups.direction,
                groups.client,
                groups.class_of_service,
                groups.vsn,
                groups.drive,
                groups.starts_on
        )
),

-- Where no log reports failures, nothing is known about them.
judged AS (
    SELECT
        shared.*,
        shared.shared_unknown_count < shared.shared_attempt_count AS is_known
    FROM shared
)

SELECT
    judged.archive,
    judged.kind,
    judged.counted_per,
    judged.interface,
    judged.direction,
    judged.client,
    judged.class_of_service,
    judged.status_code,
    judged.status_text,
    judged.vsn,
    judged.drive,

    judged.shared_attempt_count::bigint AS attempt_count,
    judged.shared_unknown_count::bigint AS unknown_count,
    CASE WHEN judged.is_known THEN judged.failed_count END AS failed_count,
    CASE WHEN judged.is_known THEN judged.retried_count END AS retried_count,
    CASE WHEN judged.is_known THEN judged.not_retried_count END AS not_retried_count,
    CASE WHEN judged.is_known THEN judged.made_good_count END AS made_good_count,
    CASE WHEN judged.is_known THEN judged.not_made_good_count END AS not_made_good_count,
    judged.failed_count
    / nullif(judged.shared_attempt_count - judged.shared_unknown_count, 0)::double precision AS failed_ratio,
    judged.retried_count / nullif(judged.retried_count + judged.not_retried_count, 0)::double precision
        AS retried_ratio,
    judged.made_good_count / nullif(judged.made_good_count + judged.not_made_good_count, 0)::double precision
        AS made_good_ratio,

    judged.starts_on,
    (judged.first_at AT TIME ZONE judged.timezone)::date AS first_on,
    (judged.last_at AT TIME ZONE judged.timezone)::date AS last_on
FROM judged
WHERE judged.failed_count > 0 OR judged.shared_failed_count = 0 OR NOT 'code' = any(failures.grouped_by)

$function$;
