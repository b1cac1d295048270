CREATE FUNCTION mart.size_times(
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
    size_from_bytes numeric,
    size_to_bytes numeric,
    transfer_count bigint,
    mean_size_bytes double precision,
    min_duration_s double precision,
    p10_duration_s double precision,
    p50_duration_s double precision,
    p90_duration_s double precision,
    envelope_s double precision,
    first_on date,
    last_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Materialized, so that the line is fitted once, and not for each bin.
WITH lines AS MATERIALIZED (
    SELECT
        envelopes.archive,
        envelopes.interface,
        envelopes.direction,
        envelopes.latency_s,
        envelopes.slope_s_per_byte
    FROM
        mart.lower_envelopes(
            archive => size_times.archive,
            since => size_times.since,
            until => size_times.until,
            interface => size_times.interface,
            direction => size_times.direction,
            client => size_times.client,
            class_of_service => size_times.class_of_service
        ) AS envelopes
),

cells AS (
    SELECT selected.*
    FROM
        mart.selected_sizes(
            archive => size_times.archive,
            since => size_times.since,
            until => size_times.until,
            interface => size_times.interface,
            direction => size_times.direction,
            client => size_times.client,
            class_of_service => size_times.class_of_service,
            is_exact => size_times.is_exact
        ) AS selected
),

sizes AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction,
        cells.duration_s,
        cells.first_on,
        cells.last_on,
        unnest(cells.size_bins)::integer AS size_bin,
        unnest(cells.size_bytes) AS size_bytes,
        unnest(cells.shortest_s) AS shortest_s
    FROM cells
),

bins AS (
    SELECT
        sizes.archive,
        sizes.kind,
        sizes.interface,
        sizes.direction,
        sizes.size_bin,
        sum(sizes.size_bytes) AS size_bytes,
        min(sizes.shortest_s) AS min_duration_s,
        percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY sizes.duration_s)
        FILTER (WHERE size_times.is_exact) AS exact_durations
    FROM sizes
    GROUP BY
        sizes.size_bin,
        sizes.interface,
        sizes.direction,
        sizes.archive,
        sizes.kind
),

-- The days of a month or year are not known for each bin of size.
days AS (
    SELECT
        cells.archive,
        cells.interface,
        cells.direction,
        min(cells.first_on) AS first_on,
        max(cells.last_on) AS last_on
    FROM cells
    GROUP BY cells.archive, cells.interface, cells.direction
),

times AS (
    SELECT
        cells.archive,
        cells.interface,
        cells.direction,
        -- One number for both, by which groups are found faster.
        unnest(cells.time_size_bins) * 32768 + unnest(cells.time_bins) AS time_bin,
        unnest(cells.time_counts) AS time_count
    FROM cells
),

histograms AS (
    SELECT
        times.archive,
        times.interface,
        times.direction,
        times.time_bin,
        sum(times.time_count) AS time_count
    FROM times
    GROUP BY times.time_bin, times.interface, times.direction, times.archive
),

-- Durations of each bin of size are numbered from 0, the shortest first: a bin has those below its `upto`. A
-- percentile lies between two of them, or is one of them.
numbered AS (
    SELECT
        histograms.archive,
        histograms.interface,
        histograms.direction,
        histograms.time_bin / 32768 AS size_bin,
        mod(histograms.time_bin, 32768) AS bin,
        sum(histograms.time_count) OVER size_bins AS upto,
        sum(histograms.time_count) OVER sizes AS transfer_count
    FROM histograms
    WINDOW
        sizes AS (
            PARTITION BY
                histograms.interface,
                histograms.direction,
                histograms.archive,
                histograms.time_bin / 32768
        ),
        size_bins AS (sizes ORDER BY histograms.time_bin)
),

neighbours AS (
    SELECT
        numbered.archive,
        numbered.interface,
        numbered.direction,
        numbered.size_bin,
        numbered.transfer_count,
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
        numbered.size_bin,
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
),

answers AS (
    SELECT
        bins.*,
        parts.transfer_count,
        (bins.size_bytes / parts.transfer_count)::double precision AS mean_size_bytes,
        coalesce(
            bins.exact_durations[1],
            mart.histogram_value(parts.p10_low) * (1 - parts.p10_part)
            + mart.histogram_value(parts.p10_high) * parts.p10_part
        ) AS p10_duration_s,
        coalesce(
            bins.exact_durations[2],
            mart.histogram_value(parts.p50_low) * (1 - parts.p50_part)
            + mart.histogram_value(parts.p50_high) * parts.p50_part
        ) AS p50_duration_s,
        coalesce(
            bins.exact_durations[3],
            mart.histogram_value(parts.p90_low) * (1 - parts.p90_part)
            + mart.histogram_value(parts.p90_high) * parts.p90_part
        ) AS p90_duration_s,
        days.first_on,
        days.last_on
    FROM bins
    INNER JOIN parts
        ON
            bins.archive = parts.archive
            AND bins.interface = parts.interface
            AND bins.direction = parts.direction
            AND bins.size_bin = parts.size_bin
    INNER JOIN days
        ON
            bins.archive = days.archive
            AND bins.interface = days.interface
            AND bins.direction = days.direction
)

SELECT
    answers.archive,
    answers.kind,
    answers.interface,
    answers.direction,
    mart.size_bin_edge(answers.size_bin) AS size_from_bytes,
    mart.size_bin_edge(answers.size_bin + 1) AS size_to_bytes,

    answers.transfer_count::bigint AS transfer_count,
    answers.mean_size_bytes,
    answers.min_duration_s,
    answers.p10_duration_s,
    answers.p50_duration_s,
    answers.p90_duration_s,
    -- No join, so that the line is not fitted for a query that does not ask for it.
    (
        SELECT lines.latency_s + lines.slope_s_per_byte * answers.mean_size_bytes
        FROM lines
        WHERE
            answers.archive = lines.archive
            AND answers.interface = lines.interface
            AND answers.direction = lines.direction
    ) AS envelope_s,
    answers.first_on,
    answers.last_on
FROM answers

$function$;
