-- Statistics for the planner: of partitioned tables, which autovacuum never analyzes, and of the sources.

CREATE OR REPLACE FUNCTION core.analyze_archives() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
BEGIN
    ANALYZE core.archives, ledger.sources;
END
$function$;
COMMENT ON FUNCTION core.analyze_archives() IS
    'Counts the archives and sources for the planner; for whoever has made one';

CREATE FUNCTION core.find_stale_statistics()
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

CREATE FUNCTION core.analyze_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- A sample of 6,000 rows takes a fiftieth of a second. Autovacuum later takes a larger one of the months.
SET default_statistics_target = 20 AS $function$
DECLARE
    stale record;
    made integer := 0;
BEGIN
    -- Months first, because the sizes of partitioned tables are compared with theirs. Autovacuum analyzes
    -- months too, but later, and only while the server runs. It never analyzes partitioned tables.
    FOR stale IN SELECT * FROM core.find_stale_statistics() WHERE NOT is_partitioned LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s (archive_id, %I)', stale.relation, stale.event_time);
        made := made + 1;
    END LOOP;
    FOR stale IN SELECT * FROM core.find_stale_statistics() WHERE is_partitioned LOOP
        -- Before PostgreSQL 18, this counts the months again.
        EXECUTE format(
            CASE WHEN current_setting('server_version_num')::integer >= 180000
                THEN 'ANALYZE (SKIP_LOCKED) ONLY %s' ELSE 'ANALYZE (SKIP_LOCKED) %s'
            END,
            stale.relation
        );
        made := made + 1;
    END LOOP;
    RETURN made;
END
$function$;
COMMENT ON FUNCTION core.analyze_partitions() IS
    'Has the planner count the partitioned tables and months that have changed; gives how many';

REVOKE ALL ON FUNCTION core.find_stale_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.find_stale_statistics() TO tapewise_loader;
REVOKE ALL ON FUNCTION core.analyze_partitions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.analyze_partitions() TO tapewise_loader;
