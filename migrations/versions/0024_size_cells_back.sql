-- The columns, the table and the functions as they were before.

DROP TABLE core.size_cells;
ALTER TABLE core.day_cells
    DROP COLUMN largest,
    DROP COLUMN longest,
    DROP COLUMN ten_minutes,
    DROP COLUMN ten_minute_counts;

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
$function$;
COMMENT ON FUNCTION core.find_stale_statistics() IS
    'The partitioned tables, and their months, that have changed by a tenth since the planner counted them';

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
