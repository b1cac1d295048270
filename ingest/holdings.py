"""What the warehouse holds already of a source, to be taken out of what a file brings.

There is no unique index on the facts: the same load through one takes three times as long. The
identities held in the times of a block are fetched and compared here instead, and not even
that where the ledger knows that no file of the source has those times.
"""

from types import TracebackType
from typing import Self

import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import psycopg

from ingest.second_passes import find_first_passes, find_second_passes
from schema.models import event_time_columns

IDENTITY = ("event_at", "line_hash", "occurrence")


class Holdings:
    """The identities that a source holds, as committed before this load.

    `connection` is the load's own, which holds the archive's lock: whoever held it before has
    committed. `url` opens a second, reading connection the first time that one is needed.
    `zone` is the source's: what was moved into the second pass of an hour that its clocks repeat
    keeps the identity that its line has by itself, with the time of the first.
    """

    def __init__(self, connection: psycopg.Connection, url: str, source_id: int, zone: str) -> None:
        self._url = url
        self._source_id = source_id
        self._zone = zone
        self._reading: adbc.Connection | None = None
        self._ranges = connection.execute(
            "SELECT first_event_at, last_event_at FROM ledger.log_files"
            " WHERE source_id = %s AND first_event_at IS NOT NULL",
            [source_id],
        ).fetchall()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reading is not None:
            self._reading.close()

    def drop_held(self, table: str, records: pl.DataFrame) -> pl.DataFrame:
        """`records` (all of `table`) without those whose identity is held already."""
        since, until = records["event_at"].min(), records["event_at"].max()
        if not any(first <= until and since <= last for first, last in self._ranges):
            return records
        is_repeated = bool(records["is_time_ambiguous"].any())
        if is_repeated:
            until = find_second_passes(self._zone, records["event_at"]).max()
        held = self._fetch(table, since, until)
        if is_repeated:
            held = held.with_columns(event_at=find_first_passes(self._zone, held["event_at"]))
        return records.join(held, on=IDENTITY, how="anti", maintain_order="left")

    def _fetch(self, table: str, since: object, until: object) -> pl.DataFrame:
        if self._reading is None:
            self._reading = adbc.connect(self._url)
        event_time = event_time_columns[table]
        with self._reading.cursor() as cursor:
            cursor.execute(
                # Both names come from the models, never from a log.
                f"SELECT {event_time} AS event_at, line_hash, occurrence FROM core.{table}"  # noqa: S608
                f" WHERE source_id = $1 AND {event_time} BETWEEN $2 AND $3",
                (self._source_id, since, until),
            )
            held = pl.from_arrow(cursor.fetch_arrow_table())
        assert isinstance(held, pl.DataFrame)
        return held.select(
            pl.col("event_at").cast(pl.Datetime("us", "UTC")), pl.col("line_hash"), pl.col("occurrence")
        )
