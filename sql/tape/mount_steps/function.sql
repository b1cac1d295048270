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

-- One row per mount or file, with the steps that its view has.
WITH steps AS (
    SELECT
        mounts.archive,
        mounts.kind,
        mounts.timezone,
        'mounts' AS view_name,
        mounts.interface,
        mounts.location,
        mounts.tape_type,
        mounts.drive,
        mounts.requester,
        mounts.queue_s,
        mounts.mount_s,
        mounts.position_s,
        NULL::double precision AS waited_s,
        mounts.transfer_s,
        mounts.lazy_wait_s,
        mounts.dismount_s,
        mounts.stay_s,
        NULL::double precision AS duration_s,
        NULL::double precision AS flush_s,
        NULL::double precision AS wait_s,
        NULL::double precision AS unload_s,
        mounts.last_event_at
    FROM mart.mounts
    UNION ALL
    SELECT
        operations.archive,
        operations.kind,
        operations.timezone,
        'tape_operations' AS view_name,
        operations.interface,
        operations.location,
        -- Some logs name the type of a cartridge only where it is mounted.
        coalesce(operations.tape_type, mounts.tape_type) AS tape_type,
        operations.drive,
        operations.requester,
        operations.queue_s,
        operations.mount_s,
        NULL AS position_s,
        operations.waited_s,
        operations.transfer_s,
        NULL AS lazy_wait_s,
        NULL AS dismount_s,
        NULL AS stay_s,
        NULL AS duration_s,
        NULL AS flush_s,
        NULL AS wait_s,
        NULL AS unload_s,
        operations.last_event_at
    FROM mart.tape_operations AS operations
    -- Prunes partitions: a file ends at most a day after the mount in which the tape was positioned to it.
    LEFT JOIN mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at
            >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '3 days'
            AND mounts.first_event_at
            < coalesce(mount_steps.until, timestamptz 'infinity') + interval '2 days'
    UNION ALL
    SELECT
        summaries.archive,
        summaries.kind,
        summaries.timezone,
        'mount_summaries' AS view_name,
        summaries.interface,
        summaries.location,
        summaries.tape_type,
        summaries.drive,
        summaries.requester,
        NULL AS queue_s,
        summaries.mount_s,
        summaries.position_s,
        NULL AS waited_s,
        summaries.transfer_s,
        NULL AS lazy_wait_s,
        summaries.dismount_s,
        NULL AS stay_s,
        summaries.duration_s,
        summaries.flush_s,
        summaries.wait_s,
        summaries.unload_s,
        summaries.ended_at AS last_event_at
    FROM mart.mount_summaries AS summaries
    -- A session that mounted nothing is no mount.
    WHERE summaries.is_mounted IS NOT FALSE
),

-- Each step is sorted alone, which is faster than sorting a row per step. As numbers, sums do not depend on
-- the order of rows.
totals AS (
    SELECT
        steps.archive,
        steps.kind,
        steps.view_name,
        steps.tape_type,
        count(*) AS row_count,
        count(steps.queue_s) AS queue_count,
        avg(steps.queue_s::numeric)::double precision AS queue_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.queue_s) AS queue_quantiles_s,
        count(steps.mount_s) AS mount_count,
        avg(steps.mount_s::numeric)::double precision AS mount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.mount_s) AS mount_quantiles_s,
        count(steps.position_s) AS position_count,
        avg(steps.position_s::numeric)::double precision AS position_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.position_s) AS position_quantiles_s,
        count(steps.waited_s) AS waited_count,
        avg(steps.waited_s::numeric)::double precision AS waited_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.waited_s) AS waited_quantiles_s,
        count(steps.transfer_s) AS transfer_count,
        avg(steps.transfer_s::numeric)::double precision AS transfer_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.transfer_s) AS transfer_quantiles_s,
        count(steps.lazy_wait_s) AS lazy_wait_count,
        avg(steps.lazy_wait_s::numeric)::double precision AS lazy_wait_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.lazy_wait_s) AS lazy_wait_quantiles_s,
        count(steps.dismount_s) AS dismount_count,
        avg(steps.dismount_s::numeric)::double precision AS dismount_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.dismount_s) AS dismount_quantiles_s,
        count(steps.stay_s) AS stay_count,
        avg(steps.stay_s::numeric)::double precision AS stay_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.stay_s) AS stay_quantiles_s,
        count(steps.duration_s) AS duration_count,
        avg(steps.duration_s::numeric)::double precision AS duration_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.duration_s) AS duration_quantiles_s,
        count(steps.flush_s) AS flush_count,
        avg(steps.flush_s::numeric)::double precision AS flush_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.flush_s) AS flush_quantiles_s,
        count(steps.wait_s) AS wait_count,
        avg(steps.wait_s::numeric)::double precision AS wait_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.wait_s) AS wait_quantiles_s,
        count(steps.unload_s) AS unload_count,
        avg(steps.unload_s::numeric)::double precision AS unload_mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.unload_s) AS unload_quantiles_s
    FROM steps
    WHERE
        (mount_steps.archive IS NULL OR steps.archive = mount_steps.archive)
        AND (mount_steps.interface IS NULL OR steps.interface = mount_steps.interface)
        AND (mount_steps.location IS NULL OR steps.location = mount_steps.location)
        AND (mount_steps.tape_type IS NULL OR steps.tape_type = mount_steps.tape_type)
        AND (mount_steps.drive IS NULL OR steps.drive = mount_steps.drive)
        AND (mount_steps.requester IS NULL OR steps.requester = mount_steps.requester)
        -- Prunes partitions. Two days are more than the longest local day.
        AND steps.last_event_at >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '2 days'
        AND steps.last_event_at < coalesce(mount_steps.until, timestamptz 'infinity') + interval '2 days'
        AND (
            mount_steps.since IS NULL
            OR (steps.last_event_at AT TIME ZONE steps.timezone)::date
            >= (mount_steps.since AT TIME ZONE steps.timezone)::date
        )
        AND (
            mount_steps.until IS NULL
            OR (steps.last_event_at AT TIME ZONE steps.timezone)::date
            < mount_steps.until AT TIME ZONE steps.timezone
        )
        AND coalesce(mount_steps.since, timestamptz '-infinity')
        < coalesce(mount_steps.until, timestamptz 'infinity')
    GROUP BY steps.archive, steps.kind, steps.view_name, steps.tape_type
)

SELECT
    totals.archive,
    totals.kind,
    totals.view_name,
    totals.tape_type,
    steps.step,

    steps.step_count,
    totals.row_count - steps.step_count AS unknown_count,
    steps.mean_s,
    steps.quantiles_s[1] AS shortest_s,
    steps.quantiles_s[2] AS p10_s,
    steps.quantiles_s[3] AS p50_s,
    steps.quantiles_s[4] AS p90_s,
    steps.quantiles_s[5] AS p95_s,
    steps.quantiles_s[6] AS p99_s,
    steps.quantiles_s[7] AS longest_s
FROM totals
CROSS JOIN
    LATERAL (
        VALUES
        ('queue', totals.queue_count, totals.queue_mean_s, totals.queue_quantiles_s),
        ('mount', totals.mount_count, totals.mount_mean_s, totals.mount_quantiles_s),
        ('position', totals.position_count, totals.position_mean_s, totals.position_quantiles_s),
        ('waited', totals.waited_count, totals.waited_mean_s, totals.waited_quantiles_s),
        ('transfer', totals.transfer_count, totals.transfer_mean_s, totals.transfer_quantiles_s),
        ('lazy_wait', totals.lazy_wait_count, totals.lazy_wait_mean_s, totals.lazy_wait_quantiles_s),
        ('dismount', totals.dismount_count, totals.dismount_mean_s, totals.dismount_quantiles_s),
        ('stay', totals.stay_count, totals.stay_mean_s, totals.stay_quantiles_s),
        ('duration', totals.duration_count, totals.duration_mean_s, totals.duration_quantiles_s),
        ('flush', totals.flush_count, totals.flush_mean_s, totals.flush_quantiles_s),
        ('wait', totals.wait_count, totals.wait_mean_s, totals.wait_quantiles_s),
        ('unload', totals.unload_count, totals.unload_mean_s, totals.unload_quantiles_s)
    ) AS steps (step, step_count, mean_s, quantiles_s)
WHERE steps.step_count > 0

$function$;
