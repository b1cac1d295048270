"""Sums of groups are those that Python adds up, whether numbers are near each other or not."""

import random
from collections import defaultdict

import polars as pl
import pytest

from tapewise.schema.writing.groups import Groups, count_numbers, group_by_code

# How far apart numbers of groups are: arrays have a place for each number in between, or numbers are sorted.
STEPS = [1, 10**9]


def draw_rows(step: int, value_of: list[int | None]) -> tuple[pl.Series, dict[int, list[int | None]]]:
    """Draw a number for each value; returns the numbers, and the values by number."""
    draw = random.Random(step)
    rows = [(draw.randrange(20) * step, value) for value in value_of]
    by_number = defaultdict(list)
    for number, value in rows:
        by_number[number].append(value)
    return pl.Series([number for number, _ in rows], dtype=pl.Int64), dict(sorted(by_number.items()))


def draw_values(count: int, least: int, greatest: int) -> list[int | None]:
    draw = random.Random(least)
    return [None if draw.random() < 0.1 else draw.randint(least, greatest) for _ in range(count)]


@pytest.mark.parametrize("step", STEPS)
def test_groups_have_the_sums_of_their_rows(step: int) -> None:
    values = draw_values(300, -(10**6), 10**6)
    numbers, expected = draw_rows(step, values)
    groups = Groups(numbers)
    assert groups.numbers.to_list() == [*expected]
    assert groups.counts.to_list() == [len(each) for each in expected.values()]
    sums = [sum(value or 0 for value in each) for each in expected.values()]
    assert groups.sum(pl.Series(values)).to_list() == groups.sum_wide(pl.Series(values)).to_list() == sums
    known = [value or 0 for value in values]
    assert groups.find_least(pl.Series(known)).to_list() == [
        min(value or 0 for value in each) for each in expected.values()
    ]
    greatest = groups.find_greatest(pl.Series(known))
    assert greatest.to_list() == [max(value or 0 for value in each) for each in expected.values()]
    of_number = dict(zip(groups.numbers, greatest, strict=True))
    assert groups.spread(greatest).to_list() == [of_number[number] for number in numbers]


@pytest.mark.parametrize("step", STEPS)
def test_flags_are_counted_where_they_are_true(step: int) -> None:
    values = draw_values(300, 0, 1)
    numbers, expected = draw_rows(step, values)
    flags = pl.Series([None if value is None else value == 1 for value in values])
    counts = [each.count(1) for each in expected.values()]
    assert Groups(numbers).sum(flags).to_list() == counts
    assert Groups(numbers).sum(flags.clear().extend(pl.Series([False] * 300))).to_list() == [0] * len(counts)


@pytest.mark.parametrize("step", STEPS)
def test_wide_sums_may_have_more_than_64_bits(step: int) -> None:
    values = [*draw_values(300, 2**62, 2**63 - 1), *draw_values(300, -(2**63), -1)]
    numbers, expected = draw_rows(step, values)
    sums = [sum(value or 0 for value in each) for each in expected.values()]
    assert max(map(abs, sums)) >= 2**63
    assert Groups(numbers).sum_wide(pl.Series(values)).to_list() == sums


def test_no_rows_have_no_groups() -> None:
    nothing = pl.Series([], dtype=pl.Int64)
    groups = Groups(nothing)
    assert len(groups.numbers) == len(groups.counts) == len(groups.sum(nothing)) == 0
    assert len(groups.sum_wide(nothing)) == len(groups.find_least(nothing)) == 0
    assert group_by_code(nothing, nothing)[1].rows() == []
    assert [len(each) for each in count_numbers(nothing)] == [0, 0]


@pytest.mark.parametrize("first", [-10, 10])
@pytest.mark.parametrize("step", [*STEPS, 2**58])
def test_a_group_has_one_cell_and_one_code(step: int, first: int) -> None:
    draw = random.Random(step)
    rows = [(draw.randrange(9), draw.randrange(first, first + 20) * step) for _ in range(300)]
    cell, codes = (pl.Series(column, dtype=pl.Int64) for column in zip(*rows, strict=True))
    groups, named = group_by_code(cell, codes)
    assert named.rows() == sorted(set(rows))
    assert groups.counts.to_list() == [rows.count(row) for row in named.rows()]


@pytest.mark.parametrize("step", STEPS)
def test_numbers_are_counted(step: int) -> None:
    numbers, expected = draw_rows(step, [1] * 300)
    found, counts = count_numbers(numbers)
    assert dict(zip(found, counts, strict=True)) == {number: len(each) for number, each in expected.items()}
    assert found.to_list() == [*expected]
