"""The reference page names each key that a layout can have."""

import re
from pathlib import Path

import pytest

from tapewise.ingest.layouts.descriptions import Column, Fraction, Layout, Line

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "layouts.md"


@pytest.mark.parametrize("part", [Layout, Line, Column, Fraction])
def test_the_page_names_each_key(part: type[Layout | Line | Column | Fraction]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(
        re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`|^```.*?^```", text, re.MULTILINE | re.DOTALL)))
    )
    assert set(part.model_fields) - shown == set()
