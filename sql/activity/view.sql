CREATE VIEW mart.activity AS

-- Not materialized: a query of one period reads the cells once, and only the range it asks for.
WITH cells AS NOT MATERIALIZED (
    SELECT * FROM mart.activity_cells
),

-- Cells already follow the archive's clock.
ten_minutes AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        cells.transfer_count,
        cells.failed_count,
        cells.saturated_count,
        cells.size_bytes,
        cells.duration_us,
        cells.cell_at AS starts_at
    FROM cells
),

-- A day and a month are the archive's own, so a day can have 23 or 25 hours.
days AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.timezone,
        cells.interface,
        cells.direction,
        sum(cells.transfer_count)::bigint AS transfer_count,
        sum(cells.failed_count)::bigint AS failed_count,
        sum(cells.saturated_count)::bigint AS saturated_count,
        sum(cells.size_bytes) AS size_bytes,
        sum(cells.duration_us)::bigint AS duration_us,
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
        sum(cells.saturated_count)::bigint AS saturated_count,
        sum(cells.size_bytes) AS size_bytes,
        sum(cells.duration_us)::bigint AS duration_us,
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

-- The constant lets the planner leave out the branches that a query does not ask for.
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
    periods.failed_count,
    periods.saturated_count,
    periods.size_bytes,
    periods.duration_us / 1e6::double precision AS duration_s,

    periods.starts_at,
    (periods.starts_at AT TIME ZONE periods.timezone)::date AS starts_on
FROM periods;
