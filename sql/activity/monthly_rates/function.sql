CREATE FUNCTION mart.monthly_rates(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    is_exact boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    transfer_count bigint,
    size_bytes numeric,
    duration_s double precision,
    mean_rate_bytes_per_s double precision,
    p10_rate_bytes_per_s double precision,
    p50_rate_bytes_per_s double precision,
    p90_rate_bytes_per_s double precision,
    starts_on date,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH cells AS (
    SELECT selected.*
    FROM
        mart.selected_rates(
            archive => monthly_rates.archive,
            since => monthly_rates.since,
            until => monthly_rates.until,
            interface => monthly_rates.interface,
            direction => monthly_rates.direction,
            client => monthly_rates.client,
            class_of_service => monthly_rates.class_of_service,
            is_exact => monthly_rates.is_exact
        ) AS selected
),

-- A row of the answer is found by its number, because comparing names for each bin costs more than all the
-- rest.
numbered_cells AS (
    SELECT
        cells.*,
        dense_rank() OVER (
            ORDER BY cells.starts_on, cells.interface, cells.direction, cells.archive
        ) AS month_number,
        sum(cells.rated_count::double precision) OVER (
            PARTITION BY cells.starts_on, cells.interface, cells.direction, cells.archive
        ) - 1 AS last_place
    FROM cells
),

months AS (
    SELECT
        numbered_cells.month_number,
        numbered_cells.archive,
        numbered_cells.kind,
        numbered_cells.interface,
        numbered_cells.direction,
        sum(numbered_cells.rated_count)::bigint AS transfer_count,
        sum(numbered_cells.rated_size_bytes) AS size_bytes,
        sum(numbered_cells.rated_duration_us)::double precision / 1e6 AS duration_s,
        percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY numbered_cells.rate_bytes_per_s)
        FILTER (WHERE monthly_rates.is_exact) AS exact_rates,
        numbered_cells.starts_on,
        min(numbered_cells.first_on) AS first_on,
        max(numbered_cells.last_on) AS last_on
    FROM numbered_cells
    GROUP BY
        numbered_cells.month_number,
        numbered_cells.archive,
        numbered_cells.kind,
        numbered_cells.interface,
        numbered_cells.direction,
        numbered_cells.starts_on
),

bins AS (
    SELECT
        numbered_cells.month_number,
        numbered_cells.last_place,
        unnest(numbered_cells.rate_bins) AS bin,
        unnest(numbered_cells.rate_counts)::double precision AS rate_count
    FROM numbered_cells
    WHERE monthly_rates.is_exact IS NOT TRUE
),

-- Rates are numbered from 0 to `last_place`, the slowest first: a bin has those below its `upto`. A
-- percentile lies between two of them, or is one of them: a tenth of the way to the last is at
-- 0.1 * last_place. Bins of several cells need not be added up for this. Sums of whole numbers below 2^53 are
-- exact, and much faster than those of bigint.
numbered AS (
    SELECT
        bins.*,
        sum(bins.rate_count) OVER (
            PARTITION BY bins.month_number ORDER BY bins.bin ROWS UNBOUNDED PRECEDING
        ) AS upto
    FROM bins
),

neighbours AS (
    SELECT
        numbered.month_number,
        numbered.last_place,
        min(numbered.bin)
        FILTER (WHERE 10 * numbered.upto > 1 * numbered.last_place)
            AS p10_low,
        min(numbered.bin)
        FILTER (WHERE 10 * (numbered.upto - 1) >= 1 * numbered.last_place)
            AS p10_high,
        min(numbered.bin)
        FILTER (WHERE 10 * numbered.upto > 5 * numbered.last_place)
            AS p50_low,
        min(numbered.bin)
        FILTER (WHERE 10 * (numbered.upto - 1) >= 5 * numbered.last_place)
            AS p50_high,
        min(numbered.bin)
        FILTER (WHERE 10 * numbered.upto > 9 * numbered.last_place)
            AS p90_low,
        min(numbered.bin)
        FILTER (WHERE 10 * (numbered.upto - 1) >= 9 * numbered.last_place)
            AS p90_high
    FROM numbered
    -- All other bins are too low or too high to have such a neighbour.
    WHERE
        (
            10 * numbered.upto >= 1 * numbered.last_place
            AND 10 * (numbered.upto - numbered.rate_count - 1) <= 1 * numbered.last_place
        )
        OR (
            10 * numbered.upto >= 5 * numbered.last_place
            AND 10 * (numbered.upto - numbered.rate_count - 1) <= 5 * numbered.last_place
        )
        OR (
            10 * numbered.upto >= 9 * numbered.last_place
            AND 10 * (numbered.upto - numbered.rate_count - 1) <= 9 * numbered.last_place
        )
    GROUP BY numbered.month_number, numbered.last_place
),

-- How far a percentile is from the lower neighbour to the higher one. Materialized: a condition on the answer
-- makes the planner expect few of them, and it would read all bins for each.
parts AS MATERIALIZED (
    SELECT
        neighbours.*,
        mod(0.1 * neighbours.last_place::numeric, 1)::double precision AS p10_part,
        mod(0.5 * neighbours.last_place::numeric, 1)::double precision AS p50_part,
        mod(0.9 * neighbours.last_place::numeric, 1)::double precision AS p90_part
    FROM neighbours
)

SELECT
    months.archive,
    months.kind,
    months.interface,
    months.direction,

    months.transfer_count,
    months.size_bytes,
    months.duration_s,
    months.size_bytes::double precision / nullif(months.duration_s, 0) AS mean_rate_bytes_per_s,
    coalesce(
        months.exact_rates[1],
        mart.histogram_value(parts.p10_low) * (1 - parts.p10_part)
        + mart.histogram_value(parts.p10_high) * parts.p10_part
    ) AS p10_rate_bytes_per_s,
    coalesce(
        months.exact_rates[2],
        mart.histogram_value(parts.p50_low) * (1 - parts.p50_part)
        + mart.histogram_value(parts.p50_high) * parts.p50_part
    ) AS p50_rate_bytes_per_s,
    coalesce(
        months.exact_rates[3],
        mart.histogram_value(parts.p90_low) * (1 - parts.p90_part)
        + mart.histogram_value(parts.p90_high) * parts.p90_part
    ) AS p90_rate_bytes_per_s,

    months.starts_on,
    months.first_on,
    months.last_on
FROM months
LEFT JOIN parts ON months.month_number = parts.month_number

$function$;
