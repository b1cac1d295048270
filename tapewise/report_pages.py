"""A report as text for people and as JSON for programs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import click

from tapewise.clustering.names import format_bytes, format_seconds
from tapewise.ingest.commands.output import describe_result, result_to_json
from tapewise.ingest.detection.choosing import SAME_TRANSFERS, Choices
from tapewise.ingest.loading.loads import FileResult
from tapewise.report_sections import Answer, Section
from tapewise.schema.texts import escape_controls
from tapewise.tables import print_table

SHARED = (
    "NFT's log and STAT report the same transfers. NFT's are counted here, because they name users. STAT's\n"
    "failures are counted as failures of nft, because NFT's log does not report any."
)
# Columns of figures that a log may lack. An empty cell would look like a zero.
NOT_IN_LOG = "not in the log"
NOT_LOGGED = ("failed_count", "size_bytes", "user_count", "client_count")


@dataclass(frozen=True)
class Report:
    """The content of a report. `timezone` is None if none was given; times are then read as UTC.

    `hourless_count` is the number of lines that give only the day of an event. The warehouse stores noon for
    them, but their hour is unknown.
    """

    results: list[FileResult]
    choices: Choices
    answers: list[Answer]
    timezone: str | None
    hourless_count: int

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the times in the logs."""
        return ZoneInfo(self.timezone or "UTC")

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and the last event, by the clock of the logs; None if there is no event."""
        tallies = [result.tally for result in self.results]
        firsts = [tally.first_event_at for tally in tallies if tally.first_event_at]
        lasts = [tally.last_event_at for tally in tallies if tally.last_event_at]
        if not firsts or not lasts:
            return None
        return min(firsts).astimezone(self.zone), max(lasts).astimezone(self.zone)


def report_to_json(report: Report) -> dict[str, Any]:
    """Return the report as one object: `files`, and a list of rows for each section under its name."""
    span = report.span
    return {
        "timezone": report.zone.key,
        "is_timezone_given": report.timezone is not None,
        "first_event_at": None if span is None or report.hourless_count else span[0].isoformat(),
        "last_event_at": None if span is None or report.hourless_count else span[1].isoformat(),
        "first_event_on": None if span is None else span[0].date().isoformat(),
        "last_event_on": None if span is None else span[1].date().isoformat(),
        "hour_unknown_count": report.hourless_count,
        "files": [
            result_to_json(result, has_texts=False) | {"format": report.choices.formats[result.path].name}
            for result in report.results
        ]
        + [{"path": str(path), "error": error.message} for path, error in report.choices.failures.items()],
        **answers_to_json(report.answers),
    }


def answers_to_json(answers: Iterable[Answer]) -> dict[str, Any]:
    """Return the rows of each section under its name."""
    return {
        answer.section.name: [
            {column: _plain(value) for column, value in zip(answer.columns, row, strict=True)}
            for row in answer.rows
        ]
        for answer in answers
    }


def print_report(report: Report) -> None:
    """Print the report to stdout."""
    print_heading("Lines: each is loaded, already held, ignored or rejected")
    for result in report.results:
        click.echo("\n".join(describe_result(result, has_texts=False)))
        title = report.choices.formats[result.path].title
        how = f", {report.choices.reason}" if report.choices.reason else ""
        click.echo(f"  read as {title}{how}")
    print_heading("Period")
    if report.span is None:
        click.echo("No line has a time.")
    else:
        layout = "%a %Y-%m-%d" if report.hourless_count else "%a %Y-%m-%d %H:%M:%S"
        first, last = (at.strftime(layout) for at in report.span)
        click.echo(f"{first} to {last}, {report.zone.key}")
        if report.hourless_count:
            click.echo(
                f"The hour is unknown for {report.hourless_count:,} events: their log gives only the day."
            )
    if report.timezone is None:
        click.echo("Times were read as UTC, since no --timezone was given.")
    if {log_format.name for log_format in report.choices.distinct} >= set(SAME_TRANSFERS):
        click.echo(SHARED)
    print_answers(report.answers)
    click.echo("\nNothing was stored: use `tapewise ingest` to load logs into a permanent warehouse.")


def print_answers(
    answers: Iterable[Answer],
    absent: str = NOT_IN_LOG,
    explain: Callable[[Section], str] = lambda section: section.silence,
) -> None:
    """Print each section as a table, or why it is empty, as `explain` says.

    `absent` is shown for figures that are not known.
    """
    for answer in answers:
        print_heading(answer.section.heading)
        if answer.rows:
            _print_rows(answer, absent)
        else:
            click.echo(explain(answer.section))


def print_heading(heading: str) -> None:
    """Print a heading between empty lines."""
    click.secho(f"\n{heading}\n", bold=True)


def _print_rows(answer: Answer, absent: str) -> None:
    """Print a table with its numbers in readable units, right-aligned."""
    section, columns, rows = answer.section, answer.columns, answer.rows
    shown = [describe_row(dict(zip(columns, row, strict=True)), absent) for row in rows]
    heads = list(section.heads)
    for index in range(len(columns)):
        if any(isinstance(row[index], int | float | Decimal) for row in rows):
            width = max(len(heads[index]), *(len(row[index]) for row in shown))
            heads[index] = heads[index].rjust(width)
            for row in shown:
                row[index] = row[index].rjust(width)
    print_table(heads, shown)


def describe_row(row: dict[str, Any], absent: str = NOT_IN_LOG) -> list[str]:
    """Return the values of a row in readable units. A quantile below `clock_step_s` is shown as "< step"."""
    step_s = row.get("clock_step_s") or 0
    return [
        f"< {format_seconds(step_s)}"
        if column.startswith("p") and column.endswith("_s") and value is not None and value < step_s
        else _describe(column, value, row.get("unit"), absent)
        for column, value in row.items()
    ]


def _describe(column: str, value: Any, unit: str | None, absent: str) -> str:
    """Format a value with its unit, which is the suffix of the column's name or the row's `unit`."""
    if column == "value":
        column = f"_{unit}"
    if value is None and column in NOT_LOGGED:
        shown = absent
    elif value is None or (column == "unit" and value in ("bytes", "s")):  # the value shows its unit itself
        shown = ""
    elif column.endswith("_bytes_per_s"):
        shown = f"{format_bytes(float(value))}/s"
    elif column.endswith("_bytes"):
        shown = format_bytes(float(value))
    elif column.endswith("_s"):
        shown = format_seconds(float(value))
    elif "_ratio" in column:
        shown = f"{value:.1%}"
    elif column.endswith(("_count", "_transfers")):
        shown = f"{value:,.0f}"
    else:
        shown = escape_controls(str(value))
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
