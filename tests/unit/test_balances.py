"""A file is reported as probably being in another format if every line that is not blank is rejected."""

from collections import Counter

import pytest

from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.records.format import BEFORE_RETENTION, BLANK, NO_ARCHIVE, UNRECOGNISED


@pytest.mark.parametrize(
    ("ignored", "is_all_rejected"),
    [({}, True), ({BLANK: 2}, True), ({NO_ARCHIVE: 1}, False), ({BLANK: 2, BEFORE_RETENTION: 1}, False)],
)
def test_ignored_lines_count_as_lines_of_the_format_unless_they_are_blank(
    ignored: dict[str, int], is_all_rejected: bool
) -> None:
    tally = Tally(line_count=1 + sum(ignored.values()), rejected=Counter({UNRECOGNISED: 1}))
    tally.ignored.update(ignored)
    assert tally.is_all_rejected == is_all_rejected
