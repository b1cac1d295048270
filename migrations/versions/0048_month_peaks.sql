-- The busiest ten minutes of each local month: the table, rights, and the peaks of the days that are there. Single clients
-- have none.

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
