"""Starts of stages that have lines of their own, with their ends, and reads through a cache by bytes."""

from tapewise.migrations.statements import run

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    """Add the tables; what was read before has no rows in them."""
    run(
        """
        CREATE TABLE core.stage_events (
            id BIGINT NOT NULL,
            archive_id INTEGER NOT NULL,
            source_id INTEGER NOT NULL,
            log_file_id INTEGER NOT NULL,
            line_number BIGINT NOT NULL,
            line_hash BIGINT NOT NULL,
            occurrence INTEGER NOT NULL,
            ordinal SMALLINT DEFAULT 0 NOT NULL,
            happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
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
            size_bytes BIGINT,
            archive_path TEXT,
            file_key BIGINT,
            vsn TEXT,
            drive TEXT,
            copy_number INTEGER,
            CONSTRAINT stage_events_kind_check CHECK (kind in ('started', 'cancelled'))
        ) PARTITION BY RANGE (happened_at);
        CREATE INDEX stage_events_brin ON core.stage_events
            USING brin (happened_at, id, log_file_id) WITH (pages_per_range = 32);
        COMMENT ON TABLE core.stage_events IS
            'One row per stage that began or was cancelled, where a log has a line for that';
        GRANT SELECT, INSERT ON core.stage_events TO tapewise_loader;

        CREATE TABLE core.stage_starts (
            archive_id INTEGER NOT NULL,
            first_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
            last_event_at TIMESTAMP WITH TIME ZONE NOT NULL,
            start_id BIGINT NOT NULL,
            cancel_id BIGINT,
            stage_id BIGINT,
            source_id INTEGER NOT NULL,
            interface TEXT NOT NULL,
            class_of_service TEXT,
            duration_s DOUBLE PRECISION,
            is_failed BOOLEAN,
            is_time_ambiguous BOOLEAN NOT NULL,
            user_id INTEGER,
            file_key BIGINT,
            vsn TEXT,
            drive TEXT,
            copy_number INTEGER,
            size_bytes BIGINT
        ) PARTITION BY RANGE (last_event_at);
        CREATE UNIQUE INDEX stage_starts_archive_id_last_event_at_stage_id_idx
            ON core.stage_starts (archive_id, last_event_at, stage_id);
        COMMENT ON TABLE core.stage_starts IS
            'One row per start of a stage that a log reports, with its end if that is known; derived';
        GRANT SELECT, INSERT, DELETE ON core.stage_starts TO tapewise_loader;

        CREATE TABLE core.cache_reads (
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
            hit_bytes BIGINT NOT NULL,
            missed_bytes BIGINT NOT NULL,
            bypassed_bytes BIGINT NOT NULL,
            archive_path TEXT,
            file_key BIGINT
        ) PARTITION BY RANGE (ended_at);
        CREATE INDEX cache_reads_brin ON core.cache_reads
            USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);
        COMMENT ON TABLE core.cache_reads IS
            'One row per read through a cache whose log reports how many bytes the cache had';
        GRANT SELECT, INSERT ON core.cache_reads TO tapewise_loader;
        """
    )


def downgrade() -> None:
    """Drop the tables."""
    run(
        """
        DROP TABLE core.cache_reads;
        DROP TABLE core.stage_starts;
        DROP TABLE core.stage_events;
        """
    )
