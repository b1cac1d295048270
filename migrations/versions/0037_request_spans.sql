-- Requests counted also by local month and year: the columns of a span and of its first day, and the sums of the days
-- that are there, which include forgotten ones.

ALTER TABLE core.request_cells RENAME COLUMN day TO starts_on;
ALTER TABLE core.request_cells ADD COLUMN span TEXT NOT NULL DEFAULT 'day';
ALTER TABLE core.request_cells ALTER COLUMN span DROP DEFAULT;
ALTER TABLE core.request_cells ADD CONSTRAINT request_cells_span_check CHECK (span in ('day', 'month', 'year'));
ALTER TABLE core.request_cells DROP CONSTRAINT request_cells_pkey;
ALTER TABLE core.request_cells ADD CONSTRAINT request_cells_pkey PRIMARY KEY (route_id, span, starts_on);

COMMENT ON TABLE core.request_cells IS 'One row per route and local day, month or year with requests; derived';

-- Months are the sums of days, and years those of months.
CREATE FUNCTION pg_temp.add_up(below TEXT, above TEXT) RETURNS VOID
LANGUAGE sql AS $$
INSERT INTO core.request_cells (
    route_id, starts_on, request_count, below_clock_count, negative_count, size_bins, size_counts,
    duration_bins, duration_counts, wait_bins, wait_counts, span
)
WITH cells AS (
    SELECT request_cells.*, date_trunc(above, starts_on::timestamp)::date AS first_day
    FROM core.request_cells
    WHERE span = below
),
-- Rows of counts and rows of bins, one below the other: a join of the two could compare each with each.
parts AS (
    SELECT
        route_id, first_day, request_count, below_clock_count, negative_count, NULL AS quantity,
        NULL::integer AS bin, NULL::bigint AS bin_count
    FROM cells
    UNION ALL
    SELECT route_id, first_day, 0, 0, 0, 'size', unnest(size_bins), unnest(size_counts) FROM cells
    UNION ALL
    SELECT route_id, first_day, 0, 0, 0, 'duration', unnest(duration_bins), unnest(duration_counts) FROM cells
    UNION ALL
    SELECT route_id, first_day, 0, 0, 0, 'wait', unnest(wait_bins), unnest(wait_counts) FROM cells
),
sums AS (
    SELECT
        route_id, first_day, quantity, bin, sum(request_count) AS request_count,
        sum(below_clock_count) AS below_clock_count, sum(negative_count) AS negative_count,
        sum(bin_count)::bigint AS bin_count
    FROM parts
    GROUP BY route_id, first_day, quantity, bin
)
SELECT
    route_id,
    first_day,
    sum(request_count),
    sum(below_clock_count),
    sum(negative_count),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}'),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}'),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}'),
    above
FROM sums
GROUP BY route_id, first_day
$$;

SELECT pg_temp.add_up('day', 'month');
SELECT pg_temp.add_up('month', 'year');

DROP FUNCTION pg_temp.add_up(TEXT, TEXT);
