"""Reads many log files, several at a time on as many cores as there are.

One archive is loaded by one process at a time; while that sends, the others read and parse.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from warnings import catch_warnings

from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.loads import FileResult, load_file
from tapewise.ingest.loading.progress import show_count, show_progress
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import DatabaseError, LogFileError, SourceError, TapewiseError, WorkerError

# Another process takes more than a second to start: for less than this one is enough.
WORTH_BYTES = 20_000_000


@dataclass(frozen=True)
class FileTask:
    """A file to be read for a source; the options are those of `load_file`."""

    source: Source
    path: Path
    log_date: date | None = None
    is_complete: bool = False
    is_dry: bool = False


def read_files(
    warehouse: Warehouse,
    tasks: Sequence[FileTask],
    *,
    now: datetime,
    jobs: int | None = None,
    is_shown: bool = False,
    on_wait: Callable[[], None] | None = None,
) -> Iterator[FileResult | TapewiseError]:
    """What became of each file, in the order of `tasks`, while others are being read.

    `jobs` processes at a time, by default half as many as there are cores (the server keeps the other half
    busy); files that are small together are read by this one.
    `is_shown` shows progress on a terminal; `on_wait` is called where somebody else loads the archive.
    What is wrong with a file, a source's settings or the database is given, not raised; so is a WorkerError
    for each file that was left when a process was killed.
    """
    count = min(jobs or (os.cpu_count() or 1) // 2, len(tasks))
    if count < 2 or (jobs is None and sum(map(_count_bytes, tasks)) < WORTH_BYTES):
        for task in tasks:
            with show_progress(task.path, is_shown=is_shown) as progress:
                found = _read(warehouse, task, now, progress, on_wait)
            yield found
        return
    with show_count(len(tasks), is_shown=is_shown) as advance, _run(count, warehouse, tasks, now) as results:
        for found in results:
            advance()
            yield found


@cache
def _end_with(parent: int) -> None:
    """End this process when `parent` has ended, however: it holds locks, and nobody waits for it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _read_apart(
    parent: int, warehouse: Warehouse, task: FileTask, now: datetime
) -> FileResult | TapewiseError:
    """`_read` in a process of its own."""
    _end_with(parent)
    return _read(warehouse, task, now)


def _read(
    warehouse: Warehouse,
    task: FileTask,
    now: datetime,
    progress: Callable[[int], None] | None = None,
    on_wait: Callable[[], None] | None = None,
) -> FileResult | TapewiseError:
    read = preview_file if task.is_dry else load_file
    try:
        return read(
            warehouse,
            task.source,
            task.path,
            now=now,
            log_date=task.log_date,
            is_complete=task.is_complete,
            progress=progress,
            on_wait=on_wait,
        )
    except (LogFileError, SourceError, DatabaseError) as error:
        return error


@contextmanager
def _run(
    count: int, warehouse: Warehouse, tasks: Sequence[FileTask], now: datetime
) -> Iterator[Iterator[FileResult | TapewiseError]]:
    """The results of `count` processes of their own.

    They are broken off if the block is left early, and otherwise end seconds after their last file.
    """
    # Takes a fifth of a second, and a single file needs it not.
    from joblib import Parallel, delayed  # noqa: PLC0415  # as above

    # Where the block is left early, what asks for another file at that moment is told so with a traceback.
    logger = logging.getLogger("concurrent.futures")
    was_disabled, logger.disabled = logger.disabled, True

    # Each has a core: threads of polars' own would only stand in each other's way.
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
        results = run(delayed(_read_apart)(os.getpid(), warehouse, task, now) for task in tasks)
        try:
            yield _survive(results, len(tasks))
        finally:
            # What is under way when the block is left early is broken off, and the database rolls it back.
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
    results: Iterator[FileResult | TapewiseError], count: int
) -> Iterator[FileResult | TapewiseError]:
    """The `count` results, with a WorkerError in the place of each that is left when a process was killed."""
    given = 0
    try:
        for found in results:
            given += 1
            yield found
    except BrokenProcessPool as error:
        if error.__cause__ is not None:  # not killed: what it was given, or gave, could not be read
            raise
        for _ in range(count - given):
            yield WorkerError(
                "a process that read log files was killed",
                hint="Was the memory full? What was told of is done. Run the same command again, with -j 1"
                " if memory is short.",
            )


def _count_bytes(task: FileTask) -> int:
    try:
        return task.path.stat().st_size
    except OSError:
        return 0  # its reading says what is wrong
