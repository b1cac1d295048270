"""The keys by which analysts recognise files whose names they may not see.

With a plain hash, anyone could try millions of guessed paths a second. A key is therefore an HMAC-SHA-256 of
the path, with a secret that belongs to the warehouse. It is stored in `ledger.secrets`, which only the owner
and the loader can read (decision 0017).
"""

import polars as pl
import psycopg

from tapewise.ingest.pseudonyms.hashes import hash_with_key
from tapewise.schema.errors import DatabaseError

SECRET_NAME = "file keys"  # noqa: S105  # the name of its row


class FileKeys:
    """Makes the keys of files with the warehouse's secret, which is read through `connection`.

    Raises DatabaseError if the warehouse has no secret, because keys made with a new one would not match
    those of existing facts.
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
