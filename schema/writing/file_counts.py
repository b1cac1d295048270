"""Counts an archive's files by local day (`studies.file_days`), by following each file through its history.

A file's history may begin with any line, so one more line may change what later ones meant. The days are
therefore counted again as a whole, and the result does not depend on the order of loads. What is removed from
an archive ends its last recount (`end_recount`). What is loaded does not: `mart.file_recounts` says how much.
"""

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl
import psycopg

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.texts import escape_controls
from tapewise.schema.writing.archives import Archive, get_archive, lock_archive
from tapewise.schema.writing.loader import read_frame

# Files are followed in parts, so that memory and temporary files do not grow with the archive. Each part
# reads all events, which takes a tenth of the time that following two million of them does.
SLICE_EVENTS = 2_000_000
# Per sort or hash table, of which a part has about ten at a time.
WORK_MEMORY = "128MB"

_ROUTE = ("source", "interface", "direction", "class_of_service")
_COUNTS = (
    *("put_count", "copy_count", "deleted_count", "overwritten_count"),
    *("unknown_size_count", "new_name_count", "unnamed_count"),
)
_BYTES = ("put_bytes", "copied_bytes", "deleted_bytes", "overwritten_bytes")
_AGE_COUNTS = ("age_get_counts", "age_unknown_size_counts")
_AGE_BYTES = "age_bytes"
_CELL = (*_ROUTE, "day")

# Sums of the events of one part, by day and by the bin of the age. A get has one bin, other events none.
_READ = f"""
    SELECT {", ".join(_ROUTE)}, starts_on::text, age_bins[1],
        {", ".join(f"sum({name})::bigint" for name in _COUNTS)},
        {", ".join(f"sum({name})::text" for name in _BYTES)},
        {", ".join(f"coalesce(sum({name}[1]), 0)::bigint" for name in _AGE_COUNTS)},
        coalesce(sum({_AGE_BYTES}[1]), 0)::text
    FROM mart.selected_file_days(
        archive => %(archive)s, since => %(since)s, is_fresh => true,
        slice_number => %(slice_number)s, slice_count => %(slice_count)s
    )
    GROUP BY {", ".join(_ROUTE)}, starts_on, age_bins[1]
"""  # noqa: S608 - the names above
_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(_CELL, pl.String),
    "age_bin": pl.Int32,
    **dict.fromkeys(_COUNTS, pl.Int64),
    **dict.fromkeys(_BYTES, pl.String),
    **dict.fromkeys(_AGE_COUNTS, pl.Int64),
    _AGE_BYTES: pl.String,
}

_FIND = """
    SELECT coalesce(sum(row_count), 0)::bigint, coalesce(max(load_id), 0)
    FROM ledger.loaded_rows JOIN ledger.sources ON sources.id = source_id
    WHERE archive_id = %s AND is_counted AND fact_table IN ('transfers', 'namespace_events')
"""
# Events that name no file are not followed.
_COUNT_NAMED = """
    SELECT (
        SELECT count(*) FROM core.transfers WHERE archive_id = %(archive_id)s AND file_key IS NOT NULL
    ) + (
        SELECT count(*) FROM core.namespace_events WHERE archive_id = %(archive_id)s AND file_key IS NOT NULL
    )
"""
_NOTE = """
    INSERT INTO studies.file_recounts (archive_id, event_count, last_load_id, last_event_at, computed_at)
    SELECT %(archive_id)s, %(event_count)s, %(last_load_id)s, max(last_event_at), %(now)s
    FROM ledger.sources LEFT JOIN ledger.log_files ON source_id = sources.id
    WHERE archive_id = %(archive_id)s AND is_counted
"""


@dataclass(frozen=True)
class FileCounts:
    """What a recount has read and made: facts, parts of files, and rows of `studies.file_days`."""

    archive: str
    event_count: int
    slice_count: int
    day_count: int


def refresh_files(
    warehouse: Warehouse, name: str, now: datetime, *, is_shown: bool = False
) -> FileCounts | None:
    """Count the files of archive `name` again, in a transaction of its own; None if nothing has changed.

    With `is_shown`, progress is shown on a terminal. Raises LookupFailedError if there is no such archive,
    and SettingsError if no login of a reader is set.
    """
    with (
        closing(warehouse.connect(Role.READER, autocommit=True)) as reader,
        closing(warehouse.connect(Role.LOADER)) as connection,
        connection.transaction(),
    ):
        return recount_files(
            connection,
            reader,
            name,
            now,
            on_wait=lambda: _show(name, "waiting for a load to end ...") if is_shown else None,
            on_slice=lambda part, count: _show(name, f"part {part} of {count}") if is_shown else None,
        )


def _show(name: str, said: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{escape_controls(name)}: {said}\n")


def recount_files(
    connection: psycopg.Connection,
    reader: psycopg.Connection,
    name: str,
    now: datetime,
    *,
    on_wait: Callable[[], None] | None = None,
    on_slice: Callable[[int, int], None] | None = None,
    slice_events: int = SLICE_EVENTS,
) -> FileCounts | None:
    """Count the files of archive `name` again, in the caller's transaction; None if nothing has changed.

    The transaction holds the archive's lock until it ends, so loads of the archive wait (and this waits for
    them, and calls `on_wait`). Readers see the old days until then. `reader` reads `mart`; it may be the same
    connection. Calls `on_slice` after each part with its number and the number of parts. Days whose detail is
    forgotten stay as they were counted last. Raises LookupFailedError if there is no such archive.
    """
    lock_archive(connection, get_archive(connection, name).id, on_wait)
    archive = get_archive(connection, name)
    found = connection.execute(_FIND, [archive.id]).fetchone()
    last = connection.execute(
        "SELECT event_count, last_load_id FROM studies.file_recounts WHERE archive_id = %s", [archive.id]
    ).fetchone()
    assert found is not None
    if found == last:
        return None
    event_count, last_load_id = found
    named = connection.execute(_COUNT_NAMED, {"archive_id": archive.id}).fetchone()
    assert named is not None
    # Part 0 has the files that were ever renamed, and events that name no file.
    slice_count = max(-(-named[0] // slice_events), 1)
    parts = []
    for number in range(slice_count + 1):
        parts.append(_read_slice(reader, archive, number, slice_count))
        if on_slice is not None:
            on_slice(number + 1, slice_count + 1)
    days = _add_parts(pl.concat(parts))
    end_recount(connection, archive)
    _write_days(connection, archive.id, days)
    values = {"archive_id": archive.id, "event_count": event_count, "last_load_id": last_load_id, "now": now}
    connection.execute(_NOTE, values)
    return FileCounts(archive.name, event_count, slice_count + 1, days.height)


def end_recount(connection: psycopg.Connection, archive: Archive) -> None:
    """Delete the archive's last recount in the caller's transaction, but keep the days that are forgotten.

    Until the next recount, functions of `mart` follow the files for each answer.
    """
    connection.execute("DELETE FROM studies.file_recounts WHERE archive_id = %s", [archive.id])
    connection.execute(
        "DELETE FROM studies.file_days USING ledger.sources WHERE source_id = sources.id AND archive_id = %s"
        " AND day >= coalesce((%s::timestamptz AT TIME ZONE %s)::date, '-infinity')",
        [archive.id, archive.retained_since, archive.timezone],
    )


def _read_slice(reader: psycopg.Connection, archive: Archive, number: int, count: int) -> pl.DataFrame:
    values: dict[str, Any] = {"archive": archive.name, "since": archive.retained_since}
    with reader.transaction():
        # The login's own limits are for questions that people ask.
        reader.execute("SET LOCAL statement_timeout = 0")
        reader.execute("SELECT set_config('work_mem', %s, true)", [WORK_MEMORY])
        return read_frame(reader, _READ, values | {"slice_number": number, "slice_count": count}, _SCHEMA)


def _add_parts(parts: pl.DataFrame) -> pl.DataFrame:
    """Return one row per route and day, with its sums, and its arrays as PostgreSQL's literals."""
    exact = parts.with_columns(pl.col(*_BYTES, _AGE_BYTES).cast(pl.Int128))
    sums = exact.group_by(_CELL).agg(pl.col(*_COUNTS, *_BYTES).sum())
    arrays = (
        exact.filter(pl.col("age_get_counts") > 0)
        .group_by(*_CELL, "age_bin")
        .agg(pl.col(*_AGE_COUNTS, _AGE_BYTES).sum())
        .sort("age_bin", nulls_last=True)
        .group_by(_CELL, maintain_order=True)
        .agg(
            pl.format("{{{}}}", pl.col(name).cast(pl.String).fill_null("NULL").str.join(",")).alias(name)
            for name in ("age_bin", *_AGE_COUNTS, _AGE_BYTES)
        )
    )
    return sums.join(arrays, on=_CELL, how="left", nulls_equal=True).with_columns(
        pl.col("age_bin", *_AGE_COUNTS, _AGE_BYTES).fill_null("{}"), pl.col(_BYTES).cast(pl.String)
    )


def _write_days(connection: psycopg.Connection, archive_id: int, days: pl.DataFrame) -> None:
    sources: dict[str, int] = dict(
        connection.execute(
            "SELECT name, id FROM ledger.sources WHERE archive_id = %s", [archive_id]
        ).fetchall()
    )
    columns = ("age_bin", *_AGE_COUNTS, _AGE_BYTES)
    rows = days.select(*_CELL, *_COUNTS, *_BYTES, *columns).sort(_CELL).iter_rows()
    with connection.cursor() as cursor, cursor.copy("COPY studies.file_days FROM STDIN") as copy:
        for source, *values in rows:
            copy.write_row([sources[source], *values])
