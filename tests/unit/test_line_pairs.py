"""Opens and transfers put together where they are at hand are paired like parentheses."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.requests.pairs import keep_lines, tell_requests
from tapewise.ingest.requests.rebuild import REACH
from tapewise.schema.tables.models import opens, transfers
from tapewise.schema.writing.loader import frame_schema

BEGIN = datetime(1998, 5, 4, tzinfo=UTC)
FLAGS = ("is_failed", "is_time_of_day_unknown")

# Crowded: few files, users and machines, or none of them told; lines of one moment, and a day apart.
LINES = st.lists(
    st.fixed_dictionaries(
        {
            "is_move": st.booleans(),
            "hour": st.integers(0, 40),
            "file_key": st.sampled_from([None, 1, 2]),
            "user_id": st.sampled_from([None, 1]),
            "host_id": st.sampled_from([None, 1, 2]),
            "direction": st.sampled_from(["get", "put", None]),
            "line_hash": st.integers(0, 3),
            **{flag: st.sampled_from([False, False, False, True]) for flag in FLAGS},
        }
    ),
    max_size=40,
)


def make_rows(lines: list[dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines as rows of `core.opens` and `core.transfers`; what is not said is empty or false."""
    rows: dict[str, list[dict[str, Any]]] = {"opens": [], "transfers": []}
    for number, line in enumerate(lines):
        name, time = ("transfers", "ended_at") if line["is_move"] else ("opens", "opened_at")
        told = {name: value for name, value in line.items() if name not in ("is_move", "hour")}
        at = BEGIN + timedelta(hours=line["hour"])
        # The occurrence tells apart lines that are alike.
        rows[name].append(told | {"id": number, "occurrence": number, time: at, "is_time_ambiguous": False})
    made = []
    for table in (opens, transfers):
        frame = pl.DataFrame(rows[table.name], schema=frame_schema(table))
        made.append(keep_lines(table.name, frame))
    return made[0], made[1]


def pair_by_stacks(lines: list[dict[str, Any]]) -> tuple[set[tuple[int, int]], set[int]]:
    """What belongs together as (open, transfer), and the opens that are left: line by line."""
    stacks: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    pairs, left = set(), set()
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
        if line["is_time_of_day_unknown"]:
            continue
        is_move = line["is_move"]
        if not is_move:
            left.add(number)
        if line["file_key"] is None or (line["is_failed"] and not is_move):
            continue
        way = line["direction"] or "get"
        stack = stacks[way, *(line[name] for name in ("file_key", "user_id", "host_id"))]
        if not is_move:
            stack.append(number)
        elif stack:
            opened = stack.pop()
            if timedelta(hours=line["hour"] - lines[opened]["hour"]) <= REACH:
                pairs.add((opened, number))
                left.remove(opened)
    return pairs, left


@given(LINES)
def test_a_transfer_closes_the_latest_open_of_its_file_that_is_open_still(lines: list[dict[str, Any]]):
    moved, alone = tell_requests(*make_rows(lines))
    pairs, left = pair_by_stacks(lines)
    assert set(moved.select("open_id", "transfer_id").rows()) == pairs
    assert len(pairs) == moved.height
    assert sorted(alone["id"]) == sorted(left)
