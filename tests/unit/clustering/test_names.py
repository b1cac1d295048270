"""Each class has a name of its own that describes it."""

import pytest

from tapewise.clustering.names import Character, format_bytes, format_seconds, name_classes


@pytest.mark.parametrize(
    "direction, size_bytes, cached, uncached, name",
    [
        ("put", 999_999, 0, 0, "small puts"),
        ("put", 1e6, 5, 0, "medium puts"),
        ("put", 1e8, 0, 0, "large puts"),
        ("put", 1e10, 0, 0, "huge puts"),
        ("get", 1000, 0, 0, "small gets"),
        ("get", 1000, 8, 2, "small gets from disk"),
        ("get", 1000, 79, 21, "small gets from disk and tape"),
        ("get", 1000, 21, 79, "small gets from disk and tape"),
        ("get", 1000, 20, 80, "small gets from tape"),
    ],
)
def test_a_name_describes_the_class(direction, size_bytes, cached, uncached, name):
    assert name_classes([Character(direction, size_bytes, 1.0, cached, uncached)]) == [name]


def test_names_of_similar_classes_give_their_centre():
    characters = [
        Character("put", 1.2e6, 0.5, 0, 0),
        Character("put", 5e7, 8.25, 0, 0),
        Character("put", 5e9, 8.0, 0, 0),
        Character("put", 1.2e6, 0.5001, 0, 0),
    ]
    assert name_classes(characters) == [
        "medium puts, 1.2 MB in 0.5 s (1)",
        "medium puts, 50 MB in 8.25 s",
        "large puts",
        "medium puts, 1.2 MB in 0.5 s (4)",
    ]


@pytest.mark.parametrize(
    "size_bytes, text",
    [
        (1, "1 B"),
        (999.4, "999 B"),
        (999.6, "1 kB"),
        (12_345, "12.3 kB"),
        (4.5e9, "4.5 GB"),
        (3e18, "3000 PB"),
    ],
)
def test_bytes_have_three_digits(size_bytes, text):
    assert format_bytes(size_bytes) == text


@pytest.mark.parametrize("time_s, text", [(0.0451, "0.0451 s"), (61.27, "61.3 s"), (12_345, "12300 s")])
def test_seconds_have_three_digits(time_s, text):
    assert format_seconds(time_s) == text
