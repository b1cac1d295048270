"""Checks `mart.compare_archives` and the expected rows of its cases against a bootstrap in plain Python."""

import math
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.plain_bootstrap import (
    DAY_US,
    Figure,
    Key,
    Request,
    Side,
    compare,
    decompose,
    judge_mix,
)
from tests.sql.cases import CASES_FOLDER, Case, insert_rows, run_query

pytestmark = pytest.mark.study("sql")

DEFAULTS: dict[str, Any] = {
    "direction": "get", "size_bytes": 1000, "duration_s": 1.0, "ended_at": "2000-01-15T12:00:00Z"
}  # fmt: skip


def read_requests(given: dict[str, list[dict[str, Any]]], archive: str) -> list[Request]:
    """Return a case's transfers or requests for an archive, with the defaults of `insert_rows`."""
    found = []
    for table in ("transfers", "requests"):
        for said in given.get(table, []):
            if said["archive"] != archive or said.get("interface", "nft") != "nft":
                continue
            row = DEFAULTS | said
            submitted_us, started_us, ended_us = (
                None if row.get(name) is None else
                round(datetime.fromisoformat(row[name]).astimezone(UTC).timestamp() * 1e6)
                for name in ("submitted_at", "started_at", "ended_at")
            )  # fmt: skip
            assert ended_us is not None
            times_s = {"transfer time": row["duration_s"], "stage time": row.get("stage_s")}
            class_of_service = row.get("class_of_service")
            times_us = {name: round(value * 1e6) for name, value in times_s.items() if value is not None}
            if submitted_us is not None:
                times_us["total time"] = ended_us - submitted_us
            asked_us = next(each for each in (submitted_us, started_us, ended_us) if each is not None)
            found += row.get("copies", 1) * [
                Request(row["direction"], row["size_bytes"], asked_us, started_us, ended_us, times_us,
                        class_of_service)
            ]  # fmt: skip
    return found


def assert_same(found: Any, expected: Any, *where: Any) -> None:
    if isinstance(expected, float) and found is not None:
        assert math.isclose(found, expected, rel_tol=1e-7, abs_tol=1e-9), (*where, found, expected)
    else:
        assert found == expected, (*where, found, expected)


def assert_agree(rows: list[dict[str, Any]], figures: dict[Key, Figure]) -> None:
    """Assert that the SQL's rows equal Python's figures in every column that both have."""
    by_key = {(row["direction"], row["quantity"], row["statistic"]): row for row in rows}
    assert by_key.keys() == figures.keys()
    for key, figure in figures.items():
        for field in fields(figure):
            if field.name == "is_same":
                continue
            column = {"low": "difference_low", "high": "difference_high"}.get(field.name, field.name)
            assert_same(by_key[key][column], getattr(figure, field.name), key, column)


@pytest.mark.parametrize(("case", "replicate_count"), [("holm", 20), ("judged", 5), ("unequal_blocks", 10)])
def test_the_plain_bootstrap_gives_the_judgements_that_cases_expect(case: str, replicate_count: int) -> None:
    found = Case(CASES_FOLDER / "compare_archives" / f"{case}.yaml")
    llnl, dkrz = (read_requests(found.given, name) for name in ("llnl", "dkrz"))
    figures = compare(llnl, dkrz, replicate_count)
    names = {"difference_low": "low", "difference_high": "high"}
    columns = [field.name for field in fields(Figure)] + list(names)
    for row in found.expect["rows"]:
        key = (row["direction"], row["quantity"], row["statistic"])
        for column in set(columns) & row.keys():
            assert_same(row[column], getattr(figures[key], names.get(column, column)), key, column)


def test_the_plain_bootstrap_gives_the_drawings_that_cases_expect() -> None:
    for name in ("compared_means", "compared_quantiles"):
        case = Case(CASES_FOLDER / name / "drawn.yaml")
        sides = {"a": Side(read_requests(case.given, "llnl")), "b": Side(read_requests(case.given, "dkrz"))}
        for row in case.expect["rows"]:
            values = {
                (quantity, statistic): value
                for quantity, statistic, value, *_ in sides[row.get("side", "a")].calculate(
                    "get", row["replicate"]
                )
            }
            assert_same(row["value"], values["transfer time", row.get("statistic", "mean")], name, row)


def make_requests(seed: int, day_count: int, *, slower_s: float) -> list[Request]:
    """Make busy and quiet days. Some days have no gets, and some requests have no known start."""
    dice = np.random.default_rng(seed)
    found = []
    for day in range(10_957, 10_957 + day_count):
        for _ in range(dice.integers(10, 150)):
            direction = "get" if dice.random() < 0.6 and day % 4 else "put"
            duration_us = round((dice.lognormal(1, 1) + slower_s) * 1e6)
            stage_us = round(dice.exponential(90) * 1e6) if direction == "get" else None
            asked_us = day * DAY_US + int(dice.integers(0, DAY_US))
            started_us = asked_us + (stage_us or 0) if dice.random() < 0.9 else None
            ended_us = asked_us + (stage_us or 0) + duration_us
            times_us = {"transfer time": duration_us, "total time": ended_us - asked_us}
            if stage_us is not None:
                times_us["stage time"] = stage_us
            size_bytes = int(dice.lognormal(14, 2))
            class_of_service = dice.choice(["small", "large"]) if dice.random() < 0.8 else None
            found.append(
                Request(direction, size_bytes, asked_us, started_us, ended_us, times_us, class_of_service)
            )
    return found


def insert_requests(connection: psycopg.Connection, archive: str, requests: list[Request]) -> None:
    moments = [
        [None if moment is None else datetime.fromtimestamp(0, UTC) + timedelta(microseconds=moment)
         for moment in (each.asked_us, each.started_us, each.ended_us)]
        for each in requests
    ]  # fmt: skip
    connection.execute(
        "SELECT core.make_partitions('requests', ARRAY(SELECT d::date FROM unnest(%s::timestamptz[]) AS d))",
        [[ended_at for *_, ended_at in moments]],
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            INSERT INTO core.requests (
                archive_id, source_id, transfer_id, interface, direction, size_bytes, duration_s, stage_s,
                persona, is_counted, is_failed, is_size_saturated, is_time_ambiguous,
                class_of_service, submitted_at, started_at, ended_at
            )
            SELECT archive_id, id, %s, 'unitree', %s, %s, %s, %s, 1, TRUE, FALSE, FALSE, FALSE, %s, %s, %s, %s
            FROM ledger.sources WHERE name = %s
            """,
            [
                (number, each.direction, each.size_bytes, each.times_us["transfer time"] / 1e6,
                 each.times_us["stage time"] / 1e6 if "stage time" in each.times_us else None,
                 each.class_of_service, *times, archive)
                for number, (each, times) in enumerate(zip(requests, moments, strict=True), 1)
            ],
        )  # fmt: skip


def test_sql_agrees_with_the_plain_bootstrap(database: psycopg.Connection) -> None:
    archives = [{"name": "a"}, {"name": "b"}]
    insert_rows(database, {"archives": archives, "sources": [{"archive": x, "name": x} for x in "ab"]})
    a = make_requests(1, 12, slower_s=0)
    b = make_requests(2, 9, slower_s=3)
    insert_requests(database, "a", a)
    insert_requests(database, "b", b)
    rows = run_query(database, "SELECT * FROM mart.compare_archives('a', 'b', replicate_count => 40)")
    assert_agree(rows, compare(a, b, 40))
    assert {row["set_apart"] for row in rows} == {None, "too few"}
    assert {True, False} <= {row["is_different"] for row in rows}


def to_time(moment_us: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=moment_us)


@pytest.mark.study("sql/simulation", "tests/integration/plain_bootstrap.py")
def test_sql_agrees_with_the_plain_bootstrap_on_two_periods(database: psycopg.Connection) -> None:
    archives = [{"name": "a"}]
    insert_rows(database, {"archives": archives, "sources": [{"archive": "a", "name": "a"}]})
    requests = make_requests(3, 20, slower_s=1)
    insert_requests(database, "a", requests)
    first = min(each.day for each in requests)
    # The last third of a day is in neither period.
    ends = [first * DAY_US, (first + 8) * DAY_US - DAY_US // 3, (first + 8) * DAY_US, (first + 17) * DAY_US]
    before, after = (
        [each for each in requests if since <= each.ended_us < until] for since, until in (ends[:2], ends[2:])
    )
    call = "('a', 'a', since => %s, until => %s, b_since => %s, b_until => %s, replicate_count => 12)"
    moments = [to_time(each) for each in ends]
    with database.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM mart.compare_archives" + call, moments).fetchall()
        mixes = cursor.execute("SELECT * FROM mart.compare_mixes" + call, moments).fetchall()
        drawn = cursor.execute("SELECT * FROM mart.compared_mixes" + call, moments).fetchall()
    assert_agree(rows, compare(before, after, 12))
    assert {(row["direction"], row["quantity"]) for row in mixes} == {
        *(
            (direction, time)
            for direction in ("all", "get", "put")
            for time in ("transfer time", "total time")
        ),
        ("get", "stage time"),
    }
    expected = {
        (row["direction"], row["quantity"], row["replicate"]): decompose(
            before, after, row["direction"], row["quantity"], row["replicate"]
        )
        for row in drawn
    }
    for row in drawn:
        key = (row["direction"], row["quantity"], row["replicate"])
        for field in fields(expected[key]):
            assert_same(row[field.name], getattr(expected[key], field.name), key, field.name)
    for row in mixes:
        found = [expected[row["direction"], row["quantity"], replicate] for replicate in range(13)]
        differences = [
            None if each.a_value is None or each.b_value is None else each.b_value - each.a_value
            for each in found
        ]
        services = [each.service_difference for each in found]
        parts = {
            "difference": differences,
            "service_difference": services,
            "mix_difference": [
                None if whole is None or service is None else whole - service
                for whole, service in zip(differences, services, strict=True)
            ],
        }
        for name, values in parts.items():
            low, high = judge_mix(values, row["block_count"])
            for column, value in ((name, values[0]), (f"{name}_low", low), (f"{name}_high", high)):
                assert_same(row[column], value, row["direction"], row["quantity"], column)
