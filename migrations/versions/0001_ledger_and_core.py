"""The ledger and the facts: transfers, opens, name-space events; ten-minute cells of activity.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0001"
down_revision = None

# The schema `ledger` is there already: it holds the table of revisions itself.
TABLES = """
CREATE SCHEMA core;

CREATE SEQUENCE core.row_ids INCREMENT BY 10000;

CREATE TABLE core.archives (
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    kind text NOT NULL,
    timezone text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT archives_pkey PRIMARY KEY (id),
    CONSTRAINT archives_kind_check CHECK (kind in ('measured', 'synthetic', 'simulated')),
    CONSTRAINT archives_name_key UNIQUE (name)
);

COMMENT ON TABLE core.archives IS 'One row per archive; what speaks of days or hours counts them in its timezone';

CREATE TABLE core.transfers (
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
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    direction text NOT NULL,
    started_at timestamptz,
    duration_s double precision,
    open_s double precision,
    size_bytes bigint,
    rate_bytes_per_s double precision,
    archive_path text,
    client_path text,
    file_key bigint,
    is_duration_coarse boolean NOT NULL,
    is_duration_below_clock boolean NOT NULL,
    is_size_saturated boolean NOT NULL,
    is_rate_inconsistent boolean NOT NULL,
    CONSTRAINT transfers_direction_check CHECK (direction in ('put', 'get'))
) PARTITION BY RANGE (ended_at);

CREATE INDEX transfers_brin ON core.transfers USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.transfers IS 'One row per file moved, or tried, between a client and the archive';

CREATE TABLE core.opens (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    opened_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    direction text,
    open_s double precision,
    archive_path text,
    file_key bigint,
    CONSTRAINT opens_direction_check CHECK (direction in ('put', 'get'))
) PARTITION BY RANGE (opened_at);

CREATE INDEX opens_brin ON core.opens USING brin (opened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.opens IS 'One row per file opened';

CREATE TABLE core.namespace_events (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    happened_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean NOT NULL,
    is_time_ambiguous boolean NOT NULL,
    kind text NOT NULL,
    duration_s double precision,
    size_bytes bigint,
    archive_path text,
    new_archive_path text,
    file_key bigint,
    new_file_key bigint,
    CONSTRAINT namespace_events_kind_check CHECK (kind in ('delete', 'rename', 'copy'))
) PARTITION BY RANGE (happened_at);

CREATE INDEX namespace_events_brin ON core.namespace_events USING brin (happened_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.namespace_events IS 'One row per change of names that moved nothing between a client and the archive';

CREATE TABLE core.users (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    name text NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT users_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.users IS 'One row per user name or number of an archive';

CREATE TABLE core.hosts (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    name text NOT NULL,
    CONSTRAINT hosts_pkey PRIMARY KEY (id),
    CONSTRAINT hosts_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT hosts_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.hosts IS 'One row per client machine of an archive, as its logs name it';

CREATE TABLE ledger.sources (
    id integer GENERATED ALWAYS AS IDENTITY,
    archive_id integer NOT NULL,
    name text NOT NULL,
    format text NOT NULL,
    timezone text NOT NULL,
    clock_resolution_s double precision NOT NULL,
    is_counted boolean NOT NULL,
    earliest_at timestamptz NOT NULL,
    latest_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT sources_pkey PRIMARY KEY (id),
    CONSTRAINT sources_archive_id_name_key UNIQUE (archive_id, name),
    CONSTRAINT sources_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE ledger.sources IS 'One row per stream of logs; its settings do not change once it has been read from';

CREATE TABLE core.activity_cells (
    archive_id integer NOT NULL,
    cell_at timestamptz NOT NULL,
    interface text NOT NULL,
    direction text NOT NULL,
    transfer_count bigint NOT NULL,
    failed_count bigint NOT NULL,
    saturated_count bigint NOT NULL,
    size_bytes bigint NOT NULL,
    duration_us bigint NOT NULL,
    CONSTRAINT activity_cells_pkey PRIMARY KEY (archive_id, cell_at, interface, direction),
    CONSTRAINT activity_cells_archive_id_fkey FOREIGN KEY(archive_id) REFERENCES core.archives (id)
);

COMMENT ON TABLE core.activity_cells IS 'One row per archive, ten minutes of its local clock, interface and direction; derived';

CREATE TABLE ledger.log_files (
    id integer GENERATED BY DEFAULT AS IDENTITY,
    source_id integer NOT NULL,
    path text NOT NULL,
    content_digest text NOT NULL,
    read_bytes bigint NOT NULL,
    waiting_bytes bigint NOT NULL,
    format_version integer NOT NULL,
    program_version text NOT NULL,
    first_read_at timestamptz NOT NULL,
    last_read_at timestamptz NOT NULL,
    first_event_at timestamptz,
    last_event_at timestamptz,
    line_count bigint NOT NULL,
    loaded_count bigint NOT NULL,
    held_count bigint NOT NULL,
    ignored_count bigint NOT NULL,
    rejected_count bigint NOT NULL,
    CONSTRAINT log_files_pkey PRIMARY KEY (id),
    CONSTRAINT log_files_balance_check CHECK (line_count = loaded_count + held_count + ignored_count + rejected_count),
    CONSTRAINT log_files_counts_check CHECK (least(loaded_count, held_count, ignored_count, rejected_count) >= 0),
    CONSTRAINT log_files_source_id_fkey FOREIGN KEY(source_id) REFERENCES ledger.sources (id)
);

CREATE INDEX log_files_source_id_path_idx ON ledger.log_files (source_id, path);

COMMENT ON TABLE ledger.log_files IS 'One row per log file (a path and what stood there); a file that has grown keeps its row';

CREATE TABLE ledger.ignored_lines (
    log_file_id integer NOT NULL,
    reason text NOT NULL,
    line_count bigint NOT NULL,
    CONSTRAINT ignored_lines_pkey PRIMARY KEY (log_file_id, reason),
    CONSTRAINT ignored_lines_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id)
);

COMMENT ON TABLE ledger.ignored_lines IS 'One row per log file and reason for which lines of it were passed over';

CREATE TABLE ledger.rejected_lines (
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    reason text NOT NULL,
    line_hash bigint NOT NULL,
    text text,
    CONSTRAINT rejected_lines_pkey PRIMARY KEY (log_file_id, line_number),
    CONSTRAINT rejected_lines_log_file_id_fkey FOREIGN KEY(log_file_id) REFERENCES ledger.log_files (id)
);

COMMENT ON TABLE ledger.rejected_lines IS 'One row per line that no record could be made of';
"""

FUNCTIONS = """
CREATE FUNCTION core.make_partitions(fact_table text, months date[]) RETURNS integer
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
COMMENT ON FUNCTION core.make_partitions(text, date[]) IS
    'Makes the missing month partitions (UTC) of a table of facts; gives how many it made';
"""

GRANTS = """
REVOKE ALL ON FUNCTION core.make_partitions(text, date[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION core.make_partitions(text, date[]) TO tapewise_loader;
GRANT USAGE ON SCHEMA ledger, core TO tapewise_loader;
GRANT SELECT ON ALL TABLES IN SCHEMA ledger, core TO tapewise_loader;
GRANT INSERT, UPDATE ON core.archives TO tapewise_loader;
GRANT INSERT ON core.users, core.hosts TO tapewise_loader;
GRANT INSERT ON core.transfers, core.opens, core.namespace_events TO tapewise_loader;
GRANT INSERT, UPDATE ON core.activity_cells TO tapewise_loader;
GRANT INSERT, UPDATE ON ledger.sources, ledger.log_files TO tapewise_loader;
GRANT INSERT, UPDATE, DELETE ON ledger.ignored_lines, ledger.rejected_lines TO tapewise_loader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA ledger, core TO tapewise_loader;
"""


def upgrade() -> None:
    """Make everything; the roles are there already."""
    run(TABLES)
    run(FUNCTIONS)
    run(GRANTS)


def downgrade() -> None:
    """Drop everything, the facts included; the roles stay, other databases may use them."""
    run("""
        DROP SCHEMA core CASCADE;
        DROP TABLE ledger.rejected_lines, ledger.ignored_lines, ledger.log_files, ledger.sources;
        REVOKE ALL ON SCHEMA ledger FROM tapewise_loader;
    """)
