-- Requests counted by route, local day, month and year, and open time: the table, rights, and the cells of the facts that are there.

ALTER TABLE core.routes ALTER COLUMN direction DROP NOT NULL;

CREATE TABLE core.open_cells (
    route_id INTEGER NOT NULL,
    span TEXT NOT NULL,
    starts_on DATE NOT NULL,
    codes BIGINT[] NOT NULL,
    request_counts BIGINT[] NOT NULL,
    open_us NUMERIC[] NOT NULL,
    CONSTRAINT open_cells_pkey PRIMARY KEY (route_id, span, starts_on),
    CONSTRAINT open_cells_span_check CHECK (span in ('day', 'month', 'year')),
    CONSTRAINT open_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.open_cells IS 'One row per route and local day, month or year with open times; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.open_cells TO tapewise_loader;

-- What is read twice is computed once.
CREATE TEMPORARY TABLE parts ON COMMIT DROP AS
WITH asked AS (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        archive_id,
        ended_at,
        coalesce(opened_at, started_at, ended_at) AS opened_at,
        open_s,
        size_bytes IS NOT NULL AND NOT is_size_saturated AS is_sized
    FROM core.requests
    WHERE is_counted AND open_s IS NOT NULL AND NOT is_failed
    UNION ALL
    SELECT
        transfers.source_id,
        transfers.interface,
        transfers.direction,
        transfers.class_of_service,
        transfers.archive_id,
        transfers.ended_at,
        coalesce(transfers.started_at, transfers.ended_at),
        transfers.open_s,
        transfers.size_bytes IS NOT NULL AND NOT transfers.is_size_saturated
    FROM core.transfers
    JOIN ledger.sources ON sources.id = transfers.source_id
    WHERE
        sources.is_counted
        AND transfers.open_s IS NOT NULL
        AND NOT transfers.is_failed
        AND NOT EXISTS (
            SELECT FROM core.requests
            WHERE
                requests.archive_id = transfers.archive_id
                AND requests.ended_at = transfers.ended_at
                AND requests.transfer_id = transfers.id
        )
)
SELECT
    asked.source_id,
    asked.interface,
    asked.direction,
    asked.class_of_service,
    (asked.ended_at AT TIME ZONE archives.timezone)::date AS day,
    CASE
        WHEN asked.open_s < 10 THEN greatest(floor(asked.open_s * 20), 0) ELSE 180 + floor(least(asked.open_s, 1e9) * 2)
    END::bigint
    + (1::bigint << 40) * asked.is_sized::integer
    + (1::bigint << 41) * (
        (asked.ended_at AT TIME ZONE archives.timezone)::date
        - (asked.opened_at AT TIME ZONE archives.timezone)::date
    ) AS code,
    count(*) AS request_count,
    sum(round(asked.open_s * 1e6)::numeric) AS open_us
FROM asked
JOIN core.archives ON archives.id = asked.archive_id
GROUP BY 1, 2, 3, 4, 5, 6;

-- An open without a transfer may be the only line of its route.
INSERT INTO core.routes (source_id, interface, direction, class_of_service)
SELECT source_id, interface, direction, class_of_service
FROM parts
WHERE
    NOT EXISTS (
        SELECT FROM core.routes
        WHERE
            routes.source_id = parts.source_id
            AND routes.interface = parts.interface
            AND routes.direction IS NOT DISTINCT FROM parts.direction
            AND routes.class_of_service IS NOT DISTINCT FROM parts.class_of_service
    )
GROUP BY source_id, interface, direction, class_of_service
ORDER BY source_id, interface, direction, class_of_service;

INSERT INTO core.open_cells
WITH entries AS (
    SELECT
        routes.id AS route_id,
        spans.span,
        spans.starts_on,
        parts.code,
        sum(parts.request_count)::bigint AS request_count,
        sum(parts.open_us) AS open_us
    FROM parts
    JOIN core.routes
        ON
            routes.source_id = parts.source_id
            AND routes.interface = parts.interface
            AND routes.direction IS NOT DISTINCT FROM parts.direction
            AND routes.class_of_service IS NOT DISTINCT FROM parts.class_of_service
    CROSS JOIN LATERAL (
        VALUES
        ('day', parts.day),
        ('month', date_trunc('month', parts.day::timestamp)::date),
        ('year', date_trunc('year', parts.day::timestamp)::date)
    ) AS spans (span, starts_on)
    GROUP BY routes.id, spans.span, spans.starts_on, parts.code
)
SELECT
    route_id,
    span,
    starts_on,
    array_agg(code ORDER BY code),
    array_agg(request_count ORDER BY code),
    array_agg(open_us ORDER BY code)
FROM entries
GROUP BY route_id, span, starts_on;

DROP TABLE parts;
