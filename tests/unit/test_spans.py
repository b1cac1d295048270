"""Sums of days are added up by number and element, and their months and years are found."""

import random
from collections import Counter
from datetime import date, timedelta

import polars as pl
import pytest

from tapewise.schema.writing import cell_numbers
from tapewise.schema.writing.cell_numbers import batch_parts, join_parts
from tapewise.schema.writing.routes import ROUTE
from tapewise.schema.writing.spans import find_spans, sum_elements, sum_spans

NAMES = {"source_id": pl.Int32, **dict.fromkeys(ROUTE, pl.String), "client_id": pl.Int32, "day": pl.Date}
ADDED = [pl.col("n").sum()]


def name_days(days: list[tuple[str, int | None, date]]) -> pl.DataFrame:
    """The names of cells, from 0, of a direction, a client and a day each."""
    rows = [(1, "nft", direction, None, client_id, day) for direction, client_id, day in days]
    return pl.DataFrame(rows, schema=NAMES, orient="row").with_columns(
        cell=pl.int_range(len(rows), dtype=pl.Int64)
    )


@pytest.mark.parametrize(
    "elements",
    [range(50), range(-25, 25), range(-(2**62), 2**62, 2**59), [7]],
    ids=["few", "negative", "far apart", "one"],
)
@pytest.mark.parametrize("order", ["as drawn", "sorted", "sorted, each once"])
def test_elements_are_added_up(elements: range | list[int], order: str) -> None:
    draw = random.Random(order)
    rows = [(draw.randrange(30), draw.choice(elements), draw.randrange(5)) for _ in range(400)]
    if order != "as drawn":
        rows.sort()
    if order == "sorted, each once":
        rows = [*{row[:2]: row for row in rows}.values()]
    expected = Counter[tuple[int, int]]()
    for cell, element, n in rows:
        expected[cell, element] += n
    sums = pl.DataFrame(rows, schema={"cell": pl.Int32, "element": pl.Int64, "n": pl.Int64}, orient="row")
    added = sum_elements(sums, ADDED)
    assert added.columns == ["cell", "element", "n"]
    assert added.rows() == [(*key, n) for key, n in sorted(expected.items())]
    assert sum_elements(sums.clear(), ADDED).rows() == []


def test_months_and_years_are_sums_of_their_days() -> None:
    draw = random.Random(9)
    days = [
        (direction, client_id, date(1999, 12, 1) + timedelta(days=number))
        for number in range(0, 430, 7)
        for direction in ("get", "put")
        for client_id in (None, 1)
    ]
    draw.shuffle(days)
    names = name_days(days)
    spans = find_spans(names)
    sums = pl.DataFrame(
        [(draw.randrange(names.height), draw.randrange(9), draw.randrange(1, 5)) for _ in range(1000)],
        schema={"cell": pl.Int64, "element": pl.Int64, "n": pl.Int64},
        orient="row",
    )
    added = sum_spans(sums, spans, ADDED)
    assert added.rows() == sorted(added.rows())
    expected = Counter[tuple[object, ...]]()
    for cell, element, n in sums.rows():
        direction, client_id, day = days[cell]
        begins = {"day": day, "month": day.replace(day=1), "year": day.replace(month=1, day=1)}
        for span, starts_on in begins.items():
            expected[direction, client_id, span, starts_on, element] += n
    named = added.join(spans.names, on="cell").select(
        "direction", "client_id", "span", "starts_on", "element", "n"
    )
    assert {row[:-1]: row[-1] for row in named.rows()} == dict(expected)
    assert named.height == len(expected)


def test_parts_are_joined_by_the_names_of_their_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = date(2000, 1, 1), date(2000, 1, 2)
    parts = [
        (name_days([("get", None, second), ("put", 3, second)]), pl.DataFrame({"cell": [1, 0], "n": [1, 2]})),
        (name_days([("get", None, first), ("get", None, second)]), pl.DataFrame({"cell": [1], "n": [4]})),
    ]
    names, [joined] = join_parts(parts)
    assert names["cell"].to_list() == [0, 1, 2]
    named = joined.join(names, on="cell").select("direction", "client_id", "day", "n")
    assert sorted(named.rows(), key=str) == [
        ("get", None, second, 2),
        ("get", None, second, 4),
        ("put", 3, second, 1),
    ]
    monkeypatch.setattr(cell_numbers, "ENOUGH_SUMS", 7)
    batches = [*batch_parts([parts[0], parts[1], parts[0], parts[0]])]
    assert [len(batch) for batch in batches] == [2, 2]
    assert [*batch_parts([*parts, parts[0]])] == [parts, [parts[0]]]
    assert [*batch_parts([])] == []
