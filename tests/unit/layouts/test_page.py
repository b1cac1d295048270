"""The reference page names each key that a layout can have."""

import re
from pathlib import Path

import pytest

from tapewise.ingest.layouts.descriptions import Column, Csv, Fraction, Layout, Line, Pairs
from tests.unit.layouts.made_up import make, read

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "layouts.md"


@pytest.mark.parametrize("part", [Layout, Line, Column, Fraction, Pairs, Csv])
def test_the_page_names_each_key(part: type[Layout | Line | Column | Fraction | Pairs | Csv]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(
        re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`|^```.*?^```", text, re.MULTILINE | re.DOTALL)))
    )
    names = {field.alias or name for name, field in part.model_fields.items()}
    assert names - shown == set()


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, {"size_bytes": 1024, "duration_s": 0.25, "user": "kim"}),
        (1, {"size_bytes": 1024, "archive_path": "/home/kim/a, b", "user": "kim"}),
    ],
)
def test_the_layouts_that_the_page_shows_are_valid(
    tmp_path: Path, number: int, expected: dict[str, object]
) -> None:
    texts = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(texts) == 2
    found = make(tmp_path, texts[number])
    (record,) = read(found, *found.examples)
    assert {name: record[name] for name in expected} == expected
