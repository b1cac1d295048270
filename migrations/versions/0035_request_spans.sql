-- Requests counted also by local month and year: the table again, with a column for the span, and the sums of the days
-- that are there, which include forgotten ones.

CREATE TEMPORARY TABLE days ON COMMIT DROP AS SELECT * FROM core.request_cells;

DROP TABLE core.request_cells;

CREATE TABLE core.request_cells (
    route_id INTEGER NOT NULL,
    span TEXT NOT NULL,
    starts_on DATE NOT NULL,
    request_count BIGINT NOT NULL,
    below_clock_count BIGINT NOT NULL,
    negative_count BIGINT NOT NULL,
    size_bins INTEGER[] NOT NULL,
    size_counts BIGINT[] NOT NULL,
    duration_bins INTEGER[] NOT NULL,
    duration_counts BIGINT[] NOT NULL,
    wait_bins INTEGER[] NOT NULL,
    wait_counts BIGINT[] NOT NULL,
    CONSTRAINT request_cells_pkey PRIMARY KEY (route_id, span, starts_on),
    CONSTRAINT request_cells_span_check CHECK (span in ('day', 'month', 'year')),
    CONSTRAINT request_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.request_cells IS 'One row per route and local day, month or year with requests; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.request_cells TO tapewise_loader;

INSERT INTO core.request_cells
SELECT
    route_id,
    'day',
    day,
    request_count,
    below_clock_count,
    negative_count,
    size_bins,
    size_counts,
    duration_bins,
    duration_counts,
    wait_bins,
    wait_counts
FROM days;

DROP TABLE days;

-- Months are the sums of days, and years those of months.
CREATE FUNCTION pg_temp.add_up(below TEXT, above TEXT) RETURNS VOID
LANGUAGE sql AS $$
INSERT INTO core.request_cells
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
    above,
    first_day,
    sum(request_count),
    sum(below_clock_count),
    sum(negative_count),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}'),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}'),
    coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}'),
    coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}')
FROM sums
GROUP BY route_id, first_day
$$;

SELECT pg_temp.add_up('day', 'month');
SELECT pg_temp.add_up('month', 'year');

DROP FUNCTION pg_temp.add_up(TEXT, TEXT);
