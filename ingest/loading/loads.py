"""Loads log files into the warehouse, each completely or not at all, and each line only once.

One load reads one file, or several small ones of a source, because most of what it costs does not depend on
the number of lines (decision 0036). If it fails, nothing of any of its files is loaded.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import psycopg

from tapewise.ingest.ledger.known_segments import ChangedMeanwhileError
from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.ledger.resuming import FileRequest, find_last_stops
from tapewise.ingest.loading.file_results import FileOfLoad, FileResult
from tapewise.ingest.loading.one_load import Load, Progress, find_unchanged
from tapewise.ingest.reading.interruptions import begins_again, converting_errors
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.requests.pending import Derivations
from tapewise.ingest.sources.sources import Source, make_source
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import LogFileError
from tapewise.schema.writing.partitions import analyze_partitions


@begins_again
def load_file(
    warehouse: Warehouse,
    source: Source,
    path: Path,
    *,
    now: datetime,
    log_date: date | None = None,
    dates: DateRule | None = None,
    keeps_date: bool = False,
    is_complete: bool = False,
    is_forced: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> FileResult:
    """Load the lines of `path` that `source` does not hold yet; commit, or leave everything as it was.

    `now` is the limit for plausible times, and is written to the ledger. `log_date` is the day of a file
    whose lines contain none; without it, the day comes from where `dates` says, or from the file's name. With
    `keeps_date`, a file that begins as it did at its last reading keeps the day it had then. `is_complete`
    says that the end of the file also ends its last line, and `is_forced` that the file is read even if it is
    unchanged. `progress` is called with the position in the file, and `on_wait` if this load has to wait for
    another load of the archive. Raises LogFileError (HeldElsewhereError if another source holds lines of the
    file) or DatabaseError.
    """
    request = FileRequest(path, log_date, dates, keeps_date, is_complete)
    [result] = load_together(
        warehouse, source, [request], now=now, is_forced=is_forced, progress=progress, on_wait=on_wait
    )
    return result


def load_together(
    warehouse: Warehouse,
    source: Source,
    requests: Sequence[FileRequest],
    *,
    now: datetime,
    is_forced: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult]:
    """Load several files in one transaction, with the same result as `load_file` for one after the other.

    No two of them may have the same name in the ledger. If one of them cannot be loaded, none is. The other
    parameters and the errors are those of `load_file`; `progress` is called with the sum of the positions.
    """
    with (
        converting_errors(requests[0].path),
        warehouse.lend(autocommit=True) as settling,
    ):
        while True:
            source = _find_again(warehouse, settling, source)
            stops = find_last_stops(settling, source, requests)
            if len({stop.name for stop in stops}) < len(stops):  # a link has just changed
                raise LogFileError(f"{requests[0].path}: two names of one file cannot be loaded together")
            results: dict[Path, FileResult] = {}
            files = []
            for request, stop in zip(requests, stops, strict=True):
                if stop.is_read and not is_forced:
                    tally, waiting_bytes = stop.touch(settling, now)
                    results[request.path] = FileResult(
                        request.path, tally, waiting_bytes, True, stop.log_date
                    )
                else:
                    files.append(FileOfLoad(request.path, stop.name, stop.day, stop.day_from, stop.known))
            if files:
                load = Load(source, files, now, progress)
                to_read = [stop for stop in stops if is_forced or not stop.is_read]
                try:
                    load.run(warehouse, settling, to_read, is_forced=is_forced, on_wait=on_wait)
                except ChangedMeanwhileError:
                    continue
                analyze_partitions(settling)
                for file, stop in zip(files, to_read, strict=True):
                    results[file.path] = replace(file.result, log_date=stop.log_date)
            return [results[request.path] for request in requests]


def _find_again(warehouse: Warehouse, connection: psycopg.Connection, source: Source) -> Source:
    """Return the source as it is now, like `find_unchanged`; create it again if it was dropped as unused.

    If no file had been read into the source, another command that failed may have dropped it.
    """
    try:
        return find_unchanged(connection, source)
    except ChangedMeanwhileError:
        with closing(warehouse.connect()) as making:
            return make_source(making, source.request)


def load_within(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    derivations: Derivations,
    source: Source,
    path: Path,
    *,
    now: datetime,
    log_date: date | None,
    log_date_from: str | None,
    is_complete: bool,
) -> FileResult:
    """Load a file that `source` has not read, as `load_file` does, but within the caller's transaction.

    That transaction is open on `connection`, holds the archive's lock, and may have changed the source's
    facts. No other connection can see these changes, so a single thread does all database work. `settling` is
    in autocommit mode. The caller uses `derivations` to rebuild derived rows afterwards.
    """
    file = FileOfLoad(path, ledger_path(path), log_date, log_date_from, None)
    load = Load(source, [file], now)
    with converting_errors(path):
        load.run_within(connection, settling, derivations, is_complete=is_complete)
    return file.result
