-- Gets counted by route, local day and evidence: the table, rights, and the cells of the facts that are there.

CREATE TABLE core.hit_cells (
    route_id INTEGER NOT NULL,
    day DATE NOT NULL,
    staged_count BIGINT NOT NULL,
    codes BIGINT[] NOT NULL,
    get_counts BIGINT[] NOT NULL,
    size_bytes NUMERIC[] NOT NULL,
    CONSTRAINT hit_cells_pkey PRIMARY KEY (route_id, day),
    CONSTRAINT hit_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.hit_cells IS 'One row per route and local day of its archive with gets; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.hit_cells TO tapewise_loader;

-- What is read twice is computed once.
CREATE TEMPORARY TABLE parts ON COMMIT DROP AS
WITH asked AS (
    SELECT
        source_id,
        interface,
        class_of_service,
        archive_id,
        ended_at,
        coalesce(opened_at, started_at, ended_at) AS opened_at,
        coalesce(submitted_at, started_at, ended_at) AS asked_at,
        size_bytes,
        open_s,
        stage_id IS NOT NULL OR is_joined IS TRUE AS is_staged,
        is_cached,
        persona IS NOT NULL AND transfer_id IS NOT NULL AS has_persona,
        FALSE AS is_time_of_day_unknown,
        is_size_saturated,
        is_joined
    FROM core.requests
    WHERE is_counted AND direction = 'get' AND NOT is_failed
    UNION ALL
    SELECT
        transfers.source_id,
        transfers.interface,
        transfers.class_of_service,
        transfers.archive_id,
        transfers.ended_at,
        coalesce(transfers.started_at, transfers.ended_at),
        coalesce(
            transfers.started_at - make_interval(secs => transfers.open_s), transfers.started_at, transfers.ended_at
        ),
        transfers.size_bytes,
        transfers.open_s,
        FALSE,
        NULL,
        transfers.persona IS NOT NULL,
        transfers.is_time_of_day_unknown,
        transfers.is_size_saturated,
        NULL
    FROM core.transfers
    JOIN ledger.sources ON sources.id = transfers.source_id
    WHERE
        sources.is_counted
        AND transfers.direction = 'get'
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
    asked.class_of_service,
    (asked.ended_at AT TIME ZONE archives.timezone)::date AS day,
    asked.is_staged::integer::bigint
    + 2 * coalesce(1 + asked.is_cached::integer, 0)
    + 8 * asked.has_persona::integer
    -- (Of an unknown time, `greatest` would make 0.)
    + 16 * CASE WHEN asked.open_s IS NULL THEN 0 ELSE 1 + least(greatest(floor(asked.open_s), 0), 10)::integer END
    + 256 * asked.is_time_of_day_unknown::integer
    + 512 * asked.is_size_saturated::integer
    + 1024 * CASE
        WHEN asked.size_bytes < 2000000 THEN 1
        WHEN asked.size_bytes < 200000000 THEN 2
        WHEN asked.size_bytes <= 1000000000 THEN 3
        WHEN asked.size_bytes IS NOT NULL THEN 4
        ELSE 0
    END
    + 8192 * coalesce(1 + asked.is_joined::integer, 0)
    + 32768::bigint * (
        (asked.ended_at AT TIME ZONE archives.timezone)::date
        - (asked.opened_at AT TIME ZONE archives.timezone)::date
    ) AS code,
    asked.is_staged,
    count(*) AS get_count,
    coalesce(sum(asked.size_bytes), 0) AS size_bytes
FROM asked
JOIN core.archives ON archives.id = asked.archive_id
LEFT JOIN studies.simulation_runs ON simulation_runs.archive_id = asked.archive_id
WHERE archives.kind <> 'simulated' OR asked.asked_at >= simulation_runs.steady_at
GROUP BY 1, 2, 3, 4, 5, 6;

-- An open without a transfer may be the only line of its route.
INSERT INTO core.routes (source_id, interface, direction, class_of_service)
SELECT source_id, interface, 'get', class_of_service
FROM parts
WHERE
    NOT EXISTS (
        SELECT FROM core.routes
        WHERE
            routes.source_id = parts.source_id
            AND routes.interface = parts.interface
            AND routes.direction = 'get'
            AND routes.class_of_service IS NOT DISTINCT FROM parts.class_of_service
    )
GROUP BY source_id, interface, class_of_service
ORDER BY source_id, interface, class_of_service;

INSERT INTO core.hit_cells
SELECT
    routes.id,
    parts.day,
    coalesce(sum(parts.get_count) FILTER (WHERE parts.is_staged), 0)::bigint,
    array_agg(parts.code ORDER BY parts.code),
    array_agg(parts.get_count ORDER BY parts.code),
    array_agg(parts.size_bytes ORDER BY parts.code)
FROM parts
JOIN core.routes
    ON
        routes.source_id = parts.source_id
        AND routes.interface = parts.interface
        AND routes.direction = 'get'
        AND routes.class_of_service IS NOT DISTINCT FROM parts.class_of_service
GROUP BY routes.id, parts.day;

DROP TABLE parts;
