"""Opens and transfers are paired like opening and closing parentheses."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.requests.pairs import CLOSING, OPENING, pair_lines
from tapewise.ingest.requests.ranges import REACH

BEGIN = datetime(1998, 5, 4, tzinfo=UTC)

# There are so few files, users, machines and times that many lines match; some names are missing.
LINES = st.lists(
    st.fixed_dictionaries(
        {
            "is_move": st.booleans(),
            "hour": st.sampled_from([0, 0, 1, 24, 25]),
            "source_id": st.sampled_from([1, 2]),
            "file_key": st.sampled_from([1, 1, 1, 2, None]),
            "user_id": st.sampled_from([1, 1, None]),
            "host_id": st.sampled_from([1, 1, 2, None]),
            "direction": st.sampled_from(["get", "get", "put", None]),
            "line_hash": st.integers(-2, 1),
            "is_failed": st.sampled_from([False, False, False, True]),
        }
    ),
    min_size=10,
    max_size=30,
)


def make_frames(lines: list[dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the opens and the transfers among the lines. Equal lines have different occurrences."""
    opened, moved = [], []
    for number, line in enumerate(lines):
        at = BEGIN + timedelta(hours=line["hour"])
        row = line | {"id": number, "occurrence": number, "opened_at": at, "ended_at": at}
        (moved if line["is_move"] else opened).append(row)
    return (
        pl.DataFrame([{name: line[name] for name in OPENING} for line in opened], schema=OPENING),
        pl.DataFrame([{name: line[name] for name in CLOSING} for line in moved], schema=CLOSING),
    )


def pair_by_stacks(lines: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return (open, transfer) pairs, found line by line with a stack of unmatched opens for each file."""
    stacks: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    pairs = []
    order = sorted(
        range(len(lines)),
        key=lambda number: (
            lines[number]["hour"],
            lines[number]["is_move"],
            lines[number]["line_hash"],
            number,
        ),
    )
    for number in order:
        line = lines[number]
        is_move = line["is_move"]
        if line["file_key"] is None or (line["is_failed"] and not is_move):
            continue
        way = line["direction"] or "get"
        stack = stacks[way, *(line[name] for name in ("source_id", "file_key", "user_id", "host_id"))]
        if not is_move:
            stack.append(number)
        elif stack:
            opened = stack.pop()
            if timedelta(hours=line["hour"] - lines[opened]["hour"]) <= REACH:
                pairs.append((opened, number))
    return sorted(pairs, key=lambda pair: pair[1])


def pair(opened: pl.DataFrame, moved: pl.DataFrame) -> list[tuple[int, int]]:
    found = pair_lines(opened, moved)
    return [*zip(opened["id"][found["open_row"]], moved["id"][found["transfer_row"]], strict=True)]


@settings(deadline=None)
@given(LINES)
def test_a_transfer_closes_the_latest_unmatched_open_of_its_file(lines: list[dict[str, Any]]):
    assert pair(*make_frames(lines)) == pair_by_stacks(lines)


@settings(deadline=None)
@given(LINES)
def test_lines_of_one_source_need_not_name_it(lines: list[dict[str, Any]]):
    opened, moved = make_frames(lines)
    found = pair(opened.drop("source_id"), moved.drop("source_id"))
    assert found == pair_by_stacks([line | {"source_id": 1} for line in lines])
