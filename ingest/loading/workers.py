"""Loads many log files in several processes.

Only one process at a time writes to an archive; meanwhile, the others read and parse.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from warnings import catch_warnings

from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.ledger.resuming import FileRequest
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file, load_together
from tapewise.ingest.loading.progress import show_count, show_progress
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.reading.members import count_bytes
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import DatabaseError, LogFileError, SourceError, TapewiseError, WorkerError
from tapewise.schema.processes import end_with

# Files of at most this size are loaded together, at most this many of them and of at most this size together.
# More would hardly be faster, and would keep other loads of the archive waiting for longer.
SMALL_BYTES = 100_000
TOGETHER = 300
TOGETHER_BYTES = 10_000_000

# Starting another process takes more than a second, so for fewer bytes than this, one process is enough.
WORTH_BYTES = 20_000_000


@dataclass(frozen=True)
class FileTask:
    """A file to be read for a source; the options are those of `load_file`."""

    source: Source
    path: Path
    log_date: date | None = None
    dates: DateRule | None = None
    is_complete: bool = False
    is_dry: bool = False

    @property
    def request(self) -> FileRequest:
        """The request to load the file."""
        return FileRequest(self.path, self.log_date, self.dates, is_complete=self.is_complete)


def gather_small(tasks: Iterable[FileTask]) -> Iterator[list[FileTask]]:
    """Yield the tasks in order, small files of the same source together, and each other file by itself."""
    together: list[FileTask] = []
    names: set[str] = set()
    together_bytes = 0
    for task in tasks:
        name = ledger_path(task.path)
        byte_count = _count_bytes(task)
        is_small = not task.is_dry and byte_count <= SMALL_BYTES
        if together and not (
            is_small
            and len(together) < TOGETHER
            and together_bytes + byte_count <= TOGETHER_BYTES
            and task.source is together[0].source
            and name not in names
        ):
            yield together
            together, names, together_bytes = [], set(), 0
        together.append(task)
        names.add(name)
        together_bytes += byte_count
        if not is_small:
            yield together
            together, names, together_bytes = [], set(), 0
    if together:
        yield together


def read_files(
    warehouse: Warehouse,
    tasks: Sequence[FileTask],
    *,
    now: datetime,
    jobs: int | None = None,
    is_shown: bool = False,
    on_wait: Callable[[], None] | None = None,
) -> Iterator[FileResult | TapewiseError]:
    """Yield the result of each file, in the order of `tasks`, while others are being read.

    `jobs` is the number of processes. The default is half the number of cores, because the server keeps the
    other half busy. If the files are small in total, they are read in this process. With `is_shown`, progress
    is shown on a terminal. `on_wait` is called if another command is loading into the archive. Errors in a
    file, a source's settings or the database are yielded, not raised. If a process is killed, a WorkerError
    is yielded for each unfinished file.
    """
    gathered = list(gather_small(tasks))
    count = min(jobs or (os.cpu_count() or 1) // 2, len(gathered))
    if count < 2 or (jobs is None and sum(map(_count_bytes, tasks)) < WORTH_BYTES):
        with warehouse.keep_connections():
            for together in gathered:
                with show_progress([task.path for task in together], is_shown=is_shown) as progress:
                    found = _read(warehouse, together, now, progress, on_wait)
                yield from found
        return
    with (
        show_count(len(tasks), is_shown=is_shown) as advance,
        _run(count, warehouse, gathered, now) as results,
    ):
        for result in results:
            advance()
            yield result


def _read_apart(
    parent: int, warehouse: Warehouse, together: Sequence[FileTask], now: datetime
) -> list[FileResult | TapewiseError]:
    """Run `_read` in a separate process."""
    end_with(parent)
    with warehouse.keep_connections():
        return _read(warehouse, together, now)


def _read(
    warehouse: Warehouse,
    together: Sequence[FileTask],
    now: datetime,
    progress: Callable[[int], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> list[FileResult | TapewiseError]:
    """Return the results of files that are loaded together, if possible.

    If one of them cannot be loaded, each half of them is loaded by itself, until the file is alone.
    """
    task = together[0]
    try:
        if len(together) > 1:
            requests = [each.request for each in together]
            return [
                *load_together(warehouse, task.source, requests, now=now, progress=progress, on_wait=on_wait)
            ]
        read = preview_file if task.is_dry else load_file
        return [
            read(
                warehouse,
                task.source,
                task.path,
                now=now,
                log_date=task.log_date,
                dates=task.dates,
                is_complete=task.is_complete,
                progress=progress,
                on_wait=on_wait,
            )
        ]
    except (LogFileError, SourceError, DatabaseError) as error:
        if len(together) == 1:
            return [error]
    half = len(together) // 2
    return [
        result
        for part in (together[:half], together[half:])
        for result in _read(warehouse, part, now, progress, on_wait)
    ]


@contextmanager
def _run(
    count: int, warehouse: Warehouse, gathered: Sequence[Sequence[FileTask]], now: datetime
) -> Iterator[Iterator[FileResult | TapewiseError]]:
    """Yield the results from `count` separate processes.

    The processes are terminated if the block is left early; otherwise they end a few seconds after their last
    file.
    """
    # Importing joblib takes 0.2 s, which a single file does not need.
    from joblib import Parallel, delayed  # noqa: PLC0415  # as above

    # Without this, a worker that asks for another file while the block is left early would log a traceback.
    logger = logging.getLogger("concurrent.futures")
    was_disabled, logger.disabled = logger.disabled, True

    # Each process has one core, on which polars' own threads would only get in each other's way.
    threads = {"POLARS_MAX_THREADS": "1"}
    before = {name: os.environ.get(name) for name in threads}
    os.environ.update(threads)
    try:
        run = Parallel(
            n_jobs=count,
            backend="loky",
            return_as="generator",
            pre_dispatch=count + 1,
            idle_worker_timeout=10,
        )
        results = run(delayed(_read_apart)(os.getpid(), warehouse, together, now) for together in gathered)
        try:
            yield _survive(results, sum(map(len, gathered)))
        finally:
            # If the block is left early, running loads are terminated and the database rolls them back.
            with catch_warnings(action="ignore"):
                results.close()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        logger.disabled = was_disabled


def _survive(
    results: Iterator[list[FileResult | TapewiseError]], count: int
) -> Iterator[FileResult | TapewiseError]:
    """Yield `count` results one by one, with a WorkerError for each that a killed process has not given."""
    given = 0
    try:
        for found in results:
            given += len(found)
            yield from found
    except BrokenProcessPool as error:
        if error.__cause__ is not None:  # not killed; an argument or a result could not be unpickled
            raise
        for _ in range(count - given):
            yield WorkerError(
                "a process that read log files was killed",
                hint="Did it run out of memory? Files reported above were loaded. Run the same command again,"
                " with -j 1 if memory is short.",
            )


def _count_bytes(task: FileTask) -> int:
    try:
        return count_bytes(task.path)
    except (OSError, LogFileError):
        return 0  # reading the file will report what is wrong
