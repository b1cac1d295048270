"""What a site's own daily report says, line by line.

Months can now be made of whatever is cut into months, so that a new table of facts need not be named there.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0007"
down_revision = "0006"

TABLES = """
CREATE TABLE core.daily_reports (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    reported_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    reported_on date NOT NULL,
    system text,
    item text,
    part text,
    figures text NOT NULL,
    is_total boolean NOT NULL
) PARTITION BY RANGE (reported_at);

CREATE INDEX daily_reports_brin ON core.daily_reports USING brin (reported_at, id, log_file_id)
    WITH (pages_per_range = 32);

COMMENT ON TABLE core.daily_reports IS 'One row per line of a site''s daily report that has figures';
"""

FUNCTION = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
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

GRANTS = """
GRANT SELECT, INSERT ON core.daily_reports TO tapewise_loader;
GRANT UPDATE (reported_at) ON core.daily_reports TO tapewise_loader;
"""


def upgrade() -> None:
    """Add a table; nothing else changes."""
    run(TABLES)
    run(FUNCTION)
    run(GRANTS)


def downgrade() -> None:
    """Drop it, with what was read of reports: `ledger.log_files` counts their lines still."""
    run(FUNCTION_BEFORE)
    run("DROP TABLE core.daily_reports;")
