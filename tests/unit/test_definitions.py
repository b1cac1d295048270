"""docs/reference/definitions.md: views cite its words, so each of them must be defined."""

import re
from pathlib import Path

from tapewise.schema.tables.mart import read_mart

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "definitions.md"
DEFINED = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_word_that_a_view_cites_is_defined() -> None:
    cited = {word for each in read_mart() for word in each.metadata.words}
    assert cited - {*DEFINED} == set()
    # A definition that no view needs is not read where it would help. Units are in names of columns.
    assert {*DEFINED} - cited == {"units"}


def test_no_word_is_defined_or_cited_twice() -> None:
    assert len(DEFINED) == len({*DEFINED})
    assert [each.name for each in read_mart() if len({*each.metadata.words}) < len(each.metadata.words)] == []
