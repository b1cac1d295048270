"""What `Connection.ingest` does, and what it returns for each file."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from tapewise.ingest.commands.path_loads import (
    PathOutcome,
    PathsRequest,
    find_date_fault,
    load_paths,
    name_formats,
)
from tapewise.ingest.detection.choosing import choose_formats
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.log_dates import DateRule, read_date_rule
from tapewise.ingest.reading.members import find_members
from tapewise.ingest.records.prefixed_lines import check_prefix
from tapewise.ingest.sources.sources import INGESTED_KINDS
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import SettingsError, TapewiseError
from tapewise.schema.moments import check_timezone


@dataclass(frozen=True)
class LoadedFile:
    """What became of a file and of its lines.

    `line_count` is the sum of the loaded, held, ignored and rejected lines.

    Attributes:
        path: the file, as it was given.
        format: the name of its format; None if none was chosen.
        line_count: how many lines were read.
        loaded_count: lines whose facts are new.
        held_count: lines whose facts the warehouse already held.
        ignored: how many lines report no archive traffic, by reason.
        rejected: how many lines could not be read, by reason.
        rejected_samples: number, reason and text (None where names are hidden) of the first rejected lines.
        waiting_bytes: the size of an unfinished last line, which is read once it is finished.
        log_date: the day that was used for the lines, if they do not contain one.
        is_unchanged: True if the file was not read again, because it has not changed since the last time.
        error: why the file was not loaded, or why none of its lines could be read; otherwise None.
    """

    path: Path
    format: str | None = None
    line_count: int = 0
    loaded_count: int = 0
    held_count: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    rejected_samples: list[tuple[int, str, str | None]] = field(default_factory=list)
    waiting_bytes: int = 0
    log_date: date | None = None
    is_unchanged: bool = False
    error: TapewiseError | None = None

    @property
    def ignored_count(self) -> int:
        """How many lines report no archive traffic."""
        return sum(self.ignored.values())

    @property
    def rejected_count(self) -> int:
        """How many lines could not be read."""
        return sum(self.rejected.values())


def load_files(
    warehouse: Warehouse,
    request: PathsRequest,
    paths: Sequence[Path],
    *,
    format_name: str | None,
    prefix: str | None,
    jobs: int | None,
    now: datetime,
) -> list[LoadedFile]:
    """Load `paths` and return the outcome of each, in order. Raises what `Connection.ingest` raises."""
    _check(request, jobs, now)
    paths = list(find_members(paths))
    if prefix is not None:
        check_prefix(prefix)
    given = name_formats(format_name, paths, prefix)
    choices = given or choose_formats(
        warehouse, request.archive, request.source, paths, is_complete=request.is_complete, prefix=prefix
    )
    fault = find_date_fault(choices, request.log_date, paths)
    if request.log_date is not None and request.dates is not None:
        fault = "it and date_from exclude each other"
    if fault is not None:
        raise SettingsError(f"the date: {fault}")
    with closing(load_paths(warehouse, request, choices, paths, now=now, jobs=jobs)) as outcomes:
        loaded = {outcome.path: _describe(outcome) for outcome in outcomes}
    return [loaded[path] for path in paths]


def read_dates(text: str) -> DateRule | None:
    """Return the rule that `date_from` means; None for the file's name. Raises SettingsError."""
    try:
        return None if text == "name" else read_date_rule(text)
    except ValueError as error:
        raise SettingsError(f"date_from {error}") from None


def _check(request: PathsRequest, jobs: int | None, now: datetime) -> None:
    """Raise SettingsError for arguments that the command line would refuse."""
    if request.kind not in INGESTED_KINDS:
        raise SettingsError(f"kind is '{request.kind}', not {' or '.join(INGESTED_KINDS)}")
    for name in (request.archive, request.source):
        if name is not None and (not name.strip() or not name.isprintable()):
            raise SettingsError(f"{name!r} is not a name: a name is printable text")
    if jobs is not None and jobs < 1:
        raise SettingsError(f"jobs is {jobs}, not 1 or more")
    check_now(now)
    check_timezone(request.timezone)


def check_now(now: datetime) -> None:
    """Raise SettingsError for a `now` without a time zone."""
    if now.tzinfo is None:
        raise SettingsError("'now' has no time zone", hint="For instance: datetime.now(UTC).")


def _describe(outcome: PathOutcome) -> LoadedFile:
    """Return the outcome of a load in the public form."""
    result = outcome.result
    tally = Tally() if result is None else result.tally
    return LoadedFile(
        path=outcome.path,
        format=None if outcome.format is None else outcome.format.name,
        line_count=tally.line_count,
        loaded_count=tally.loaded_count,
        held_count=tally.held_count,
        ignored=dict(sorted(tally.ignored.items())),
        rejected=dict(sorted(tally.rejected.items())),
        rejected_samples=list(tally.rejected_samples),
        waiting_bytes=0 if result is None else result.waiting_bytes,
        log_date=None if result is None or result.log_date is None else result.log_date.day,
        is_unchanged=result is not None and result.is_unchanged,
        error=outcome.error,
    )
