"""Facts are only ever added: one function moves those of a repeated hour, and the loader may not change any.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the function, and take the right to change times from the loader."""
    run("""
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
    duration_s double precision
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
            END
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
        REVOKE ALL ON FUNCTION core.move_second_passes(
            text, integer, timestamptz[], timestamptz[], bigint[], integer[]
        ) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION core.move_second_passes(
            text, integer, timestamptz[], timestamptz[], bigint[], integer[]
        ) TO tapewise_loader;
        REVOKE UPDATE (ended_at, started_at) ON core.transfers FROM tapewise_loader;
        REVOKE UPDATE (opened_at) ON core.opens FROM tapewise_loader;
        REVOKE UPDATE (happened_at) ON core.namespace_events FROM tapewise_loader;
        REVOKE UPDATE (ended_at, started_at, duration_s, is_start_after_end) ON core.unitree_jobs FROM tapewise_loader;
        REVOKE UPDATE (staged_at, started_at) ON core.stages FROM tapewise_loader;
        REVOKE UPDATE (began_at) ON core.transfer_starts FROM tapewise_loader;
        REVOKE UPDATE (happened_at) ON core.tape_events FROM tapewise_loader;
        REVOKE UPDATE (reported_at) ON core.daily_reports FROM tapewise_loader;
        REVOKE UPDATE (migrated_at, started_at) ON core.migrations FROM tapewise_loader;
        REVOKE UPDATE (closed_at) ON core.srb_sessions FROM tapewise_loader;
    """)


def downgrade() -> None:
    """Give it back, and drop the function."""
    run("""
        DROP FUNCTION core.move_second_passes(
            text, integer, timestamptz[], timestamptz[], bigint[], integer[]
        );
        GRANT UPDATE (ended_at, started_at) ON core.transfers TO tapewise_loader;
        GRANT UPDATE (opened_at) ON core.opens TO tapewise_loader;
        GRANT UPDATE (happened_at) ON core.namespace_events TO tapewise_loader;
        GRANT UPDATE (ended_at, started_at, duration_s, is_start_after_end) ON core.unitree_jobs TO tapewise_loader;
        GRANT UPDATE (staged_at, started_at) ON core.stages TO tapewise_loader;
        GRANT UPDATE (began_at) ON core.transfer_starts TO tapewise_loader;
        GRANT UPDATE (happened_at) ON core.tape_events TO tapewise_loader;
        GRANT UPDATE (reported_at) ON core.daily_reports TO tapewise_loader;
        GRANT UPDATE (migrated_at, started_at) ON core.migrations TO tapewise_loader;
        GRANT UPDATE (closed_at) ON core.srb_sessions TO tapewise_loader;
    """)
