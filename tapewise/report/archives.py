"""A report about an archive of the warehouse, as text for people and as JSON for programs."""

from dataclasses import dataclass
from datetime import date
from textwrap import wrap
from typing import Any

import click
import psycopg

from tapewise.report.objects import answers_to_object
from tapewise.report.page import Page
from tapewise.report.recent import limit_scope
from tapewise.report.section import Answer, Scope, ask, find, find_reasons
from tapewise.report.sections import ABOUT, SECTIONS
from tapewise.report.text import NOT_IN_LOG, print_about, print_answers, print_findings, print_heading
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.texts import escape_controls

# What each kind of archive means, as titles say it.
KINDS = {
    "measured": "measured logs",
    "synthetic": "made-up logs",
    "simulated": "simulated: this did not happen",
}


WARNINGS = {
    "measured": "",
    "synthetic": "These logs are made up: what follows happened in no archive.",
    "simulated": "This is the result of a simulation: what follows did not happen.",
}


@dataclass(frozen=True)
class ArchiveReport:
    """The content of a report about an archive.

    All days are those of its own clock, `timezone`. `since` and `until` (exclusive) are as asked for.
    `first_on` and `last_on` are the first and the last day of this range with transfers that ended; None if
    there are none. Detail from before `retained_on` was forgotten (None: nothing was). `about` has the
    sections of all time.
    """

    archive: str
    kind: str
    timezone: str
    since: date | None
    until: date | None
    first_on: date | None
    last_on: date | None
    retained_on: date | None
    about: list[Answer]
    answers: list[Answer]

    @property
    def is_detail_missing(self) -> bool:
        """Whether the range has days with transfers whose detail was forgotten."""
        return self.retained_on is not None and self.first_on is not None and self.first_on < self.retained_on

    @property
    def absent(self) -> str:
        """What is shown for an unknown figure. It may also have been forgotten."""
        return "unknown" if self.is_detail_missing else NOT_IN_LOG

    @property
    def period(self) -> str:
        """From when until when transfers ended, in words."""
        asked = [f"{word} {day}" for word, day in (("from", self.since), ("until", self.until)) if day]
        limits = f" (asked for: {' '.join(asked)}, exclusive)" if self.until else ""
        if not limits and asked:
            limits = f" (asked for: {asked[0]} on)"
        if self.first_on is None or self.last_on is None:
            return f"No transfer ended in this time{limits}."
        return f"Transfers ended from {self.first_on:%a %Y-%m-%d} to {self.last_on:%a %Y-%m-%d}{limits}."

    @property
    def doubts(self) -> list[str]:
        """What is not certain about the counts, as sentences."""
        if not self.is_detail_missing:
            return []
        return [
            f"Detail from before {self.retained_on} was forgotten. Client machines, other events, failures by"
            " code, envelopes, silences and mounts are those of later days; everything else is of all days."
        ]

    @property
    def reasons(self) -> dict[str, str]:
        """Why each section without rows has none, by its name."""
        reasons = find_reasons(self.about) | find_reasons(self.answers)
        for answer in self.answers:
            section = answer.section
            # What the logs never report is missing for that reason in any part of their time.
            if answer.rows or answer.lacking is not None:
                continue
            if section.needs_detail and self.is_detail_missing:
                reasons[section.name] = (
                    "Unknown: the detail of days in this time was forgotten, and the other days have none."
                )
            elif section.is_ranged and (self.since or self.until):
                reasons[section.name] = "None in this time."
        return reasons


def read_archive(
    connection: psycopg.Connection, archive: str, since: date | None, until: date | None
) -> ArchiveReport:
    """Read what a report says about the days from `since` until `until` (exclusive; None: all of them).

    `connection` must be a reader's, without a transaction. Raises LookupFailedError if there is no such
    archive.
    """
    # All sections are of the same moment, whatever is loaded meanwhile.
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    found = connection.execute(
        "SELECT kind, timezone, (retained_since AT TIME ZONE timezone)::date,"
        " %(since)s::date::timestamp AT TIME ZONE timezone, %(until)s::date::timestamp AT TIME ZONE timezone"
        " FROM mart.archives WHERE archive = %(archive)s",
        {"archive": archive, "since": since, "until": until},
    ).fetchone()
    if found is None:
        raise LookupFailedError(
            f"no archive is called '{archive}'", hint="`tapewise archives list` shows them."
        )
    kind, timezone, retained_on, *times = found
    scope = limit_scope(connection, Scope(archive, *times))
    days = connection.execute(
        "SELECT min(starts_on), max(starts_on) FROM"
        " mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)",
        vars(scope),
    ).fetchone()
    first_on, last_on = days or (None, None)
    about, answers = ask(connection, scope, ABOUT), ask(connection, scope, SECTIONS)
    return ArchiveReport(
        archive, kind, timezone, since, until, first_on, last_on, retained_on, about, answers
    )


def archive_report_to_object(report: ArchiveReport) -> dict[str, Any]:
    """Return the report as one object, with a list of rows for each section under its name."""
    return {
        "archive": report.archive,
        "kind": report.kind,
        "timezone": report.timezone,
        "since": report.since and report.since.isoformat(),
        "until": report.until and report.until.isoformat(),
        "first_transfer_on": report.first_on and report.first_on.isoformat(),
        "last_transfer_on": report.last_on and report.last_on.isoformat(),
        "detail_retained_since": report.retained_on and report.retained_on.isoformat(),
        "doubts": report.doubts,
        **answers_to_object([*report.about, *report.answers], report.reasons),
    }


def print_archive_report(report: ArchiveReport) -> None:
    """Print the report to stdout."""
    print_heading("Archive")
    click.echo(f"{escape_controls(report.archive)} ({KINDS[report.kind]}), {report.timezone}")
    print_about(report.about, report.reasons)
    print_heading("Period")
    click.echo(report.period)
    for doubt in report.doubts:
        click.echo("\n".join(wrap(doubt, 110)))
    print_findings(find(report.answers))
    print_answers(report.answers, report.reasons, report.absent)


def describe_archive_page(report: ArchiveReport) -> Page:
    """Describe the report as a page."""
    return Page(
        subject=escape_controls(report.archive),
        kind=KINDS[report.kind],
        warning=WARNINGS[report.kind],
        period=f"{report.period} Days are those of {report.timezone}.",
        doubts=report.doubts,
        tables=(),
        about=report.about,
        answers=report.answers,
        absent=report.absent,
        reasons=report.reasons,
    )
