-- Records, ten minutes, and durations by size: columns, a table, rights, and what the facts that are there give.

ALTER TABLE core.day_cells
    ADD COLUMN largest BIGINT[],
    ADD COLUMN longest DOUBLE PRECISION[],
    ADD COLUMN ten_minutes INTEGER[] NOT NULL DEFAULT '{}',
    ADD COLUMN ten_minute_counts INTEGER[] NOT NULL DEFAULT '{}';
ALTER TABLE core.day_cells
    ALTER COLUMN ten_minutes DROP DEFAULT,
    ALTER COLUMN ten_minute_counts DROP DEFAULT;

CREATE TABLE core.size_cells (
    route_id INTEGER NOT NULL,
    span TEXT NOT NULL,
    starts_on DATE NOT NULL,
    first_on DATE NOT NULL,
    last_on DATE NOT NULL,
    size_bins SMALLINT[] NOT NULL,
    size_bytes NUMERIC[] NOT NULL,
    shortest_s DOUBLE PRECISION[] NOT NULL,
    time_bins INTEGER[] NOT NULL,
    time_counts INTEGER[] NOT NULL,
    CONSTRAINT size_cells_pkey PRIMARY KEY (route_id, span, starts_on),
    CONSTRAINT size_cells_span_check CHECK (span in ('day', 'month', 'year')),
    CONSTRAINT size_cells_route_id_fkey FOREIGN KEY(route_id) REFERENCES core.routes (id)
);

COMMENT ON TABLE core.size_cells IS
'One row per route and local day, month or year with sizes and durations; derived';

GRANT SELECT, INSERT, UPDATE, DELETE ON core.size_cells TO tapewise_loader;

-- The rollups are analyzed, too, and a source with nothing but cells is kept.
CREATE OR REPLACE FUNCTION core.find_stale_statistics()
RETURNS TABLE (relation regclass, event_time name, is_partitioned boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $function$
    WITH parents AS (
        SELECT pg_class.oid, pg_class.reltuples, pg_attribute.attname
        FROM pg_partitioned_table
        JOIN pg_class ON pg_class.oid = pg_partitioned_table.partrelid
        JOIN pg_attribute
            ON pg_attribute.attrelid = pg_class.oid
            AND pg_attribute.attnum = pg_partitioned_table.partattrs[0]
        WHERE pg_class.relnamespace = to_regnamespace('core')
    ), months AS (
        SELECT
            pg_class.oid, pg_class.reltuples, pg_class.relpages, parents.oid AS parent, parents.attname,
            pg_relation_size(pg_class.oid) / current_setting('block_size')::integer AS page_count
        FROM parents
        JOIN pg_inherits ON pg_inherits.inhparent = parents.oid
        JOIN pg_class ON pg_class.oid = pg_inherits.inhrelid
    ), totals AS (
        SELECT
            parent,
            sum(page_count) AS page_count,
            -- Months that were never analyzed count with the density of the others.
            sum(page_count) * sum(reltuples) FILTER (WHERE relpages > 0)
            / sum(relpages) FILTER (WHERE relpages > 0) AS row_count
        FROM months
        GROUP BY parent
    )
    -- Of a table below a megabyte any plan is quick, and a month of a hundred kilobytes hardly matters.
    SELECT months.oid, months.attname, false
    FROM months
    JOIN totals ON totals.parent = months.parent
    WHERE
        totals.page_count >= 128 AND months.page_count >= 16
        AND (reltuples < 0 OR months.page_count > 1.1 * relpages)
    UNION ALL
    SELECT parents.oid, parents.attname, true
    FROM parents
    JOIN totals ON totals.parent = parents.oid
    WHERE
        totals.page_count >= 128
        AND (
            parents.reltuples < 0
            OR row_count NOT BETWEEN 0.9 * parents.reltuples AND 1.1 * parents.reltuples
        )
    UNION ALL
    -- The rollups, which a load makes from nothing: autovacuum comes later, or not at all.
    SELECT pg_class.oid, NULL, true
    FROM pg_class
    WHERE
        pg_class.relnamespace = to_regnamespace('core')
        AND pg_class.relname IN ('activity_cells', 'day_cells', 'size_cells')
        AND pg_relation_size(pg_class.oid) / current_setting('block_size')::integer
        > greatest(1.1 * pg_class.relpages, 16)
$function$;
COMMENT ON FUNCTION core.find_stale_statistics() IS
    'Partitioned tables, months and rollups that have changed by a tenth since the planner counted them';

CREATE OR REPLACE FUNCTION core.drop_unused_source(unused integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    archive integer;
BEGIN
    -- Whoever loads the archive needs the source: it stays then.
    SELECT archives.id INTO archive FROM core.archives
    WHERE archives.id = (SELECT archive_id FROM ledger.sources WHERE sources.id = unused)
    FOR UPDATE SKIP LOCKED;
    IF archive IS NULL OR EXISTS (
        SELECT FROM ledger.log_files WHERE source_id = unused AND (
            loaded_count + held_count > 0 OR rejected_count = 0 OR EXISTS (
                SELECT FROM ledger.ignored_lines WHERE log_file_id = log_files.id AND reason <> 'blank line'
            )
        )
    ) OR EXISTS (
        -- What it has counted on days whose detail is forgotten.
        SELECT FROM core.routes WHERE source_id = unused
    ) THEN
        RETURN false;
    END IF;
    DELETE FROM ledger.ignored_lines USING ledger.log_files
    WHERE log_file_id = log_files.id AND source_id = unused;
    DELETE FROM ledger.rejected_lines USING ledger.log_files
    WHERE log_file_id = log_files.id AND source_id = unused;
    DELETE FROM ledger.segments WHERE source_id = unused;
    DELETE FROM ledger.log_files WHERE source_id = unused;
    DELETE FROM ledger.sources WHERE id = unused;
    IF NOT (
        EXISTS (SELECT FROM core.archives WHERE id = archive AND retained_since IS NOT NULL)
        OR EXISTS (SELECT FROM ledger.sources WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.activity_cells WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.outages WHERE archive_id = archive)
        OR EXISTS (SELECT FROM core.config_changes WHERE archive_id = archive)
        OR EXISTS (SELECT FROM studies.workload_models WHERE archive_id = archive)
    ) THEN
        DELETE FROM core.users WHERE archive_id = archive;
        DELETE FROM core.hosts WHERE archive_id = archive;
        DELETE FROM core.archives WHERE id = archive;
    END IF;
    RETURN true;
END
$function$;

-- The transfers that are counted, with the minute of the local clock, which is computed once for each minute.
CREATE TEMPORARY TABLE moments AS
WITH minutes AS (
    SELECT DISTINCT
        transfers.archive_id,
        archives.timezone,
        floor(extract(EPOCH FROM transfers.ended_at) / 60)::bigint AS minute
    FROM core.transfers
    JOIN core.archives ON archives.id = transfers.archive_id
),
placed AS (
    SELECT
        minutes.*,
        to_timestamp(minutes.minute * 60) AT TIME ZONE minutes.timezone AS local
    FROM minutes
),
begun AS (
    SELECT placed.*, placed.minute - extract(MINUTE FROM placed.local)::integer % 10 AS began FROM placed
)
SELECT
    archive_id,
    minute,
    local::date AS day,
    -- A cell that would begin on another day is cut into minutes, as in core.activity_cells.
    CASE
        WHEN (to_timestamp(began * 60) AT TIME ZONE timezone)::date = local::date THEN began ELSE minute
    END::integer AS ten_minutes
FROM begun;
ANALYZE moments;

CREATE TEMPORARY TABLE counted AS
SELECT
    routes.id AS route_id,
    moments.day,
    moments.ten_minutes,
    (extract(EPOCH FROM transfers.ended_at) * 1000000)::bigint AS ended_us,
    transfers.size_bytes,
    transfers.duration_s,
    transfers.is_failed,
    transfers.is_size_saturated,
    transfers.is_time_of_day_unknown,
    transfers.is_duration_coarse
FROM core.transfers
JOIN ledger.sources ON sources.id = transfers.source_id
JOIN core.routes
    ON
        routes.source_id = transfers.source_id
        AND routes.interface = transfers.interface
        AND routes.direction = transfers.direction
        AND routes.class_of_service IS NOT DISTINCT FROM transfers.class_of_service
JOIN moments
    ON
        moments.archive_id = transfers.archive_id
        AND moments.minute = floor(extract(EPOCH FROM transfers.ended_at) / 60)::bigint
WHERE sources.is_counted OR (sources.failures_as IS NOT NULL AND transfers.is_failed);
ANALYZE counted;

WITH tens AS (
    SELECT route_id, day, ten_minutes, count(*)::integer AS transfer_count
    FROM counted
    WHERE NOT is_time_of_day_unknown
    GROUP BY route_id, day, ten_minutes
),
ten_arrays AS (
    SELECT
        route_id,
        day,
        array_agg(ten_minutes ORDER BY ten_minutes) AS ten_minutes,
        array_agg(transfer_count ORDER BY ten_minutes) AS ten_minute_counts
    FROM tens
    GROUP BY route_id, day
)
UPDATE core.day_cells
SET ten_minutes = ten_arrays.ten_minutes, ten_minute_counts = ten_arrays.ten_minute_counts
FROM ten_arrays
WHERE day_cells.route_id = ten_arrays.route_id AND day_cells.day = ten_arrays.day;

WITH extremes AS (
    SELECT
        route_id,
        day,
        max(ARRAY[size_bytes, -ended_us, is_size_saturated::integer, is_time_of_day_unknown::integer])
            FILTER (WHERE size_bytes IS NOT NULL) AS largest,
        max(ARRAY[duration_s, -ended_us, is_time_of_day_unknown::integer])
            FILTER (WHERE duration_s IS NOT NULL) AS longest
    FROM counted
    WHERE NOT is_failed
    GROUP BY route_id, day
)
UPDATE core.day_cells
SET largest = extremes.largest, longest = extremes.longest
FROM extremes
WHERE day_cells.route_id = extremes.route_id AND day_cells.day = extremes.day;

CREATE TEMPORARY TABLE measured AS
WITH kept AS (
    SELECT
        route_id,
        day,
        -- The bin of the size: 0, then 1, 2 and 5 in each decade.
        width_bucket(
            size_bytes,
            ARRAY[0] || ARRAY(
                SELECT (digit * 10::numeric ^ decade)::bigint
                FROM unnest(ARRAY[1, 2, 5]) AS digit, generate_series(0, 18) AS decade
                ORDER BY 1
            )
        ) AS size_bin,
        -- The exponent and the first six binary digits of the number.
        (('x' || encode(float8send(duration_s), 'hex'))::bit(64)::bigint >> 46)::integer AS bin,
        size_bytes,
        duration_s
    FROM counted
    WHERE
        NOT is_failed
        AND NOT is_size_saturated
        AND size_bytes IS NOT NULL
        AND duration_s > 0
        AND NOT (is_duration_coarse AND duration_s < 10)
)
SELECT
    route_id,
    day,
    size_bin,
    size_bin * 131072 + bin AS time_bin,
    count(*) AS time_count,
    sum(size_bytes) AS size_bytes,
    min(duration_s) AS shortest_s
FROM kept
GROUP BY route_id, day, size_bin, bin;
ANALYZE measured;

INSERT INTO core.size_cells
WITH spans AS (
    SELECT
        measured.*,
        span.span,
        date_trunc(span.span, measured.day::timestamp)::date AS starts_on
    FROM measured
    CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS span (span)
),
days AS (
    SELECT route_id, span, starts_on, min(day) AS first_on, max(day) AS last_on
    FROM spans
    GROUP BY route_id, span, starts_on
),
sizes AS (
    SELECT route_id, span, starts_on, size_bin, sum(size_bytes) AS size_bytes, min(shortest_s) AS shortest_s
    FROM spans
    GROUP BY route_id, span, starts_on, size_bin
),
size_arrays AS (
    SELECT
        route_id,
        span,
        starts_on,
        array_agg(size_bin::smallint ORDER BY size_bin) AS size_bins,
        array_agg(size_bytes ORDER BY size_bin) AS size_bytes,
        array_agg(shortest_s ORDER BY size_bin) AS shortest_s
    FROM sizes
    GROUP BY route_id, span, starts_on
),
times AS (
    SELECT route_id, span, starts_on, time_bin, sum(time_count)::integer AS time_count
    FROM spans
    GROUP BY route_id, span, starts_on, time_bin
),
time_arrays AS (
    SELECT
        route_id,
        span,
        starts_on,
        array_agg(time_bin ORDER BY time_bin) AS time_bins,
        array_agg(time_count ORDER BY time_bin) AS time_counts
    FROM times
    GROUP BY route_id, span, starts_on
)
SELECT
    days.route_id,
    days.span,
    days.starts_on,
    days.first_on,
    days.last_on,
    size_arrays.size_bins,
    size_arrays.size_bytes,
    size_arrays.shortest_s,
    time_arrays.time_bins,
    time_arrays.time_counts
FROM days
JOIN size_arrays USING (route_id, span, starts_on)
JOIN time_arrays USING (route_id, span, starts_on);

DROP TABLE moments, counted, measured;
