"""The reference page names each key that a layout can have."""

import re
from pathlib import Path

import pytest

from tapewise.ingest.layouts.descriptions import Column, Fraction, Layout, Line
from tapewise.ingest.layouts.forms import Csv, Pairs
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


def test_the_layouts_that_the_page_shows_are_valid(tmp_path: Path) -> None:
    texts = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    formats = [make(tmp_path, text, f"site{number}") for number, text in enumerate(texts)]
    of_json, of_csv = (read(each, *each.examples)[0] for each in formats)
    assert (of_json["size_bytes"], of_json["duration_s"], of_json["user"]) == (1024, 0.25, "kim")
    assert (of_csv["size_bytes"], of_csv["archive_path"], of_csv["user"]) == (
        *(1_500_000, "/home/kim/a;b"),
        "kim",
    )
