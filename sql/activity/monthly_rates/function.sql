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
    SELECT
        selected.*,
        date_trunc('month', selected.starts_on)::date AS month_on
    FROM
        mart.selected_days(
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

months AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction,
        sum(cells.rated_size_bytes) AS size_bytes,
        sum(cells.rated_duration_us)::double precision / 1e6 AS duration_s,
        percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY cells.rate_bytes_per_s)
        FILTER (WHERE monthly_rates.is_exact) AS exact_rates,
        cells.month_on
    FROM cells
    GROUP BY
        cells.month_on,
        cells.interface,
        cells.direction,
        cells.archive,
        cells.kind
),

bins AS (
    SELECT
        cells.archive,
        cells.interface,
        cells.direction,
        cells.month_on,
        cells.starts_on,
        unnest(cells.rate_bins) AS bin,
        unnest(cells.rate_counts) AS rate_count
    FROM cells
),

histograms AS (
    SELECT
        bins.archive,
        bins.interface,
        bins.direction,
        bins.month_on,
        bins.bin,
        sum(bins.rate_count) AS rate_count,
        min(bins.starts_on) AS first_on,
        max(bins.starts_on) AS last_on
    FROM bins
    GROUP BY
        bins.bin,
        bins.month_on,
        bins.interface,
        bins.direction,
        bins.archive
),

-- Rates are numbered from 0, the slowest first: a bin has those below its `upto`. A percentile lies between
-- two of them, or is one of them.
numbered AS (
    SELECT
        histograms.*,
        sum(histograms.rate_count) OVER route_bins AS upto,
        sum(histograms.rate_count) OVER route AS transfer_count
    FROM histograms
    WINDOW
        route AS (
            PARTITION BY
                histograms.month_on,
                histograms.interface,
                histograms.direction,
                histograms.archive
        ),
        route_bins AS (route ORDER BY histograms.bin)
),

neighbours AS (
    SELECT
        numbered.archive,
        numbered.interface,
        numbered.direction,
        numbered.month_on,
        numbered.transfer_count,
        min(numbered.first_on) AS first_on,
        max(numbered.last_on) AS last_on,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > floor(0.1 * (numbered.transfer_count - 1)))
            AS p10_low,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > ceil(0.1 * (numbered.transfer_count - 1)))
            AS p10_high,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > floor(0.5 * (numbered.transfer_count - 1)))
            AS p50_low,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > ceil(0.5 * (numbered.transfer_count - 1)))
            AS p50_high,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > floor(0.9 * (numbered.transfer_count - 1)))
            AS p90_low,
        min(numbered.bin)
        FILTER (WHERE numbered.upto > ceil(0.9 * (numbered.transfer_count - 1)))
            AS p90_high
    FROM numbered
    GROUP BY
        numbered.month_on,
        numbered.interface,
        numbered.direction,
        numbered.archive,
        numbered.transfer_count
),

-- How far a percentile is from the lower neighbour to the higher one.
parts AS (
    SELECT
        neighbours.*,
        mod(0.1 * (neighbours.transfer_count - 1), 1)::double precision AS p10_part,
        mod(0.5 * (neighbours.transfer_count - 1), 1)::double precision AS p50_part,
        mod(0.9 * (neighbours.transfer_count - 1), 1)::double precision AS p90_part
    FROM neighbours
)

SELECT
    months.archive,
    months.kind,
    months.interface,
    months.direction,

    parts.transfer_count::bigint AS transfer_count,
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

    months.month_on AS starts_on,
    parts.first_on,
    parts.last_on
FROM months
INNER JOIN parts
    ON
        months.archive = parts.archive
        AND months.interface = parts.interface
        AND months.direction = parts.direction
        AND months.month_on = parts.month_on

$function$;
