"""What a section of a report is, and how its question is asked. Queries run as the reading role."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

import psycopg

if TYPE_CHECKING:
    import altair

# The rows of each section that has any, by the section's name. A row maps the names of columns to values.
Rows = Sequence[Mapping[str, Any]]
Facts = Mapping[str, Rows]

# What the logs of an archive report (mart.archive_facts), in words.
_FACTS = """
    SELECT fact FROM mart.archive_facts WHERE archive = %(archive)s AND is_held
"""

# The column of a query that may answer for a part of the scope only: the local time from which on transfers
# are counted, or null. It is not part of the table.
COUNTED_SINCE = "counted_since"


@dataclass(frozen=True)
class Finding:
    """A sentence made from numbers.

    `is_notable` is whether these pass the section's threshold. If they do not, the sentence says what is not
    the case, or what is too little to say it.
    """

    sentence: str
    is_notable: bool


@dataclass(frozen=True, kw_only=True)
class Section:
    """A question that a report answers, with a table, a figure or both.

    `name` is its key in JSON. The query's parameters are those of a Scope. The query's column names carry the
    units, and `heads` are the column names for people; without them, there is no table. `summarise` makes a
    text from the rows, which replaces the table, and `note` says what to know about the numbers of a table.
    `is_ranged` is whether the query depends on the period. `needs_detail` is whether it reads single lines,
    and so finds nothing of forgotten days.

    `needs` has the facts of mart.archive_facts without which there are no rows. A fact may be several, joined
    by " or ". `silence` says why there are no rows although the logs report these facts; it may depend on the
    rows of other sections.

    `find` makes a finding from the section's own rows and those of the others; None if there is nothing to
    say. `draw` makes the panels of a figure from the same, and `caption` says what they count. Both are
    called only if the section has rows.
    """

    name: str
    question: str
    heading: str
    query: LiteralString
    silence: str | Callable[[Facts], str]
    needs: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    summarise: Callable[[Rows], str] | None = None
    note: str = ""
    is_ranged: bool = True
    needs_detail: bool = False
    find: Callable[[Facts], Finding | None] | None = None
    draw: Callable[[Facts], "list[altair.TopLevelMixin]"] | None = None
    caption: str = ""


@dataclass(frozen=True)
class Answer:
    """A section with the result of its query, and the first of its needs that the logs do not report."""

    section: Section
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    lacking: str | None = None


@dataclass(frozen=True)
class Scope:
    """What a report is about: an archive, from `since` until `until` (None: all of its time).

    Both are midnights of the archive's own clock, because what is counted by day has only whole days. What
    would take too long may be asked of the latest transfers only: those from `recent_since` on (None: all).
    `is_exact` is whether quantiles come from the requests themselves, and not from histograms.
    """

    archive: str
    since: datetime | None = None
    until: datetime | None = None
    recent_since: datetime | None = None
    is_exact: bool = False


def ask(connection: psycopg.Connection, scope: Scope, sections: Sequence[Section]) -> list[Answer]:
    """Run the queries of `sections`; `connection` must be a reader's."""
    held = {fact for (fact,) in connection.execute(_FACTS, vars(scope))}
    answers = []
    for section in sections:
        cursor = connection.execute(section.query, vars(scope))
        columns = [column.name for column in cursor.description or ()]
        lacking = next((need for need in section.needs if held.isdisjoint(need.split(" or "))), None)
        answers.append(Answer(section, columns, cursor.fetchall(), lacking))
    return answers


def collect_facts(answers: Sequence[Answer]) -> dict[str, Rows]:
    """The rows of each answer that has any, by the names of sections and columns."""
    return {
        answer.section.name: [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        for answer in answers
        if answer.rows
    }


def find(answers: Sequence[Answer]) -> dict[str, Finding]:
    """What each section finds, by its name, without those that have nothing to say."""
    facts = collect_facts(answers)
    found = {
        answer.section.name: answer.section.find(facts)
        for answer in answers
        if answer.section.find is not None and answer.rows
    }
    return {name: finding for name, finding in found.items() if finding is not None}


def find_reasons(answers: Sequence[Answer]) -> dict[str, str]:
    """Why each section without rows has none, by its name."""
    facts = collect_facts(answers)
    return {answer.section.name: _explain(answer, facts) for answer in answers if not answer.rows}


def group_headings(answers: Sequence[Answer], reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The headings of the sections that are left out for each of `reasons`."""
    headings: dict[str, list[str]] = {}
    for answer in answers:
        if (reason := reasons.get(answer.section.name)) is not None:
            headings.setdefault(reason, []).append(answer.section.heading)
    return headings


def _explain(answer: Answer, facts: Facts) -> str:
    if answer.lacking is not None:
        # Activity is what transfers are counted from.
        return f"These logs report no {answer.lacking.replace('activity', 'transfers').replace('_', ' ')}."
    silence = answer.section.silence
    return silence if isinstance(silence, str) else silence(facts)


def find_limits(answers: Sequence[Answer]) -> dict[str, str]:
    """What each section that was asked of the latest transfers only has to say so, by its name."""
    limits = {}
    for name, rows in collect_facts(answers).items():
        since = rows[0].get(COUNTED_SINCE)
        if since is not None:
            limits[name] = (
                f"Only transfers that ended from {since:%a %Y-%m-%d %H:%M} on; to read all of them would take"
                " too long."
            )
    return limits
