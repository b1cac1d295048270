"""The known segments (pieces of files whose facts the warehouse holds), and the rejected lines in them.

A segment is added to `ledger.segments` in the same transaction as its facts. Code that deletes facts also
deletes the segments that contain them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from tapewise.ingest.ledger.log_files import reject_lines
from tapewise.ingest.reading.file_parts import KnownSegment, PartGroup, SegmentFate
from tapewise.ingest.reading.segments import Segment


class ChangedMeanwhileError(Exception):
    """Raised if something that a load relies on changed before the load acquired the archive's lock.

    Either another command changed the ledger, or someone moved log files or links to them.
    """


_Known = Sequence[tuple[Segment, KnownSegment]]


def find_segments(
    connection: psycopg.Connection, source_id: int, digests: list[UUID]
) -> dict[UUID, KnownSegment]:
    """Return the source's known segments that have one of `digests`, by digest."""
    rows = connection.execute(
        "SELECT digest, log_file_id, first_line_number, line_count, fact_count, ignored_counts,"
        " rejected_counts, first_event_at, last_event_at"
        " FROM ledger.segments WHERE source_id = %s AND digest = ANY(%s)",
        [source_id, digests],
    )
    return {
        digest: KnownSegment(file_id, first, SegmentFate(*fate)) for digest, file_id, first, *fate in rows
    }


class SegmentLog:
    """Writes the rejected lines and segments of files to the ledger, as the files' parts arrive in order.

    `log_file_ids` are the files' ids. Earlier readings of the same files have already recorded their first
    `written_counts` lines.
    """

    def __init__(
        self, connection: psycopg.Connection, log_file_ids: Sequence[int], written_counts: Sequence[int]
    ) -> None:
        self._connection = connection
        self._log_file_ids = log_file_ids
        self._written_counts = written_counts
        self._parsed: list[tuple[int, int, int]] = []
        self._fresh: list[tuple[int, Segment, SegmentFate]] = []
        self._known: list[tuple[Segment, KnownSegment]] = []

    def add(self, group: PartGroup) -> None:
        """Write the rejected lines of parts whose facts have been sent; `group` has no other records."""
        for part in group.parts:
            log_file_id, written_count = self._log_file_ids[part.file], self._written_counts[part.file]
            first, last = part.first_line_number, part.first_line_number + part.line_count - 1
            is_written = last <= written_count
            if first <= written_count and not (part.known and is_written):
                _delete_rejected(self._connection, log_file_id, first, last)
                if part.parsed:
                    self._parsed.append((log_file_id, first, last))
            if part.known and not is_written:
                _copy_rejected(self._connection, log_file_id, part.known)
            self._fresh += [(log_file_id, segment, fate) for segment, fate in part.fresh]
            self._known += part.known
        if group.records is not None:
            reject_lines(self._connection, self._log_file_ids, group.records)

    def end(self, source_id: int) -> None:
        """Write the segments. Raises ChangedMeanwhileError if a skipped segment is no longer known."""
        if not _are_known(self._connection, self._known):
            raise ChangedMeanwhileError
        for lines in self._parsed:
            _delete_segments(self._connection, *lines)
        _write_segments(self._connection, source_id, self._fresh)


def _are_known(connection: psycopg.Connection, known: _Known) -> bool:
    """Whether all these segments are still known, now that no one else can write."""
    if not known:
        return True
    positions = {(one.log_file_id, one.first_line_number) for _, one in known}
    found = connection.execute(
        "SELECT count(*) FROM ledger.segments"
        " JOIN unnest(%s::integer[], %s::bigint[]) AS wanted (log_file_id, first_line_number)"
        " USING (log_file_id, first_line_number)",
        [[file_id for file_id, _ in positions], [first for _, first in positions]],
    ).fetchone()
    return found == (len(positions),)


def _write_segments(
    connection: psycopg.Connection,
    source_id: int,
    fresh: Sequence[tuple[int, Segment, SegmentFate]],
) -> None:
    """Store segments, each with the id of its file, whose facts are already in the warehouse."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO ledger.segments (log_file_id, first_line_number, source_id, digest, line_count,"
            " fact_count, ignored_counts, rejected_counts, first_event_at, last_event_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [_make_row(source_id, *each) for each in fresh],
        )


def _make_row(
    source_id: int, log_file_id: int, segment: Segment, fate: SegmentFate
) -> tuple[int | datetime | UUID | Jsonb | None, ...]:
    return (
        log_file_id,
        segment.first_line_number,
        source_id,
        segment.digest,
        segment.line_count,
        fate.fact_count,
        Jsonb(fate.ignored),
        Jsonb(fate.rejected),
        fate.first_event_at,
        fate.last_event_at,
    )


def _copy_rejected(connection: psycopg.Connection, log_file_id: int, known: _Known) -> None:
    """Copy the rejected lines of known segments, as lines of file `log_file_id`."""
    moves: list[tuple[Any, ...]] = [
        (one.log_file_id, one.first_line_number, segment.line_count, segment.first_line_number)
        for segment, one in known
        if one.fate.rejected
    ]
    if moves:
        connection.execute(
            "INSERT INTO ledger.rejected_lines (log_file_id, line_number, reason, line_hash, text)"
            " SELECT %s, line_number - began_at + begins_at, reason, line_hash, text"
            " FROM unnest(%s::integer[], %s::bigint[], %s::bigint[], %s::bigint[])"
            " AS moves (file_id, began_at, line_count, begins_at)"
            " JOIN ledger.rejected_lines ON log_file_id = file_id"
            " AND line_number >= began_at AND line_number < began_at + line_count",
            [log_file_id, *map(list, zip(*moves, strict=True))],
        )


def _delete_rejected(connection: psycopg.Connection, log_file_id: int, first: int, last: int) -> None:
    """Delete the rejected lines among lines `first` to `last` of an earlier reading of the file."""
    connection.execute(
        "DELETE FROM ledger.rejected_lines WHERE log_file_id = %s AND line_number BETWEEN %s AND %s",
        [log_file_id, first, last],
    )


def _delete_segments(connection: psycopg.Connection, log_file_id: int, first: int, last: int) -> None:
    """Delete the segments of the file that begin on lines `first` to `last`."""
    connection.execute(
        "DELETE FROM ledger.segments WHERE log_file_id = %s AND first_line_number BETWEEN %s AND %s",
        [log_file_id, first, last],
    )
