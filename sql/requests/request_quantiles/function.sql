CREATE FUNCTION mart.request_quantiles(
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
    direction text,
    quantity text,
    unit text,
    percent integer,
    request_count bigint,
    value double precision,
    clock_step_s double precision,
    below_clock_count bigint,
    negative_count bigint,
    zero_count bigint,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH cells AS (
    SELECT selected.*
    FROM
        mart.selected_request_days(
            archive => request_quantiles.archive,
            since => request_quantiles.since,
            until => request_quantiles.until,
            interface => request_quantiles.interface,
            direction => request_quantiles.direction,
            client => request_quantiles.client,
            class_of_service => request_quantiles.class_of_service,
            is_exact => request_quantiles.is_exact
        ) AS selected
),

-- Logged values, without interpolation, as in mart.compared_quantiles.
summaries AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.direction,
        sum(cells.below_clock_count)::bigint AS below_clock_count,
        sum(cells.negative_count)::bigint AS negative_count,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY cells.size_bytes) FILTER (WHERE request_quantiles.is_exact) AS sizes_bytes,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY cells.duration_s) FILTER (WHERE request_quantiles.is_exact) AS durations_s,
        percentile_disc(
            ARRAY[0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]
        ) WITHIN GROUP (ORDER BY cells.waited_s) FILTER (WHERE request_quantiles.is_exact) AS waits_s,
        min(cells.first_on) AS first_on,
        max(cells.last_on) AS last_on
    FROM cells
    GROUP BY cells.direction, cells.archive, cells.kind
),

bins AS (
    SELECT
        cells.archive,
        cells.direction,
        'size' AS quantity,
        unnest(cells.size_bins) AS bin,
        unnest(cells.size_counts) AS bin_count
    FROM cells
    UNION ALL
    SELECT
        cells.archive,
        cells.direction,
        'transfer time' AS quantity,
        unnest(cells.duration_bins) AS bin,
        unnest(cells.duration_counts) AS bin_count
    FROM cells
    UNION ALL
    SELECT
        cells.archive,
        cells.direction,
        'wait' AS quantity,
        unnest(cells.wait_bins) AS bin,
        unnest(cells.wait_counts) AS bin_count
    FROM cells
),

histograms AS (
    SELECT
        bins.archive,
        bins.direction,
        bins.quantity,
        bins.bin,
        -- Exact below 2^53, and much faster to add up than numbers of unlimited size.
        sum(bins.bin_count)::double precision AS bin_count
    FROM bins
    GROUP BY bins.bin, bins.quantity, bins.direction, bins.archive
),

numbered AS (
    SELECT
        histograms.*,
        sum(histograms.bin_count) OVER upto AS upto_count,
        sum(histograms.bin_count) OVER everything AS request_count
    FROM histograms
    WINDOW
        everything AS (PARTITION BY histograms.quantity, histograms.direction, histograms.archive),
        upto AS (everything ORDER BY histograms.bin)
),

quantities AS (
    SELECT
        numbered.archive,
        numbered.direction,
        numbered.quantity,
        numbered.request_count,
        coalesce(sum(numbered.bin_count) FILTER (WHERE numbered.bin = 0), 0) AS zero_count,
        points.percent,
        points.place,
        min(numbered.bin) FILTER (WHERE 100 * numbered.upto_count >= points.percent * numbered.request_count)
            AS bin
    FROM numbered
    CROSS JOIN
        unnest(ARRAY[1, 5, 10, 25, 50, 75, 90, 95, 99]) WITH ORDINALITY AS points (percent, place)
    GROUP BY
        numbered.quantity,
        numbered.direction,
        numbered.archive,
        numbered.request_count,
        points.percent,
        points.place
)

SELECT
    summaries.archive,
    summaries.kind,
    summaries.direction,
    quantities.quantity,
    CASE quantities.quantity WHEN 'size' THEN 'bytes' ELSE 's' END AS unit,
    quantities.percent,

    quantities.request_count::bigint AS request_count,
    coalesce(
        CASE quantities.quantity
            WHEN 'size' THEN summaries.sizes_bytes[quantities.place]
            WHEN 'wait' THEN summaries.waits_s[quantities.place]
            ELSE summaries.durations_s[quantities.place]
        END,
        mart.histogram_value(quantities.bin)
    ) AS value,
    -- Only a clock of whole seconds is too coarse for a wait.
    CASE
        WHEN quantities.quantity = 'wait' AND summaries.below_clock_count > 0 THEN 1
    END::double precision AS clock_step_s,
    CASE WHEN quantities.quantity = 'wait' THEN summaries.below_clock_count END AS below_clock_count,
    CASE WHEN quantities.quantity = 'wait' THEN summaries.negative_count END AS negative_count,
    quantities.zero_count::bigint AS zero_count,
    summaries.first_on,
    summaries.last_on
FROM summaries
INNER JOIN quantities
    ON
        summaries.archive = quantities.archive
        AND summaries.direction = quantities.direction

$function$;
