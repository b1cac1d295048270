-- Transfers counted by route and local day: the tables, rights, and the cells of the facts that are there.

CREATE TABLE core.routes (
    id INTEGER GENERATED ALWAYS AS IDENTITY,
    source_id INTEGER NOT NULL,
    interface TEXT NOT NULL,
    direction TEXT NOT NULL,
    class_of_service TEXT,
    CONSTRAINT routes_pkey PRIMARY KEY (id),
    CONSTRAINT routes_source_id_key UNIQUE NULLS NOT DISTINCT (source_id, interface, direction, class_of_service),
    CONSTRAINT routes_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT routes_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id)
);

COMMENT ON TABLE core.routes IS 'One row per source, interface, direction and class of service that a day cell has counted';

CREATE TABLE core.day_cells (
    route_id INTEGER NOT NULL,
    day DATE NOT NULL,
    transfer_count BIGINT NOT NULL,
    failed_count BIGINT NOT NULL,
    saturated_count BIGINT NOT NULL,
    size_bytes NUMERIC NOT NULL,
    duration_us BIGINT NOT NULL,
    unknown_size_count BIGINT NOT NULL,
    unknown_duration_count BIGINT NOT NULL,
    ambiguous_count BIGINT NOT NULL,
    day_only_count BIGINT NOT NULL,
    coarse_count BIGINT NOT NULL,
    below_clock_count BIGINT NOT NULL,
    flagged_saturated_count BIGINT NOT NULL,
    inconsistent_count BIGINT NOT NULL,
    rated_size_bytes NUMERIC NOT NULL,
    rated_duration_us BIGINT NOT NULL,
    hours SMALLINT[] NOT NULL,
    hour_transfer_counts BIGINT[] NOT NULL,
    hour_failed_counts BIGINT[] NOT NULL,
    hour_size_bytes NUMERIC[] NOT NULL,
    hour_unknown_size_counts BIGINT[] NOT NULL,
    rate_bins INTEGER[] NOT NULL,
    rate_counts BIGINT[] NOT NULL,
    CONSTRAINT day_cells_pkey PRIMARY KEY (route_id, day),
    CONSTRAINT day_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.day_cells IS 'One row per route and local day of its archive with transfers; derived';

GRANT SELECT, INSERT ON core.routes TO tapewise_loader;
GRANT SELECT, INSERT, UPDATE, DELETE ON core.day_cells TO tapewise_loader;
GRANT USAGE ON SEQUENCE core.routes_id_seq TO tapewise_loader;

INSERT INTO core.routes (source_id, interface, direction, class_of_service)
SELECT transfers.source_id, transfers.interface, transfers.direction, transfers.class_of_service
FROM core.transfers
JOIN ledger.sources ON sources.id = transfers.source_id
WHERE sources.is_counted OR (sources.failures_as IS NOT NULL AND transfers.is_failed)
GROUP BY transfers.source_id, transfers.interface, transfers.direction, transfers.class_of_service
ORDER BY transfers.source_id, transfers.interface, transfers.direction, transfers.class_of_service;

INSERT INTO core.day_cells
WITH counted AS (
    SELECT
        transfers.source_id,
        transfers.interface,
        transfers.direction,
        transfers.class_of_service,
        transfers.ended_at AT TIME ZONE archives.timezone AS ended_local,
        transfers.size_bytes,
        round(transfers.duration_s * 1e6)::bigint AS duration_us,
        transfers.is_failed,
        NOT transfers.is_failed AS is_moved,
        transfers.is_time_ambiguous,
        transfers.is_time_of_day_unknown,
        transfers.is_duration_coarse,
        transfers.is_duration_below_clock,
        transfers.is_size_saturated,
        transfers.is_rate_inconsistent,
        CASE
            WHEN
                NOT transfers.is_failed
                AND NOT transfers.is_size_saturated
                AND transfers.size_bytes IS NOT NULL
                AND transfers.duration_s IS NOT NULL
                THEN coalesce(
                    transfers.rate_bytes_per_s,
                    transfers.size_bytes / nullif(transfers.duration_s, 0)
                )
        END AS rate
    FROM core.transfers
    JOIN core.archives ON archives.id = transfers.archive_id
    JOIN ledger.sources ON sources.id = transfers.source_id
    WHERE sources.is_counted OR (sources.failures_as IS NOT NULL AND transfers.is_failed)
),
placed AS (
    SELECT
        counted.*,
        counted.ended_local::date AS day,
        CASE WHEN NOT counted.is_time_of_day_unknown THEN extract(HOUR FROM counted.ended_local)::smallint END
            AS hour,
        -- The exponent and the first six binary digits of the number.
        greatest(('x' || encode(float8send(counted.rate), 'hex'))::bit(64)::bigint >> 46, 0)::integer AS bin
    FROM counted
),
-- One reading of the facts; what follows adds these parts up, once by hours and once by bins.
parts AS MATERIALIZED (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        day,
        hour,
        CASE WHEN rate IS NOT NULL THEN bin END AS bin,
        count(*) AS transfer_count,
        count(*) FILTER (WHERE is_failed) AS failed_count,
        count(*) FILTER (WHERE is_moved AND is_size_saturated) AS saturated_count,
        coalesce(sum(size_bytes) FILTER (WHERE is_moved), 0) AS size_bytes,
        coalesce(sum(duration_us) FILTER (WHERE is_moved), 0) AS duration_us,
        count(*) FILTER (WHERE is_moved AND size_bytes IS NULL) AS unknown_size_count,
        count(*) FILTER (WHERE is_moved AND duration_us IS NULL) AS unknown_duration_count,
        count(*) FILTER (WHERE is_time_ambiguous) AS ambiguous_count,
        count(*) FILTER (WHERE is_time_of_day_unknown) AS day_only_count,
        count(*) FILTER (WHERE is_duration_coarse) AS coarse_count,
        count(*) FILTER (WHERE is_duration_below_clock) AS below_clock_count,
        count(*) FILTER (WHERE is_size_saturated) AS flagged_saturated_count,
        count(*) FILTER (WHERE is_rate_inconsistent) AS inconsistent_count,
        coalesce(sum(size_bytes) FILTER (WHERE rate IS NOT NULL), 0) AS rated_size_bytes,
        coalesce(sum(duration_us) FILTER (WHERE rate IS NOT NULL), 0) AS rated_duration_us
    FROM placed
    GROUP BY 1, 2, 3, 4, 5, 6, 7
),
by_hour AS (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        day,
        hour,
        sum(transfer_count)::bigint AS transfer_count,
        sum(failed_count)::bigint AS failed_count,
        sum(saturated_count)::bigint AS saturated_count,
        sum(size_bytes) AS size_bytes,
        sum(duration_us)::bigint AS duration_us,
        sum(unknown_size_count)::bigint AS unknown_size_count,
        sum(unknown_duration_count)::bigint AS unknown_duration_count,
        sum(ambiguous_count)::bigint AS ambiguous_count,
        sum(day_only_count)::bigint AS day_only_count,
        sum(coarse_count)::bigint AS coarse_count,
        sum(below_clock_count)::bigint AS below_clock_count,
        sum(flagged_saturated_count)::bigint AS flagged_saturated_count,
        sum(inconsistent_count)::bigint AS inconsistent_count,
        sum(rated_size_bytes) AS rated_size_bytes,
        sum(rated_duration_us)::bigint AS rated_duration_us
    FROM parts
    GROUP BY 1, 2, 3, 4, 5, 6
),
by_bin AS (
    SELECT source_id, interface, direction, class_of_service, day, bin, sum(transfer_count)::bigint AS bin_count
    FROM parts
    WHERE bin IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6
),
-- Rows of hours and rows of bins, one below the other: a join of the two could compare each with each.
both_of_them AS (
    SELECT *, NULL::integer AS bin, NULL::bigint AS bin_count FROM by_hour
    UNION ALL
    SELECT
        source_id, interface, direction, class_of_service, day,
        NULL,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        bin,
        bin_count
    FROM by_bin
),
days AS MATERIALIZED (
    SELECT
        source_id,
        interface,
        direction,
        class_of_service,
        day,
        sum(transfer_count)::bigint AS transfer_count,
        sum(failed_count)::bigint AS failed_count,
        sum(saturated_count)::bigint AS saturated_count,
        sum(size_bytes) AS size_bytes,
        sum(duration_us)::bigint AS duration_us,
        sum(unknown_size_count)::bigint AS unknown_size_count,
        sum(unknown_duration_count)::bigint AS unknown_duration_count,
        sum(ambiguous_count)::bigint AS ambiguous_count,
        sum(day_only_count)::bigint AS day_only_count,
        sum(coarse_count)::bigint AS coarse_count,
        sum(below_clock_count)::bigint AS below_clock_count,
        sum(flagged_saturated_count)::bigint AS flagged_saturated_count,
        sum(inconsistent_count)::bigint AS inconsistent_count,
        sum(rated_size_bytes) AS rated_size_bytes,
        sum(rated_duration_us)::bigint AS rated_duration_us,
        coalesce(array_agg(hour ORDER BY hour) FILTER (WHERE hour IS NOT NULL), '{}') AS hours,
        coalesce(array_agg(transfer_count ORDER BY hour) FILTER (WHERE hour IS NOT NULL), '{}')
            AS hour_transfer_counts,
        coalesce(array_agg(failed_count ORDER BY hour) FILTER (WHERE hour IS NOT NULL), '{}')
            AS hour_failed_counts,
        coalesce(array_agg(size_bytes ORDER BY hour) FILTER (WHERE hour IS NOT NULL), '{}')
            AS hour_size_bytes,
        coalesce(array_agg(unknown_size_count ORDER BY hour) FILTER (WHERE hour IS NOT NULL), '{}')
            AS hour_unknown_size_counts,
        coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE bin IS NOT NULL), '{}') AS rate_bins,
        coalesce(array_agg(bin_count ORDER BY bin) FILTER (WHERE bin IS NOT NULL), '{}') AS rate_counts
    FROM both_of_them
    GROUP BY 1, 2, 3, 4, 5
)
SELECT
    routes.id,
    days.day,
    days.transfer_count,
    days.failed_count,
    days.saturated_count,
    days.size_bytes,
    days.duration_us,
    days.unknown_size_count,
    days.unknown_duration_count,
    days.ambiguous_count,
    days.day_only_count,
    days.coarse_count,
    days.below_clock_count,
    days.flagged_saturated_count,
    days.inconsistent_count,
    days.rated_size_bytes,
    days.rated_duration_us,
    days.hours,
    days.hour_transfer_counts,
    days.hour_failed_counts,
    days.hour_size_bytes,
    days.hour_unknown_size_counts,
    days.rate_bins,
    days.rate_counts
FROM days
JOIN core.routes
    ON
        routes.source_id = days.source_id
        AND routes.interface = days.interface
        AND routes.direction = days.direction
        AND routes.class_of_service IS NOT DISTINCT FROM days.class_of_service;
