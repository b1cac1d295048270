"""Which logs report failures, and whose; cells of transfers of which only the day is known.

Published: never changed. What comes later is a revision of its own.
"""

from tapewise.migrations.statements import run

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the columns, and fill them for what is loaded: by the formats, and by the transfers that are held."""
    run("""
        ALTER TABLE ledger.sources
            ADD COLUMN failure_tables text[] DEFAULT '{}' NOT NULL, ADD COLUMN failures_as text;
        UPDATE ledger.sources SET failure_tables = CASE
            WHEN layout_text ~ 'is_failed = ([{]|true)'
                THEN ARRAY['migrations', 'namespace_events', 'opens', 'stages', 'transfers']
            WHEN layout_text IS NOT NULL THEN '{}'
            WHEN format IN ('hsi', 'proftpd', 'stat', 'vsftpd', 'xferlog') THEN ARRAY['namespace_events', 'transfers']
            WHEN format IN ('gridftp', 'unitree-client') THEN ARRAY['transfers']
            WHEN format = 'unitree-tape' THEN ARRAY['tape_events']
            WHEN format = 'dcache' THEN ARRAY['migrations', 'namespace_events', 'opens', 'stages', 'transfers']
            WHEN format = 'simulation' THEN ARRAY['stages', 'transfers']
            ELSE '{}'
        END;
        ALTER TABLE core.activity_cells
            ADD COLUMN is_time_of_day_unknown boolean DEFAULT false NOT NULL,
            ADD COLUMN failures_unlogged_count bigint DEFAULT 0 NOT NULL,
            ADD COLUMN unknown_size_count bigint DEFAULT 0 NOT NULL,
            ADD COLUMN unknown_duration_count bigint DEFAULT 0 NOT NULL,
            DROP CONSTRAINT activity_cells_pkey,
            ADD CONSTRAINT activity_cells_pkey
                PRIMARY KEY (archive_id, cell_at, interface, direction, is_time_of_day_unknown);
    """)
    # A transfer is in the last cell that begins before it ended. What is forgotten cannot be told apart by
    # source: where one of an interface's logs reports failures, it is taken for all of them.
    run("""
        CREATE TEMPORARY TABLE counted ON COMMIT DROP AS
        SELECT
            transfers.archive_id,
            transfers.interface,
            transfers.direction,
            transfers.ended_at,
            transfers.is_time_of_day_unknown,
            'transfers' = ANY(sources.failure_tables) AS has_failures,
            transfers.is_failed,
            transfers.is_size_saturated,
            transfers.size_bytes,
            -- Half a microsecond is rounded up, as in the rollup.
            floor(transfers.duration_s * 1e6 + 0.5)::bigint AS duration_us
        FROM core.transfers
        JOIN ledger.sources ON sources.id = transfers.source_id
        WHERE sources.is_counted;

        CREATE TEMPORARY TABLE logs ON COMMIT DROP AS
        SELECT cells.archive_id, cells.interface,
            -- Of the archive's logs together, where nothing of the interface is held any more.
            coalesce(bool_or(counted.has_failures), bool_or('transfers' = ANY(sources.failure_tables)), true)
                AS has_failures,
            coalesce(bool_or(counted.has_failures) AND NOT bool_and(counted.has_failures), false) AS is_mixed
        FROM (SELECT DISTINCT archive_id, interface FROM core.activity_cells) AS cells
        LEFT JOIN (SELECT DISTINCT archive_id, interface, has_failures FROM counted) AS counted
            ON counted.archive_id = cells.archive_id AND counted.interface = cells.interface
        LEFT JOIN ledger.sources ON sources.archive_id = cells.archive_id AND sources.is_counted
        GROUP BY cells.archive_id, cells.interface;

        UPDATE core.activity_cells SET failures_unlogged_count = transfer_count
        FROM logs
        WHERE activity_cells.archive_id = logs.archive_id AND activity_cells.interface = logs.interface
            AND NOT logs.has_failures;

        CREATE TEMPORARY TABLE placed ON COMMIT DROP AS
        SELECT counted.*, cells.cell_at
        FROM counted
        JOIN logs ON logs.archive_id = counted.archive_id AND logs.interface = counted.interface
        CROSS JOIN LATERAL (
            SELECT cell_at
            FROM core.activity_cells
            WHERE activity_cells.archive_id = counted.archive_id AND activity_cells.cell_at <= counted.ended_at
                AND activity_cells.interface = counted.interface
                AND activity_cells.direction = counted.direction
            ORDER BY cell_at DESC
            LIMIT 1
        ) AS cells
        WHERE counted.is_time_of_day_unknown OR (logs.is_mixed AND NOT counted.has_failures)
            OR (NOT counted.is_failed AND num_nulls(counted.size_bytes, counted.duration_us) > 0);

        UPDATE core.activity_cells SET failures_unlogged_count = unlogged.transfer_count
        FROM (
            SELECT placed.archive_id, cell_at, placed.interface, direction, count(*) AS transfer_count
            FROM placed
            JOIN logs ON logs.archive_id = placed.archive_id AND logs.interface = placed.interface
            WHERE logs.is_mixed AND NOT placed.has_failures
            GROUP BY placed.archive_id, cell_at, placed.interface, direction
        ) AS unlogged
        WHERE activity_cells.archive_id = unlogged.archive_id AND activity_cells.cell_at = unlogged.cell_at
            AND activity_cells.interface = unlogged.interface
            AND activity_cells.direction = unlogged.direction;

        UPDATE core.activity_cells SET
            unknown_size_count = unknown.size_count,
            unknown_duration_count = unknown.duration_count
        FROM (
            SELECT archive_id, cell_at, interface, direction,
                count(*) FILTER (WHERE size_bytes IS NULL) AS size_count,
                count(*) FILTER (WHERE duration_us IS NULL) AS duration_count
            FROM placed
            WHERE NOT is_failed
            GROUP BY archive_id, cell_at, interface, direction
        ) AS unknown
        WHERE activity_cells.archive_id = unknown.archive_id AND activity_cells.cell_at = unknown.cell_at
            AND activity_cells.interface = unknown.interface
            AND activity_cells.direction = unknown.direction;
    """)
    run("""
        INSERT INTO core.activity_cells (
            archive_id, cell_at, interface, direction, transfer_count, failed_count, saturated_count, size_bytes,
            duration_us, is_time_of_day_unknown, failures_unlogged_count, unknown_size_count,
            unknown_duration_count
        )
        SELECT archive_id, cell_at, interface, direction,
            count(*),
            count(*) FILTER (WHERE is_failed),
            count(*) FILTER (WHERE is_size_saturated AND NOT is_failed),
            coalesce(sum(size_bytes) FILTER (WHERE NOT is_failed), 0),
            coalesce(sum(duration_us) FILTER (WHERE NOT is_failed), 0),
            true,
            count(*) FILTER (WHERE NOT has_failures),
            count(*) FILTER (WHERE size_bytes IS NULL AND NOT is_failed),
            count(*) FILTER (WHERE duration_us IS NULL AND NOT is_failed)
        FROM placed
        WHERE is_time_of_day_unknown
        GROUP BY archive_id, cell_at, interface, direction;

        UPDATE core.activity_cells AS known SET
            transfer_count = known.transfer_count - day.transfer_count,
            failed_count = known.failed_count - day.failed_count,
            saturated_count = known.saturated_count - day.saturated_count,
            size_bytes = known.size_bytes - day.size_bytes,
            duration_us = known.duration_us - day.duration_us,
            failures_unlogged_count = known.failures_unlogged_count - day.failures_unlogged_count,
            unknown_size_count = known.unknown_size_count - day.unknown_size_count,
            unknown_duration_count = known.unknown_duration_count - day.unknown_duration_count
        FROM core.activity_cells AS day
        WHERE day.is_time_of_day_unknown AND NOT known.is_time_of_day_unknown
            AND known.archive_id = day.archive_id AND known.cell_at = day.cell_at
            AND known.interface = day.interface AND known.direction = day.direction;
        DELETE FROM core.activity_cells WHERE transfer_count = 0;
        DROP TABLE placed, logs, counted;
    """)


def downgrade() -> None:
    """Drop them again; cells of a day's transfers go to those of its noon."""
    run("""
        UPDATE core.activity_cells AS known SET
            transfer_count = known.transfer_count + day.transfer_count,
            failed_count = known.failed_count + day.failed_count,
            saturated_count = known.saturated_count + day.saturated_count,
            size_bytes = known.size_bytes + day.size_bytes,
            duration_us = known.duration_us + day.duration_us
        FROM core.activity_cells AS day
        WHERE day.is_time_of_day_unknown AND NOT known.is_time_of_day_unknown
            AND known.archive_id = day.archive_id AND known.cell_at = day.cell_at
            AND known.interface = day.interface AND known.direction = day.direction;
        DELETE FROM core.activity_cells AS day USING core.activity_cells AS known
        WHERE day.is_time_of_day_unknown AND NOT known.is_time_of_day_unknown
            AND known.archive_id = day.archive_id AND known.cell_at = day.cell_at
            AND known.interface = day.interface AND known.direction = day.direction;
        ALTER TABLE core.activity_cells
            DROP CONSTRAINT activity_cells_pkey,
            DROP COLUMN is_time_of_day_unknown,
            DROP COLUMN failures_unlogged_count,
            DROP COLUMN unknown_size_count,
            DROP COLUMN unknown_duration_count,
            ADD CONSTRAINT activity_cells_pkey PRIMARY KEY (archive_id, cell_at, interface, direction);
        ALTER TABLE ledger.sources DROP COLUMN failures_as, DROP COLUMN failure_tables;
    """)
