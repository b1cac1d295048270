CREATE FUNCTION mart.activity(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    period text DEFAULT 'day'
) RETURNS TABLE (
    archive text,
    kind text,
    period text,
    interface text,
    direction text,
    transfer_count bigint,
    failed_count bigint,
    failures_unknown_count bigint,
    saturated_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    duration_s double precision,
    unknown_duration_count bigint,
    starts_at timestamptz,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Cells already follow the archive's clock. Days and months do too, so a day can have 23 or 25 hours. If only
-- the day of a transfer is known, so is only that of its cell. A period with a wrong name is an error of
-- date_trunc.
WITH cells AS (
    SELECT
        activity_cells.*,
        activity.period IN ('ten_minutes', 'hour') AS is_within_day,
        CASE
            WHEN activity.period = 'ten_minutes' THEN activity_cells.cell_at
            ELSE date_trunc(activity.period, activity_cells.cell_at, activity_cells.timezone)
        END AS starts_at,
        CASE
            WHEN activity.period = 'ten_minutes'
                THEN activity.since - interval '10 minutes' + interval '1 microsecond'
            ELSE date_trunc(activity.period, activity.since, activity_cells.timezone)
        END AS first_at
    FROM mart.activity_cells
    WHERE
        (activity.archive IS NULL OR activity_cells.archive = activity.archive)
        AND (activity.interface IS NULL OR activity_cells.interface = activity.interface)
        AND (activity.direction IS NULL OR activity_cells.direction = activity.direction)
),

periods AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        sum(cells.transfer_count)::bigint AS transfer_count,
        sum(cells.failed_count)::bigint AS failed_count,
        sum(cells.failures_unknown_count)::bigint AS failures_unknown_count,
        sum(cells.saturated_count)::bigint AS saturated_count,
        sum(cells.size_bytes) AS size_bytes,
        sum(cells.unknown_size_count)::bigint AS unknown_size_count,
        sum(cells.duration_us)::bigint AS duration_us,
        sum(cells.unknown_duration_count)::bigint AS unknown_duration_count,
        cells.starts_at
    FROM cells
    WHERE
        NOT (cells.is_within_day AND cells.is_time_of_day_unknown)
        AND cells.starts_at >= coalesce(cells.first_at, timestamptz '-infinity')
        AND cells.starts_at < coalesce(activity.until, timestamptz 'infinity')
        AND coalesce(activity.since, timestamptz '-infinity')
        < coalesce(activity.until, timestamptz 'infinity')
    GROUP BY
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        cells.starts_at
)

SELECT
    periods.archive,
    periods.kind,
    activity.period,
    periods.interface,
    periods.direction,

    periods.transfer_count,
    -- Null where no log reports failures.
    CASE
        WHEN periods.failed_count > 0 OR periods.failures_unknown_count < periods.transfer_count
            THEN periods.failed_count
    END AS failed_count,
    periods.failures_unknown_count,
    periods.saturated_count,
    CASE
        WHEN
            periods.unknown_size_count = 0
            OR periods.unknown_size_count < periods.transfer_count - periods.failed_count
            THEN periods.size_bytes
    END AS size_bytes,
    periods.unknown_size_count,
    CASE
        WHEN
            periods.unknown_duration_count = 0
            OR periods.unknown_duration_count < periods.transfer_count - periods.failed_count
            THEN periods.duration_us / 1e6::double precision
    END AS duration_s,
    periods.unknown_duration_count,

    periods.starts_at,
    (periods.starts_at AT TIME ZONE periods.timezone)::date AS starts_on
FROM periods

$function$;
