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

-- One row per step of each mount or file, known or not.
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
        steps.step,
        steps.step_s,
        mounts.last_event_at
    FROM mart.mounts
    CROSS JOIN
        LATERAL (
            VALUES
            ('queue', mounts.queue_s),
            ('mount', mounts.mount_s),
            ('position', mounts.position_s),
            ('transfer', mounts.transfer_s),
            ('lazy_wait', mounts.lazy_wait_s),
            ('dismount', mounts.dismount_s),
            ('stay', mounts.stay_s)
        ) AS steps (step, step_s)
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
        steps.step,
        steps.step_s,
        operations.last_event_at
    FROM mart.tape_operations AS operations
    -- Prunes partitions: a file ends at most a day after the mount in which the tape was positioned to it.
    LEFT JOIN mart.mounts
        ON
            operations.mount_id = mounts.mount_id
            AND mounts.last_event_at
            >= coalesce(mount_steps.since, timestamptz '-infinity') - interval '3 days'
    CROSS JOIN
        LATERAL (
            VALUES
            ('queue', operations.queue_s),
            ('mount', operations.mount_s),
            ('waited', operations.waited_s),
            ('transfer', operations.transfer_s)
        ) AS steps (step, step_s)
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
        steps.step,
        steps.step_s,
        summaries.ended_at AS last_event_at
    FROM mart.mount_summaries AS summaries
    CROSS JOIN
        LATERAL (
            VALUES
            ('duration', summaries.duration_s),
            ('mount', summaries.mount_s),
            ('position', summaries.position_s),
            ('transfer', summaries.transfer_s),
            ('flush', summaries.flush_s),
            ('wait', summaries.wait_s),
            ('unload', summaries.unload_s),
            ('dismount', summaries.dismount_s)
        ) AS steps (step, step_s)
    -- A session that mounted nothing is no mount.
    WHERE summaries.is_mounted IS NOT FALSE
),

totals AS (
    SELECT
        steps.archive,
        steps.kind,
        steps.view_name,
        steps.tape_type,
        steps.step,
        count(*) AS row_count,
        count(steps.step_s) AS step_count,
        avg(steps.step_s) AS mean_s,
        percentile_disc(ARRAY[0, 0.1, 0.5, 0.9, 0.95, 0.99, 1])
        WITHIN GROUP (ORDER BY steps.step_s) AS quantiles_s
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
    GROUP BY steps.archive, steps.kind, steps.view_name, steps.tape_type, steps.step
)

SELECT
    totals.archive,
    totals.kind,
    totals.view_name,
    totals.tape_type,
    totals.step,

    totals.step_count,
    totals.row_count - totals.step_count AS unknown_count,
    totals.mean_s,
    totals.quantiles_s[1] AS shortest_s,
    totals.quantiles_s[2] AS p10_s,
    totals.quantiles_s[3] AS p50_s,
    totals.quantiles_s[4] AS p90_s,
    totals.quantiles_s[5] AS p95_s,
    totals.quantiles_s[6] AS p99_s,
    totals.quantiles_s[7] AS longest_s
FROM totals
WHERE totals.step_count > 0

$function$;
