"""Jobs and stages of UniTree, requests put together, and what people know: outages, configuration changes.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0002"
down_revision = "0001"

COLUMNS = """
ALTER TABLE ledger.log_files ADD COLUMN log_date date;
ALTER TABLE core.transfers ADD COLUMN persona integer, ADD COLUMN status_text text;
-- Ten minutes of sizes near the largest that a line may tell add up to more than a bigint holds.
ALTER TABLE core.activity_cells ALTER COLUMN size_bytes TYPE numeric;
"""

TABLES = """
CREATE TABLE core.unitree_jobs (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    ended_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean,
    is_time_ambiguous boolean NOT NULL,
    direction text,
    persona integer NOT NULL,
    session_number integer NOT NULL,
    job_number integer NOT NULL,
    started_at timestamptz,
    duration_s double precision,
    description text NOT NULL,
    is_start_after_end boolean NOT NULL,
    CONSTRAINT unitree_jobs_direction_check CHECK (direction in ('put', 'get'))
) PARTITION BY RANGE (ended_at);

CREATE INDEX unitree_jobs_brin ON core.unitree_jobs USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.unitree_jobs IS 'One row per job of UniTree''s COND log';

CREATE TABLE core.stages (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    staged_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    started_at timestamptz,
    duration_s double precision,
    size_bytes bigint,
    archive_path text,
    file_key bigint,
    persona integer,
    is_duration_coarse boolean NOT NULL,
    is_duration_below_clock boolean NOT NULL
) PARTITION BY RANGE (staged_at);

CREATE INDEX stages_brin ON core.stages USING brin (staged_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.stages IS 'One row per file brought from tape to disk';

CREATE TABLE core.requests (
    archive_id integer NOT NULL,
    ended_at timestamptz NOT NULL,
    transfer_id bigint,
    twin_transfer_id bigint,
    open_id bigint,
    stage_id bigint,
    job_id bigint,
    source_id integer NOT NULL,
    interface text NOT NULL,
    direction text,
    user_id integer,
    host_id integer,
    class_of_service text,
    file_key bigint,
    persona integer,
    size_bytes bigint,
    duration_s double precision,
    open_s double precision,
    stage_s double precision,
    is_counted boolean NOT NULL,
    is_failed boolean,
    is_size_saturated boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    submitted_at timestamptz,
    opened_at timestamptz,
    staged_at timestamptz,
    started_at timestamptz,
    CONSTRAINT requests_direction_check CHECK (direction in ('put', 'get')),
    CONSTRAINT requests_subject_check CHECK (num_nonnulls(transfer_id, open_id, job_id) >= 1)
) PARTITION BY RANGE (ended_at);

CREATE INDEX requests_archive_id_ended_at_idx ON core.requests (archive_id, ended_at);

COMMENT ON TABLE core.requests IS 'One row per request that several lines tell, or a job or an open alone; derived';

CREATE TABLE core.outages (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    kind text NOT NULL,
    note text NOT NULL,
    recorded_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT outages_pkey PRIMARY KEY (id),
    CONSTRAINT outages_kind_check CHECK (kind in ('scheduled', 'unscheduled')),
    CONSTRAINT outages_order_check CHECK (ended_at > started_at),
    CONSTRAINT outages_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.outages IS 'One row per time that the archive was known not to serve; said by people';

CREATE TABLE core.config_changes (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    kind text NOT NULL,
    class_of_service text,
    note text NOT NULL,
    recorded_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT config_changes_pkey PRIMARY KEY (id),
    CONSTRAINT config_changes_kind_check CHECK (kind in ('staging bypass', 'tape only', 'other')),
    CONSTRAINT config_changes_order_check CHECK (ended_at > started_at),
    CONSTRAINT config_changes_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.config_changes IS 'One row per time that the archive was known to be set up otherwise; said by people';
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

FUNCTION_BEFORE = """
CREATE OR REPLACE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $function$
DECLARE
    since date;
    partition text;
    made integer := 0;
BEGIN
    IF fact_table NOT IN ('transfers', 'opens', 'namespace_events') THEN
        RAISE EXCEPTION 'core.% is not a table of facts', fact_table;
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
GRANT SELECT ON core.unitree_jobs, core.stages, core.requests, core.outages, core.config_changes TO tapewise_loader;
GRANT INSERT ON core.unitree_jobs, core.stages TO tapewise_loader;
GRANT DELETE ON ledger.log_files TO tapewise_loader;
GRANT INSERT, DELETE ON core.requests, core.outages, core.config_changes TO tapewise_loader;
GRANT USAGE ON SEQUENCE core.outages_id_seq, core.config_changes_id_seq TO tapewise_loader;
"""


def upgrade() -> None:
    """Add columns and tables; facts that are there already say nothing of the new columns."""
    run(COLUMNS)
    run(TABLES)
    run(FUNCTION)
    run(GRANTS)


def downgrade() -> None:
    """Drop them again, with what they hold."""
    run(FUNCTION_BEFORE)
    run("""
        DROP TABLE core.config_changes, core.outages, core.requests, core.stages, core.unitree_jobs;
        REVOKE DELETE ON ledger.log_files FROM tapewise_loader;
        ALTER TABLE core.activity_cells ALTER COLUMN size_bytes TYPE bigint;
        ALTER TABLE core.transfers DROP COLUMN persona, DROP COLUMN status_text;
        ALTER TABLE ledger.log_files DROP COLUMN log_date;
    """)
