-- Rates by route and local month: the table, rights, and the sums of the days that are there.

CREATE TABLE core.rate_months (
    route_id INTEGER NOT NULL,
    month DATE NOT NULL,
    first_on DATE NOT NULL,
    last_on DATE NOT NULL,
    rated_count BIGINT NOT NULL,
    rated_size_bytes NUMERIC NOT NULL,
    rated_duration_us BIGINT NOT NULL,
    rate_bins INTEGER[] NOT NULL,
    rate_counts BIGINT[] NOT NULL,
    CONSTRAINT rate_months_pkey PRIMARY KEY (route_id, month),
    CONSTRAINT rate_months_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.rate_months IS 'One row per route and local month of its archive with rates; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.rate_months TO tapewise_loader;

INSERT INTO core.rate_months
WITH days AS (
    SELECT
        day_cells.route_id,
        date_trunc('month', day_cells.day::timestamp)::date AS month,
        day_cells.day,
        day_cells.rated_size_bytes,
        day_cells.rated_duration_us,
        day_cells.rate_bins,
        day_cells.rate_counts
    FROM core.day_cells
    WHERE day_cells.rate_bins <> '{}'
),
bins AS (
    SELECT
        days.route_id,
        days.month,
        part.bin,
        sum(part.rate_count)::bigint AS rate_count
    FROM days
    CROSS JOIN LATERAL unnest(days.rate_bins, days.rate_counts) AS part (bin, rate_count)
    GROUP BY days.route_id, days.month, part.bin
),
histograms AS (
    SELECT
        route_id,
        month,
        sum(rate_count)::bigint AS rated_count,
        array_agg(bin ORDER BY bin) AS rate_bins,
        array_agg(rate_count ORDER BY bin) AS rate_counts
    FROM bins
    GROUP BY route_id, month
),
sums AS (
    SELECT
        route_id,
        month,
        min(day) AS first_on,
        max(day) AS last_on,
        sum(rated_size_bytes) AS rated_size_bytes,
        sum(rated_duration_us)::bigint AS rated_duration_us
    FROM days
    GROUP BY route_id, month
)
SELECT
    sums.route_id,
    sums.month,
    sums.first_on,
    sums.last_on,
    histograms.rated_count,
    sums.rated_size_bytes,
    sums.rated_duration_us,
    histograms.rate_bins,
    histograms.rate_counts
FROM sums
JOIN histograms ON histograms.route_id = sums.route_id AND histograms.month = sums.month;
