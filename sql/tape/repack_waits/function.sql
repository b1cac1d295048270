CREATE FUNCTION mart.repack_waits(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    tape_type text,
    task text,
    is_repacking boolean,
    request_count bigint,
    unfinished_count bigint,
    mounted_count bigint,
    mean_s double precision,
    p50_s double precision,
    p90_s double precision,
    p95_s double precision,
    p99_s double precision,
    longest_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Some logs name the type of a cartridge only where it is mounted.
WITH requests AS (
    SELECT
        operations.archive,
        operations.kind,
        coalesce(operations.tape_type, mounts.tape_type) AS tape_type,
        operations.task,
        operations.positioned_at IS NULL AS is_unfinished,
        operations.mount_requested_at IS NOT NULL AS is_mounted,
        operations.waited_s,
        operations.received_at
    FROM mart.tape_operations AS operations
    LEFT JOIN mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at
            >= coalesce(repack_waits.since, timestamptz '-infinity') - interval '2 days'
            AND mounts.first_event_at
            < coalesce(repack_waits.until, timestamptz 'infinity') + interval '5 days'
    WHERE
        operations.requester = 'client'
        AND (repack_waits.archive IS NULL OR operations.archive = repack_waits.archive)
        AND (repack_waits.interface IS NULL OR operations.interface = repack_waits.interface)
        AND (repack_waits.location IS NULL OR operations.location = repack_waits.location)
        AND (
            repack_waits.tape_type IS NULL
            OR coalesce(operations.tape_type, mounts.tape_type) = repack_waits.tape_type
        )
        AND (repack_waits.drive IS NULL OR operations.drive = repack_waits.drive)
        -- Prunes partitions: an operation ends after it was received, at most three days later. Two days are
        -- more than the longest local day.
        AND operations.last_event_at
        >= coalesce(repack_waits.since, timestamptz '-infinity') - interval '2 days'
        AND operations.last_event_at
        < coalesce(repack_waits.until, timestamptz 'infinity') + interval '5 days'
        AND (
            repack_waits.since IS NULL
            OR (operations.received_at AT TIME ZONE operations.timezone)::date
            >= (repack_waits.since AT TIME ZONE operations.timezone)::date
        )
        AND (
            repack_waits.until IS NULL
            OR (operations.received_at AT TIME ZONE operations.timezone)::date
            < repack_waits.until AT TIME ZONE operations.timezone
        )
        AND coalesce(repack_waits.since, timestamptz '-infinity')
        < coalesce(repack_waits.until, timestamptz 'infinity')
),

-- The drives that the repacker holds change with its mounts. Of all that happens at a time, mounts come
-- first, so a request sees those that begin with it, and none that end with it.
in_time AS (
    SELECT
        selected.archive,
        selected.kind,
        selected.tape_type,
        NULL AS task,
        FALSE AS is_unfinished,
        FALSE AS is_mounted,
        NULL AS waited_s,
        FALSE AS is_request,
        changes.change,
        changes.changed_at
    FROM
        mart.selected_mounts(
            archive => repack_waits.archive,
            since => repack_waits.since,
            until => repack_waits.until,
            tape_type => repack_waits.tape_type
        ) AS selected
    CROSS JOIN
        LATERAL (
            VALUES (1, selected.occupied_from), (-1, selected.occupied_until)
        ) AS changes (change, changed_at)
    WHERE selected.requester = 'repacker'
    UNION ALL
    SELECT
        requests.archive,
        requests.kind,
        requests.tape_type,
        requests.task,
        requests.is_unfinished,
        requests.is_mounted,
        requests.waited_s,
        TRUE AS is_request,
        0 AS change,
        requests.received_at AS changed_at
    FROM requests
    WHERE requests.received_at IS NOT NULL
),

placed AS (
    SELECT
        in_time.*,
        sum(in_time.change) OVER (
            PARTITION BY in_time.archive, in_time.tape_type
            ORDER BY in_time.changed_at, in_time.is_request
            ROWS UNBOUNDED PRECEDING
        ) > 0 AS is_repacking
    FROM in_time
),

groups AS (
    SELECT
        placed.archive,
        placed.kind,
        placed.tape_type,
        placed.task,
        placed.is_repacking,
        count(*) AS request_count,
        count(*) FILTER (WHERE placed.is_unfinished) AS unfinished_count,
        count(*) FILTER (WHERE placed.is_mounted) AS mounted_count,
        -- As numbers, sums do not depend on the order of rows.
        avg(placed.waited_s::numeric)::double precision AS mean_s,
        percentile_disc(ARRAY[0.5, 0.9, 0.95, 0.99, 1]) WITHIN GROUP (ORDER BY placed.waited_s) AS quantiles_s
    FROM placed
    WHERE placed.is_request
    GROUP BY placed.archive, placed.kind, placed.tape_type, placed.task, placed.is_repacking
)

SELECT
    groups.archive,
    groups.kind,
    groups.tape_type,
    groups.task,
    groups.is_repacking,

    groups.request_count,
    groups.unfinished_count,
    groups.mounted_count,
    groups.mean_s,
    groups.quantiles_s[1] AS p50_s,
    groups.quantiles_s[2] AS p90_s,
    groups.quantiles_s[3] AS p95_s,
    groups.quantiles_s[4] AS p99_s,
    groups.quantiles_s[5] AS longest_s
FROM groups

$function$;
