"""`tapewise rejects`: lists the lines that did not become records, and re-reads their files."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime

import psycopg
from psycopg.rows import class_row

from tapewise.ingest.ledger.log_files import find_log_file, ledger_path
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.members import is_log
from tapewise.ingest.reading.remote_paths import RemotePath, make_path
from tapewise.ingest.sources.sources import get_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError, TapewiseError


@dataclass(frozen=True)
class RejectFilter:
    """A selection of rejected lines by archive, source, file and reason. None matches anything."""

    archive: str | None = None
    source: str | None = None
    path: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class RejectCount:
    """How many lines of a source, and in how many files, were rejected for a reason."""

    archive: str
    source: str
    reason: str
    line_count: int
    log_file_count: int


@dataclass(frozen=True)
class RejectedLine:
    """A rejected line; its `text` is None if it was not kept."""

    archive: str
    source: str
    path: str
    line_number: int
    reason: str
    text: str | None


@dataclass(frozen=True)
class RejectedFile:
    """A log file with rejected lines, as recorded in the ledger.

    `is_newest` says that no other file with the same name has been read since.
    """

    log_file_id: int
    source_id: int
    archive: str
    source: str
    path: str
    log_date: date | None
    rejected_count: int
    is_newest: bool


@dataclass(frozen=True)
class Retry:
    """The outcome of reading a file again: a `result`, or the `error` that prevented it.

    `is_another` says that the path now belongs to a different file, which was read as a new file.
    """

    file: RejectedFile
    result: FileResult | None
    error: TapewiseError | None
    is_another: bool = False


_ASKED_FOR = """
    FROM ledger.rejected_lines
    JOIN ledger.log_files ON log_files.id = log_file_id
    JOIN ledger.sources ON sources.id = source_id
    JOIN core.archives ON archives.id = archive_id
    WHERE (%(archive)s::text IS NULL OR archives.name = %(archive)s)
        AND (%(source)s::text IS NULL OR sources.name = %(source)s)
        AND (%(path)s::text IS NULL OR path = %(path)s)
        AND (%(reason)s::text IS NULL OR reason = %(reason)s)
"""


def count_rejects(connection: psycopg.Connection, asked: RejectFilter) -> list[RejectCount]:
    """Count the rejected lines by source and reason, with the most frequent reasons of a source first."""
    with connection.cursor(row_factory=class_row(RejectCount)) as cursor:
        return cursor.execute(
            "SELECT archives.name AS archive, sources.name AS source, reason, count(*) AS line_count,"
            " count(DISTINCT log_file_id) AS log_file_count"
            + _ASKED_FOR
            + "GROUP BY 1, 2, 3 ORDER BY 1, 2, 4 DESC, 3",
            vars(asked),
        ).fetchall()


def list_rejects(
    connection: psycopg.Connection, asked: RejectFilter, limit: int | None
) -> Iterator[RejectedLine]:
    """Yield the rejected lines (at most `limit`, if it is set), ordered by archive, source and file."""
    with connection.cursor(row_factory=class_row(RejectedLine)) as cursor:
        yield from cursor.stream(
            "SELECT archives.name AS archive, sources.name AS source, path, line_number, reason, text"
            + _ASKED_FOR
            + "ORDER BY 1, 2, path, log_file_id, line_number LIMIT %(limit)s",
            vars(asked) | {"limit": limit},
        )


def find_files(connection: psycopg.Connection, asked: RejectFilter) -> list[RejectedFile]:
    """Return the files with rejected lines that match `asked`; counts include all their rejected lines."""
    with connection.cursor(row_factory=class_row(RejectedFile)) as cursor:
        return cursor.execute(
            "SELECT log_files.id AS log_file_id, source_id, archives.name AS archive,"  # noqa: S608  # ours
            " sources.name AS source,"
            " path, log_date, rejected_count, NOT EXISTS (SELECT FROM ledger.log_files AS later"
            " WHERE later.source_id = log_files.source_id AND later.path = log_files.path"
            " AND later.id > log_files.id) AS is_newest"
            + _ASKED_FOR
            + "GROUP BY log_files.id, sources.id, archives.id ORDER BY 3, 4, path, log_files.id",
            vars(asked),
        ).fetchall()


def retry_file(
    warehouse: Warehouse,
    file: RejectedFile,
    now: datetime,
    key: PseudonymKey | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Retry:
    """Read a file again at its path, with the same settings. It is loaded completely, or nothing changes.

    `file` must be the newest one with its name. `key` is needed if names are pseudonyms. Errors that concern
    only this file are returned, not raised.
    """
    try:
        path = make_path(file.path)
        with closing(warehouse.connect(Role.LOADER)) as connection:
            source = get_source(connection, file.source_id, key)
            is_known = find_log_file(connection, file.source_id, file.path) is not None
        if source is None or not is_known:
            raise LogFileError(f"{file.path}: its source was dropped in the meantime")
        if not (isinstance(path, RemotePath) or path.exists() or is_log(path)):
            raise LogFileError(
                f"{file.path}: is gone",
                hint="Its rejected lines stay in the ledger. If it was moved, ingest it from its new path.",
            )
        if ledger_path(path) != file.path:
            raise LogFileError(f"{file.path}: is now a link to another file")
        result = load_file(
            warehouse,
            source,
            path,
            now=now,
            keeps_date=True,  # the user may have given it; a different file must have the date in its name
            is_forced=True,
            on_wait=on_wait,
        )
        with closing(warehouse.connect(Role.LOADER)) as connection:
            newest = find_log_file(connection, file.source_id, file.path)
    except TapewiseError as error:
        return Retry(file, None, error)
    return Retry(file, result, None, newest is not None and newest.id != file.log_file_id)
