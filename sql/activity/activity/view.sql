CREATE VIEW mart.activity AS

-- Not materialized, so that a query of one period reads the cells once, and only the range it asks for.
WITH cells AS NOT MATERIALIZED (
    SELECT * FROM mart.activity_cells
),

-- Cells already follow the archive's clock. If only the day of a transfer is known, its cell is not.
ten_minutes AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        cells.transfer_count,
        cells.failed_count,
        cells.failures_unknown_count,
        cells.saturated_count,
        cells.size_bytes,
        cells.unknown_size_count,
        cells.duration_us,
        cells.unknown_duration_count,
        cells.cell_at AS starts_at
    FROM cells
    WHERE NOT cells.is_time_of_day_unknown
),

-- Days and months are the archive's own, so a day can have 23 or 25 hours.
days AS (
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
        date_trunc('day', cells.cell_at, cells.timezone) AS starts_at
    FROM cells
    GROUP BY
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        date_trunc('day', cells.cell_at, cells.timezone)
),

months AS (
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
        date_trunc('month', cells.cell_at, cells.timezone) AS starts_at
    FROM cells
    GROUP BY
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        date_trunc('month', cells.cell_at, cells.timezone)
),

-- The constant `period` of each branch lets the planner skip branches that a query does not need.
periods AS (
    SELECT
        'ten_minutes' AS period,
        ten_minutes.*
    FROM ten_minutes
    UNION ALL
    SELECT
        'day' AS period,
        days.*
    FROM days
    UNION ALL
    SELECT
        'month' AS period,
        months.*
    FROM months
)

SELECT
    periods.archive,
    periods.kind,
    periods.period,
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
FROM periods;
