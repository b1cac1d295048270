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

-- A day is one period of at most two days.
periods AS (
    SELECT CASE drive_hours.period WHEN 'hour' THEN 3600 ELSE 172800 END AS longest_s
    WHERE drive_hours.period IN ('hour', 'day')
),

-- Mounts and files alike are spans of time, so that both are divided in one place.
spans AS (
    SELECT
        mounts.archive,
        mounts.timezone,
        mounts.drive,
        TRUE AS is_mount,
        FALSE AS is_timed,
        mounts.is_unfinished,
        mounts.occupied_from AS span_from,
        mounts.positioned_at,
        mounts.idle_from,
        mounts.dismount_requested_at,
        mounts.occupied_until AS span_until,
        mounts.range_from,
        mounts.range_until
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
    UNION ALL
    SELECT
        operations.archive,
        operations.timezone,
        operations.drive,
        FALSE AS is_mount,
        operations.is_timed,
        FALSE AS is_unfinished,
        operations.transferring_from AS span_from,
        NULL AS positioned_at,
        NULL AS idle_from,
        NULL AS dismount_requested_at,
        operations.transferring_until AS span_until,
        operations.range_from,
        operations.range_until
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

-- The last microsecond of a span is in it, but its end is not. A span without length is at its beginning.
clipped AS (
    SELECT
        spans.*,
        greatest(spans.span_from, spans.range_from) AS clipped_from,
        least(
            greatest(spans.span_until - interval '1 microsecond', spans.span_from),
            spans.range_until - interval '1 microsecond'
        ) AS last_at
    FROM spans
),

-- Hours are counted from midnight, so a day has 23 or 25 of them where clocks change.
parts AS (
    SELECT
        clipped.*,
        days.day_at + make_interval(secs => numbers.number * periods.longest_s) AS starts_at,
        least(
            days.day_at + make_interval(secs => (numbers.number + 1) * periods.longest_s), days.next_at
        ) AS ends_at
    FROM clipped
    CROSS JOIN periods
    -- Where clocks go back across midnight, a day begins at the second midnight, so minutes before it are in
    -- the day before, although they have the date of the next.
    CROSS JOIN
        LATERAL (
            VALUES (date_trunc('day', clipped.clipped_from, clipped.timezone))
        ) AS midnights (midnight_at)
    CROSS JOIN
        LATERAL (
            SELECT
                series.day_at,
                date_add(series.day_at, interval '1 day', clipped.timezone) AS next_at
            FROM
                generate_series(
                    CASE
                        WHEN midnights.midnight_at <= clipped.clipped_from THEN midnights.midnight_at
                        ELSE date_subtract(midnights.midnight_at, interval '1 day', clipped.timezone)
                    END,
                    clipped.last_at,
                    interval '1 day',
                    clipped.timezone
                ) AS series (day_at)
        ) AS days
    CROSS JOIN
        LATERAL generate_series(
            greatest(
                floor(date_part('epoch', clipped.clipped_from - days.day_at) / periods.longest_s), 0
            )::integer,
            floor(
                date_part(
                    'epoch', least(clipped.last_at, days.next_at - interval '1 microsecond') - days.day_at
                )
                / periods.longest_s
            )::integer
        ) AS numbers (number)
),

sums AS (
    SELECT
        parts.archive,
        parts.drive,
        count(*) FILTER (WHERE parts.is_mount AND parts.span_from >= parts.starts_at) AS mount_count,
        count(*) FILTER (WHERE parts.is_unfinished AND parts.span_until <= parts.ends_at) AS unfinished_count,
        count(*) FILTER (WHERE parts.is_timed) AS timed_count,
        count(*) FILTER (WHERE NOT parts.is_mount AND NOT parts.is_timed) AS untimed_count,
        sum(
            least(parts.span_until, parts.ends_at) - greatest(parts.span_from, parts.starts_at)
        ) FILTER (WHERE parts.is_mount) AS occupied,
        sum(
            greatest(
                least(parts.positioned_at, parts.span_until, parts.ends_at)
                - greatest(parts.span_from, parts.starts_at),
                interval '0'
            )
        ) FILTER (WHERE parts.positioned_at IS NOT NULL) AS mounting,
        sum(
            least(parts.span_until, parts.ends_at) - greatest(parts.span_from, parts.starts_at)
        ) FILTER (WHERE parts.is_timed) AS transferring,
        sum(
            greatest(
                least(parts.dismount_requested_at, parts.ends_at)
                - greatest(parts.idle_from, parts.span_from, parts.starts_at),
                interval '0'
            )
        ) FILTER (
            WHERE parts.idle_from IS NOT NULL AND parts.dismount_requested_at IS NOT NULL
        ) AS lazy_wait,
        sum(
            greatest(
                least(parts.span_until, parts.ends_at)
                - greatest(parts.dismount_requested_at, parts.span_from, parts.starts_at),
                interval '0'
            )
        ) FILTER (WHERE parts.dismount_requested_at IS NOT NULL) AS dismounting,
        parts.starts_at
    FROM parts
    GROUP BY parts.archive, parts.drive, parts.starts_at
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
calendar AS (
    SELECT
        used.archive,
        used.kind,
        used.drive,
        used.first_at,
        used.last_at,
        days.day::date AS starts_on,
        days.midnight_at + make_interval(secs => numbers.number * periods.longest_s) AS starts_at,
        least(
            days.midnight_at + make_interval(secs => (numbers.number + 1) * periods.longest_s), days.next_at
        ) AS ends_at
    FROM used
    CROSS JOIN periods
    CROSS JOIN
        LATERAL (
            SELECT
                series.day,
                series.day AT TIME ZONE used.timezone AS midnight_at,
                (series.day + interval '1 day') AT TIME ZONE used.timezone AS next_at
            FROM
                generate_series(
                    greatest(
                        date_trunc('day', used.first_at AT TIME ZONE used.timezone) - interval '1 day',
                        date_trunc(
                            'day',
                            coalesce(drive_hours.since, timestamptz '-infinity') AT TIME ZONE used.timezone
                        )
                    ),
                    least(
                        used.last_at,
                        coalesce(drive_hours.until, timestamptz 'infinity') - interval '1 microsecond'
                    ) AT TIME ZONE used.timezone,
                    interval '1 day'
                ) AS series (day)
            WHERE
                coalesce(drive_hours.since, timestamptz '-infinity')
                < coalesce(drive_hours.until, timestamptz 'infinity')
        ) AS days
    CROSS JOIN
        LATERAL generate_series(
            0,
            ceil(date_part('epoch', days.next_at - days.midnight_at) / periods.longest_s)::integer - 1
        ) AS numbers (number)
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
        calendar.starts_at <= calendar.first_at OR calendar.ends_at > calendar.last_at AS is_edge,
        calendar.starts_at,
        calendar.starts_on
    FROM calendar
    INNER JOIN coverage ON calendar.archive = coverage.archive
    LEFT JOIN sums
        ON
            calendar.archive = sums.archive
            AND calendar.drive = sums.drive
            AND calendar.starts_at = sums.starts_at
    WHERE calendar.ends_at > calendar.first_at AND calendar.starts_at <= calendar.last_at
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
