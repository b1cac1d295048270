"""Listings of catalogues: which cartridges, drives, queues, files and accounts there were at a time."""

from tapewise.migrations.statements import run

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Add the table."""
    run(
        """
        CREATE TABLE core.snapshots (
            id BIGINT NOT NULL,
            archive_id INTEGER NOT NULL,
            source_id INTEGER NOT NULL,
            log_file_id INTEGER NOT NULL,
            line_number BIGINT NOT NULL,
            line_hash BIGINT NOT NULL,
            occurrence INTEGER NOT NULL,
            ordinal SMALLINT DEFAULT 0 NOT NULL,
            listed_at TIMESTAMP WITH TIME ZONE NOT NULL,
            interface TEXT NOT NULL,
            operation TEXT NOT NULL,
            user_id INTEGER,
            host_id INTEGER,
            class_of_service TEXT,
            account TEXT,
            status_code INTEGER,
            is_failed BOOLEAN,
            is_time_ambiguous BOOLEAN NOT NULL,
            kind TEXT NOT NULL,
            started_at TIMESTAMP WITH TIME ZONE,
            state TEXT,
            task TEXT,
            vsn TEXT,
            tape_type TEXT,
            drive TEXT,
            location TEXT,
            archive_path TEXT,
            file_key BIGINT,
            is_full BOOLEAN,
            is_up BOOLEAN,
            file_count BIGINT,
            size_bytes BIGINT,
            capacity_bytes BIGINT,
            CONSTRAINT snapshots_kind_check CHECK (kind in ('volume', 'drive', 'queue', 'file', 'account')),
            CONSTRAINT snapshots_task_check CHECK (task in ('stage', 'migration'))
        ) PARTITION BY RANGE (listed_at);
        CREATE INDEX snapshots_brin ON core.snapshots
            USING brin (listed_at, id, log_file_id) WITH (pages_per_range = 32);
        COMMENT ON TABLE core.snapshots IS
            'One row per cartridge, drive, queue, file or account in a listing of a catalogue';
        GRANT SELECT, INSERT ON core.snapshots TO tapewise_loader;
        """
    )


def downgrade() -> None:
    """Drop the table."""
    run("DROP TABLE core.snapshots;")
