CREATE FUNCTION mart.drive_hours(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    location text DEFAULT NULL,
    tape_type text DEFAULT NULL,
    drive text DEFAULT NULL,
    period text DEFAULT 'hour'
) RETURNS TABLE (
    archive text,
    kind text,
    period text,
    drive text,
    mount_count bigint,
    unfinished_count bigint,
    untimed_count bigint,
    period_s double precision,
    occupied_s double precision,
    mounting_s double precision,
    transferring_s double precision,
    lazy_wait_s double precision,
    dismounting_s double precision,
    other_s double precision,
    occupied_ratio double precision,
    transferring_ratio double precision,
    lazy_wait_ratio double precision,
    is_edge boolean,
    starts_at timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH coverage AS MATERIALIZED (
    SELECT
        tape_coverage.archive,
        tape_coverage.has_dismounts,
        tape_coverage.has_mount_times,
        tape_coverage.has_transfer_times,
        tape_coverage.has_lazy_waits,
        tape_coverage.has_dismount_times
    FROM mart.tape_coverage
    WHERE drive_hours.archive IS NULL OR tape_coverage.archive = drive_hours.archive
),

-- Mounts, their steps and files alike are spans of time, so that all are divided in one place.
spans AS (
    SELECT
        mounts.archive,
        mounts.drive,
        steps.step,
        mounts.is_unfinished,
        greatest(steps.begun_at, mounts.occupied_from) AS span_from,
        steps.ended_at AS span_until
    FROM
        mart.selected_mounts(
            archive => drive_hours.archive,
            since => drive_hours.since,
            until => drive_hours.until,
            interface => drive_hours.interface,
            location => drive_hours.location,
            tape_type => drive_hours.tape_type,
            drive => drive_hours.drive
        ) AS mounts
    CROSS JOIN
        LATERAL (
            VALUES
            ('mount', mounts.occupied_from, mounts.occupied_until),
            ('mounting', mounts.occupied_from, mounts.positioned_at),
            ('lazy wait', mounts.idle_from, mounts.dismount_requested_at),
            ('dismounting', mounts.dismount_requested_at, mounts.occupied_until)
        ) AS steps (step, begun_at, ended_at)
    -- Unknown steps are left out, too.
    WHERE steps.begun_at <= steps.ended_at AND mounts.occupied_from <= steps.ended_at
    UNION ALL
    SELECT
        operations.archive,
        operations.drive,
        CASE WHEN operations.is_timed THEN 'file' ELSE 'untimed file' END AS step,
        FALSE AS is_unfinished,
        operations.transferring_from AS span_from,
        operations.transferring_until AS span_until
    FROM
        mart.selected_operations(
            archive => drive_hours.archive,
            since => drive_hours.since,
            until => drive_hours.until,
            interface => drive_hours.interface,
            location => drive_hours.location,
            tape_type => drive_hours.tape_type,
            drive => drive_hours.drive
        ) AS operations
),

used AS (
    SELECT
        drives.archive,
        drives.kind,
        drives.timezone,
        drives.drive,
        min(drives.first_mount_at) AS first_at,
        max(drives.last_event_at) AS last_at
    FROM mart.drives
    WHERE
        (drive_hours.archive IS NULL OR drives.archive = drive_hours.archive)
        AND (drive_hours.interface IS NULL OR drives.interface = drive_hours.interface)
        AND (drive_hours.location IS NULL OR drives.location = drive_hours.location)
        AND (drive_hours.tape_type IS NULL OR drives.tape_type = drive_hours.tape_type)
        AND (drive_hours.drive IS NULL OR drives.drive = drive_hours.drive)
    GROUP BY drives.archive, drives.kind, drives.timezone, drives.drive
),

-- Idle periods too, from the first mount of the drive to its last.
calendar AS MATERIALIZED (
    SELECT
        used.archive,
        used.kind,
        used.drive,
        periods.starts_at <= used.first_at OR periods.ends_at > used.last_at AS is_edge,
        periods.starts_at,
        periods.ends_at,
        periods.starts_on
    FROM used
    CROSS JOIN
        LATERAL mart.local_periods(
            from_at => greatest(used.first_at, date_trunc('day', drive_hours.since, used.timezone)),
            last_at => least(
                used.last_at,
                date_add(
                    date_trunc('day', drive_hours.until - interval '1 microsecond', used.timezone),
                    interval '1 day',
                    used.timezone
                ) - interval '1 microsecond'
            ),
            timezone => used.timezone,
            period => drive_hours.period
        ) AS periods
    WHERE
        coalesce(drive_hours.since, timestamptz '-infinity')
        < coalesce(drive_hours.until, timestamptz 'infinity')
),

-- Periods are looked up by the hours (days) of UTC that they touch, two at most. To make the periods of each
-- span, or to compare each span with all periods, takes far longer.
steps AS MATERIALIZED (
    SELECT
        calendar.archive,
        calendar.drive,
        calendar.starts_at,
        calendar.ends_at,
        steps.first_step,
        steps.step
    FROM calendar
    CROSS JOIN
        LATERAL (
            VALUES (CASE drive_hours.period WHEN 'hour' THEN 3600 ELSE 86400 END)
        ) AS lengths (length_s)
    CROSS JOIN
        LATERAL (
            VALUES
            (
                floor(date_part('epoch', calendar.starts_at) / lengths.length_s),
                floor(date_part('epoch', calendar.ends_at - interval '1 microsecond') / lengths.length_s)
            )
        ) AS edges (first_step, last_step)
    CROSS JOIN
        LATERAL (
            VALUES
            (edges.first_step, edges.first_step::integer),
            (edges.first_step, nullif(edges.last_step, edges.first_step)::integer)
        ) AS steps (first_step, step)
),

-- The last microsecond of a span is in it, but its end is not. A span without length is at its beginning.
-- Materialized, because the planner would compare each span with all periods of its drive.
touched AS MATERIALIZED (
    SELECT
        spans.*,
        ends.last_at,
        edges.first_step,
        series.touched_step
    FROM spans
    CROSS JOIN
        LATERAL (
            VALUES (greatest(spans.span_until - interval '1 microsecond', spans.span_from))
        ) AS ends (last_at)
    CROSS JOIN
        LATERAL (
            VALUES
            (
                floor(
                    date_part('epoch', spans.span_from)
                    / CASE drive_hours.period WHEN 'hour' THEN 3600 ELSE 86400 END
                )::integer,
                floor(
                    date_part('epoch', ends.last_at)
                    / CASE drive_hours.period WHEN 'hour' THEN 3600 ELSE 86400 END
                )::integer
            )
        ) AS edges (first_step, last_step)
    CROSS JOIN LATERAL generate_series(edges.first_step, edges.last_step) AS series (touched_step)
),

-- Parts before or after the range match no period of the calendar. A span and a period meet in one or two
-- steps, of which the first counts.
parts AS (
    SELECT
        touched.*,
        steps.starts_at,
        steps.ends_at,
        least(touched.span_until, steps.ends_at) - greatest(touched.span_from, steps.starts_at) AS spent
    FROM touched
    INNER JOIN steps
        ON
            touched.touched_step = steps.step
            AND touched.drive = steps.drive
            AND touched.archive = steps.archive
    WHERE
        steps.starts_at <= touched.last_at
        AND steps.ends_at > touched.span_from
        AND touched.touched_step = greatest(touched.first_step, steps.first_step)
),

sums AS (
    SELECT
        parts.archive,
        parts.drive,
        count(*) FILTER (WHERE parts.step = 'mount' AND parts.span_from >= parts.starts_at) AS mount_count,
        count(*) FILTER (
            WHERE parts.step = 'mount' AND parts.is_unfinished AND parts.span_until <= parts.ends_at
        ) AS unfinished_count,
        count(*) FILTER (WHERE parts.step = 'file') AS timed_count,
        count(*) FILTER (WHERE parts.step = 'untimed file') AS untimed_count,
        sum(parts.spent) FILTER (WHERE parts.step = 'mount') AS occupied,
        sum(parts.spent) FILTER (WHERE parts.step = 'mounting') AS mounting,
        sum(parts.spent) FILTER (WHERE parts.step = 'file') AS transferring,
        sum(parts.spent) FILTER (WHERE parts.step = 'lazy wait') AS lazy_wait,
        sum(parts.spent) FILTER (WHERE parts.step = 'dismounting') AS dismounting,
        parts.starts_at
    FROM parts
    GROUP BY parts.archive, parts.drive, parts.starts_at
),

filled AS (
    SELECT
        calendar.archive,
        calendar.kind,
        calendar.drive,
        coalesce(sums.mount_count, 0) AS mount_count,
        coalesce(sums.unfinished_count, 0) AS unfinished_count,
        coalesce(sums.untimed_count, 0) AS untimed_count,
        date_part('epoch', calendar.ends_at - calendar.starts_at) AS period_s,
        CASE WHEN coverage.has_dismounts THEN coalesce(date_part('epoch', sums.occupied), 0) END
            AS occupied_s,
        CASE WHEN coverage.has_mount_times THEN coalesce(date_part('epoch', sums.mounting), 0) END
            AS mounting_s,
        CASE
            WHEN coverage.has_transfer_times AND (sums.timed_count > 0 OR coalesce(sums.untimed_count, 0) = 0)
                THEN coalesce(date_part('epoch', sums.transferring), 0)
        END AS transferring_s,
        CASE WHEN coverage.has_lazy_waits THEN coalesce(date_part('epoch', sums.lazy_wait), 0) END
            AS lazy_wait_s,
        CASE WHEN coverage.has_dismount_times THEN coalesce(date_part('epoch', sums.dismounting), 0) END
            AS dismounting_s,
        calendar.is_edge,
        calendar.starts_at,
        calendar.starts_on
    FROM calendar
    INNER JOIN coverage ON calendar.archive = coverage.archive
    LEFT JOIN sums
        ON
            calendar.archive = sums.archive
            AND calendar.drive = sums.drive
            AND calendar.starts_at = sums.starts_at
)

SELECT
    filled.archive,
    filled.kind,
    drive_hours.period,
    filled.drive,

    filled.mount_count,
    filled.unfinished_count,
    filled.untimed_count,
    filled.period_s,
    filled.occupied_s,
    filled.mounting_s,
    filled.transferring_s,
    filled.lazy_wait_s,
    filled.dismounting_s,
    filled.occupied_s - (
        coalesce(filled.mounting_s, 0)
        + coalesce(filled.transferring_s, 0)
        + coalesce(filled.lazy_wait_s, 0)
        + coalesce(filled.dismounting_s, 0)
    ) AS other_s,
    filled.occupied_s / filled.period_s AS occupied_ratio,
    filled.transferring_s / filled.period_s AS transferring_ratio,
    filled.lazy_wait_s / filled.period_s AS lazy_wait_ratio,

    filled.is_edge,

    filled.starts_at,
    filled.starts_on
FROM filled

$function$;
