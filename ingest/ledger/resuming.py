"""Compares a file with its last reading: is it unchanged, has it grown, or is it now a different file?

`known_segments.py` answers a separate question: which pieces of the file are known from other files.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import psycopg

from tapewise.ingest.ledger.log_files import (
    LastReading,
    LogFileRow,
    find_last_readings,
    find_log_files,
    find_other_dates,
    ledger_path,
    touch_log_file,
)
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.log_dates import DateRule, LogDate
from tapewise.ingest.reading.members import identify_log
from tapewise.ingest.reading.prefixes import Prefix, compare_prefix
from tapewise.ingest.records.format import OUTSIDE_WINDOW
from tapewise.ingest.records.yearless import is_same_year
from tapewise.ingest.sources.sources import Source
from tapewise.schema.errors import LogFileError


def settle_date(
    source: Source, path: Path, given: date | None, dates: DateRule | None = None
) -> LogDate | None:
    """Return the day of the file, or None for formats whose lines contain it.

    `dates` says where it comes from; without it, this is the file's name. Raises LogFileError if the day is
    neither `given` nor found there.
    """
    if not source.format.is_dated_by_file:
        return None
    if given:
        return LogDate(given, "--date")
    return (dates or DateRule("name")).find(path, source.format, source.timezone)


@dataclass(frozen=True)
class LastStop:
    """Where the last reading of a file stopped, and how the next one continues.

    `name` is the file's name in the ledger, and `newest` is the last reading under that name. `known` equals
    `newest` if reading can continue from there; otherwise it is None, and the file is read as a different
    one. `log_date` is the day of the file. `prefix` is the part that was read before, or None for a new file.
    `is_read` says that reading the file now would give nothing new. `ends_file` says that the end of the file
    also ends its last line.
    """

    name: str
    newest: LogFileRow | None
    known: LogFileRow | None
    log_date: LogDate | None
    prefix: Prefix | None
    is_read: bool
    ends_file: bool

    @property
    def day(self) -> date | None:
        """The day of the file, or None for formats whose lines contain it."""
        return self.log_date.day if self.log_date else None

    @property
    def day_from(self) -> str | None:
        """Where the day comes from; None for formats whose lines contain it, or if it was not recorded."""
        if self.log_date is not None and self.log_date.origin == "last reading" and self.newest is not None:
            return self.newest.log_date_from
        return None if self.log_date is None else self.log_date.origin

    def touch(self, connection: psycopg.Connection, now: datetime) -> tuple[Tally, int]:
        """Record that the file is unchanged, and return this reading's tally and number of waiting bytes.

        Call this only if `is_read`.
        """
        assert self.newest is not None and self.prefix is not None
        tally = touch_log_file(
            connection,
            self.newest,
            waiting_bytes=self.prefix.waiting_bytes,
            identity=self.prefix.identity,
            now=now,
        )
        return tally, self.prefix.waiting_bytes


@dataclass(frozen=True)
class FileRequest:
    """A file to be read, and what the user said about it.

    `log_date` is the day given by the user, and `dates` where it comes from otherwise. With `keeps_date`, or
    if days are those of the last change, a file that still begins as it did at the last reading keeps the day
    it had then. `is_complete` says that the end of the file also ends its last line.
    """

    path: Path
    log_date: date | None = None
    dates: DateRule | None = None
    keeps_date: bool = False
    is_complete: bool = False


def find_last_stops(
    connection: psycopg.Connection, source: Source, requests: Sequence[FileRequest]
) -> list[LastStop]:
    """Return where the last readings of files for `source` stopped. Opens files that were read before.

    Raises LogFileError if a file needs a day and has none, or was already read with another day.
    """
    names = [ledger_path(request.path) for request in requests]
    found = find_log_files(connection, source.id, names)
    return [
        _find_last_stop(source, request, name, found.get(name))
        for request, name in zip(requests, names, strict=True)
    ]


def are_newest(connection: psycopg.Connection, source: Source, stops: Iterable[LastStop]) -> bool:
    """Whether no file of the stops' names has been read for `source` since they were found."""
    newest = {stop.name: stop.newest for stop in stops}
    found = find_log_files(connection, source.id, list(newest))
    return {name: found.get(name) for name in newest} == newest


def _find_last_stop(source: Source, request: FileRequest, name: str, newest: LogFileRow | None) -> LastStop:
    path, dates, is_complete = request.path, request.dates, request.is_complete
    keeps_date = request.keeps_date or (request.log_date is None and _is_of_change(dates))
    given = None if keeps_date else settle_date(source, path, request.log_date, dates)
    if newest is None:
        said = settle_date(source, path, None, dates) if keeps_date else given
        return LastStop(name, None, None, said, None, is_read=False, ends_file=is_complete)
    prefix = compare_prefix(path, newest.read_bytes, is_complete=is_complete, key=source.key)
    said = _keep_date(source, path, newest, prefix, dates) if keeps_date else given
    is_same = _is_continued(source, path, newest, prefix, said.day if said else None)
    is_read = (
        is_same
        and not prefix.has_more
        and newest.format_version == source.format.version
        # A time that was in the future at the last reading may be in the past now.
        and OUTSIDE_WINDOW not in newest.tally.rejected
    )
    is_continued, ends_file = is_same, is_complete
    if is_same and not prefix.ends_line:
        # The last line was read without its newline. If anything has been appended to it since, the file is
        # read as a different one.
        is_continued = not prefix.waiting_bytes
        ends_file = is_complete or is_continued
    known = newest if is_continued else None
    return LastStop(name, newest, known, said, prefix, is_read=is_read, ends_file=ends_file)


def _is_of_change(dates: DateRule | None) -> bool:
    return dates is not None and dates.origin == "time of change"


def find_untouched(
    connection: psycopg.Connection,
    source: Source,
    paths: Iterable[Path],
    *,
    is_complete: bool,
    dates: DateRule | None = None,
) -> dict[Path, int]:
    """Return those of `paths` that need not be opened because they are unchanged since `source` read them.

    The values are the ids of their rows in the ledger. For 200 gzipped logs this takes 0.02 s, whereas
    computing their digests takes 4 s. Our own clock is not used: if it had once been ahead, changed files
    would be skipped until real time caught up with it.
    """
    names = {path: ledger_path(path) for path in paths}
    known = find_last_readings(connection, source.id, list(names.values()))
    return {
        path: known[name].log_file_id
        for path, name in names.items()
        if name in known and _is_untouched(path, known[name], source, is_complete=is_complete, dates=dates)
    }


def _is_untouched(
    path: Path, last: LastReading, source: Source, *, is_complete: bool, dates: DateRule | None
) -> bool:
    """Whether reading the file now would certainly give the same result as the last reading."""
    if (
        last.format_version != source.format.version
        or last.has_outside_window
        or (last.has_waiting and is_complete)
    ):
        return False
    try:
        # A file that has grown keeps the day of its first reading, whenever it was changed last.
        said = None if _is_of_change(dates) else settle_date(source, path, None, dates)
        if said is not None and said.day != last.log_date:
            return False
        return identify_log(path) == last.identity
    except (OSError, LogFileError):
        return False


def _keep_date(
    source: Source, path: Path, newest: LogFileRow, prefix: Prefix, dates: DateRule | None
) -> LogDate | None:
    """Return the last reading's day if the file still begins as it did then, else that of another file."""
    if prefix.digest == newest.content_digest:
        return LogDate(newest.log_date, "last reading") if newest.log_date else None
    return settle_date(source, path, None, dates)


def _is_continued(
    source: Source, path: Path, known: LogFileRow, prefix: Prefix, log_date: date | None
) -> bool:
    """Whether the file begins with the content that was read before.

    Raises LogFileError if that content was read with another day and gave facts.
    """
    is_same = prefix.digest == known.content_digest and (prefix.ends_line or not prefix.has_more)
    if is_same and known.log_date != log_date and not _is_same_year(source, log_date, known.tally):
        if known.tally.held_count:
            raise _read_as_of(path, str(path), known.log_date)
        return False
    return is_same


def _is_same_year(source: Source, log_date: date | None, tally: Tally) -> bool:
    """Whether a file's lines, whose times `tally` spans, would get the same year in a file of `log_date`."""
    if not source.format.is_year_by_file or log_date is None:
        return False
    return is_same_year(log_date, tally.first_event_at, tally.last_event_at)


def check_dates(
    connection: psycopg.Connection,
    source: Source,
    files: Iterable[tuple[Path, int | None, date | None, Tally, str]],
) -> None:
    """Raise LogFileError if facts of a file are new only because the same lines were read with another day.

    Each of `files` has a path, an id in the ledger (None: it has no row), a day, a balance and a digest.
    """
    dated = [
        (path, number, digest, day, tally) for path, number, day, tally, digest in files if day is not None
    ]
    new = [each for each in dated if each[4].loaded_count]
    if not new:
        return
    others = find_other_dates(
        connection, source.id, [(number, digest, day) for _, number, digest, day, _ in new]
    )
    for place, other in sorted(others.items()):
        path, *_, tally = new[place]
        if not _is_same_year(source, other[1], tally):
            raise _read_as_of(path, *other)


def _read_as_of(path: Path, other: str, other_date: date | None) -> LogFileError:
    return LogFileError(
        f"{path}: the same lines were already read with the date {other_date} ({other})",
        hint="Reading them with another date would count them twice. If the new date is the right one, drop"
        " the archive and read its logs again.",
    )
