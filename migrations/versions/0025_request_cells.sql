-- Requests counted by route and local day: the table, rights, and the cells of the facts that are there.

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

COMMENT ON TABLE core.routes IS 'One row per source, interface, direction and class of service that a cell counts';

GRANT DELETE ON core.routes TO tapewise_loader;
GRANT SELECT, INSERT, UPDATE, DELETE ON core.request_cells TO tapewise_loader;

-- What is read twice is computed once. One reading of the facts: all else adds these groups up.
CREATE TEMPORARY TABLE parts ON COMMIT DROP AS
WITH asked AS (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        archive_id,
        ended_at,
        size_bytes,
        duration_s,
        (extract(EPOCH FROM started_at - submitted_at) * 1000000)::bigint AS measured_us,
        CASE
            WHEN mod(extract(MICROSECONDS FROM ended_at)::bigint, 1000000) = 0 THEN 1000000
            WHEN
                mod(
                    extract(
                        MICROSECONDS FROM coalesce(
                            CASE WHEN job_id IS NULL AND start_id IS NULL THEN opened_at END, submitted_at
                        )
                    )::bigint,
                    1000000
                ) = 0
                THEN 1000000
            ELSE 0
        END AS step_us,
        coalesce(submitted_at, started_at, ended_at) AS asked_at
    FROM core.requests
    WHERE is_counted AND is_failed IS NOT TRUE AND transfer_id IS NOT NULL
    UNION ALL
    SELECT
        transfers.source_id,
        transfers.interface,
        transfers.direction,
        transfers.class_of_service,
        transfers.archive_id,
        transfers.ended_at,
        transfers.size_bytes,
        transfers.duration_s,
        (
            extract(
                EPOCH FROM transfers.started_at
                - (transfers.started_at - make_interval(secs => transfers.open_s))
            ) * 1000000
        )::bigint,
        0,
        coalesce(
            transfers.started_at - make_interval(secs => transfers.open_s), transfers.started_at, transfers.ended_at
        )
    FROM core.transfers
    JOIN ledger.sources ON sources.id = transfers.source_id
    WHERE
        sources.is_counted
        AND NOT transfers.is_failed
        AND NOT EXISTS (
            SELECT FROM core.requests
            WHERE
                requests.archive_id = transfers.archive_id
                AND requests.ended_at = transfers.ended_at
                AND requests.transfer_id = transfers.id
        )
),
counted AS (
    SELECT
        asked.*,
        (asked.ended_at AT TIME ZONE archives.timezone)::date AS day,
        CASE WHEN archives.kind = 'simulated' THEN 0 ELSE asked.step_us END AS clock_step_us
    FROM asked
    JOIN core.archives ON archives.id = asked.archive_id
    LEFT JOIN studies.simulation_runs ON simulation_runs.archive_id = asked.archive_id
    WHERE archives.kind <> 'simulated' OR asked.asked_at >= simulation_runs.steady_at
),
measured AS (
    SELECT
        counted.*,
        CASE
            WHEN counted.measured_us >= 0 THEN counted.measured_us::double precision / 1000000
            WHEN counted.measured_us > -counted.clock_step_us THEN 0
        END AS waited_s
    FROM counted
)
SELECT
    source_id,
    interface,
    direction,
    class_of_service,
    day,
    -- The exponent and the first six binary digits of the number. (Of an unknown one, `greatest` would make 0.)
    CASE WHEN size_bytes IS NOT NULL THEN
        greatest(('x' || encode(float8send(size_bytes::double precision), 'hex'))::bit(64)::bigint >> 46, 0)::integer
    END AS size_bin,
    CASE WHEN duration_s IS NOT NULL THEN
        greatest(('x' || encode(float8send(duration_s), 'hex'))::bit(64)::bigint >> 46, 0)::integer
    END AS duration_bin,
    CASE WHEN waited_s IS NOT NULL THEN
        greatest(('x' || encode(float8send(waited_s), 'hex'))::bit(64)::bigint >> 46, 0)::integer
    END AS wait_bin,
    count(*) AS request_count,
    count(*) FILTER (WHERE abs(measured_us) < clock_step_us) AS below_clock_count,
    count(*) FILTER (WHERE measured_us < 0 AND measured_us <= -clock_step_us) AS negative_count
FROM measured
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

INSERT INTO core.routes (source_id, interface, direction, class_of_service)
SELECT source_id, interface, direction, class_of_service
FROM parts
WHERE
    NOT EXISTS (
        SELECT FROM core.routes
        WHERE
            routes.source_id = parts.source_id
            AND routes.interface = parts.interface
            AND routes.direction = parts.direction
            AND routes.class_of_service IS NOT DISTINCT FROM parts.class_of_service
    )
GROUP BY source_id, interface, direction, class_of_service
ORDER BY source_id, interface, direction, class_of_service;

INSERT INTO core.request_cells
WITH bins AS (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        day,
        quantities.quantity,
        quantities.bin,
        sum(request_count)::bigint AS bin_count
    FROM parts
    CROSS JOIN LATERAL (VALUES ('size', size_bin), ('duration', duration_bin), ('wait', wait_bin))
        AS quantities (quantity, bin)
    WHERE quantities.bin IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7
),
-- Rows of counts and rows of bins, one below the other: a join of the two could compare each with each.
both_of_them AS (
    SELECT
        source_id, interface, direction, class_of_service, day, request_count, below_clock_count, negative_count,
        NULL AS quantity, NULL::integer AS bin, NULL::bigint AS bin_count
    FROM parts
    UNION ALL
    SELECT source_id, interface, direction, class_of_service, day, 0, 0, 0, quantity, bin, bin_count FROM bins
),
days AS (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        day,
        sum(request_count)::bigint AS request_count,
        sum(below_clock_count)::bigint AS below_clock_count,
        sum(negative_count)::bigint AS negative_count,
        coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}') AS size_bins,
        coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'size'), '{}') AS size_counts,
        coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}') AS duration_bins,
        coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'duration'), '{}')
            AS duration_counts,
        coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}') AS wait_bins,
        coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE quantity = 'wait'), '{}') AS wait_counts
    FROM both_of_them
    GROUP BY 1, 2, 3, 4, 5
)
SELECT
    routes.id,
    days.day,
    days.request_count,
    days.below_clock_count,
    days.negative_count,
    days.size_bins,
    days.size_counts,
    days.duration_bins,
    days.duration_counts,
    days.wait_bins,
    days.wait_counts
FROM days
JOIN core.routes
    ON
        routes.source_id = days.source_id
        AND routes.interface = days.interface
        AND routes.direction = days.direction
        AND routes.class_of_service IS NOT DISTINCT FROM days.class_of_service;

DROP TABLE parts;
