"""The parts of the schema that SQLAlchemy's metadata cannot express: schemas, storage, functions, grants.

Like the tables, `SCHEMAS`, `STORAGE`, `FUNCTIONS` and `GRANTS` must give the same schema as the migrations.
The migrations have their own copy, because a published revision never changes.
"""

import sqlalchemy as sa

from tapewise.schema.access.roles import LOADER
from tapewise.schema.tables.derived import ARRAYS_IN_ROWS

SCHEMAS = """
CREATE SCHEMA ledger;
CREATE SCHEMA core;
CREATE SCHEMA studies;

-- A column of a table is computed by this function, so it comes first. No local day is outside the 56 hours.
CREATE FUNCTION core.mark_ten_minutes(ten_minute_offsets smallint[]) RETURNS bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $function$
            SELECT coalesce(bit_or(set_bit(B'0'::bit(336), (minute + 960) / 10, 1)), B'0'::bit(336))
            FROM unnest(ten_minute_offsets) AS minute
            WHERE minute BETWEEN -960 AND 2399
        $function$;
COMMENT ON FUNCTION core.mark_ten_minutes(smallint[]) IS
    'One bit for each ten minutes of 56 hours, from 16 hours before the day begins in UTC';
"""

STORAGE = "".join(
    f"ALTER TABLE {table} ALTER {column.name} SET STORAGE main;\n"
    for table in ARRAYS_IN_ROWS
    for column in table.columns
    if isinstance(column.type, sa.ARRAY)
)
# Otherwise PostgreSQL would compress these 50 bytes, or move them to another table, before any array.
STORAGE += "ALTER TABLE core.day_cells ALTER ten_minute_marks SET STORAGE plain;\n"

# CREATE TABLE ... PARTITION OF would lock out readers of the parent, and the load that is waiting
# for the partition. Creating a separate table and attaching it needs a lock that blocks neither.
FUNCTIONS = """
CREATE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_partitioned_table WHERE partrelid = to_regclass(format('core.%I', fact_table))
    ) THEN
        RAISE EXCEPTION 'core.% is not cut into months', fact_table;
    END IF;
    -- One at a time, by a lock that minds neither those who read nor those who load, and that a reader cannot
    -- take: an advisory lock anybody may take who may connect.
    EXECUTE format('LOCK TABLE ONLY core.%I IN SHARE UPDATE EXCLUSIVE MODE', fact_table);
    FOR since IN SELECT DISTINCT date_trunc('month', month)::date FROM unnest(months) AS month ORDER BY 1 LOOP
        partition := format('%s_%s', fact_table, to_char(since, 'YYYY_MM'));
        CONTINUE WHEN to_regclass(format('core.%I', partition)) IS NOT NULL;
        EXECUTE format(
            'CREATE TABLE core.%I (LIKE core.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
            partition,
            fact_table
        );
        EXECUTE format(
            'ALTER TABLE core.%I ATTACH PARTITION core.%I FOR VALUES FROM (%L) TO (%L)',
            fact_table,
            partition,
            format('%s 00:00:00+00', since),
            format('%s 00:00:00+00', (since + interval '1 month')::date)
        );
        made := made + 1;
    END LOOP;
    RETURN made;
END
$function$;
COMMENT ON FUNCTION core.make_partitions(text, date[]) IS
    'Makes the missing month partitions (UTC) of a table of facts; gives how many it made';

CREATE FUNCTION core.analyze_archives() RETURNS void
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
COMMENT ON FUNCTION core.find_stale_statistics() IS
    'Partitioned tables, months and rollups that have changed by a tenth since the planner counted them';

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

CREATE FUNCTION core.summarize_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    index regclass;
    partition regclass;
    made integer := 0;
BEGIN
    FOR index, partition IN
        SELECT pg_index.indexrelid, pg_index.indrelid
        FROM (SELECT DISTINCT date_trunc('month', month) AS since FROM unnest(months) AS month) AS given
        JOIN pg_index
            ON pg_index.indrelid = to_regclass(format('core.%I', fact_table || to_char(since, '_YYYY_MM')))
        JOIN pg_inherits ON pg_inherits.inhrelid = pg_index.indrelid
        JOIN pg_class ON pg_class.oid = pg_index.indexrelid
        JOIN pg_am ON pg_am.oid = pg_class.relam
        WHERE pg_am.amname = 'brin' AND pg_inherits.inhparent = to_regclass(format('core.%I', fact_table))
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE NOWAIT', partition);
            made := made + brin_summarize_new_values(index);
        EXCEPTION WHEN lock_not_available THEN
            NULL;  -- nobody waits: what is left out is put in by the next load of the month, or by vacuum
        END;
    END LOOP;
    RETURN made;
END
$function$;
COMMENT ON FUNCTION core.summarize_partitions(text, date[]) IS
    'Adds what was written last to the BRIN indexes of month partitions; gives how many ranges';

-- Facts are only ever added. The one exception: a file's order says that a line belongs to the second pass
-- of an hour that its source's clocks repeat. The row is deleted and added again, with its id, in this
-- function alone; only its times change.
CREATE FUNCTION core.move_second_passes(
    fact_table text,
    of_source integer,
    firsts timestamptz[],
    seconds timestamptz[],
    hashes bigint[],
    occurrences integer[]
) RETURNS TABLE (
    first_at timestamptz,
    second_at timestamptz,
    interface text,
    direction text,
    is_failed boolean,
    is_size_saturated boolean,
    size_bytes bigint,
    duration_s double precision,
    log_file_id integer,
    id bigint
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- Fresh facts have no statistics, and on guesses the planner would compare each with each.
SET enable_nestloop = off AS $function$
DECLARE
    facts regclass := to_regclass(format('core.%I', fact_table));
    event_time name;
    zone text;
    start text;
    wrong timestamptz;
BEGIN
    -- Tables of facts are those in months whose rows know their lines.
    SELECT pg_attribute.attname INTO event_time
    FROM pg_partitioned_table
    JOIN pg_attribute ON pg_attribute.attrelid = partrelid AND pg_attribute.attnum = partattrs[0]
    WHERE partrelid = facts
        AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = facts AND attname = 'line_hash');
    IF event_time IS NULL THEN
        RAISE EXCEPTION 'core.% is no table of facts', fact_table USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT sources.timezone INTO zone FROM ledger.sources WHERE sources.id = of_source;
    IF zone IS NULL THEN
        RAISE EXCEPTION 'there is no source %', of_source USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT earlier INTO wrong FROM unnest(firsts, seconds) AS told (earlier, later)
    WHERE (earlier < later AND earlier AT TIME ZONE zone = later AT TIME ZONE zone) IS NOT TRUE
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'clocks of % do not show the time of % again at the time given', zone, wrong
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- What was measured took equally long in either pass.
    start := 'started_at + (second_at - first_at)';
    IF fact_table = 'unitree_jobs' THEN
        -- The start of a job is in its line. It belongs to the second pass, too, if it is shown twice and is
        -- not after the end; otherwise the job took longer than it seemed to.
        start := format(
            'started_at + CASE'
            ' WHEN started_at <= first_at'
            ' AND started_at AT TIME ZONE %1$L = (started_at + (second_at - first_at)) AT TIME ZONE %1$L'
            ' THEN second_at - first_at ELSE interval %2$L END',
            zone,
            '0'
        );
    END IF;
    RETURN QUERY EXECUTE (
        SELECT format(
            'WITH gone AS ('
            ' DELETE FROM %1$s AS fact'
            ' USING unnest($1, $2, $3, $4) AS told (first_at, second_at, told_hash, told_occurrence)'
            ' WHERE fact.source_id = $5 AND fact.%2$I BETWEEN $6 AND $7'
            ' AND fact.%2$I = first_at AND fact.line_hash = told_hash AND fact.occurrence = told_occurrence'
            ' RETURNING fact.*, first_at, second_at'
            '), added AS (INSERT INTO %1$s (%3$s) SELECT %4$s FROM gone)'
            ' SELECT first_at, second_at, %5$s FROM gone',
            facts,
            event_time,
            string_agg(quote_ident(attname), ', ' ORDER BY attnum),
            string_agg(
                CASE
                    WHEN attname = event_time THEN 'second_at'
                    WHEN attname = 'started_at' THEN start
                    WHEN fact_table = 'unitree_jobs' AND attname = 'is_start_after_end'
                        THEN format('coalesce(%s > second_at, is_start_after_end)', start)
                    WHEN fact_table = 'unitree_jobs' AND attname = 'duration_s'
                        THEN format(
                            'CASE WHEN %1$s <= second_at THEN extract(epoch FROM second_at - (%1$s)) END',
                            start
                        )
                    ELSE quote_ident(attname)
                END,
                ', ' ORDER BY attnum
            ),
            CASE WHEN fact_table = 'transfers'
                THEN 'interface, direction, is_failed, is_size_saturated, size_bytes, duration_s'
                ELSE 'NULL::text, NULL::text, NULL::boolean, NULL::boolean, NULL::bigint, NULL::float8'
            END || ', log_file_id, id'
        )
        FROM pg_attribute
        WHERE attrelid = facts AND attnum > 0 AND NOT attisdropped
    ) USING
        firsts, seconds, hashes, occurrences, of_source,
        (SELECT min(earlier) FROM unnest(firsts) AS earlier),
        (SELECT max(earlier) FROM unnest(firsts) AS earlier);
END
$function$;
COMMENT ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) IS
    'Moves facts of a source into the second pass of an hour that its clocks repeat; gives what was moved';

CREATE FUNCTION core.drop_unused_source(unused integer) RETURNS boolean
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
        OR EXISTS (SELECT FROM core.compute_powers WHERE archive_id = archive)
        OR EXISTS (SELECT FROM studies.workload_models WHERE archive_id = archive)
    ) THEN
        DELETE FROM core.users WHERE archive_id = archive;
        DELETE FROM core.hosts WHERE archive_id = archive;
        DELETE FROM core.archives WHERE id = archive;
    END IF;
    RETURN true;
END
$function$;
COMMENT ON FUNCTION core.drop_unused_source(integer) IS
    'Drops a source no line of which was one of its format, and its archive if it holds nothing else';
"""

GRANTS = f"""
REVOKE ALL ON FUNCTION core.mark_ten_minutes(smallint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.mark_ten_minutes(smallint[]) TO {LOADER};
REVOKE ALL ON FUNCTION core.make_partitions(text, date[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.make_partitions(text, date[]) TO {LOADER};
REVOKE ALL ON FUNCTION core.analyze_archives() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.analyze_archives() TO {LOADER};
REVOKE ALL ON FUNCTION core.find_stale_statistics() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.find_stale_statistics() TO {LOADER};
REVOKE ALL ON FUNCTION core.analyze_partitions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.analyze_partitions() TO {LOADER};
REVOKE ALL ON FUNCTION core.summarize_partitions(text, date[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.summarize_partitions(text, date[]) TO {LOADER};
REVOKE ALL ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.move_second_passes(
    text, integer, timestamptz[], timestamptz[], bigint[], integer[]
) TO {LOADER};
REVOKE ALL ON FUNCTION core.drop_unused_source(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.drop_unused_source(integer) TO {LOADER};
GRANT USAGE ON SCHEMA ledger, core TO {LOADER};
GRANT SELECT ON ALL TABLES IN SCHEMA ledger, core TO {LOADER};
GRANT INSERT, UPDATE ON core.archives TO {LOADER};
GRANT INSERT ON core.users, core.hosts TO {LOADER};
GRANT INSERT ON core.transfers, core.opens, core.namespace_events TO {LOADER};
GRANT INSERT ON core.unitree_jobs, core.stages TO {LOADER};
GRANT INSERT ON core.transfer_starts, core.tape_events TO {LOADER};
GRANT INSERT, DELETE ON core.mounts, core.tape_operations, core.stage_starts TO {LOADER};
GRANT INSERT ON core.daily_reports TO {LOADER};
GRANT INSERT ON core.migrations, core.srb_sessions, core.mount_summaries, core.snapshots TO {LOADER};
GRANT INSERT ON core.stage_events, core.cache_reads TO {LOADER};
GRANT INSERT, DELETE ON core.requests, core.outages, core.config_changes, core.compute_powers TO {LOADER};
GRANT INSERT, UPDATE, DELETE ON core.activity_cells TO {LOADER};
GRANT INSERT, DELETE ON core.routes TO {LOADER};
GRANT INSERT, UPDATE, DELETE
ON core.day_cells, core.rate_months, core.hour_months, core.month_peaks, core.size_cells, core.request_cells,
    core.hit_cells, core.user_cells, core.open_cells, core.stage_cells TO {LOADER};
GRANT INSERT, UPDATE ON ledger.sources, ledger.log_files TO {LOADER};
GRANT DELETE ON ledger.log_files TO {LOADER};
GRANT INSERT, UPDATE, DELETE ON ledger.loaded_rows TO {LOADER};
GRANT INSERT, DELETE ON ledger.segments TO {LOADER};
GRANT INSERT, UPDATE, DELETE ON ledger.landmarks TO {LOADER};
GRANT INSERT, UPDATE, DELETE ON ledger.ignored_lines, ledger.rejected_lines TO {LOADER};
GRANT UPDATE ON ledger.rounds TO {LOADER};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA ledger, core TO {LOADER};
GRANT USAGE ON SCHEMA studies TO {LOADER};
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA studies TO {LOADER};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA studies TO {LOADER};
"""
