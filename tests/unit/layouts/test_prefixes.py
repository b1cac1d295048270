"""Patterns are split into pieces, and the first piece that a line does not match is found."""

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.layouts.prefixes import Failure, find_failure, split_pattern


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("ab", ["a", "b"]),
        (r"a+?[^]x\]]{2,3}\.(?<n>(?:a|b)*)?", ["a+?", r"[^]x\]]{2,3}", r"\.", "(?<n>(?:a|b)*)?"]),
        (r"\p{L}\x20[a[b]]", [r"\p{L}", r"\x20", "[a[b]]"]),
        ("a|b", ["a|b"]),
        (r"\(\[(\))", [r"\(", r"\[", r"(\))"]),
    ],
)
def test_a_pattern_is_split_into_pieces(pattern, pieces):
    assert split_pattern(pattern) == pieces


def test_the_pieces_of_our_patterns_add_up_to_the_patterns():
    for log_format in FORMATS.values():
        layout = find_layout(log_format)
        for kind in layout.lines if layout else ():
            pattern = "".join(kind.pattern or ())
            assert "".join(split_pattern(pattern)) == pattern


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        ("12 kim 7x", Failure(8, "the end of the line", None)),
        ("12 kim x", Failure(7, "(?<size>[0-9]+)", "size")),
        ("12", Failure(2, " ", None)),
        ("x", Failure(0, "(?<id>[0-9]+)", "id")),
        ("", Failure(0, "(?<id>[0-9]+)", "id")),
    ],
)
def test_the_failing_piece_and_position_are_found(line, failure):
    assert find_failure("(?<id>[0-9]+) (?<user>[a-z]+) (?<size>[0-9]+)", line) == failure


def test_literal_characters_are_reported_as_one_piece():
    assert find_failure(r"(?<id>[0-9]+) NBYTES=(?<n>[0-9]+)", "12 nbytes=1") == Failure(3, "NBYTES=", None)
