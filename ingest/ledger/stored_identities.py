"""Removes the lines of a file that the warehouse already holds for the same source, by their identities.

The fact tables have no unique index, because it would make a load take three times as long. Instead, the
identities already held within the time range of a block are fetched and compared here. This too is skipped
if the ledger shows that no file of the source covers that range.
"""

from collections import defaultdict
from datetime import datetime, timedelta

import polars as pl
import psycopg
from psycopg import sql

from tapewise.ingest.records.passes import find_first_passes, find_second_passes
from tapewise.ingest.sources.sources import Source
from tapewise.schema.tables.facts import event_time_columns
from tapewise.schema.writing.loader import read_frame

# The identities of two files are fetched together if this much time or less is between them.
NEAR = timedelta(hours=1)

_IDENTITY = {"event_at": pl.Datetime("us", "UTC"), "line_hash": pl.Int64(), "occurrence": pl.Int32()}


class StoredIdentities:
    """The identities of the lines that a source held before this load, taken from the lines' first facts.

    `connection` is the load's own and holds the archive's lock, so all earlier loads have committed.
    `reading` is a second connection, which is queried while the first one sends. A fact that was moved into
    the second pass of a repeated hour keeps its line's identity, which contains the time in the first pass.

    A file with lines of several formats is read by several sources (`--shared`). A line that one of them
    holds as a fact, in any table, counts as held for the others too.

    If the load is `of_several` files, a line that more than one of them contains is new in the first, and
    held in the others.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        reading: psycopg.Connection,
        source: Source,
        *,
        of_several: bool = False,
    ) -> None:
        self._reading = reading
        self._source_id = source.id
        self._zone = source.timezone
        # The identities that this load has found so far, by table; None if they need not be compared.
        self._found: defaultdict[str, list[pl.DataFrame]] | None = defaultdict(list) if of_several else None
        self._sharer_ids = _find_sharers(connection, source)
        # New facts have no statistics yet, so the planner would guess and scan entire months.
        reading.execute("SET enable_seqscan = off")
        # Joined where they overlap, because a source may have thousands of files.
        self._ranges = connection.execute(
            "SELECT lower(covered), upper(covered) FROM ("
            " SELECT unnest(range_agg(tstzrange(first_event_at, last_event_at, '[]'))) AS covered"
            " FROM ledger.log_files WHERE source_id = %s AND first_event_at IS NOT NULL"
            ") AS held",
            [source.id],
        ).fetchall()

    def drop_held(self, table: str, records: pl.DataFrame) -> pl.DataFrame:
        """Return `records` (facts of `table`) without those whose identities are already held."""
        if self._found is None:
            return self._drop_stored(table, records)
        # The lines of a file come in the order of the files, and lines of one file are all different.
        records = records.unique([*_IDENTITY], keep="first", maintain_order=True)
        if self._found[table]:
            records = _drop(records, self._found[table])
        if records.is_empty():
            return records
        self._found[table].append(records.select(*_IDENTITY))
        return self._drop_stored(table, records)

    def _drop_stored(self, table: str, records: pl.DataFrame) -> pl.DataFrame:
        is_repeated = bool(records["is_time_ambiguous"].any())
        latest_at = (
            find_second_passes(self._zone, records["event_at"]) if is_repeated else records["event_at"]
        )
        found = []
        for since, until in _find_spans(records.select("file", "event_at", latest_at=latest_at)):
            places = [(each, self._sharer_ids) for each in event_time_columns] if self._sharer_ids else []
            if any(first <= until and since <= last for first, last in self._ranges):
                places.append((table, [self._source_id]))
            found += [self._fetch(*place, since, until) for place in places]
        if not found:
            return records
        held = pl.concat(found)
        if is_repeated:
            held = held.with_columns(event_at=find_first_passes(self._zone, held["event_at"]))
        return _drop(records, [held])

    def _fetch(self, table: str, source_ids: list[int], since: object, until: object) -> pl.DataFrame:
        query = sql.SQL(
            "SELECT {event_at}, line_hash, occurrence FROM core.{table}"
            " WHERE source_id = ANY(%(source_ids)s) AND {event_at} BETWEEN %(since)s AND %(until)s"
            " AND ordinal = 0"
        ).format(event_at=sql.Identifier(event_time_columns[table]), table=sql.Identifier(table))
        values = {"source_ids": source_ids, "since": since, "until": until}
        return read_frame(self._reading, query, values, _IDENTITY)


def _find_spans(times: pl.DataFrame) -> list[tuple[datetime, datetime]]:
    """Return the times from the earliest `event_at` to the `latest_at` of each file, joined if they are near.

    The files of a load may be years apart, with much more of the source between them.
    """
    spans: list[tuple[datetime, datetime]] = []
    of_files = times.group_by("file").agg(pl.col("event_at").min(), pl.col("latest_at").max())
    for since, until in of_files.select("event_at", "latest_at").sort("event_at").iter_rows():
        if spans and since - spans[-1][1] <= NEAR:
            spans[-1] = spans[-1][0], max(until, spans[-1][1])
        else:
            spans.append((since, until))
    return spans


def _drop(records: pl.DataFrame, identities: list[pl.DataFrame]) -> pl.DataFrame:
    return records.join(pl.concat(identities), on=[*_IDENTITY], how="anti", maintain_order="left")


def _find_sharers(connection: psycopg.Connection, source: Source) -> list[int]:
    """Return the archive's other sources whose lines count as held for this one.

    They do if either of the two sources is shared. Sources with a different pseudonym key are left out,
    because their lines' hashes cannot be compared.
    """
    rows = connection.execute(
        "SELECT id FROM ledger.sources WHERE archive_id = %s AND id <> %s AND (is_shared OR %s)"
        " AND pseudonym_key_id IS NOT DISTINCT FROM %s",
        [source.archive_id, source.id, source.is_shared, source.pseudonym_key_id],
    )
    return [number for (number,) in rows]
