-- The table of revision 0025, with the cells of days.

CREATE TEMPORARY TABLE days ON COMMIT DROP AS SELECT * FROM core.request_cells WHERE span = 'day';

DROP TABLE core.request_cells;

CREATE TABLE core.request_cells (
    route_id INTEGER NOT NULL,
    day DATE NOT NULL,
    request_count BIGINT NOT NULL,
    below_clock_count BIGINT NOT NULL,
    negative_count BIGINT NOT NULL,
    size_bins INTEGER[] NOT NULL,
    size_counts BIGINT[] NOT NULL,
    duration_bins INTEGER[] NOT NULL,
    duration_counts BIGINT[] NOT NULL,
    wait_bins INTEGER[] NOT NULL,
    wait_counts BIGINT[] NOT NULL,
    CONSTRAINT request_cells_pkey PRIMARY KEY (route_id, day),
    CONSTRAINT request_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.request_cells IS 'One row per route and local day of its archive with requests; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.request_cells TO tapewise_loader;

INSERT INTO core.request_cells
SELECT
    route_id,
    starts_on,
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
