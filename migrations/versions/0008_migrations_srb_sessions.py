"""Migrations to tape, sessions of the Storage Resource Broker; what is known of times and of the disk's hits.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0008"
down_revision = "0007"

COLUMNS = """
ALTER TABLE core.transfers ADD COLUMN is_time_of_day_unknown boolean DEFAULT false NOT NULL;
ALTER TABLE core.opens
    ADD COLUMN is_time_of_day_unknown boolean DEFAULT false NOT NULL, ADD COLUMN is_cached boolean;
ALTER TABLE core.namespace_events ADD COLUMN is_time_of_day_unknown boolean DEFAULT false NOT NULL;
ALTER TABLE core.stages
    ADD COLUMN is_time_of_day_unknown boolean DEFAULT false NOT NULL, ADD COLUMN queue_s double precision;
"""

TABLES = """
CREATE TABLE core.migrations (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    migrated_at timestamptz NOT NULL,
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
    queue_s double precision,
    size_bytes bigint,
    archive_path text,
    file_key bigint,
    is_duration_coarse boolean NOT NULL,
    is_duration_below_clock boolean NOT NULL,
    is_time_of_day_unknown boolean DEFAULT false NOT NULL
) PARTITION BY RANGE (migrated_at);

CREATE INDEX migrations_brin ON core.migrations USING brin (migrated_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.migrations IS 'One row per file written from disk to tape';

CREATE TABLE core.srb_sessions (
    id bigint NOT NULL,
    archive_id integer NOT NULL,
    source_id integer NOT NULL,
    log_file_id integer NOT NULL,
    line_number bigint NOT NULL,
    line_hash bigint NOT NULL,
    occurrence integer NOT NULL,
    closed_at timestamptz NOT NULL,
    interface text NOT NULL,
    operation text NOT NULL,
    user_id integer,
    host_id integer,
    class_of_service text,
    account text,
    status_code integer,
    is_failed boolean,
    is_time_ambiguous boolean NOT NULL,
    storage_type text,
    open_type text NOT NULL,
    open_s double precision,
    session_s double precision,
    read_count bigint,
    read_bytes bigint,
    write_count bigint,
    written_bytes bigint,
    seek_count bigint,
    archive_path text,
    file_key bigint,
    is_time_of_day_unknown boolean DEFAULT false NOT NULL,
    CONSTRAINT srb_sessions_open_type_check CHECK (open_type in ('open', 'create'))
) PARTITION BY RANGE (closed_at);

CREATE INDEX srb_sessions_brin ON core.srb_sessions USING brin (closed_at, id, log_file_id) WITH (pages_per_range = 32);

COMMENT ON TABLE core.srb_sessions IS
    'One row per file that was open by way of the Storage Resource Broker, from its open to its close';
"""

GRANTS = """
GRANT SELECT, INSERT ON core.migrations, core.srb_sessions TO tapewise_loader;
GRANT UPDATE (migrated_at, started_at) ON core.migrations TO tapewise_loader;
GRANT UPDATE (closed_at) ON core.srb_sessions TO tapewise_loader;
"""


def upgrade() -> None:
    """Add columns and tables; of facts that are there already the clock times were known."""
    run(COLUMNS)
    run(TABLES)
    run(GRANTS)


def downgrade() -> None:
    """Drop them again, with what they hold; what was known to the day only stands at noon then."""
    run("""
        DROP TABLE core.srb_sessions, core.migrations;
        ALTER TABLE core.stages DROP COLUMN queue_s, DROP COLUMN is_time_of_day_unknown;
        ALTER TABLE core.namespace_events DROP COLUMN is_time_of_day_unknown;
        ALTER TABLE core.opens DROP COLUMN is_cached, DROP COLUMN is_time_of_day_unknown;
        ALTER TABLE core.transfers DROP COLUMN is_time_of_day_unknown;
    """)
