CREATE FUNCTION mart.transfer_sizes(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    bins_per_decade integer DEFAULT 1,
    grouped_by text[] DEFAULT '{}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    transfer_count bigint,
    saturated_count bigint,
    size_bytes numeric,
    count_ratio double precision,
    running_count_ratio double precision,
    bytes_ratio double precision,
    running_bytes_ratio double precision,
    unbinned_count bigint,
    is_from_cells boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The cells of sizes lack transfers whose duration the filter of the envelope leaves out, and saturated
-- sizes. The cells of days have these, but not for days whose detail was forgotten before they were counted.
-- Whether any are missing is known before a transfer is read.
WITH days AS MATERIALIZED (
    SELECT
        selected.archive,
        selected.kind,
        selected.interface,
        selected.direction,
        selected.transfer_count - selected.failed_count AS moved_count,
        selected.unknown_size_count,
        selected.rest_size_bins,
        selected.rest_size_counts,
        selected.rest_saturated_counts,
        selected.rest_size_bytes
    FROM
        mart.selected_days(
            archive => transfer_sizes.archive,
            since => transfer_sizes.since,
            until => transfer_sizes.until,
            interface => transfer_sizes.interface,
            direction => transfer_sizes.direction,
            client => transfer_sizes.client,
            class_of_service => transfer_sizes.class_of_service
        ) AS selected
),

totals AS (
    SELECT
        days.archive,
        days.interface,
        days.direction,
        sum(days.moved_count)::bigint AS moved_count,
        sum(days.unknown_size_count)::bigint AS unknown_size_count
    FROM days
    GROUP BY days.archive, days.interface, days.direction
),

cells AS (
    SELECT selected.*
    FROM
        mart.selected_sizes(
            archive => transfer_sizes.archive,
            since => transfer_sizes.since,
            until => transfer_sizes.until,
            interface => transfer_sizes.interface,
            direction => transfer_sizes.direction,
            client => transfer_sizes.client,
            class_of_service => transfer_sizes.class_of_service
        ) AS selected
),

-- Bytes and numbers are in different arrays of a cell.
parts AS MATERIALIZED (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction,
        bins.size_bin,
        0::bigint AS transfer_count,
        0::bigint AS saturated_count,
        bins.size_bytes
    FROM cells
    CROSS JOIN LATERAL unnest(cells.size_bins, cells.size_bytes) AS bins (size_bin, size_bytes)
    UNION ALL
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction,
        times.size_bin,
        times.time_count AS transfer_count,
        0 AS saturated_count,
        0 AS size_bytes
    FROM cells
    CROSS JOIN LATERAL unnest(cells.time_size_bins, cells.time_counts) AS times (size_bin, time_count)
    UNION ALL
    SELECT
        days.archive,
        days.kind,
        days.interface,
        days.direction,
        rests.size_bin,
        rests.transfer_count,
        rests.saturated_count,
        rests.size_bytes
    FROM days
    CROSS JOIN
        LATERAL unnest(
            days.rest_size_bins, days.rest_size_counts, days.rest_saturated_counts, days.rest_size_bytes
        ) AS rests (size_bin, transfer_count, saturated_count, size_bytes)
),

counts AS (
    SELECT
        parts.archive,
        sum(parts.transfer_count) AS transfer_count
    FROM parts
    GROUP BY parts.archive
),

choices AS MATERIALIZED (
    SELECT
        totals.archive,
        sum(totals.moved_count - totals.unknown_size_count) = max(counts.transfer_count) AS is_from_cells
    FROM totals
    INNER JOIN counts ON totals.archive = counts.archive
    GROUP BY totals.archive
),

-- The subquery is computed first, and if it is false, nothing is read.
transfers AS (
    SELECT
        days.archive,
        days.kind,
        days.interface,
        days.direction,
        mart.size_bin(days.size_bytes::bigint) AS size_bin,
        days.saturated_count,
        days.size_bytes
    FROM
        mart.selected_days(
            archive => transfer_sizes.archive,
            since => transfer_sizes.since,
            until => transfer_sizes.until,
            interface => transfer_sizes.interface,
            direction => transfer_sizes.direction,
            client => transfer_sizes.client,
            class_of_service => transfer_sizes.class_of_service,
            is_exact => TRUE
        ) AS days
    INNER JOIN choices ON days.archive = choices.archive AND NOT choices.is_from_cells
    WHERE
        days.failed_count = 0
        AND days.unknown_size_count = 0
        AND (SELECT bool_or(NOT chosen.is_from_cells) FROM choices AS chosen)
),

binned AS (
    SELECT
        parts.archive,
        parts.kind,
        parts.interface,
        parts.direction,
        parts.size_bin::integer AS size_bin,
        parts.transfer_count,
        parts.saturated_count,
        parts.size_bytes,
        TRUE AS is_from_cells
    FROM parts
    INNER JOIN choices ON parts.archive = choices.archive AND choices.is_from_cells
    UNION ALL
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.direction,
        transfers.size_bin,
        count(*) AS transfer_count,
        sum(transfers.saturated_count)::bigint AS saturated_count,
        sum(transfers.size_bytes) AS size_bytes,
        FALSE AS is_from_cells
    FROM transfers
    GROUP BY
        transfers.size_bin,
        transfers.interface,
        transfers.direction,
        transfers.archive,
        transfers.kind
),

-- Only the columns of the groupings that are asked for have values. Each decade has three bins of
-- mart.size_bin, from the second one on. The first one, which is for empty files, becomes -1, whose edges are
-- also 0 and 1.
asked_for AS (
    SELECT
        binned.archive,
        binned.kind,
        CASE WHEN 'interface' = any(transfer_sizes.grouped_by) THEN binned.interface END AS interface,
        CASE WHEN 'direction' = any(transfer_sizes.grouped_by) THEN binned.direction END AS direction,
        CASE
            WHEN transfer_sizes.bins_per_decade = 3 THEN binned.size_bin
            ELSE binned.size_bin - mod(binned.size_bin + 1, 3)
        END AS size_bin,
        binned.transfer_count,
        binned.saturated_count,
        binned.size_bytes,
        binned.is_from_cells
    FROM binned
    WHERE
        transfer_sizes.bins_per_decade IN (1, 3)
        AND transfer_sizes.grouped_by <@ ARRAY['interface', 'direction']
),

bins AS (
    SELECT
        asked_for.archive,
        asked_for.kind,
        asked_for.interface,
        asked_for.direction,
        asked_for.size_bin,
        sum(asked_for.transfer_count) AS transfer_count,
        sum(asked_for.saturated_count) AS saturated_count,
        sum(asked_for.size_bytes) AS size_bytes,
        asked_for.is_from_cells
    FROM asked_for
    GROUP BY
        asked_for.size_bin,
        asked_for.interface,
        asked_for.direction,
        asked_for.archive,
        asked_for.kind,
        asked_for.is_from_cells
),

shares AS (
    SELECT
        bins.*,
        sum(bins.transfer_count) OVER everything AS all_count,
        sum(bins.transfer_count) OVER upto AS upto_count,
        sum(bins.size_bytes) OVER everything AS all_bytes,
        sum(bins.size_bytes) OVER upto AS upto_bytes
    FROM bins
    WINDOW
        everything AS (PARTITION BY bins.archive, bins.interface, bins.direction),
        upto AS (everything ORDER BY bins.size_bin)
)

SELECT
    shares.archive,
    shares.kind,
    shares.interface,
    shares.direction,

    mart.size_bin_edge(shares.size_bin) AS size_from_bytes,
    mart.size_bin_edge(shares.size_bin + 3 / transfer_sizes.bins_per_decade) AS size_to_bytes,
    shares.transfer_count::bigint AS transfer_count,
    shares.saturated_count::bigint AS saturated_count,
    shares.size_bytes,
    (shares.transfer_count / shares.all_count)::double precision AS count_ratio,
    (shares.upto_count / shares.all_count)::double precision AS running_count_ratio,
    (shares.size_bytes / nullif(shares.all_bytes, 0))::double precision AS bytes_ratio,
    (shares.upto_bytes / nullif(shares.all_bytes, 0))::double precision AS running_bytes_ratio,
    (
        SELECT sum(totals.moved_count)::bigint
        FROM totals
        WHERE
            totals.archive = shares.archive
            AND totals.interface = coalesce(shares.interface, totals.interface)
            AND totals.direction = coalesce(shares.direction, totals.direction)
    ) - shares.all_count::bigint AS unbinned_count,

    shares.is_from_cells
FROM shares

$function$;
