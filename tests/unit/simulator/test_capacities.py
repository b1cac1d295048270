"""Sizes of disks as users type them."""

import click
import pytest

from tapewise.simulator.caches_cli import cache
from tapewise.simulator.capacities import TypedSizes, format_count, format_size
from tapewise.simulator.cli import run


def parse(text: str, count: int = 3) -> list[int]:
    return TypedSizes().convert(text, None, None).space(count)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1B", [1]),
        ("1.5TB, 2 PB", [1_500_000_000_000, 2 * 10**15]),
        ("1kB,1KB,1KiB,1PiB", [1000, 1000, 1024, 1024**5]),
        ("9007199.254740993GB", [9_007_199_254_740_993]),
        ("4EiB", [2**62]),
        ("1MB..4MB", [10**6, 2 * 10**6, 4 * 10**6]),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert parse(text) == sizes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10", "is not a size"),
        ("1TB,", "'' is not a size"),
        ("-1TB", "is not a size"),
        ("1iB", "is not a size"),
        ("1tb", "is not a size"),
        ("0GB", "is not between 1 B and 4 EiB"),
        ("5EiB", "is not between 1 B and 4 EiB"),
        ("2TB..1TB", "is not a range"),
        ("1TB..1TB", "is not a range"),
        ("1TB..2TB..3TB", "'2TB..3TB' is not a size"),
        ("1TB..", "'' is not a size"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(click.BadParameter, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (999_500, "1 MB"), (2_470_000_000_000, "2.47 TB"), (10**21, "1e+03 EB")],
)
def test_format(size: int, text: str) -> None:
    assert format_size(size) == text


def test_one_is_not_several():
    assert [format_count(count, "file") for count in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
    assert [format_count(count, "get misses", "gets miss") for count in (1, 2)] == [
        "1 get misses",
        "2 gets miss",
    ]


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_numbers_are_finite(text: str) -> None:
    names = []
    for command, wanted in (
        (run, {"rate_factor", "fill_ratio", "sample_s"}),
        (cache, {"high_ratio", "keep_s"}),
    ):
        with click.Context(command) as context:
            for option in command.params:
                if option.name in wanted:
                    names.append(option.name)
                    with pytest.raises(click.BadParameter):
                        option.type_cast_value(context, text)
    assert len(names) == 5
