"""Answers that were prepared from an archive's transfers, as far as their writers need to know them."""

import psycopg


def drop_preparations(connection: psycopg.Connection, archive_id: int) -> None:
    """Delete the prepared answers of an archive whose facts were deleted, in the caller's transaction.

    Transfers that are added make answers out of date, which their counts show. If transfers are deleted, the
    answers must not outlive them: they may have names.
    """
    connection.execute("DELETE FROM studies.envelope_preparations WHERE archive_id = %s", [archive_id])
    connection.execute("DELETE FROM studies.kept_answers WHERE archive_id = %s", [archive_id])
