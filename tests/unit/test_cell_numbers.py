"""Different routes and days have different cells, however large their numbers are."""

import math
import random
from bisect import bisect_right
from collections import Counter
from datetime import date

import polars as pl
import pytest

from tapewise.schema.writing.cell_numbers import MOST_DAYS, number_cells
from tapewise.schema.writing.histograms import SIZE_EDGES, count_bins, find_bins, find_size_bins
from tapewise.schema.writing.routes import ROUTE

# Numbers up to this one make a factor of 2^31, and days that are four apart would be the same modulo 2^64.
GREATEST = 2**31 - 2


def test_cells_of_large_numbers_are_different() -> None:
    routes = [
        (source_id, interface, direction, class_of_service, client_id)
        for source_id in (1, GREATEST)
        for interface in ("nft", "hsi")
        for direction in ("get", None)
        for class_of_service in (None, "4")
        for client_id in (None, 1, GREATEST)
    ]
    rows = pl.DataFrame(
        [(*route, day) for route in routes for day in (-1, 3, MOST_DAYS - 2)] * 2,
        schema={
            "source_id": pl.Int32,
            **dict.fromkeys(ROUTE, pl.String),
            "client_id": pl.Int32,
            "day": pl.Int64,
        },
        orient="row",
    )
    cell, names = number_cells(rows, rows["day"], ("source_id", *ROUTE))
    days = pl.col("day").cast(pl.Int32).cast(pl.Date)
    placed = rows.with_columns(days, cell=cell).unique()
    assert placed.height == names.height == rows.height / 2
    assert placed.sort("cell").select(names.columns).rows() == names.sort("cell").rows()
    assert names["cell"].sort().to_list() == list(range(names.height))


@pytest.mark.parametrize("day_count", [3, 40_000])
def test_cells_are_numbered_by_place(day_count: int) -> None:
    """Whether the numbers of days are few, or more than four for each row."""
    draw = random.Random(7)
    days = [draw.randrange(day_count) for _ in range(300)]
    rows = pl.DataFrame({"direction": ["get" if draw.random() < 0.5 else None for _ in days]})
    cell, names = number_cells(rows, pl.Series(days), ["direction"])
    given = list(zip(rows["direction"], days, strict=True))
    assert len(set(zip(given, cell, strict=True))) == len(set(given)) == cell.n_unique() == names.height
    epoch = date(1970, 1, 1)
    assert {number: (direction, (day - epoch).days) for direction, number, day in names.rows()} == dict(
        zip(cell, given, strict=True)
    )
    # In the order of the first row of each.
    assert [*dict.fromkeys(cell)] == names["cell"].to_list()


@pytest.mark.parametrize("bin_count", [1, 150, 10**6])
def test_bins_are_counted(bin_count: int) -> None:
    draw = random.Random(8)
    rows = [(draw.randrange(9), 1000 + draw.randrange(bin_count)) for _ in range(500)]
    cell, bins = (pl.Series(values, dtype=pl.Int64) for values in zip(*rows, strict=True))
    counted = count_bins(cell, bins)
    assert {(cell, bin_): count for cell, bin_, count in counted.rows()} == Counter(rows)
    assert counted.height == len(set(rows))
    assert count_bins(cell.head(0), bins.head(0)).rows() == []


def test_the_bin_of_a_size_is_between_its_edges() -> None:
    """Floats round sizes from 2^53 on, of which those next to a power of two get its exponent."""
    draw = random.Random(5)
    near = [edge + step for edge in (*SIZE_EDGES, *(2**power for power in range(63))) for step in (-1, 0, 1)]
    sizes = [*(size for size in near if size >= 0), 2**63 - 1, *(draw.randrange(2**63) for _ in range(500))]
    assert find_size_bins(pl.Series(sizes)).to_list() == [bisect_right(SIZE_EDGES, size) for size in sizes]
    assert find_size_bins(pl.Series([], dtype=pl.Int64)).to_list() == []


def test_numbers_beyond_all_bins_are_in_the_first_or_the_last_one() -> None:
    # As tests/sql/histogram_bin/known_bins.yaml has it for SQL.
    known = {
        **{-math.inf: 0, -2.0: 0, -0.0: 0, 5e-324: 0, 8e-78: 0, 8.8e-78: 1},
        **{0.5: 16320, 1.0: 16384, 1.0156249999999998: 16384, 1.015625: 16385, 1e18: 20207},
        **{1.1e77: 32761, 1e308: 32767, math.inf: 32767},
    }
    assert find_bins(pl.Series(list(known))).to_list() == list(known.values())
