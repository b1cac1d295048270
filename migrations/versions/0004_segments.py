"""What a large or careful site needs: known pieces of files, forgetting, pseudonyms, locks that no reader can take.

Facts stay as they are loaded but for their times, which move by an hour where clocks repeat one.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0004"
down_revision = "0003"

COLUMNS = """
ALTER TABLE core.archives ADD COLUMN retained_since timestamptz;
ALTER TABLE core.archives SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 0);
ALTER TABLE ledger.sources ADD COLUMN pseudonym_key_id text;
"""

TABLES = """
CREATE TABLE ledger.segments (
    log_file_id integer NOT NULL,
    first_line_number bigint NOT NULL,
    source_id integer NOT NULL,
    digest uuid NOT NULL,
    line_count integer NOT NULL,
    fact_count integer NOT NULL,
    ignored_counts jsonb NOT NULL,
    rejected_counts jsonb NOT NULL,
    first_event_at timestamptz,
    last_event_at timestamptz,
    CONSTRAINT segments_pkey PRIMARY KEY (log_file_id, first_line_number),
    CONSTRAINT segments_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id),
    CONSTRAINT segments_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id)
);

CREATE INDEX segments_source_id_digest_idx ON ledger.segments (source_id, digest);

COMMENT ON TABLE ledger.segments IS 'One row per piece of a log file whose lines are known: what became of them stands here in sum';
"""

FUNCTION = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF fact_table NOT IN (
        'transfers', 'opens', 'namespace_events', 'unitree_jobs', 'stages', 'requests'
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
"""

FUNCTION_BEFORE = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF fact_table NOT IN (
        'transfers', 'opens', 'namespace_events', 'unitree_jobs', 'stages', 'requests'
    ) THEN
        RAISE EXCEPTION 'core.% is not cut into months', fact_table;
    END IF;
    PERFORM pg_advisory_xact_lock(7461, 0);
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
"""

GRANTS = """
GRANT SELECT, INSERT, DELETE ON ledger.segments TO tapewise_loader;
GRANT DELETE ON core.activity_cells TO tapewise_loader;
GRANT UPDATE (ended_at, started_at) ON core.transfers TO tapewise_loader;
GRANT UPDATE (opened_at) ON core.opens TO tapewise_loader;
GRANT UPDATE (happened_at) ON core.namespace_events TO tapewise_loader;
GRANT UPDATE (ended_at, started_at, duration_s, is_start_after_end) ON core.unitree_jobs TO tapewise_loader;
GRANT UPDATE (staged_at, started_at) ON core.stages TO tapewise_loader;
"""

REVOKES = """
REVOKE DELETE ON core.activity_cells FROM tapewise_loader;
REVOKE UPDATE (ended_at, started_at) ON core.transfers FROM tapewise_loader;
REVOKE UPDATE (opened_at) ON core.opens FROM tapewise_loader;
REVOKE UPDATE (happened_at) ON core.namespace_events FROM tapewise_loader;
REVOKE UPDATE (ended_at, started_at, duration_s, is_start_after_end) ON core.unitree_jobs FROM tapewise_loader;
REVOKE UPDATE (staged_at, started_at) ON core.stages FROM tapewise_loader;
"""


def upgrade() -> None:
    """Add columns and a table; of files that were read before no piece is known, and nothing is lost by that."""
    run(COLUMNS)
    run(TABLES)
    run(FUNCTION)
    run(GRANTS)


def downgrade() -> None:
    """Drop them again. What was forgotten stays so; that names are pseudonyms is not told any more."""
    run(FUNCTION_BEFORE)
    run(REVOKES)
    run("DROP TABLE ledger.segments;")
    run("ALTER TABLE ledger.sources DROP COLUMN pseudonym_key_id;")
    run("ALTER TABLE core.archives RESET (autovacuum_analyze_scale_factor, autovacuum_analyze_threshold);")
    run("ALTER TABLE core.archives DROP COLUMN retained_since;")
