CREATE FUNCTION mart.mount_steps(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    requester text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    view_name text,
    tape_type text,
    step text,
    step_count bigint,
    unknown_count bigint,
    mean_s double precision,
    shortest_s double precision,
    p10_s double precision,
    p50_s double precision,
    p90_s double precision,
    p95_s double precision,
    p99_s double precision,
    longest_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH of_mounts AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.tape_type,
        count(*) AS row_count,
        count(mounts.queue_s) AS queue_count,
        avg(mounts.queue_s) AS queue_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.queue_s) AS queue_quantiles_s,
        count(mounts.mount_s) AS mount_count,
        avg(mounts.mount_s) AS mount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.mount_s) AS mount_quantiles_s,
        count(mounts.position_s) AS position_count,
        avg(mounts.position_s) AS position_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.position_s) AS position_quantiles_s,
        count(mounts.transfer_s) AS transfer_count,
        avg(mounts.transfer_s) AS transfer_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.transfer_s) AS transfer_quantiles_s,
        count(mounts.lazy_wait_s) AS lazy_wait_count,
        avg(mounts.lazy_wait_s) AS lazy_wait_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.lazy_wait_s) AS lazy_wait_quantiles_s,
        count(mounts.dismount_s) AS dismount_count,
        avg(mounts.dismount_s) AS dismount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.dismount_s) AS dismount_quantiles_s,
        count(mounts.stay_s) AS stay_count,
        avg(mounts.stay_s) AS stay_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY mounts.stay_s) AS stay_quantiles_s
    FROM mart.mounts
    WHERE
        (mount_steps.archive IS NULL OR mounts.archive = mount_steps.archive)
        AND (mount_steps.interface IS NULL OR mounts.interface = mount_steps.interface)
        AND (mount_steps.location IS NULL OR mounts.location = mount_steps.location)
        AND (mount_steps.tape_type IS NULL OR mounts.tape_type = mount_steps.tape_type)
        AND (mount_steps.drive IS NULL OR mounts.drive = mount_steps.drive)
        AND (mount_steps.requester IS NULL OR mounts.requester = mount_steps.requester)
        -- Prunes partitions. Two days are more than the longest local day.
        AND mounts.last_event_at >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '2 days'
        AND mounts.last_event_at < coalesce(mount_steps.until, timestamptz 'infinity') + interval '2 days'
        AND (
            mount_steps.since IS NULL
            OR (mounts.last_event_at AT TIME ZONE mounts.timezone)::date
            >= (mount_steps.since AT TIME ZONE mounts.timezone)::date
        )
        AND (
            mount_steps.until IS NULL
            OR (mounts.last_event_at AT TIME ZONE mounts.timezone)::date
            < mount_steps.until AT TIME ZONE mounts.timezone
        )
        AND coalesce(mount_steps.since, timestamptz '-infinity')
        < coalesce(mount_steps.until, timestamptz 'infinity')
    GROUP BY mounts.archive, mounts.kind, mounts.tape_type
),

-- Some logs name the type of a cartridge only where it is mounted.
of_tape_operations AS (
    SELECT
        operations.archive,
        operations.kind,
        coalesce(operations.tape_type, mounts.tape_type) AS tape_type,
        count(*) AS row_count,
        count(operations.queue_s) AS queue_count,
        avg(operations.queue_s) AS queue_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY operations.queue_s) AS queue_quantiles_s,
        count(operations.mount_s) AS mount_count,
        avg(operations.mount_s) AS mount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY operations.mount_s) AS mount_quantiles_s,
        count(operations.waited_s) AS waited_count,
        avg(operations.waited_s) AS waited_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY operations.waited_s) AS waited_quantiles_s,
        count(operations.transfer_s) AS transfer_count,
        avg(operations.transfer_s) AS transfer_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY operations.transfer_s) AS transfer_quantiles_s
    FROM mart.tape_operations AS operations
    -- A file ends at most a day after the mount in which the tape was positioned to it.
    LEFT JOIN mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at
            >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '3 days'
    WHERE
        (mount_steps.archive IS NULL OR operations.archive = mount_steps.archive)
        AND (mount_steps.interface IS NULL OR operations.interface = mount_steps.interface)
        AND (mount_steps.location IS NULL OR operations.location = mount_steps.location)
        AND (
            mount_steps.tape_type IS NULL
            OR coalesce(operations.tape_type, mounts.tape_type) = mount_steps.tape_type
        )
        AND (mount_steps.drive IS NULL OR operations.drive = mount_steps.drive)
        AND (mount_steps.requester IS NULL OR operations.requester = mount_steps.requester)
        AND operations.last_event_at
        >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '2 days'
        AND operations.last_event_at < coalesce(mount_steps.until, timestamptz 'infinity') + interval '2 days'
        AND (
            mount_steps.since IS NULL
            OR (operations.last_event_at AT TIME ZONE operations.timezone)::date
            >= (mount_steps.since AT TIME ZONE operations.timezone)::date
        )
        AND (
            mount_steps.until IS NULL
            OR (operations.last_event_at AT TIME ZONE operations.timezone)::date
            < mount_steps.until AT TIME ZONE operations.timezone
        )
        AND coalesce(mount_steps.since, timestamptz '-infinity')
        < coalesce(mount_steps.until, timestamptz 'infinity')
    GROUP BY operations.archive, operations.kind, coalesce(operations.tape_type, mounts.tape_type)
),

-- A session that mounted nothing is no mount.
of_mount_summaries AS (
    SELECT
        summaries.archive,
        summaries.kind,
        summaries.tape_type,
        count(*) AS row_count,
        count(summaries.duration_s) AS duration_count,
        avg(summaries.duration_s) AS duration_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.duration_s) AS duration_quantiles_s,
        count(summaries.mount_s) AS mount_count,
        avg(summaries.mount_s) AS mount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.mount_s) AS mount_quantiles_s,
        count(summaries.position_s) AS position_count,
        avg(summaries.position_s) AS position_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.position_s) AS position_quantiles_s,
        count(summaries.transfer_s) AS transfer_count,
        avg(summaries.transfer_s) AS transfer_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.transfer_s) AS transfer_quantiles_s,
        count(summaries.flush_s) AS flush_count,
        avg(summaries.flush_s) AS flush_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.flush_s) AS flush_quantiles_s,
        count(summaries.wait_s) AS wait_count,
        avg(summaries.wait_s) AS wait_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.wait_s) AS wait_quantiles_s,
        count(summaries.unload_s) AS unload_count,
        avg(summaries.unload_s) AS unload_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.unload_s) AS unload_quantiles_s,
        count(summaries.dismount_s) AS dismount_count,
        avg(summaries.dismount_s) AS dismount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY summaries.dismount_s) AS dismount_quantiles_s
    FROM mart.mount_summaries AS summaries
    WHERE
        (mount_steps.archive IS NULL OR summaries.archive = mount_steps.archive)
        AND (mount_steps.interface IS NULL OR summaries.interface = mount_steps.interface)
        AND (mount_steps.location IS NULL OR summaries.location = mount_steps.location)
        AND (mount_steps.tape_type IS NULL OR summaries.tape_type = mount_steps.tape_type)
        AND (mount_steps.drive IS NULL OR summaries.drive = mount_steps.drive)
        AND (mount_steps.requester IS NULL OR summaries.requester = mount_steps.requester)
        AND summaries.is_mounted IS NOT FALSE
        AND summaries.ended_at >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '2 days'
        AND summaries.ended_at < coalesce(mount_steps.until, timestamptz 'infinity') + interval '2 days'
        AND (
            mount_steps.since IS NULL
            OR (summaries.ended_at AT TIME ZONE summaries.timezone)::date
            >= (mount_steps.since AT TIME ZONE summaries.timezone)::date
        )
        AND (
            mount_steps.until IS NULL
            OR (summaries.ended_at AT TIME ZONE summaries.timezone)::date
            < mount_steps.until AT TIME ZONE summaries.timezone
        )
        AND coalesce(mount_steps.since, timestamptz '-infinity')
        < coalesce(mount_steps.until, timestamptz 'infinity')
    GROUP BY summaries.archive, summaries.kind, summaries.tape_type
),

steps AS (
    SELECT
        of_mounts.archive,
        of_mounts.kind,
        'mounts' AS view_name,
        of_mounts.tape_type,
        of_mounts.row_count,
        steps.*
    FROM of_mounts
    CROSS JOIN
        LATERAL (
            VALUES
            ('queue', of_mounts.queue_count, of_mounts.queue_mean_s, of_mounts.queue_quantiles_s),
            ('mount', of_mounts.mount_count, of_mounts.mount_mean_s, of_mounts.mount_quantiles_s),
            ('position', of_mounts.position_count, of_mounts.position_mean_s, of_mounts.position_quantiles_s),
            ('transfer', of_mounts.transfer_count, of_mounts.transfer_mean_s, of_mounts.transfer_quantiles_s),
            (
                'lazy_wait',
                of_mounts.lazy_wait_count,
                of_mounts.lazy_wait_mean_s,
                of_mounts.lazy_wait_quantiles_s
            ),
            ('dismount', of_mounts.dismount_count, of_mounts.dismount_mean_s, of_mounts.dismount_quantiles_s),
            ('stay', of_mounts.stay_count, of_mounts.stay_mean_s, of_mounts.stay_quantiles_s)
        ) AS steps (step, step_count, mean_s, quantiles_s)
    UNION ALL
    SELECT
        totals.archive,
        totals.kind,
        'tape_operations' AS view_name,
        totals.tape_type,
        totals.row_count,
        steps.*
    FROM of_tape_operations AS totals
    CROSS JOIN
        LATERAL (
            VALUES
            ('queue', totals.queue_count, totals.queue_mean_s, totals.queue_quantiles_s),
            ('mount', totals.mount_count, totals.mount_mean_s, totals.mount_quantiles_s),
            ('waited', totals.waited_count, totals.waited_mean_s, totals.waited_quantiles_s),
            ('transfer', totals.transfer_count, totals.transfer_mean_s, totals.transfer_quantiles_s)
        ) AS steps (step, step_count, mean_s, quantiles_s)
    UNION ALL
    SELECT
        totals.archive,
        totals.kind,
        'mount_summaries' AS view_name,
        totals.tape_type,
        totals.row_count,
        steps.*
    FROM of_mount_summaries AS totals
    CROSS JOIN
        LATERAL (
            VALUES
            ('duration', totals.duration_count, totals.duration_mean_s, totals.duration_quantiles_s),
            ('mount', totals.mount_count, totals.mount_mean_s, totals.mount_quantiles_s),
            ('position', totals.position_count, totals.position_mean_s, totals.position_quantiles_s),
            ('transfer', totals.transfer_count, totals.transfer_mean_s, totals.transfer_quantiles_s),
            ('flush', totals.flush_count, totals.flush_mean_s, totals.flush_quantiles_s),
            ('wait', totals.wait_count, totals.wait_mean_s, totals.wait_quantiles_s),
            ('unload', totals.unload_count, totals.unload_mean_s, totals.unload_quantiles_s),
            ('dismount', totals.dismount_count, totals.dismount_mean_s, totals.dismount_quantiles_s)
        ) AS steps (step, step_count, mean_s, quantiles_s)
)

SELECT
    steps.archive,
    steps.kind,
    steps.view_name,
    steps.tape_type,
    steps.step,

    steps.step_count,
    steps.row_count - steps.step_count AS unknown_count,
    steps.mean_s,
    steps.quantiles_s[1] AS shortest_s,
    steps.quantiles_s[2] AS p10_s,
    steps.quantiles_s[3] AS p50_s,
    steps.quantiles_s[4] AS p90_s,
    steps.quantiles_s[5] AS p95_s,
    steps.quantiles_s[6] AS p99_s,
    steps.quantiles_s[7] AS longest_s
FROM steps
WHERE steps.step_count > 0

$function$;
