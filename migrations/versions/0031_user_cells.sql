-- Requests counted by route, user and local day, month and year: the table, rights, and the cells of the facts
-- that are there.

CREATE TABLE core.user_cells (
    route_id INTEGER NOT NULL,
    span TEXT NOT NULL,
    starts_on DATE NOT NULL,
    user_ids INTEGER[] NOT NULL,
    request_counts BIGINT[] NOT NULL,
    size_bytes NUMERIC[] NOT NULL,
    CONSTRAINT user_cells_pkey PRIMARY KEY (route_id, span, starts_on),
    CONSTRAINT user_cells_span_check CHECK (span in ('day', 'month', 'year')),
    CONSTRAINT user_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.user_cells IS 'One row per route and local day, month or year with requests of known users; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.user_cells TO tapewise_loader;

-- The routes are there already: these transfers and requests were counted by day before.
INSERT INTO core.user_cells
WITH asked AS (
    SELECT source_id, interface, direction, class_of_service, archive_id, ended_at, user_id, size_bytes
    FROM core.requests
    WHERE is_counted AND is_failed IS NOT TRUE AND transfer_id IS NOT NULL AND user_id IS NOT NULL
    UNION ALL
    SELECT
        transfers.source_id,
        transfers.interface,
        transfers.direction,
        transfers.class_of_service,
        transfers.archive_id,
        transfers.ended_at,
        transfers.user_id,
        transfers.size_bytes
    FROM core.transfers
    JOIN ledger.sources ON sources.id = transfers.source_id
    WHERE
        sources.is_counted
        AND NOT transfers.is_failed
        AND transfers.user_id IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM core.requests
            WHERE
                requests.archive_id = transfers.archive_id
                AND requests.ended_at = transfers.ended_at
                AND requests.transfer_id = transfers.id
        )
),
days AS (
    SELECT
        asked.source_id,
        asked.interface,
        asked.direction,
        asked.class_of_service,
        (asked.ended_at AT TIME ZONE archives.timezone)::date AS day,
        asked.user_id,
        count(*) AS request_count,
        coalesce(sum(asked.size_bytes), 0) AS size_bytes
    FROM asked
    JOIN core.archives ON archives.id = asked.archive_id
    GROUP BY 1, 2, 3, 4, 5, 6
),
users AS (
    SELECT
        routes.id AS route_id,
        spans.span,
        spans.starts_on,
        days.user_id,
        sum(days.request_count)::bigint AS request_count,
        sum(days.size_bytes) AS size_bytes
    FROM days
    JOIN core.routes
        ON
            routes.source_id = days.source_id
            AND routes.interface = days.interface
            AND routes.direction = days.direction
            AND routes.class_of_service IS NOT DISTINCT FROM days.class_of_service
    CROSS JOIN LATERAL (
        VALUES
        ('day', days.day),
        ('month', date_trunc('month', days.day::timestamp)::date),
        ('year', date_trunc('year', days.day::timestamp)::date)
    ) AS spans (span, starts_on)
    GROUP BY routes.id, spans.span, spans.starts_on, days.user_id
)
SELECT
    route_id,
    span,
    starts_on,
    array_agg(user_id ORDER BY user_id),
    array_agg(request_count ORDER BY user_id),
    array_agg(size_bytes ORDER BY user_id)
FROM users
GROUP BY route_id, span, starts_on;
