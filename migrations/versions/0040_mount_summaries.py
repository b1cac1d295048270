"""Totals of mounts, when a cartridge was in its drive, and which cartridge and drive files were on."""

from tapewise.migrations.statements import run

revision = "0040"
down_revision = "0039"

_KINDS = "'received', 'mount requested', {}'positioned', 'transferred', 'dismount requested', 'dismounted'"


def _set_kinds(kinds: str) -> None:
    run(
        f"""
        ALTER TABLE core.tape_events DROP CONSTRAINT tape_events_kind_check;
        ALTER TABLE core.tape_events ADD CONSTRAINT tape_events_kind_check CHECK (kind in ({kinds}));
        """
    )


def upgrade() -> None:
    """Add the table and the columns; what was read before has no values in them."""
    run(
        """
        CREATE TABLE core.mount_summaries (
            id BIGINT NOT NULL,
            archive_id INTEGER NOT NULL,
            source_id INTEGER NOT NULL,
            log_file_id INTEGER NOT NULL,
            line_number BIGINT NOT NULL,
            line_hash BIGINT NOT NULL,
            occurrence INTEGER NOT NULL,
            ordinal SMALLINT DEFAULT 0 NOT NULL,
            ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
            interface TEXT NOT NULL,
            operation TEXT NOT NULL,
            user_id INTEGER,
            host_id INTEGER,
            class_of_service TEXT,
            account TEXT,
            status_code INTEGER,
            is_failed BOOLEAN,
            is_time_ambiguous BOOLEAN NOT NULL,
            started_at TIMESTAMP WITH TIME ZONE,
            duration_s DOUBLE PRECISION,
            mount_key TEXT,
            task TEXT,
            requester TEXT,
            vsn TEXT,
            tape_type TEXT,
            drive TEXT,
            location TEXT,
            is_mounted BOOLEAN,
            file_count BIGINT,
            size_bytes BIGINT,
            mount_s DOUBLE PRECISION,
            position_s DOUBLE PRECISION,
            transfer_s DOUBLE PRECISION,
            flush_s DOUBLE PRECISION,
            wait_s DOUBLE PRECISION,
            unload_s DOUBLE PRECISION,
            dismount_s DOUBLE PRECISION,
            CONSTRAINT mount_summaries_task_check CHECK (task in ('stage', 'migration')),
            CONSTRAINT mount_summaries_requester_check CHECK (requester in ('client', 'repacker'))
        ) PARTITION BY RANGE (ended_at);
        CREATE INDEX mount_summaries_brin ON core.mount_summaries
            USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);
        COMMENT ON TABLE core.mount_summaries IS
            'One row per session of a drive with a cartridge, with the totals that the log reports at its end';
        GRANT SELECT, INSERT ON core.mount_summaries TO tapewise_loader;

        ALTER TABLE core.mounts ADD COLUMN mounted_at TIMESTAMP WITH TIME ZONE;
        ALTER TABLE core.stages ADD COLUMN vsn TEXT, ADD COLUMN drive TEXT, ADD COLUMN copy_number INTEGER;
        ALTER TABLE core.migrations ADD COLUMN vsn TEXT, ADD COLUMN drive TEXT, ADD COLUMN copy_number INTEGER;
        """
    )
    _set_kinds(_KINDS.format("'mounted', "))


def downgrade() -> None:
    """Drop them, and delete the events that older programs do not know."""
    run(
        """
        DELETE FROM core.tape_events WHERE kind = 'mounted';
        DROP TABLE core.mount_summaries;
        ALTER TABLE core.mounts DROP COLUMN mounted_at;
        ALTER TABLE core.stages DROP COLUMN vsn, DROP COLUMN drive, DROP COLUMN copy_number;
        ALTER TABLE core.migrations DROP COLUMN vsn, DROP COLUMN drive, DROP COLUMN copy_number;
        """
    )
    _set_kinds(_KINDS.format(""))
