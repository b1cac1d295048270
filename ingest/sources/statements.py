"""The SQL statements with which `ingest/sources/sources.py` finds and creates sources."""

from typing import LiteralString

SELECT_SOURCE: LiteralString = """
    SELECT sources.id, archive_id, archives.name AS archive, kind, archives.timezone AS archive_timezone,
        sources.name, format, sources.timezone, clock_resolution_s, is_counted, earliest_at, latest_at,
        retained_since, has_client_cells, pseudonym_key_id, layout_text, is_shared, failure_tables,
        failures_as,
        NOT EXISTS (SELECT FROM ledger.log_files WHERE source_id = sources.id) AS is_unread
    FROM ledger.sources JOIN core.archives ON archives.id = archive_id
    WHERE """

MAKE_ARCHIVE = """
    INSERT INTO core.archives (name, kind, timezone)
    VALUES (%(archive)s, %(kind)s, coalesce(%(archive_timezone)s::text, %(timezone)s))
    ON CONFLICT DO NOTHING
"""

# The settings of an archive or source may change until something has been loaded (or forgotten) with them.
UPDATE_ARCHIVE = """
    UPDATE core.archives SET kind = %(kind)s,
        timezone = coalesce(%(archive_timezone)s::text, %(timezone)s)
    WHERE name = %(archive)s AND retained_since IS NULL AND NOT EXISTS (
        SELECT FROM ledger.log_files JOIN ledger.sources ON sources.id = log_files.source_id
        WHERE sources.archive_id = archives.id AND loaded_count > 0
    )
"""

MAKE_SOURCE = """
    INSERT INTO ledger.sources AS held
        (archive_id, name, format, timezone, clock_resolution_s, is_counted, earliest_at, pseudonym_key_id,
        layout_text, is_of_parts, failure_tables, failures_as)
    SELECT id, %(name)s, %(format)s, %(timezone)s, %(clock_resolution_s)s, %(is_counted)s, %(earliest_at)s,
        %(pseudonym_key_id)s, %(layout_text)s, %(is_of_parts)s, %(failure_tables)s, CASE
            -- A log of the same format that is counted reports the failures itself.
            WHEN NOT EXISTS (
                SELECT FROM ledger.sources
                WHERE archive_id = archives.id AND format = %(format)s AND is_counted AND name <> %(name)s
            ) THEN %(failures_as)s::text
        END
    FROM core.archives WHERE name = %(archive)s AND kind = %(kind)s
    ON CONFLICT (archive_id, name) DO UPDATE SET
        format = excluded.format, timezone = excluded.timezone, is_counted = excluded.is_counted,
        clock_resolution_s = excluded.clock_resolution_s, earliest_at = excluded.earliest_at,
        pseudonym_key_id = excluded.pseudonym_key_id, layout_text = excluded.layout_text,
        failure_tables = excluded.failure_tables, failures_as = excluded.failures_as,
        is_of_parts = excluded.is_of_parts
    WHERE NOT EXISTS (
        SELECT FROM ledger.log_files WHERE log_files.source_id = held.id AND (
            loaded_count > 0 OR EXISTS (
                SELECT FROM ledger.ignored_lines
                WHERE log_file_id = log_files.id AND reason = %(before_retention)s
            )
        )
    ) AND NOT EXISTS (SELECT FROM core.routes WHERE routes.source_id = held.id)
"""

# This flag is never reset, because some lines may count as held here only because another source holds them.
SHARE = "UPDATE ledger.sources SET is_shared = TRUE WHERE id = %s AND NOT is_shared"

# For a layout that knows more kinds of lines than when the source was last read, and reads the others as
# before.
EXTEND_LAYOUT = """
    UPDATE ledger.sources SET layout_text = %(layout_text)s WHERE id = %(source_id)s
        AND layout_text IS DISTINCT FROM %(layout_text)s
"""

# For a source whose files will be read again with these settings.
CHANGE_SETTINGS = """
    UPDATE ledger.sources SET format = %(format)s, layout_text = %(layout_text)s, timezone = %(timezone)s,
        clock_resolution_s = %(clock_resolution_s)s, failure_tables = %(failure_tables)s,
        failures_as = %(failures_as)s, is_of_parts = %(is_of_parts)s
    WHERE id = %(source_id)s
"""
