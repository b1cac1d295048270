"""A report as one HTML file, which needs no script, no other file and no network."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from textwrap import dedent

import jinja2
from markupsafe import Markup

from tapewise.report.charts import render, write_spec
from tapewise.report.page import Page, Table
from tapewise.report.section import (
    Answer,
    Facts,
    Finding,
    Section,
    collect_facts,
    find,
    find_limits,
    group_headings,
)
from tapewise.report.text import describe_answer, name_columns, summarise

# Charts are rendered at the same time, each by an engine of its own.
RENDERERS = 2


@dataclass(frozen=True)
class _Part:
    """A section as the template shows it. Its title is what it found; what is not notable is a remark."""

    section: Section
    title: str
    finding: str | None
    remark: str | None
    limit: str | None
    panels: Sequence[Markup]
    table: Table | None
    numbers: Table | None
    query: str


def make_page(page: Page, made_at: datetime, version: str) -> str:
    """Return the page as HTML. `made_at` has a zone."""
    facts = collect_facts([*page.about, *page.answers])
    findings = find(page.answers)
    limits = find_limits(page.answers)
    panels = _draw(page.answers, facts)
    parts = [
        _make_part(
            answer,
            findings.get(answer.section.name),
            limits.get(answer.section.name),
            panels.get(answer.section.name, []),
            page.absent,
        )
        for answer in page.answers
        if answer.rows
    ]
    folder = files("tapewise.report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "page.html.jinja").read_text(encoding="utf-8"))
    return template.render(
        page=page,
        style=Markup((folder / "page.css").read_text(encoding="utf-8")),  # noqa: S704  our own file
        margins=_describe_margins(page, made_at, version),
        made_at=f"{made_at:%Y-%m-%d %H:%M} {made_at:%Z}",
        version=version,
        about=[
            *((table.heading, None, table) for table in page.tables),
            *(
                (answer.section.heading, text, None if text else _make_table(answer, page.absent))
                for answer in page.about
                if answer.rows
                for text in [summarise(answer)]
            ),
        ],
        silent_about=[
            (answer.section, page.reasons[answer.section.name])
            for answer in page.about
            if answer.section.name in page.reasons
        ],
        notable=[(name, finding) for name, finding in findings.items() if finding.is_notable],
        parts=sorted(parts, key=lambda part: not part.panels),  # figures first, then tables
        silent=group_headings(page.answers, page.reasons),
    )


def _draw(answers: Sequence[Answer], facts: Facts) -> Mapping[str, Sequence[Markup]]:
    """Draw the panels of all figures, by the names of their sections."""
    specs = [
        (answer.section.name, write_spec(chart, facts))
        for answer in answers
        if answer.section.draw is not None and answer.rows
        for chart in answer.section.draw(facts)
    ]
    with ThreadPoolExecutor(RENDERERS) as pool:
        drawn = pool.map(render, [spec for _, spec in specs])
    panels: dict[str, list[Markup]] = {}
    for (name, _), svg in zip(specs, drawn, strict=True):
        panels.setdefault(name, []).append(Markup(svg))  # noqa: S704  vl-convert escapes what charts contain
    return panels


def _make_part(
    answer: Answer, finding: Finding | None, limit: str | None, panels: Sequence[Markup], absent: str
) -> _Part:
    section = answer.section
    return _Part(
        section=section,
        title=finding.sentence if finding is not None and finding.is_notable else section.heading,
        finding=None if finding is None else finding.sentence,
        remark=None if finding is None or finding.is_notable else finding.sentence,
        limit=limit,
        panels=panels,
        table=_make_table(answer, absent) if section.heads else None,
        # Whoever cannot see a figure reads its rows, under the names that they have in SQL.
        numbers=None if section.heads else _make_table(answer, absent),
        query=dedent(section.query.replace("%%", "%")).strip("\n"),
    )


def _make_table(answer: Answer, absent: str) -> Table:
    rows, are_numbers = describe_answer(answer, absent)
    return Table(answer.section.heading, answer.section.heads or name_columns(answer), rows, are_numbers)


def _describe_margins(page: Page, made_at: datetime, version: str) -> Markup:
    """The style of printed pages: subject and period above, date and page number below."""
    texts = {
        "top-left": f"{page.subject} ({page.kind})",
        "top-right": page.period,
        "bottom-left": f"made {made_at:%Y-%m-%d} by Tapewise {version}",
    }
    boxes = "".join(f"@{place} {{ content: {_quote(text)}; }} " for place, text in texts.items())
    return Markup(f"@page {{ {boxes}}}")  # noqa: S704  _quote leaves nothing that could end a string or an element


def _quote(text: str) -> str:
    """A string of CSS, with everything but letters, digits, spaces and a few signs as an escape."""
    return '"' + re.sub(r"[^\w ,.():/-]", lambda found: f"\\{ord(found[0]):x} ", text) + '"'
