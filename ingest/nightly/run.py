"""A round over the archives and sources of `tapewise.toml`, which reads everything new in them.

The ledger alone decides what is new, so each round reads whatever earlier rounds missed. A warehouse has only
one round at a time. A file that has not changed since it was last read is not opened.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import zip_longest
from pathlib import Path

import psycopg

from tapewise.ingest.ledger.log_files import touch_log_files
from tapewise.ingest.ledger.resuming import find_untouched
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.workers import FileTask, gather_small, read_files
from tapewise.ingest.nightly.sources import SourcePlan
from tapewise.ingest.sources.sources import Source, SourceRequest, find_source, make_source, unsaved_source
from tapewise.ingest.sources.unused import drop_unused_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, LogFileError, TapewiseError


@dataclass
class SourceOutcome:
    """What a round did for one source; the line counts cover only the files that were opened."""

    archive: str
    source: str
    read_count: int = 0
    empty_count: int = 0
    untouched_count: int = 0
    failures: list[TapewiseError] = field(default_factory=list)
    line_count: int = 0
    loaded_count: int = 0
    held_count: int = 0
    ignored_count: int = 0
    rejected_count: int = 0

    def add(self, result: FileResult) -> None:
        """Count one file that was opened."""
        tally = result.tally
        self.read_count += 1
        self.empty_count += not tally.line_count
        self.line_count += tally.line_count
        self.loaded_count += tally.loaded_count
        self.held_count += tally.held_count
        self.ignored_count += tally.ignored.total()
        self.rejected_count += tally.rejected.total()


OnResult = Callable[[SourcePlan, FileResult | TapewiseError], None]


def find_rounds(connection: psycopg.Connection) -> list[timedelta | None]:
    """How long each current round has been running; None for a duration that we are not allowed to see."""
    rows = connection.execute(
        "SELECT clock_timestamp() - backend_start FROM pg_locks JOIN pg_stat_activity USING (pid)"
        " WHERE relation = 'ledger.rounds'::regclass AND mode = 'ShareUpdateExclusiveLock' AND granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchall()
    return [age for (age,) in rows]


@contextmanager
def hold_round(warehouse: Warehouse) -> Iterator[bool]:
    """Yield whether this is the warehouse's only round; if so, no other can begin until the block ends.

    The lock is on a table that no load needs and that only the loader can lock in this mode. It belongs to
    the connection, so it is released when the process ends, for whatever reason.
    """
    with closing(warehouse.connect(Role.LOADER)) as connection:
        yield _is_only_round(connection)


def _is_only_round(connection: psycopg.Connection) -> bool:
    """Try to acquire the lock, which is held until the end of the transaction that begins here."""
    while True:
        try:
            connection.execute("LOCK TABLE ledger.rounds IN SHARE UPDATE EXCLUSIVE MODE NOWAIT")
        except psycopg.errors.LockNotAvailable:
            connection.rollback()
            if find_rounds(connection):
                return False
            connection.rollback()
            time.sleep(0.1)  # the lock has just been released, or an upgrade is in progress
        else:
            return True


def read_sources(
    warehouse: Warehouse,
    plans: Sequence[SourcePlan],
    *,
    now: datetime,
    is_dry: bool,
    is_shown: bool,
    on_result: OnResult,
    jobs: int | None = None,
) -> Iterator[SourceOutcome]:
    """Read what is new in the sources; a file that cannot be read does not affect the others.

    Yields the outcome of each source when its last file has been read. `now` is the time when the round
    began. With `is_dry`, nothing is written. With `is_shown`, progress is shown on a terminal. `jobs` and its
    default are those of `read_files`. `on_result` is called with the result of every opened file and with
    every failure. Problems with a file, a source's settings or the database are not raised, but added to
    `failures` of the outcome.
    """
    outcomes = [SourceOutcome(plan.request.archive, plan.request.name) for plan in plans]
    queues = []
    for plan, outcome in zip(plans, outcomes, strict=True):
        try:
            queues.append(_plan_tasks(warehouse, plan, outcome, now, is_dry=is_dry))
        except TapewiseError as error:
            queues.append([])
            _fail(plan, outcome, error, on_result)
    left = Counter({number: len(queue) for number, queue in enumerate(queues)})
    yield from (outcome for number, outcome in enumerate(outcomes) if not left[number])
    # The sources take turns, so that archives are loaded in parallel.
    gathered = [list(gather_small(queue)) for queue in queues]
    turns = [
        (number, task)
        for row in zip_longest(*gathered, fillvalue=())
        for number, together in enumerate(row)
        for task in together
    ]
    results = read_files(warehouse, [task for _, task in turns], now=now, jobs=jobs, is_shown=is_shown)
    for (number, task), found in zip(turns, results, strict=True):
        plan, outcome = plans[number], outcomes[number]
        if isinstance(found, FileResult):
            outcome.add(found)
            on_result(plan, found)
            if (fault := found.find_fault(task.source.format)) is not None:
                _fail(plan, outcome, fault, on_result)
        else:
            _fail(plan, outcome, found, on_result)
        left[number] -= 1
        if not left[number]:
            if not is_dry and len(plan.paths) == len(outcome.failures):
                _drop_unused(warehouse, task.source, plan, outcome, on_result)
            yield outcome


def _plan_tasks(
    warehouse: Warehouse, plan: SourcePlan, outcome: SourceOutcome, now: datetime, *, is_dry: bool
) -> list[FileTask]:
    """Make a task for each file of the source that must be opened."""
    if not plan.paths:
        raise LogFileError(f"{plan.request.archive}/{plan.request.name}: no files found")
    source = prepare_source(warehouse, plan.request, is_dry=is_dry)
    changed = _leave_untouched(warehouse, source, plan, now, is_dry=is_dry)
    outcome.untouched_count = len(plan.paths) - len(changed)
    return [
        FileTask(
            source,
            path,
            dates=plan.dates and plan.dates.narrow(path),
            is_complete=plan.settings.complete,
            is_dry=is_dry,
        )
        for path in changed
    ]


def _drop_unused(
    warehouse: Warehouse, source: Source, plan: SourcePlan, outcome: SourceOutcome, on_result: OnResult
) -> None:
    """Drop a source into which no file was ever accepted; its refused files will be read again."""
    try:
        # A file was not refused if the database aborted its load.
        if all(isinstance(failure, LogFileError) for failure in outcome.failures):
            drop_unused_source(warehouse, source)
    except DatabaseError as error:
        _fail(plan, outcome, error, on_result)


def _fail(plan: SourcePlan, outcome: SourceOutcome, error: TapewiseError, on_result: OnResult) -> None:
    # A lost database or changed settings affect all files of a source, so they are reported only once.
    is_of_all = not isinstance(error, LogFileError)
    if is_of_all and any(type(failure) is type(error) for failure in outcome.failures):
        return
    outcome.failures.append(error)
    on_result(plan, error)


def prepare_source(warehouse: Warehouse, request: SourceRequest, *, is_dry: bool) -> Source:
    """Return the source of `request`, creating it unless `is_dry`. Raises SourceError or DatabaseError."""
    try:
        with closing(warehouse.connect(Role.LOADER)) as connection:
            if is_dry:
                return find_source(connection, request) or unsaved_source(connection, request)
            return make_source(connection, request)
    except psycopg.Error as error:
        raise _broken_off(error) from error


def _broken_off(error: psycopg.Error) -> DatabaseError:
    reason = " ".join(str(error).split()).rstrip(".")
    return DatabaseError(
        f"the database broke off: {reason}",
        hint="Nothing was loaded. Run the same command again when the database is up.",
    )


def _leave_untouched(
    warehouse: Warehouse, source: Source, plan: SourcePlan, now: datetime, *, is_dry: bool
) -> list[Path]:
    """Return the files that must be opened, and record in the ledger that the others are unchanged."""
    try:
        with closing(warehouse.connect(Role.LOADER)) as connection:
            untouched = find_untouched(
                connection, source, plan.paths, is_complete=plan.settings.complete, dates=plan.dates
            )
            if not is_dry:
                touch_log_files(connection, list(untouched.values()), now)
                connection.commit()
    except psycopg.Error as error:
        raise _broken_off(error) from error
    return [path for path in plan.paths if path not in untouched]
