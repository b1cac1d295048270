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
            pg_relation_size(pg_class.oid) / current_setting('block_size')::integer AS page_count,
            -- The server forgets its counts in a crash. Then only the sizes say how many rows there are.
            CASE
                WHEN pg_stat_get_analyze_count(pg_class.oid) + pg_stat_get_autoanalyze_count(pg_class.oid) > 0
                    THEN pg_stat_get_live_tuples(pg_class.oid)
            END AS row_count
        FROM parents
        JOIN pg_inherits ON pg_inherits.inhparent = parents.oid
        JOIN pg_class ON pg_class.oid = pg_inherits.inhrelid
    ), densities AS (
        SELECT
            parent,
            sum(reltuples) FILTER (WHERE relpages > 0) / sum(relpages) FILTER (WHERE relpages > 0)
                AS rows_per_page
        FROM months
        GROUP BY parent
    ), totals AS (
        SELECT
            months.parent,
            sum(months.page_count) AS page_count,
            -- Months that were never analyzed count with the density of the others.
            sum(coalesce(months.row_count, months.page_count * densities.rows_per_page)) AS row_count
        FROM months
        JOIN densities ON densities.parent = months.parent
        GROUP BY months.parent
    )
    -- For the few hundred rows of a smaller table any plan is quick. For a few thousand, a plan that expects
    -- one row can already take a hundred times as long.
    SELECT months.oid, months.attname, false
    FROM months
    JOIN totals ON totals.parent = months.parent
    WHERE
        totals.page_count >= 8 AND months.page_count >= 8
        AND (
            reltuples < 0 OR months.page_count > 1.1 * relpages + 7
            -- Rows that take the place of deleted ones leave the size as it was.
            OR abs(months.row_count - reltuples) > reltuples * (0.1 + 7.0 / greatest(relpages, 1))
        )
    UNION ALL
    SELECT parents.oid, parents.attname, true
    FROM parents
    JOIN totals ON totals.parent = parents.oid
    WHERE
        totals.page_count >= 8
        AND (
            parents.reltuples < 0
            OR totals.row_count NOT BETWEEN 0.9 * parents.reltuples AND 1.1 * parents.reltuples
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
