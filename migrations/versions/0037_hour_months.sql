-- Hours of the week by route and local month: the table, rights, and the sums of the days that are there. Single clients
-- have no months.

CREATE TABLE core.hour_months (
    route_id INTEGER NOT NULL,
    month DATE NOT NULL,
    first_on DATE NOT NULL,
    last_on DATE NOT NULL,
    week_hours SMALLINT[] NOT NULL,
    transfer_counts BIGINT[] NOT NULL,
    failed_counts BIGINT[] NOT NULL,
    size_bytes NUMERIC[] NOT NULL,
    unknown_size_counts BIGINT[] NOT NULL,
    CONSTRAINT hour_months_pkey PRIMARY KEY (route_id, month),
    CONSTRAINT hour_months_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.hour_months IS
    'One row per route and local month of its archive with transfers at known hours; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.hour_months TO tapewise_loader;

INSERT INTO core.hour_months
WITH entries AS (
    SELECT
        day_cells.route_id,
        date_trunc('month', day_cells.day::timestamp)::date AS month,
        day_cells.day,
        ((extract(isodow FROM day_cells.day) - 1) * 24 + part.hour)::smallint AS week_hour,
        part.transfer_count,
        part.failed_count,
        part.size_bytes,
        part.unknown_size_count
    FROM core.day_cells
    INNER JOIN core.routes ON day_cells.route_id = routes.id
    CROSS JOIN LATERAL unnest(
        day_cells.hours,
        day_cells.hour_transfer_counts,
        day_cells.hour_failed_counts,
        day_cells.hour_size_bytes,
        day_cells.hour_unknown_size_counts
    ) AS part (hour, transfer_count, failed_count, size_bytes, unknown_size_count)
    WHERE routes.client_id IS NULL
),
sums AS (
    SELECT
        route_id,
        month,
        week_hour,
        min(day) AS first_on,
        max(day) AS last_on,
        sum(transfer_count)::bigint AS transfer_count,
        sum(failed_count)::bigint AS failed_count,
        sum(size_bytes) AS size_bytes,
        sum(unknown_size_count)::bigint AS unknown_size_count
    FROM entries
    GROUP BY route_id, month, week_hour
)
SELECT
    route_id,
    month,
    min(first_on),
    max(last_on),
    array_agg(week_hour ORDER BY week_hour),
    array_agg(transfer_count ORDER BY week_hour),
    array_agg(failed_count ORDER BY week_hour),
    array_agg(size_bytes ORDER BY week_hour),
    array_agg(unknown_size_count ORDER BY week_hour)
FROM sums
GROUP BY route_id, month;
