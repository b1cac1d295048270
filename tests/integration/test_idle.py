"""Compares idle intervals and windows with an independent count, for random transfers near clock changes."""

import random
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import psycopg
import pytest

from tapewise.schema.writing.cells import sum_cells
from tests.sql.cases import insert_rows, run_query

pytestmark = pytest.mark.study("sql", "schema")

# Clock changes forward, back, by half an hour, by a quarter of an hour and at midnight; and days without one.
ZONES = {
    "America/Los_Angeles": [date(1998, 4, 5), date(1998, 10, 25)],
    "Europe/Berlin": [date(1998, 3, 29), date(1998, 10, 25)],
    "Australia/Lord_Howe": [date(1998, 3, 29), date(1998, 10, 25)],
    "Asia/Kathmandu": [date(1986, 1, 1), date(1998, 10, 25)],
    "America/Sao_Paulo": [date(2018, 11, 4), date(2018, 2, 18)],
    "UTC": [date(1998, 10, 25), date(1998, 4, 5)],
}
COUNT = 150


def make_transfers(dice: random.Random, day: date, zone: str) -> list[dict[str, Any]]:
    """Make bursts of transfers within two days of `day`, with hours of silence between them."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    bursts = [midnight + timedelta(minutes=dice.randrange(-2880, 4320)) for _ in range(15)]
    rows = []
    for number in range(COUNT):
        # Some times are whole minutes, because windows begin and end there.
        seconds = dice.choice([dice.randrange(0, 90) * 60, dice.uniform(0, 1800)])
        started_at = dice.choice(bursts) + timedelta(seconds=round(seconds, 3))
        duration = dice.choice([0.0, 0.5, 60.0, 1800.0])
        rows.append(
            {
                "archive": zone,
                "client": dice.choice(["cray", "sp2"]),
                "class_of_service": "a",
                "started_at": None if number % 10 == 0 else started_at.isoformat(),
                "ended_at": (started_at + timedelta(seconds=duration)).isoformat(),
                "duration_s": duration,
                "is_failed": dice.random() < 0.1,
            }
        )
    return rows


def make_cells(transfers: list[dict[str, Any]], zone: str) -> list[dict[str, Any]]:
    """Make the cells that loading `transfers` would produce."""
    frame = pl.DataFrame(
        {
            "ended_at": [datetime.fromisoformat(row["ended_at"]) for row in transfers],
            "interface": "nft",
            "direction": "get",
            "is_time_of_day_unknown": False,
            "is_failed": [row["is_failed"] for row in transfers],
            "is_size_saturated": False,
            "size_bytes": 1000,
            "duration_s": [row["duration_s"] for row in transfers],
        },
        schema_overrides={"ended_at": pl.Datetime("us", "UTC")},
    )
    return [
        row | {"archive": zone, "cell_at": row["cell_at"].isoformat()}
        for row in sum_cells(frame, zone, has_failures=True).to_dicts()
    ]


def make_outages(dice: random.Random, day: date, zone: str) -> list[dict[str, Any]]:
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    found = []
    for _ in range(10):
        started_at = midnight + timedelta(minutes=dice.randrange(-2880, 4320))
        ended_at = started_at + timedelta(minutes=dice.randrange(1, 300))
        found.append(
            {"archive": zone, "started_at": started_at.isoformat(), "ended_at": ended_at.isoformat()}
        )
    return found


def spans(rows: list[dict[str, Any]]) -> list[tuple[datetime, datetime]]:
    return [
        (
            datetime.fromisoformat(row["started_at"] or row["ended_at"]),
            datetime.fromisoformat(row["ended_at"]),
        )
        for row in rows
    ]


def union(parts: list[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    joined: list[tuple[datetime, datetime]] = []
    for since, until in sorted(parts):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], until))
        else:
            joined.append((since, until))
    return joined


def covered(parts: list[tuple[datetime, datetime]], since: datetime, until: datetime) -> timedelta:
    return sum((max(min(b, until) - max(a, since), timedelta()) for a, b in union(parts)), timedelta())


def idle_intervals(transfers: list[dict[str, Any]], outages: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (before[1], after[0], covered(spans(outages), before[1], after[0]).total_seconds())
        for before, after in pairwise(union(spans(transfers)))
        if after[0] - before[1] >= timedelta(minutes=10)
    ]


def local_windows(day: date, zone: str) -> list[tuple[datetime, datetime]]:
    """Find the windows of a local day, each of ten minutes by the clock, minute by minute."""
    place = ZoneInfo(zone)
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    minutes = [noon + timedelta(minutes=number) for number in range(-48 * 60, 48 * 60)]
    by_window: dict[Any, list[datetime]] = {}
    for minute in minutes:
        local = minute.astimezone(place)
        if local.date() == day:
            key = (local.utcoffset(), local.hour, local.minute // 10)
            # A clock change divides a window, because the offset from UTC differs.
            by_window.setdefault(key, []).append(minute)
    return sorted((found[0], found[-1] + timedelta(minutes=1)) for found in by_window.values())


def idle_windows(
    transfers: list[dict[str, Any]], outages: list[dict[str, Any]], zone: str
) -> dict[date, tuple[int, int, int]]:
    ends = [until for _, until in spans(transfers)]
    days = sorted({end.astimezone(ZoneInfo(zone)).date() for end in ends})
    counts = {}
    for number in range((days[-1] - days[0]).days + 1):
        day = days[0] + timedelta(days=number)
        windows = local_windows(day, zone)
        idle = [(a, b) for a, b in windows if not any(a <= end < b for end in ends)]
        explained = [(a, b) for a, b in idle if 2 * covered(spans(outages), a, b) >= b - a]
        counts[day] = (len(windows), len(idle), len(explained))
    return counts


@pytest.mark.parametrize("seed", range(2))
def test_silence_agrees_with_an_independent_count(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    transfers = {zone: make_transfers(dice, days[seed], zone) for zone, days in ZONES.items()}
    outages = {zone: make_outages(dice, days[seed], zone) for zone, days in ZONES.items()}
    shuffled = [row for rows in transfers.values() for row in rows]
    dice.shuffle(shuffled)
    insert_rows(
        database,
        {
            "archives": [{"name": zone, "timezone": zone} for zone in ZONES],
            "transfers": shuffled,
            "activity_cells": [cell for zone in ZONES for cell in make_cells(transfers[zone], zone)],
            "outages": [row for rows in outages.values() for row in rows],
        },
    )
    found = run_query(database, "SELECT * FROM mart.idle_intervals() ORDER BY started_at")
    for zone in ZONES:
        expected = idle_intervals(transfers[zone], outages[zone])
        assert len(expected) > 5
        assert [
            (row["started_at"], row["ended_at"], row["explained_s"])
            for row in found
            if row["archive"] == zone
        ] == expected
    # Without a filter, the function reads the cells. With one, it reads the transfers.
    by_cells = "SELECT * FROM mart.idle_windows() ORDER BY archive, starts_on"
    by_transfers = by_cells.replace("()", "(class_of_service => 'a')")
    assert run_query(database, by_cells) == run_query(database, by_transfers)
    for question, client in ((by_cells, None), (by_cells.replace("()", "(client => 'cray')"), "cray")):
        rows = run_query(database, question)
        for zone in ZONES:
            asked_for = [row for row in transfers[zone] if client in (None, row["client"])]
            assert {
                row["starts_on"]: (row["window_count"], row["idle_count"], row["explained_count"])
                for row in rows
                if row["archive"] == zone
            } == idle_windows(asked_for, outages[zone], zone)


@pytest.mark.parametrize("seed", range(3))
def test_long_gaps_from_cells_are_those_from_transfers(database: psycopg.Connection, seed: int) -> None:
    """Gaps of 20 minutes or more are searched for in the cells, and shorter ones in the transfers."""
    dice = random.Random(seed)
    transfers, cells, archives = [], [], []
    for zone, days in ZONES.items():
        retained = datetime.combine(days[0], time(dice.randrange(24), 5), UTC) - timedelta(days=1)
        archives.append(
            {"name": zone, "timezone": zone} | ({"retained_since": retained} if seed == 2 else {})
        )
        for direction in ("put", "get"):
            rows = make_transfers(dice, days[0], zone)[:: dice.choice([1, 2, 5])]
            for row in dice.sample(rows, 8):
                # Some go on for hours, across gaps between others.
                began_at = datetime.fromisoformat(row["ended_at"]) - timedelta(hours=dice.uniform(0, 30))
                row["started_at"] = began_at.isoformat()
            rows = [row | {"direction": direction} for row in rows]
            cells += [cell | {"direction": direction} for cell in make_cells(rows, zone)]
            transfers += [
                row for row in rows if seed != 2 or datetime.fromisoformat(row["ended_at"]) >= retained
            ]
    insert_rows(database, {"archives": archives, "transfers": transfers, "activity_cells": cells})
    found = 0
    for zone, days in ZONES.items():
        for _ in range(8):
            midnight = datetime.combine(days[0], time(), UTC)
            since, until = sorted(midnight + timedelta(hours=dice.uniform(-80, 120)) for _ in range(2))
            asked = f"archive => '{zone}'"
            asked += dice.choice(["", f", since => '{since}', until => '{until}'", f", since => '{since}'"])
            asked += dice.choice(["", ", direction => 'put'"])
            shortest_s = dice.choice([1200, 1200.5, 3600, 20000])
            columns = "SELECT to_jsonb(gaps) - 'is_explained' AS gap FROM mart.idle_intervals"
            by_cells = run_query(
                database,
                f"{columns}({asked}, shortest_s => {shortest_s}) AS gaps ORDER BY started_at, ended_at",
            )
            by_transfers = run_query(
                database,
                f"{columns}({asked}) AS gaps WHERE idle_s >= {shortest_s} ORDER BY started_at, ended_at",
            )
            assert by_cells == by_transfers, (asked, shortest_s)
            found += len(by_cells)
    assert found > 50


def test_only_the_edges_of_candidates_are_read(database: psycopg.Connection) -> None:
    transfers = make_transfers(random.Random(1), date(1998, 10, 25), "UTC")
    insert_rows(
        database,
        {
            "archives": [{"name": "UTC"}],
            "transfers": transfers,
            "activity_cells": make_cells(transfers, "UTC"),
        },
    )
    for shortest_s, is_all_read in ((3600, False), (1199, True)):
        plan = run_query(
            database,
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)"
            f" SELECT * FROM mart.idle_intervals('UTC', shortest_s => {shortest_s})",
        )
        scans = [line["QUERY PLAN"] for line in plan if " on transfers_" in line["QUERY PLAN"]]
        once = [line for line in scans if "loops=1)" in line]
        assert bool(once) == is_all_read, scans


def test_ranges_of_days_add_up_to_the_whole(database: psycopg.Connection) -> None:
    """Queries for single days find the same windows and intervals as one query for all days."""
    dice = random.Random(7)
    zone = "America/Los_Angeles"
    transfers = make_transfers(dice, date(1998, 10, 25), zone)
    insert_rows(
        database,
        {
            "archives": [{"name": zone, "timezone": zone}],
            "transfers": transfers,
            "activity_cells": make_cells(transfers, zone),
        },
    )
    for function, key in (("idle_intervals", "started_at"), ("idle_windows", "starts_on")):
        whole = run_query(database, f"SELECT * FROM mart.{function}() ORDER BY {key}")
        parts: dict[Any, dict[str, Any]] = {}
        for number in range(-4, 6):
            since = datetime(1998, 10, 25, 13, tzinfo=UTC) + timedelta(days=number)
            until = since + timedelta(days=1)
            rows = run_query(
                database, f"SELECT * FROM mart.{function}(since => '{since}', until => '{until}')"
            )
            for row in rows:
                assert parts.setdefault(row[key], row) == row
        assert [parts[value] for value in sorted(parts)] == whole


def test_the_order_of_loading_does_not_matter(database: psycopg.Connection) -> None:
    dice = random.Random(8)
    transfers = make_transfers(dice, date(1998, 10, 25), "UTC")
    # Each transfer has twins at the same time with another interface, direction or client.
    twins = [{"interface": "ftp"}, {"direction": "put"}, {"client": "another"}]
    transfers += [row | twin for row in transfers for twin in twins]
    answers = []
    for _ in range(3):
        dice.shuffle(transfers)
        database.execute(
            "TRUNCATE core.transfers, core.archives, ledger.sources, core.users, core.hosts CASCADE"
        )
        insert_rows(database, {"archives": [{"name": "UTC"}], "transfers": transfers})
        rows = run_query(
            database,
            """
            SELECT gaps.*, lasts.started_at AS last_started_at, nexts.ended_at AS next_ended_at
            FROM mart.idle_intervals() AS gaps
            JOIN mart.transfers AS lasts ON lasts.transfer_id = last_transfer_id
            JOIN mart.transfers AS nexts ON nexts.transfer_id = next_transfer_id
            ORDER BY gaps.started_at
            """,
        )
        # The ids depend on the order of loading.
        answers.append([{k: v for k, v in row.items() if not k.endswith("_id")} for row in rows])
    assert len(answers[0]) > 5
    assert answers == [answers[0]] * 3
