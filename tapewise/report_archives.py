"""A report about an archive of the warehouse, as text for people and as JSON for programs."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import click
import psycopg

from tapewise.report_pages import NOT_IN_LOG, answers_to_json, print_answers, print_heading
from tapewise.report_sections import ABOUT, Answer, Scope, Section, ask
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.texts import escape_controls

# What each kind of archive means, as titles say it.
KINDS = {"measured": "measured", "synthetic": "made-up logs", "simulated": "simulated: this did not happen"}


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

    def explain_silence(self, section: Section) -> str:
        """Say why `section` has no rows, without saying of the logs what is only known of the range."""
        if section.needs_detail and self.is_detail_missing:
            return "Unknown: the detail of days in this time was forgotten, and the other days have none."
        return "None in this time." if self.since or self.until else section.silence


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
    scope = Scope(archive, *times)
    days = connection.execute(
        "SELECT min(starts_on), max(starts_on) FROM"
        " mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)",
        vars(scope),
    ).fetchone()
    first_on, last_on = days or (None, None)
    about, answers = ask(connection, scope, ABOUT), ask(connection, scope)
    return ArchiveReport(
        archive, kind, timezone, since, until, first_on, last_on, retained_on, about, answers
    )


def archive_report_to_json(report: ArchiveReport) -> dict[str, Any]:
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
        **answers_to_json([*report.about, *report.answers]),
    }


def print_archive_report(report: ArchiveReport) -> None:
    """Print the report to stdout."""
    print_heading("Archive")
    click.echo(f"{escape_controls(report.archive)} ({KINDS[report.kind]}), {report.timezone}")
    print_answers(report.about)
    print_heading("Period")
    click.echo(_describe_period(report))
    if report.is_detail_missing:
        click.echo(
            f"Detail from before {report.retained_on} was forgotten. Users and clients of transfers, other"
            " events, failures by\ncode and rates are those of later days; everything else is of all days."
        )
    # What is missing may also have been forgotten.
    absent = "unknown" if report.is_detail_missing else NOT_IN_LOG
    print_answers(report.answers, absent, report.explain_silence)


def _describe_period(report: ArchiveReport) -> str:
    asked = [f"{word} {day}" for word, day in (("from", report.since), ("until", report.until)) if day]
    limits = f" (asked for: {' '.join(asked)}, exclusive)" if report.until else ""
    if not limits and asked:
        limits = f" (asked for: {asked[0]} on)"
    if report.first_on is None or report.last_on is None:
        return f"No transfer ended in this time{limits}."
    return f"Transfers ended from {report.first_on:%a %Y-%m-%d} to {report.last_on:%a %Y-%m-%d}{limits}."
