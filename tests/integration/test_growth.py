"""`mart.growth` and `mart.growth_forecast`: agreement with plain Python, and how good intervals are."""

from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.plain_growth import forecast_growth
from tests.sql.cases import insert_rows

ZONE = ZoneInfo("America/Los_Angeles")
BEGIN = date(2000, 1, 19)
DAYS = 100


def make_archive(rng: np.random.Generator) -> tuple[dict[str, list[dict[str, Any]]], dict[Any, Any]]:
    """Make events, listings at each midnight of a Sunday, and the bytes and files by class and day."""
    held = {key: ("ab"[key % 2], 10 * key) for key in range(1, 51)}
    given: dict[str, list[dict[str, Any]]] = {
        "archives": [{"name": "hpss", "timezone": str(ZONE)}],
        "transfers": [],
        "namespace_events": [],
        "snapshots": [],
    }
    truth = {}
    for number in range(DAYS):
        day = BEGIN + timedelta(days=number)
        midnight = datetime.combine(day, time(0), ZONE).astimezone(UTC)
        if number == 0 or day.weekday() == 6:
            given["snapshots"] += [
                {"kind": "file", "class_of_service": each, "size_bytes": size, "listed_at": str(midnight)}
                for each, size in held.values()
            ]
        for second in range(1, int(rng.integers(1, 12))):
            at = str(midnight + timedelta(seconds=7000 * second))
            kind = rng.choice(["put", "put again", "delete"], p=[0.6, 0.15, 0.25])
            # A name that is first put again would not be known to the log.
            key = (
                1000 * number + 100 + second
                if kind == "put"
                else int(rng.choice([each for each in held if kind == "delete" or each > 50] or [77]))
            )
            size = int(rng.integers(1, 10**6))
            of_class = held[key][0] if key in held else str(rng.choice(["a", "b"]))
            # Transfers and other events share their numbers.
            event = {"id": 100 * number + second, "file_key": key, "size_bytes": size}
            event["class_of_service"] = of_class
            if kind == "delete":
                # As HSI's deletes do. Of files from before the log, only the delete can give the class.
                event["class_of_service"] = "0" if key > 50 else of_class
                event["size_bytes"] = held.pop(key)[1]
                given["namespace_events"].append(event | {"kind": "delete", "happened_at": at})
            else:
                held[key] = (of_class, size)
                given["transfers"].append(event | {"direction": "put", "ended_at": at})
        for each in "ab":
            sizes = [size for its_class, size in held.values() if its_class == each]
            truth[each, day] = (sum(sizes), len(sizes))
    return given, truth


def test_sql_agrees_with_plain_python(database: psycopg.Connection) -> None:
    given, truth = make_archive(np.random.default_rng(1))
    insert_rows(database, given)
    with database.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            "SELECT * FROM mart.growth(period => 'day', grouped_by => 'class_of_service')"
        ).fetchall()
        months = cursor.execute("SELECT * FROM mart.growth()").fetchall()
        ahead = cursor.execute(
            "SELECT * FROM mart.growth_forecast(grouped_by => 'class_of_service', months => 4)"
        ).fetchall()
    first, last = min(row["starts_on"] for row in rows), max(row["starts_on"] for row in rows)
    found = {
        (row["class_of_service"], row["starts_on"]): (row["held_bytes"], row["held_count"]) for row in rows
    }
    assert found == {each: held for each, held in truth.items() if first <= each[1] <= last}
    assert (last - first).days > DAYS - 5
    # All listings are true, and made at midnight, so the balance never drifts.
    assert {row["drift_bytes"] for row in rows} == {0, None}
    assert [row["held_bytes"] for row in sorted(months, key=lambda row: row["starts_on"])] == [
        truth["a", row["ends_on"]][0] + truth["b", row["ends_on"]][0]
        for row in sorted(months, key=lambda row: row["starts_on"])
    ]

    net: dict[str, dict[date, float]] = defaultdict(dict)
    for row in rows:
        net[row["class_of_service"]][row["starts_on"]] = float(row["net_bytes"])
    assert len(ahead) == 8
    for row in ahead:
        expected = forecast_growth(net[row["class_of_service"]], row["starts_on"], row["ends_on"])
        for name, value in vars(expected).items():
            assert row[name] == pytest.approx(value, rel=1e-8), name
        held = truth[row["class_of_service"], last][0]
        assert row["held_bytes_low"] == pytest.approx(held + row["grown_bytes_low"])
        assert row["held_bytes_high"] == pytest.approx(held + row["grown_bytes_high"])


def make_net_bytes(rng: np.random.Generator, day_count: int) -> np.ndarray:
    """Make the growth of each day: less on weekends, with campaigns of three days, and some large deletes."""
    net = np.zeros(day_count)
    for day in range(day_count):
        is_weekend = (BEGIN + timedelta(days=day)).weekday() >= 5
        net[day] += np.sum(rng.lognormal(2, 1.5, rng.poisson(20 if is_weekend else 80)))
        if rng.random() < 0.05:
            net[day : day + 3] += np.sum(rng.lognormal(3, 1.5, 40))
        if rng.random() < 0.03:
            net[day] -= np.sum(rng.lognormal(2, 1.5, 300))
    return net


@pytest.mark.study("sql/files")
def test_the_last_third_is_within_the_interval() -> None:
    """Leave the last third of 180 days out: is its growth foreseen, and that of its last 30?"""
    rng = np.random.default_rng(2)
    count = 200
    inside = dict.fromkeys(("grown", "a day", "grown, halved", "a day, halved"), 0)
    for _ in range(count):
        net = make_net_bytes(rng, 180)
        known = {BEGIN + timedelta(days=day): float(net[day]) for day in range(120)}
        last = BEGIN + timedelta(days=179)
        forecast = forecast_growth(known, last - timedelta(days=29), last)
        for name, middle, high, happened in (
            ("grown", forecast.grown_bytes, forecast.grown_bytes_high, np.sum(net[120:])),
            ("a day", forecast.net_bytes_per_day, forecast.net_bytes_per_day_high, np.mean(net[150:])),
        ):
            assert high is not None
            inside[name] += abs(happened - middle) <= high - middle
            inside[f"{name}, halved"] += abs(happened - middle) <= (high - middle) / 2
    shares = {name: each / count for name, each in inside.items()}
    print(shares)
    assert min(shares["grown"], shares["a day"]) >= 0.89, shares
    # The study would notice intervals of half the width.
    assert max(shares["grown, halved"], shares["a day, halved"]) < 0.89, shares
