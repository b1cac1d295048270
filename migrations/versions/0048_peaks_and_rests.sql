-- The busiest ten minutes of each local month: the table, rights, and the peaks of the days that are there. Single clients
-- have none. Then sizes, which they have.

CREATE TABLE core.month_peaks (
    archive_id INTEGER NOT NULL,
    month DATE NOT NULL,
    interface TEXT,
    direction TEXT,
    class_of_service TEXT,
    transfer_count BIGINT NOT NULL,
    ten_minutes INTEGER NOT NULL,
    CONSTRAINT month_peaks_archive_id_key
    UNIQUE NULLS NOT DISTINCT (archive_id, month, interface, direction, class_of_service),
    CONSTRAINT month_peaks_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.month_peaks IS
    'One row per archive, local month, and interface and direction or class of service: the busiest ten minutes; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.month_peaks TO tapewise_loader;

INSERT INTO core.month_peaks
WITH parts AS MATERIALIZED (
    SELECT
        sources.archive_id,
        day_cells.day,
        routes.interface,
        routes.direction,
        routes.class_of_service,
        unnest(day_cells.ten_minutes) AS ten_minutes,
        unnest(day_cells.ten_minute_counts) AS transfer_count
    FROM core.day_cells
    INNER JOIN core.routes ON day_cells.route_id = routes.id
    INNER JOIN ledger.sources ON routes.source_id = sources.id
    WHERE routes.client_id IS NULL
),
pairs AS (
    SELECT
        archive_id,
        day,
        ten_minutes,
        interface,
        direction,
        sum(transfer_count) AS transfer_count
    FROM parts
    GROUP BY archive_id, day, ten_minutes, interface, direction
),
sums AS (
    SELECT
        archive_id,
        day,
        ten_minutes,
        interface,
        direction,
        NULL AS class_of_service,
        sum(transfer_count)::bigint AS transfer_count
    FROM pairs
    GROUP BY archive_id, day, ten_minutes, GROUPING SETS ((), (interface), (direction), (interface, direction))
    UNION ALL
    SELECT
        archive_id,
        day,
        ten_minutes,
        NULL,
        NULL,
        class_of_service,
        sum(transfer_count)
    FROM parts
    WHERE class_of_service IS NOT NULL
    GROUP BY archive_id, day, ten_minutes, class_of_service
),
-- The greatest number with the count in front of the minutes, which are subtracted so that the earliest is the
-- greatest.
peaks AS (
    SELECT
        archive_id,
        date_trunc('month', day::timestamp)::date AS month,
        interface,
        direction,
        class_of_service,
        max((transfer_count << 32) + 2147483647 - ten_minutes) AS packed
    FROM sums
    GROUP BY archive_id, date_trunc('month', day::timestamp)::date, interface, direction, class_of_service
)
SELECT
    archive_id,
    month,
    interface,
    direction,
    class_of_service,
    packed >> 32,
    2147483647 - (packed & 4294967295)
FROM peaks;

-- The sizes of transfers that the filter of the envelope leaves out, which are not in core.size_cells.
ALTER TABLE core.day_cells
    ADD COLUMN rest_size_bins SMALLINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN rest_size_counts BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN rest_saturated_counts BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN rest_size_bytes NUMERIC[] NOT NULL DEFAULT '{}';
ALTER TABLE core.day_cells
    ALTER COLUMN rest_size_bins DROP DEFAULT,
    ALTER COLUMN rest_size_counts DROP DEFAULT,
    ALTER COLUMN rest_saturated_counts DROP DEFAULT,
    ALTER COLUMN rest_size_bytes DROP DEFAULT;

WITH edges AS MATERIALIZED (
    -- 0, then 1, 2 and 5 in each decade.
    SELECT ARRAY[0] || array_agg((digit * 10::numeric ^ decade)::bigint ORDER BY decade, digit) AS edges
    FROM unnest(ARRAY[1, 2, 5]) AS digit, generate_series(0, 18) AS decade
),
sizes AS (
    SELECT
        routes.id AS route_id,
        (transfers.ended_at AT TIME ZONE archives.timezone)::date AS day,
        width_bucket(transfers.size_bytes, edges.edges) AS size_bin,
        count(*) AS size_count,
        count(*) FILTER (WHERE transfers.is_size_saturated) AS saturated_count,
        sum(transfers.size_bytes) AS size_bytes
    FROM core.transfers
    CROSS JOIN edges
    INNER JOIN core.archives ON transfers.archive_id = archives.id
    INNER JOIN ledger.sources ON transfers.source_id = sources.id
    INNER JOIN core.routes
        ON
            transfers.source_id = routes.source_id
            AND transfers.interface = routes.interface
            AND transfers.direction = routes.direction
            AND transfers.class_of_service IS NOT DISTINCT FROM routes.class_of_service
            AND (routes.client_id IS NULL OR transfers.host_id = routes.client_id)
    WHERE
        sources.is_counted
        AND NOT transfers.is_failed
        AND transfers.size_bytes IS NOT NULL
        AND (
            NOT transfers.is_size_saturated
            AND transfers.duration_s > 0
            AND NOT (transfers.is_duration_coarse AND transfers.duration_s < 10)
        ) IS NOT TRUE
    GROUP BY 1, 2, 3
),
arrays AS (
    SELECT
        route_id,
        day,
        array_agg(size_bin::smallint ORDER BY size_bin) AS size_bins,
        array_agg(size_count ORDER BY size_bin) AS size_counts,
        array_agg(saturated_count ORDER BY size_bin) AS saturated_counts,
        array_agg(size_bytes ORDER BY size_bin) AS size_bytes
    FROM sizes
    GROUP BY route_id, day
)
UPDATE core.day_cells
SET
    rest_size_bins = arrays.size_bins,
    rest_size_counts = arrays.size_counts,
    rest_saturated_counts = arrays.saturated_counts,
    rest_size_bytes = arrays.size_bytes
FROM arrays
WHERE day_cells.route_id = arrays.route_id AND day_cells.day = arrays.day;
