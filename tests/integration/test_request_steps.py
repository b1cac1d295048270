"""The steps that derive requests, each tested alone on made-up rows of the steps before it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tapewise.ingest.requests.ranges import REACH
from tapewise.ingest.requests.rebuild import CLOCK_SLACK, QUEUE_LIMIT, STEPS

BEGIN = datetime(1998, 5, 4, tzinfo=UTC)
VALUES = {"clock_slack": CLOCK_SLACK, "reach": REACH, "queue_limit": QUEUE_LIMIT}
# The types of columns that steps read; all others are numbers.
TYPES = {
    "direction": "text",
    "duration_s": "double precision",
    **dict.fromkeys(("is_counted", "is_failed"), "boolean"),
    **dict.fromkeys(("ended_at", "staged_at", "submitted_at", "logged_at", "logged_since"), "timestamptz"),
}


def give(database: psycopg.Connection, name: str, columns: str, *rows: tuple[Any, ...]) -> None:
    """Create the rows of the step `name`, with the columns that the tested step reads.

    Numbers in time columns are seconds.
    """
    names = columns.split()
    database.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            sql.Identifier(name),
            sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(each), sql.SQL(TYPES.get(each, "bigint")))
                for each in names
            ),
        )
    )
    for row in rows:
        values = [
            BEGIN + timedelta(seconds=value)
            if TYPES.get(each) == "timestamptz" and value is not None
            else value
            for each, value in zip(names, row, strict=True)
        ]
        places = sql.SQL(", ").join([sql.Placeholder()] * len(values))
        database.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(name), places), values)


def run(database: psycopg.Connection, name: str) -> list[tuple[Any, ...]]:
    return sorted(database.execute(STEPS[name].encode(), VALUES).fetchall())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # c5 is a counted transfer that ends at five seconds; u5 is one from the log that is not counted.
        ("c0 u0", "c0-u0"),
        ("c0 u2", "c0-u2"),
        ("u0 c2", "c2-u0"),
        ("c0 u3", ""),
        ("c0 c9", ""),
        ("u0 u9", ""),
        # Both logs have the same number of lines, so the lines are paired in order.
        ("c0 u1 c2 u3 c4 u5", "c0-u1 c2-u3 c4-u5"),
        ("u0 u1 c2 c3", "c2-u0 c3-u1"),
        # One line of a run is missing. Each line belongs to the latest one that precedes it, or follows it
        # by no more than clocks may differ.
        ("u0 u1 c2", "c2-u1"),
        ("c0 c1 u1 c3 u3 c5 u5 u9", "c0-u1 c1-u3 c3-u5"),
        # A distant line changes nothing.
        ("c0 u1 u90", "c0-u1"),
    ],
)
def test_twins(database: psycopg.Connection, lines: str, expected: str):
    words = lines.split()
    give(
        database,
        "transfers",
        "id is_counted direction host_id size_bytes is_failed line_hash occurrence ended_at",
        *(
            (number, word[0] == "c", "get", None, 9, False, number, 1, int(word[1:]))
            for number, word in enumerate(words)
        ),
    )
    assert " ".join(f"{words[one]}-{words[other]}" for one, other in run(database, "twins")) == expected


@pytest.mark.parametrize("name", ["direction", "host_id", "size_bytes", "is_failed"])
def test_twins_are_alike(database: psycopg.Connection, name: str):
    alike: dict[str, Any] = {"direction": "get", "host_id": 1, "size_bytes": 9, "is_failed": False}
    other = alike | {name: {"direction": "put", "host_id": None, "size_bytes": 8, "is_failed": True}[name]}
    give(
        database,
        "transfers",
        "id is_counted direction host_id size_bytes is_failed line_hash occurrence ended_at",
        *((number, number == 1, *each.values(), 0, 1, 0) for number, each in enumerate((other, alike))),
    )
    assert run(database, "twins") == []


@pytest.mark.parametrize(
    ("gets", "stages", "expected"),
    [
        # The seconds at which one persona's gets (`!`: failed) and stages end, and the expected pairs.
        ("10", "5", "10-5"),
        ("10", "5 8", "10-8"),
        ("10", "11", ""),
        ("10 20", "5", "10-5"),
        ("10 20", "5 15", "10-5 20-15"),
        # A failed get is retried, and its retry does not wait again.
        ("10! 20 30", "5", "10!-5 20-5"),
        # The queue lasts two hours at most.
        ("7201", "1", "7201-1"),
        ("7202", "1", ""),
    ],
)
def test_stages_of_personas(database: psycopg.Connection, gets: str, stages: str, expected: str):
    got, staged = gets.split(), stages.split()
    give(
        database,
        "movements",
        "id known_persona logged_source_id logged_at duration_s is_failed line_hash occurrence direction",
        *(
            (number, 7, 1, int(word.rstrip("!")), None, "!" in word, 0, number, "get")
            for number, word in enumerate(got)
        ),
    )
    give(database, "job_matches", "transfer_id job_id")
    give(database, "jobs", "id submitted_at logged_since")
    give(
        database,
        "stages",
        "id persona source_id staged_at line_hash occurrence",
        *((number, 7, 1, int(word), 0, number) for number, word in enumerate(staged)),
    )
    found = run(database, "stage_matches")
    assert " ".join(f"{got[get]}-{staged[stage]}" for get, stage in found) == expected


def test_open_matches_are_the_pairs_found_in_python(database: psycopg.Connection):
    pairs = {"transfer_ids": "{5,7}", "open_ids": "{4,9}"}
    query = STEPS["open_matches"].encode()
    assert database.execute(query, pairs).fetchall() == [(5, 4), (7, 9)]
    nothing = dict.fromkeys(pairs, "{}")
    assert database.execute(query, nothing).fetchall() == []
