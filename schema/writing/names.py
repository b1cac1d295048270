"""Users and hosts: small tables of names, filled before the facts that refer to them."""

import polars as pl
import psycopg
from psycopg import sql

from tapewise.schema.tables.facts import FACT_TABLES


class NameTable:
    """The names of one archive in `core.users` or `core.hosts`, and their numbers.

    `connection` is in autocommit mode. Names are added in short transactions of their own, in sorted order,
    so two loads that need the same new names cannot deadlock.
    """

    def __init__(self, connection: psycopg.Connection, table: str, archive_id: int) -> None:
        self._connection = connection
        self._table = sql.Identifier("core", table)
        self._archive_id = archive_id
        self._ids: dict[str, int] = {}

    def resolve(self, names: pl.Series) -> pl.Series:
        """Return the number (Int32) of each name (String); null stays null. Adds missing names."""
        wanted = set(names.drop_nulls().unique())
        missing = sorted(wanted - self._ids.keys())
        if missing:
            self._make(missing)
        ids = {name: self._ids[name] for name in wanted}
        return names.replace_strict(ids, return_dtype=pl.Int32)  # raises if a name has no number

    def _make(self, names: list[str]) -> None:
        self._connection.execute(
            sql.SQL(
                "INSERT INTO {table} (archive_id, name)"
                " SELECT %(archive)s, wanted.name FROM unnest(%(names)s::text[]) AS wanted (name)"
                " WHERE NOT EXISTS (SELECT FROM {table} AS held"
                " WHERE held.archive_id = %(archive)s AND held.name = wanted.name)"
                " ORDER BY wanted.name ON CONFLICT DO NOTHING"
            ).format(table=self._table),
            {"archive": self._archive_id, "names": names},
        )
        self._ids |= dict(
            self._connection.execute(
                sql.SQL("SELECT name, id FROM {} WHERE archive_id = %s AND name = ANY(%s)").format(
                    self._table
                ),
                [self._archive_id, names],
            ).fetchall()
        )


def drop_unused_names(connection: psycopg.Connection, archive_id: int) -> int:
    """Delete the users and hosts of an archive that no fact refers to, and return how many there were.

    A client that is counted of its own keeps its name: if it got another number, its cells would be lost.
    Runs in the caller's transaction, which holds the archive's lock. A load must take that lock before it
    resolves names, because nothing refers to new names until it sends its facts.
    """
    count = 0
    counted = sql.SQL(
        " UNION ALL SELECT client_id FROM core.routes JOIN ledger.sources ON sources.id = source_id"
        " WHERE archive_id = %(archive)s AND client_id IS NOT NULL"
    )
    for table, column in (("users", "user_id"), ("hosts", "host_id")):
        used = sql.SQL(" UNION ALL ").join(
            sql.SQL(
                "SELECT {column} FROM {fact} WHERE archive_id = %(archive)s AND {column} IS NOT NULL"
            ).format(column=sql.Identifier(column), fact=sql.Identifier("core", fact.name))
            for fact in FACT_TABLES
        )
        if table == "hosts":
            used += counted
        count += connection.execute(
            sql.SQL(
                "DELETE FROM {names} WHERE archive_id = %(archive)s AND id IN ("
                "SELECT id FROM {names} WHERE archive_id = %(archive)s EXCEPT ({used}))"
            ).format(names=sql.Identifier("core", table), used=used),
            {"archive": archive_id},
        ).rowcount
    return count
