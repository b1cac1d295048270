"""What the warehouse holds already of a source, to be taken out of what a file brings.

There is no unique index on the facts: the same load through one takes three times as long. The
identities held in the times of a block are fetched and compared here instead, and not even
that where the ledger knows that no file of the source has those times.
"""

from datetime import UTC, datetime

import numpy as np
import polars as pl
import psycopg
from psycopg import sql

from tapewise.ingest.reading.second_passes import find_first_passes, find_second_passes
from tapewise.ingest.sources.sources import Source
from tapewise.schema.tables.models import event_time_columns

IDENTITY = ("event_at", "line_hash", "occurrence")

# A row of PostgreSQL's binary COPY: how many fields, then the length of each and its value.
_ROW = np.dtype(
    [
        ("field_count", ">i2"),
        ("event_length", ">i4"),
        ("event_at", ">i8"),
        ("hash_length", ">i4"),
        ("line_hash", ">i8"),
        ("occurrence_length", ">i4"),
        ("occurrence", ">i4"),
    ]
)
_HEADER_BYTES, _TRAILER_BYTES = 19, 2
# PostgreSQL counts microseconds from here.
_BEGIN_US = int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000


class Holdings:
    """The identities of the lines that a source holds, as committed before this load: of their first facts.

    `connection` is the load's own, which holds the archive's lock: whoever held it before has committed.
    `reading` is another, which is asked while the first one sends. What was moved into the second pass of an
    hour that the source's clocks repeat keeps the identity that its line has by itself, with the time of the
    first.

    Where a file has lines of several formats, several sources read it (`--shared`): a line that one of them
    holds as a fact, in whatever table, is held for the others, too.
    """

    def __init__(self, connection: psycopg.Connection, reading: psycopg.Connection, source: Source) -> None:
        self._reading = reading
        self._source_id = source.id
        self._zone = source.timezone
        self._sharer_ids = _find_sharers(connection, source)
        # Fresh facts have no statistics, and on guesses the planner would read whole months.
        reading.execute("SET enable_seqscan = off")
        self._ranges = connection.execute(
            "SELECT first_event_at, last_event_at FROM ledger.log_files"
            " WHERE source_id = %s AND first_event_at IS NOT NULL",
            [source.id],
        ).fetchall()

    def drop_held(self, table: str, records: pl.DataFrame) -> pl.DataFrame:
        """`records` (all of `table`) without those whose identity is held already."""
        since, until = records["event_at"].min(), records["event_at"].max()
        places = [(each, self._sharer_ids) for each in event_time_columns] if self._sharer_ids else []
        if any(first <= until and since <= last for first, last in self._ranges):
            places.append((table, [self._source_id]))
        if not places:
            return records
        is_repeated = bool(records["is_time_ambiguous"].any())
        if is_repeated:
            until = find_second_passes(self._zone, records["event_at"]).max()
        held = pl.concat([self._fetch(*place, since, until) for place in places])
        if is_repeated:
            held = held.with_columns(event_at=find_first_passes(self._zone, held["event_at"]))
        return records.join(held, on=IDENTITY, how="anti", maintain_order="left")

    def _fetch(self, table: str, source_ids: list[int], since: object, until: object) -> pl.DataFrame:
        statement = sql.SQL(
            "COPY (SELECT {event_at}, line_hash, occurrence FROM core.{table}"
            " WHERE source_id = ANY({source_ids}) AND {event_at} BETWEEN {since} AND {until} AND ordinal = 0)"
            " TO STDOUT (FORMAT binary)"
        ).format(
            event_at=sql.Identifier(event_time_columns[table]),
            table=sql.Identifier(table),
            source_ids=source_ids,
            since=since,
            until=until,
        )
        with self._reading.cursor() as cursor, cursor.copy(statement) as copy:
            content = b"".join(copy)
        row_count = (len(content) - _HEADER_BYTES - _TRAILER_BYTES) // _ROW.itemsize
        rows = np.frombuffer(content, _ROW, row_count, _HEADER_BYTES)
        columns = {name: rows[name].astype(f"=i{rows[name].itemsize}") for name in IDENTITY}
        held = pl.DataFrame(columns | {"event_at": columns["event_at"] + _BEGIN_US})
        return held.with_columns(pl.col("event_at").cast(pl.Datetime("us", "UTC")))


def _find_sharers(connection: psycopg.Connection, source: Source) -> list[int]:
    """The other sources of the archive whose lines are held for this one, because either of the two shares.

    Hashes of lines that were made with another key, or with none, cannot be compared.
    """
    rows = connection.execute(
        "SELECT id FROM ledger.sources WHERE archive_id = %s AND id <> %s AND (is_shared OR %s)"
        " AND pseudonym_key_id IS NOT DISTINCT FROM %s",
        [source.archive_id, source.id, source.is_shared, source.pseudonym_key_id],
    )
    return [number for (number,) in rows]
