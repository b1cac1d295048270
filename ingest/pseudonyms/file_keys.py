"""The keys by which analysts recognise a file whose name they may not see.

A plain hash of a path would let anyone confirm a guessed path, at millions of guesses a second. A key is
therefore an HMAC-SHA-256 of the path. Its secret belongs to the warehouse and is in `ledger.secrets`, where
only the owner and the loader can read it (decision 0017).
"""

import polars as pl
import psycopg

from tapewise.ingest.pseudonyms.hashes import hash_with_key
from tapewise.schema.errors import DatabaseError

SECRET_NAME = "file keys"  # noqa: S105  # the name of its row


class FileKeys:
    """Makes the keys of files with the warehouse's secret, which it reads through `connection`.

    Raises DatabaseError if the warehouse has no secret, because new keys would not match the keys of its
    facts.
    """

    def __init__(self, connection: psycopg.Connection) -> None:
        row = connection.execute(
            "SELECT secret FROM ledger.secrets WHERE name = %s", [SECRET_NAME]
        ).fetchone()
        if row is None:
            raise DatabaseError(
                "the warehouse has lost the secret of its file keys (ledger.secrets)",
                hint="Restore it from a backup: with another secret, files would not be recognised.",
            )
        self._secret = str(row[0])

    def __repr__(self) -> str:
        return "FileKeys()"

    def make(self, texts: pl.Expr) -> pl.Expr:
        """The key (Int64) of each path or capability (String); null stays null."""
        return hash_with_key(texts, self._secret)
