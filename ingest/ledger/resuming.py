"""Whether a file goes on where it was last read, and its lines are read as of the same day as then."""

from datetime import date
from pathlib import Path

import psycopg

from tapewise.ingest.ledger.log_files import LogFileRow, find_other_date
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.prefixes import Prefix
from tapewise.ingest.records.yearless import is_same_year
from tapewise.ingest.sources.log_dates import LogDate, find_log_date
from tapewise.ingest.sources.sources import Source
from tapewise.schema.errors import LogFileError


def settle_date(source: Source, path: Path, given: date | None) -> LogDate | None:
    """The day of the file, None for formats that need none: their lines say it themselves.

    Raises LogFileError if it is not `given`, and the file's name does not say it.
    """
    if not source.format.is_dated_by_file:
        return None
    return LogDate(given, "--date") if given else find_log_date(path, source.format)


def keep_date(source: Source, path: Path, known: LogFileRow | None, prefix: Prefix | None) -> LogDate | None:
    """The day as of which the file was read last, if it begins as it did then; else the one in its name."""
    if known is not None and prefix is not None and prefix.digest == known.content_digest:
        return LogDate(known.log_date, "last reading") if known.log_date else None
    return settle_date(source, path, None)


def is_continued(
    source: Source, path: Path, known: LogFileRow, prefix: Prefix, log_date: date | None
) -> bool:
    """Whether the file begins with what is known of it.

    Raises LogFileError if that was read as of another day; lines that brought no fact may be.
    """
    is_same = prefix.digest == known.content_digest and (prefix.ends_line or not prefix.has_more)
    if is_same and known.log_date != log_date and not _is_same_year(source, log_date, known.tally):
        if known.tally.held_count:
            raise _read_as_of(path, str(path), known.log_date)
        return False
    return is_same


def _is_same_year(source: Source, log_date: date | None, tally: Tally) -> bool:
    """Whether a file's lines, whose times `tally` spans, are the same in a file of that other day."""
    if not source.format.is_year_by_file or log_date is None:
        return False
    return is_same_year(log_date, tally.first_event_at, tally.last_event_at)


def check_date(
    connection: psycopg.Connection,
    source: Source,
    path: Path,
    log_date: date | None,
    tally: Tally,
    digest: str,
) -> None:
    """Raise LogFileError if facts are new because a file with these very lines was read as of another day."""
    if log_date is not None and tally.loaded_count:
        other = find_other_date(connection, source.id, digest, log_date)
        if other is not None and not _is_same_year(source, other[1], tally):
            raise _read_as_of(path, *other)


def _read_as_of(path: Path, other: str, other_date: date | None) -> LogFileError:
    return LogFileError(
        f"{path}: the same lines were read as of {other_date} before ({other})",
        hint="Reading them as of another day would count them twice. Which day is right? If it is the new"
        " one, drop the archive and read its logs again.",
    )
