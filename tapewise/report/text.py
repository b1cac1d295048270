"""A report as text for people: tables with readable numbers, and why a section is empty."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from textwrap import wrap
from typing import Any

import click

from tapewise.clustering.names import format_bytes, format_seconds
from tapewise.report.phrases import say_time
from tapewise.report.section import COUNTED_SINCE, Answer, Finding, find_limits, group_headings
from tapewise.schema.texts import escape_controls
from tapewise.tables import print_table

# Columns of figures that a log may lack. An empty cell would look like a zero.
NOT_IN_LOG = "not in the log"
NOT_LOGGED = ("failed_count", "size_bytes", "user_count", "client_count")
# From here on, seconds are shown as hours or days.
LONG_S = 3_600


def print_findings(findings: Mapping[str, Finding]) -> None:
    """Print the sentences that pass their thresholds, or that none does."""
    print_heading("What is notable")
    notable = [finding.sentence for finding in findings.values() if finding.is_notable]
    for sentence in notable:
        click.echo(f"- {escape_controls(sentence)}.")
    if not notable:
        click.echo("Nothing that passes the thresholds of this report.")


def print_about(answers: Iterable[Answer], reasons: Mapping[str, str]) -> None:
    """Print each section about the logs or, if it has no rows, why, as far as `reasons` says it."""
    for answer in answers:
        if answer.rows:
            _print_answer(answer, NOT_IN_LOG, None)
        elif answer.section.name in reasons:
            print_heading(answer.section.heading)
            click.echo(reasons[answer.section.name])


def print_answers(answers: Iterable[Answer], reasons: Mapping[str, str], absent: str = NOT_IN_LOG) -> None:
    """Print each section that has a table, and then which are left out, and why, as far as `reasons` says it.

    `absent` is shown for figures that are not known.
    """
    answers = [answer for answer in answers if answer.section.heads]
    limits = find_limits(answers)
    for answer in answers:
        if answer.rows:
            _print_answer(answer, absent, limits.get(answer.section.name))
    _print_reasons(group_headings(answers, reasons))


def _print_answer(answer: Answer, absent: str, limit: str | None) -> None:
    print_heading(answer.section.heading)
    if limit is not None:
        click.echo(f"{limit}\n")
    if (text := summarise(answer)) is not None:
        click.echo("\n".join(wrap(text, 110)))
    else:
        _print_rows(answer, absent)
        if answer.section.note:
            click.echo("\n" + "\n".join(wrap(answer.section.note, 110)))


def _print_reasons(headings: Mapping[str, Sequence[str]]) -> None:
    """Print which sections are left out, by the reason."""
    if headings:
        print_heading("What is left out, and why")
    for reason, left_out in headings.items():
        click.echo("\n".join(wrap(reason, 110)))
        for heading in left_out:
            click.echo("\n".join(wrap(heading, 110, initial_indent="- ", subsequent_indent="  ")))


def summarise(answer: Answer) -> str | None:
    """What the section says in place of a table; None if it has one, or no rows."""
    if answer.section.summarise is None or not answer.rows:
        return None
    return answer.section.summarise([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])


def print_heading(heading: str) -> None:
    """Print a heading between empty lines."""
    click.secho(f"\n{heading}\n", bold=True)


def describe_answer(answer: Answer, absent: str) -> tuple[list[list[str]], list[bool]]:
    """Return the rows of a table in readable units, and which of its columns have numbers."""
    columns = name_columns(answer)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    shown = [describe_row({column: row[column] for column in columns}, absent) for row in rows]
    return shown, [any(_is_number(row[column]) for row in rows) for column in columns]


def name_columns(answer: Answer) -> list[str]:
    """The columns of the query that a table shows."""
    return [column for column in answer.columns if column != COUNTED_SINCE]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _print_rows(answer: Answer, absent: str) -> None:
    """Print a table with its numbers right-aligned."""
    shown, are_numbers = describe_answer(answer, absent)
    heads = list(answer.section.heads)
    for index in reversed(_find_empty(answer)):
        del heads[index], are_numbers[index]
        for row in shown:
            del row[index]
    for index, is_number in enumerate(are_numbers):
        if is_number:
            width = max(len(heads[index]), *(len(row[index]) for row in shown))
            heads[index] = heads[index].rjust(width)
            for row in shown:
                row[index] = row[index].rjust(width)
    print_table(heads, shown)


def _find_empty(answer: Answer) -> list[int]:
    """The places of the quantiles that no row has, because the log does not report what they are of."""
    return [
        index
        for index, column in enumerate(name_columns(answer))
        if column.endswith(("_p50_s", "_p95_s"))
        and all(row[answer.columns.index(column)] is None for row in answer.rows)
    ]


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
    elif value is None and column == "drive":
        shown = "unknown"
    elif value is None or (column == "unit" and value in ("bytes", "s")):  # the value shows its unit itself
        shown = ""
    elif column.endswith("_bytes_per_s"):
        shown = f"{format_bytes(float(value))}/s"
    elif column.endswith("_bytes"):
        shown = format_bytes(float(value))
    elif column.endswith("_s"):
        shown = say_time(float(value)) if value >= LONG_S else format_seconds(float(value))
    elif "_ratio" in column:
        shown = f"{value:.1%}"
    elif column.endswith(("_count", "_transfers")):
        shown = f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
    elif isinstance(value, bool):
        shown = "yes" if value else "no"
    else:
        shown = escape_controls(str(value))
    return shown
