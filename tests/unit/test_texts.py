"""Text as it is shown to people."""

import pytest

from tapewise.schema.texts import say_count


@pytest.mark.parametrize(
    ("count", "things", "said"),
    [
        (0, "files", "0 files"),
        (1, "files", "1 file"),
        (1, "mount summaries", "1 mount summary"),
        (1, "classes", "1 class"),
        (2, "mount summaries", "2 mount summaries"),
        (12_881, "rows", "12,881 rows"),
    ],
)
def test_one_thing_is_in_the_singular(count: int, things: str, said: str) -> None:
    assert say_count(count, things) == said
