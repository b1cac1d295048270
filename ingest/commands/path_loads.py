"""Loads files named by the user, each into the source of its format; for the command and the Python API."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from tapewise.ingest.detection.choosing import Choices
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.workers import FileTask, read_files
from tapewise.ingest.nightly.run import prepare_source
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.records.format import Format
from tapewise.ingest.records.prefixed_lines import strip_format
from tapewise.ingest.sources.sources import Source, SourceRequest
from tapewise.ingest.sources.unused import drop_unused_sources
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import DatabaseError, LogFileError, TapewiseError


@dataclass(frozen=True)
class PathsRequest:
    """What the user specified for the files; the fields are the options of `tapewise ingest`.

    Without `source`, each file goes into the source named after its format.
    """

    archive: str
    timezone: str
    kind: str = "measured"
    source: str | None = None
    is_counted: bool = True
    is_shared: bool = False
    is_complete: bool = False
    log_date: date | None = None
    dates: DateRule | None = None
    key: PseudonymKey | None = None
    is_dry: bool = False

    def make_source_request(self, log_format: Format) -> SourceRequest:
        """Return the request for the source that files of this format go into."""
        return SourceRequest(
            archive=self.archive,
            kind=self.kind,
            format=log_format,
            timezone=self.timezone,
            name=self.source or log_format.name,
            is_counted=self.is_counted,
            is_shared=self.is_shared,
            key=self.key,
        )


@dataclass(frozen=True)
class PathOutcome:
    """What became of a file: its `result`, or the `error` for which it was refused.

    Both are set if all lines of the file were rejected. Neither is set for a file that has no complete line
    yet. `reason` says why `format` was chosen, and is None if the user named it.
    """

    path: Path
    format: Format | None = None
    reason: str | None = None
    result: FileResult | None = None
    error: TapewiseError | None = None


def name_formats(format_name: str | None, paths: Sequence[Path], prefix: str | None = None) -> Choices | None:
    """Return the choices if the user named a format, which then applies to all files; otherwise None.

    What matches `prefix` is removed from lines first.
    """
    if not format_name:
        return None
    return Choices(None, dict.fromkeys(paths, strip_format(find_format(format_name), prefix)))


def load_paths(
    warehouse: Warehouse,
    request: PathsRequest,
    choices: Choices,
    paths: Sequence[Path],
    *,
    now: datetime,
    jobs: int | None = None,
    is_shown: bool = False,
    on_wait: Callable[[], None] | None = None,
) -> Generator[PathOutcome, None, None]:
    """Yield each file's outcome: first files without a complete line, then the rest in the order of `paths`.

    `choices` has the format of each file; `jobs`, `is_shown` and `on_wait` are passed to `read_files`. Errors
    that concern a single file are part of its outcome; errors that prevent the loading of all remaining files
    are raised. Callers that stop early must close the iterator, because closing drops each source into which
    no file was ever accepted.
    """
    targets: dict[str, Source] = {}
    with drop_unused_sources(warehouse, targets.values(), is_dry=request.is_dry) as used:
        for log_format in choices.distinct:
            targets[log_format.name] = prepare_source(
                warehouse, request.make_source_request(log_format), is_dry=request.is_dry
            )
        tasks = [
            FileTask(
                targets[choices.formats[path].name],
                path,
                request.log_date,
                # A worker need not get a long list with each file.
                request.dates and request.dates.narrow(path),
                is_complete=request.is_complete,
                is_dry=request.is_dry,
            )
            for path in paths
            if path in choices.formats
        ]
        results = zip(
            tasks,
            read_files(warehouse, tasks, now=now, jobs=jobs, is_shown=is_shown, on_wait=on_wait),
            strict=True,
        )
        yield from (PathOutcome(path) for path in choices.empty)
        for path in (path for path in paths if path not in choices.empty):
            if path in choices.failures:
                yield PathOutcome(path, error=choices.failures[path])
                continue
            task, result = next(results)
            if not isinstance(result, FileResult | LogFileError) and not (
                len(paths) > 1 and _is_back(warehouse, result)
            ):
                raise result
            outcome = _describe(task, choices.reason, result)
            if not isinstance(outcome.error, LogFileError):  # an aborted load can be repeated
                used.add(task.source.name)
            yield outcome


def drop_undated(choices: Choices, request: PathsRequest) -> dict[Path, LogFileError]:
    """Remove the files from `choices` whose day cannot be found, and return them with the reason.

    This is known before their contents are read.
    """
    undated: dict[Path, LogFileError] = {}
    if request.log_date is None:
        rule = request.dates or DateRule("name")
        for path, log_format in list(choices.formats.items()):
            if log_format.is_dated_by_file:
                try:
                    rule.find(path, log_format, request.timezone)
                except LogFileError as error:
                    undated[path] = error
                    del choices.formats[path]
    return undated


def find_date_fault(choices: Choices, log_date: date | None, paths: Sequence[Path]) -> str | None:
    """Return why the user's date cannot apply to these files, or None if it can."""
    if log_date is None:
        return None
    for log_format in choices.distinct:
        if not log_format.is_dated_by_file:
            return f"lines of format {log_format.name} have dates"
    return "is for one file at a time" if len(paths) > 1 else None


def _describe(task: FileTask, reason: str | None, result: FileResult | TapewiseError) -> PathOutcome:
    log_format = task.source.format
    if isinstance(result, FileResult):
        return PathOutcome(task.path, log_format, reason, result, result.find_fault(log_format))
    return PathOutcome(task.path, log_format, reason, error=result)


def _is_back(warehouse: Warehouse, error: TapewiseError) -> bool:
    """Whether the error was an aborted load and the database can be reached again."""
    if type(error) is not DatabaseError:
        return False
    try:
        warehouse.connect().close()
    except DatabaseError:
        return False
    return True
