"""Deletes all ledger rows of a source's log files."""

import psycopg
from psycopg import sql


def delete_log_files(connection: psycopg.Connection, source_id: int) -> int:
    """Delete a source's log files from the ledger in the caller's transaction; return how many there were."""
    for table in ("ignored_lines", "rejected_lines"):
        connection.execute(
            sql.SQL(
                "DELETE FROM {} USING ledger.log_files WHERE log_file_id = log_files.id AND source_id = %s"
            ).format(sql.Identifier("ledger", table)),
            [source_id],
        )
    connection.execute("DELETE FROM ledger.segments WHERE source_id = %s", [source_id])
    connection.execute("DELETE FROM ledger.landmarks WHERE source_id = %s", [source_id])
    connection.execute("DELETE FROM ledger.loaded_rows WHERE source_id = %s", [source_id])
    return connection.execute("DELETE FROM ledger.log_files WHERE source_id = %s", [source_id]).rowcount
