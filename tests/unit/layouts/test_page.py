"""The reference page names each key that a layout can have."""

import re
from pathlib import Path

import pytest

from tapewise.ingest.layouts.descriptions import Column, Fraction, Layout, Line, Pairs
from tests.unit.layouts.made_up import make, read

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "layouts.md"


@pytest.mark.parametrize("part", [Layout, Line, Column, Fraction, Pairs])
def test_the_page_names_each_key(part: type[Layout | Line | Column | Fraction | Pairs]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(
        re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`|^```.*?^```", text, re.MULTILINE | re.DOTALL)))
    )
    names = {field.alias or name for name, field in part.model_fields.items()}
    assert names - shown == set()


def test_the_layout_that_the_page_shows_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = make(tmp_path, text)
    (record,) = read(found, *found.examples)
    assert (record["size_bytes"], record["duration_s"], record["user"]) == (1024, 0.25, "kim")
