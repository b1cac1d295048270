"""docs/reference/questions.md and papers.md: they name views and functions, which must exist."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tapewise.schema.tables.mart import read_mart

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGES = [FOLDER / "questions.md", FOLDER / "papers.md"]
NAMES = {each.name for each in read_mart()}
NAMED = re.compile(r"\bmart\.(?!md\b)(\w+)")
LINKED = re.compile(r"\[`(?:mart\.)?(\w+)`\]\(mart\.md#(\w+)\)")


def find_unknown(text: str) -> set[str]:
    """Find what a page names that is not in the catalogue, or that it links to another section."""
    wrong = {name for name, anchor in LINKED.findall(text) if anchor != f"mart{name}"}
    anchors = {*re.findall(r"mart\.md#(\w+)", text)} - {f"mart{name}" for name in NAMES}
    return ({*NAMED.findall(text)} - NAMES) | wrong | anchors


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_view_and_function_on_the_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert NAMED.findall(text) != []
    assert find_unknown(text) == set()


def test_an_unknown_view_can_be_found() -> None:
    assert find_unknown("SELECT * FROM mart.no_such_view") == {"no_such_view"}
    assert find_unknown("[`mart.room`](mart.md#martroom), [`mart.room`](mart.md#martrecords)") == {"room"}
    assert find_unknown("[`room`](mart.md#martrooms)") == {"room", "martrooms"}
    assert find_unknown("[a view](mart.md#martnone)") == {"martnone"}


def test_every_question_links_to_what_it_queries() -> None:
    text = (FOLDER / "questions.md").read_text(encoding="utf-8")
    questions = re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert len(questions) >= 30
    for question, answer in questions:
        console, below = re.fullmatch(r"\s*```console\n(.*?)\n```\n(.*)", answer, flags=re.DOTALL).groups()
        queried = {*re.findall(r"FROM mart\.(\w+)", console)}
        assert queried, question
        assert queried <= {name for name, _ in LINKED.findall(below)}, question


def test_the_numbers_of_items_are_those_of_the_tables() -> None:
    text = (FOLDER / "papers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!where|---)([^|]+) \| ([^|]+) \| ([^|]+) \| (.+) \|$", text, flags=re.MULTILINE)
    states = Counter(state for _, _, state, _ in rows)
    header = r"Of (\d+) items, (\d+) are there,\s(\d+) in part, and (\d+) only .*?(\d+) (?:is|are) not there"
    said = re.search(header, text, flags=re.DOTALL)
    assert said
    counts = [len(rows), states["yes"], states["partly"], states["raw"], states["no"]]
    assert [int(each) for each in said.groups()] == counts
    assert sum(counts[1:]) == len(rows)
    # What is not there has its reason, and everything else the place to look.
    assert [row for row in rows if row[2] != "no" and "](" not in row[3]] == []
