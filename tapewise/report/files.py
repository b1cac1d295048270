"""A report about log files, which are loaded into a temporary warehouse."""

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from textwrap import wrap
from typing import Any
from zoneinfo import ZoneInfo

import click
import psycopg

from tapewise.extras import find_missing
from tapewise.ingest.commands.output import describe_result, report_failure, result_to_json
from tapewise.ingest.detection.choosing import SAME_TRANSFERS, Choices
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.loading.progress import show_progress
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.records.format import Format
from tapewise.ingest.sources.sources import Source, SourceRequest, make_source
from tapewise.report.models import store_model
from tapewise.report.objects import answers_to_object
from tapewise.report.page import Page, Table
from tapewise.report.recent import limit_scope
from tapewise.report.section import Answer, Scope, ask, find, find_reasons
from tapewise.report.sections import SECTIONS, classes, missing
from tapewise.report.text import NOT_IN_LOG, print_about, print_answers, print_findings, print_heading
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls
from tapewise.throwaway import open_throwaway

DEFAULT_ZONE = "UTC"
# The archive into which the files are loaded.
ARCHIVE = "report"
# A title names so many files.
MOST_NAMES = 3
# What is said of the logs before what is in them. Nobody recorded outages or changes.
ABOUT = (missing.SECTION,)
_SHARED = (
    "NFT's log and STAT report the same transfers. NFT's are counted here, because they name users. STAT's"
    " failures are counted as failures of nft, because NFT's log does not report any."
)


@dataclass(frozen=True)
class FilesRequest:
    """How files are read.

    `timezone` is None if none was given. `log_date` is the day of files whose lines carry none, or `dates`
    says where it comes from. `is_complete` is whether a last line without a newline is read.
    """

    timezone: str | None
    log_date: date | None
    dates: DateRule | None
    is_complete: bool


@dataclass(frozen=True)
class FilesReport:
    """The content of a report about files. `timezone` is None if none was given; times are then read as UTC.

    `hourless_count` is the number of lines that give only the day of an event. The warehouse stores noon for
    them, but their hour is unknown. `ambiguous_count` is the number of transfers in an hour that clocks show
    twice.
    """

    results: list[FileResult]
    choices: Choices
    about: list[Answer]
    answers: list[Answer]
    timezone: str | None
    hourless_count: int
    ambiguous_count: int

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the times in the logs."""
        return ZoneInfo(self.timezone or DEFAULT_ZONE)

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and the last event, by the clock of the logs; None if there is no event."""
        tallies = [result.tally for result in self.results]
        firsts = [tally.first_event_at for tally in tallies if tally.first_event_at]
        lasts = [tally.last_event_at for tally in tallies if tally.last_event_at]
        if not firsts or not lasts:
            return None
        return min(firsts).astimezone(self.zone), max(lasts).astimezone(self.zone)

    @property
    def period(self) -> str:
        """From when until when there are events, in words."""
        if self.span is None:
            return "No line has a time."
        layout = "%a %Y-%m-%d" if self.hourless_count else "%a %Y-%m-%d %H:%M:%S"
        first, last = (at.strftime(layout) for at in self.span)
        return f"{first} to {last}, {self.zone.key}"

    @property
    def doubts(self) -> list[str]:
        """What is not certain about the times and the counts, as sentences."""
        doubts = [f"{path}: no whole line yet; passed over." for path in self.choices.empty]
        if self.is_empty:
            return [*doubts, "No line was loaded, so there is nothing to report."]
        if self.span is not None and self.hourless_count:
            events = "1 event" if self.hourless_count == 1 else f"{self.hourless_count:,} events"
            doubts.append(f"The hour is unknown for {events}: the log gives only the day.")
        if self.ambiguous_count:
            ended = "1 transfer" if self.ambiguous_count == 1 else f"{self.ambiguous_count:,} transfers"
            doubts.append(
                f"{ended} ended in an hour that clocks show twice, when summer time ends. Such a transfer is"
                " taken to be of its first pass, unless the order of the lines shows that it is of the"
                " second."
            )
        if self.timezone is None:
            doubts.append(f"Times were read as {DEFAULT_ZONE}, since no --timezone was given.")
        if {log_format.name for log_format in self.choices.distinct} >= set(SAME_TRANSFERS):
            doubts.append(_SHARED)
        return doubts

    @property
    def is_empty(self) -> bool:
        """Whether no line was loaded."""
        return not any(result.tally.loaded_count for result in self.results)

    @property
    def reasons(self) -> dict[str, str]:
        """Why each section without rows has none, by its name; empty if no line was loaded."""
        if self.is_empty:
            return {}
        reasons = find_reasons(self.about) | find_reasons(self.answers)
        for answer in self.answers:
            if answer.section is classes.SECTION and not answer.rows and answer.lacking is None:
                missing_extra = find_missing("workload")
                reasons[answer.section.name] = (
                    f"Not computed: {missing_extra.message}. {missing_extra.hint}"
                    if missing_extra
                    else "No request has a size and a time to sort it by."
                )
        return reasons


def read_files(settings: Settings, choices: Choices, request: FilesRequest, *, is_shown: bool) -> FilesReport:
    """Load the files into a temporary warehouse and read a report from it.

    Files that cannot be loaded are reported, and moved from `choices.formats` to `choices.failures`.
    `is_shown` is whether progress is.
    """
    if not choices.formats:
        about, answers = ([Answer(section, (), ()) for section in which] for which in (ABOUT, SECTIONS))
        return FilesReport([], choices, about, answers, request.timezone, 0, 0)
    with open_throwaway(settings) as warehouse:
        results = _load(warehouse, choices, request, is_shown=is_shown)
        with closing(warehouse.connect(Role.READER, autocommit=True)) as connection:
            scope = limit_scope(connection, Scope(ARCHIVE))
            store_model(warehouse, scope)
            about, answers = (ask(connection, scope, which) for which in (ABOUT, SECTIONS))
            counts = _count_hourless(connection), _count_ambiguous(connection)
            return FilesReport(results, choices, about, answers, request.timezone, *counts)


def files_report_to_object(report: FilesReport) -> dict[str, Any]:
    """Return the report as one object: `files`, findings, and the rows of each section under its name."""
    span = report.span
    return {
        "timezone": report.zone.key,
        "is_timezone_given": report.timezone is not None,
        "first_event_at": None if span is None or report.hourless_count else span[0].isoformat(),
        "last_event_at": None if span is None or report.hourless_count else span[1].isoformat(),
        "first_event_on": None if span is None else span[0].date().isoformat(),
        "last_event_on": None if span is None else span[1].date().isoformat(),
        "hour_unknown_count": report.hourless_count,
        "doubts": report.doubts,
        "files": [
            result_to_json(result, has_texts=False) | {"format": report.choices.formats[result.path].name}
            for result in report.results
        ]
        + [{"path": str(path), "error": error.message} for path, error in report.choices.failures.items()],
        **answers_to_object([*report.about, *report.answers], report.reasons),
    }


def print_files_report(report: FilesReport) -> None:
    """Print the report to stdout."""
    print_heading("Lines: each is loaded, already held, ignored or rejected")
    for result in report.results:
        click.echo("\n".join(describe_result(result, has_texts=False)))
        title = report.choices.formats[result.path].title
        how = f", {report.choices.reason}" if report.choices.reason else ""
        click.echo(f"  read as {title}{how}")
    if report.choices.failures:
        print_heading("Files that were not read")
        for path, error in report.choices.failures.items():
            click.echo(escape_controls(f"{path}: {error.message.removeprefix(f'{path}: ')}"))
    print_about(report.about, report.reasons)
    print_heading("Period")
    click.echo(report.period)
    for doubt in report.doubts:
        click.echo("\n".join(wrap(doubt, 110)))
    print_findings(find(report.answers))
    print_answers(report.answers, report.reasons)
    click.echo("\nNothing was stored: use `tapewise ingest` to load logs into a permanent warehouse.")


def describe_files_page(report: FilesReport) -> Page:
    """Describe the report as a page."""
    tables = [_make_balance(report)]
    if report.choices.failures:
        rows = [
            [escape_controls(str(path)), escape_controls(error.message)]
            for path, error in report.choices.failures.items()
        ]
        tables.append(Table("Files that were not read", ("file", "why"), rows, [False, False]))
    names = [path.name for path in [*(result.path for result in report.results), *report.choices.empty]]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return Page(
        subject=escape_controls(", ".join(names[:MOST_NAMES]) + more) or "No file",
        kind="log files",
        warning="",
        period=report.period,
        doubts=report.doubts,
        tables=tables,
        about=report.about,
        answers=report.answers,
        absent=NOT_IN_LOG,
        reasons=report.reasons,
    )


def _make_balance(report: FilesReport) -> Table:
    rows = []
    for result in report.results:
        tally = result.tally
        counts = (
            *(tally.line_count, tally.loaded_count, tally.held_count),
            *(tally.ignored.total(), tally.rejected.total()),
        )
        reasons = [f"{count:,} {reason}" for reason, count in (tally.ignored + tally.rejected).most_common()]
        rows.append(
            [
                *(escape_controls(str(result.path)), report.choices.formats[result.path].title),
                *(f"{count:,}" for count in counts),
                ", ".join(reasons),
            ]
        )
    return Table(
        "Lines: each is loaded, already held, ignored or rejected",
        ("file", "read as", "lines", "loaded", "held", "ignored", "rejected", "why ignored or rejected"),
        rows,
        [False, False, True, True, True, True, True, False],
    )


def _count_hourless(connection: psycopg.Connection) -> int:
    """Count the lines that give the day of an event, but not its hour."""
    row = connection.execute(
        "SELECT count(*) FROM mart.source_events WHERE archive = %s AND is_time_of_day_unknown", [ARCHIVE]
    ).fetchone()
    return 0 if row is None else int(row[0])


def _count_ambiguous(connection: psycopg.Connection) -> int:
    """Count the transfers that ended in an hour that clocks show twice."""
    row = connection.execute(
        "SELECT count(*) FROM mart.transfers WHERE archive = %s AND is_time_ambiguous", [ARCHIVE]
    ).fetchone()
    return 0 if row is None else int(row[0])


def _load(
    warehouse: Warehouse,
    choices: Choices,
    request: FilesRequest,
    *,
    is_shown: bool,
) -> list[FileResult]:
    """Load the files. Report each failure, and move its file from `choices.formats` to `choices.failures`."""
    sources = _make_sources(warehouse, choices.distinct, request.timezone or DEFAULT_ZONE)
    now = datetime.now(UTC)
    results = []
    for path, log_format in list(choices.formats.items()):
        try:
            with show_progress([path], is_shown=is_shown) as progress:
                results.append(
                    load_file(
                        warehouse,
                        sources[log_format.name],
                        path,
                        now=now,
                        log_date=request.log_date,
                        dates=request.dates,
                        is_complete=request.is_complete,
                        progress=progress,
                    )
                )
        except LogFileError as error:
            choices.failures[path] = error
            del choices.formats[path]
            report_failure(path, error)
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
        connection.execute("ANALYZE")  # without statistics, the planner assumes that new tables are empty
    return results


def _make_sources(warehouse: Warehouse, formats: list[Format], timezone: str) -> dict[str, Source]:
    """Make a source for each format. If formats report the same transfers, only the first is counted."""
    names = [each.name for each in formats]
    uncounted = [name for name in SAME_TRANSFERS if name in names][1:]
    made = {}
    with closing(warehouse.connect()) as connection:
        for each in formats:
            is_counted = each.name not in uncounted
            request = SourceRequest(ARCHIVE, "measured", each, timezone, each.name, is_counted)
            made[each.name] = make_source(connection, request)
    return made
