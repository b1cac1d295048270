"""The warehouse gives back the truth about made-up days of UniTree: puts, and when they were on tape.

The generator (`examples/unitree_days.py`) counts what happened in its own simulation.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from psycopg.rows import dict_row

from tapewise.examples.unitree_days import write_days
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, Site, register
from tests.integration.recall_recount import describe

Row = dict[str, Any]

ZONE = "Europe/Berlin"
SEED = 7
DAY_COUNT = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("unitree")
    write_days(SEED, DAY_COUNT, made)
    return made


@pytest.fixture(scope="module")
def loaded(site: Site, folder: Path) -> Iterator[Warehouse]:
    """A warehouse with the days; tests only read it."""
    with site.clone() as warehouse:
        for name in ("client", "tape"):
            request = SourceRequest("made", "synthetic", find_format(f"unitree-{name}"), ZONE, name, True)
            load_file(warehouse, register(warehouse, request), folder / f"{name}.log", now=NOW)
        yield warehouse


def fetch(warehouse: Warehouse, query: str) -> list[Row]:
    with (
        closing(warehouse.connect(Role.READER)) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        return cursor.execute(query.encode()).fetchall()


@pytest.fixture(scope="module")
def puts(folder: Path) -> list[Row]:
    """The generator's puts, with their states, in milliseconds since the first midnight."""
    truth = json.loads((folder / "truth.json").read_bytes())
    first = datetime.fromisoformat(truth["first_midnight"])
    ends = []
    for line in (folder / "tape.log").read_text().splitlines():
        moment = datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S.%f")
        ends.append(round((moment - first).total_seconds() * 1000))
    found = []
    for put in truth["puts"]:
        copies = sorted(put["copies_ms"].values())
        is_copied = len(copies) >= put["copy_count"]
        if put["put_ms"] < min(ends):
            state, until = "unknown", None
        elif is_copied:
            state, until = "on tape", copies[put["copy_count"] - 1]
        elif put["replaced_ms"] is not None:
            state, until = "overwritten", put["replaced_ms"]
        else:
            state, until = "waiting", max(put["put_ms"], *ends)
        watched = None if until is None else until - put["put_ms"]
        found.append(put | {"state": state, "watched_ms": watched, "copies": copies})
    return found


def test_the_command_gives_the_same_lines_for_the_same_seed(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tapewise.examples.unitree_days", "--seed", str(SEED)]
    subprocess.run([*command, "--days", str(DAY_COUNT), "--into", tmp_path], check=True)
    for name in ("client.log", "tape.log", "truth.json"):
        assert (folder / name).read_bytes() == (tmp_path / name).read_bytes()


def test_each_put_is_on_tape_when_the_generator_says(loaded: Warehouse, puts: list[Row]) -> None:
    found = fetch(
        loaded,
        "SELECT state, required_count, size_bytes, round(to_tape_s * 1000)::bigint AS to_tape_ms,"
        " round(watched_s * 1000)::bigint AS watched_ms, cardinality(copies_at) AS copy_count"
        " FROM mart.tape_puts('made')",
    )
    true = [
        (
            put["state"],
            put["copy_count"],
            put["size_bytes"],
            put["watched_ms"] if put["state"] == "on tape" else None,
            put["watched_ms"],
            len(put["copies"]),
        )
        for put in puts
    ]
    assert Counter(tuple(row.values()) for row in found) == Counter(true)
    assert {put["state"] for put in puts} == {"on tape", "waiting", "overwritten", "unknown"}


def estimate(puts: list[Row], percents: tuple[int, ...]) -> dict[int, float]:
    """The times by which the share on tape reaches each percentage, with fractions (Aalen and Johansen)."""
    watched = sorted((put["watched_ms"], put["state"]) for put in puts if put["state"] != "unknown")
    survival, incidence = Fraction(1), Fraction(0)
    found: dict[int, float] = {}
    by_time: dict[int, Counter[str]] = {}
    for at_ms, state in watched:
        by_time.setdefault(at_ms, Counter())[state] += 1
    at_risk = len(watched)
    for at_ms, states in by_time.items():
        incidence += survival * Fraction(states["on tape"], at_risk)
        survival *= 1 - Fraction(states["on tape"] + states["overwritten"], at_risk)
        at_risk -= states.total()
        for percent in percents:
            if incidence >= Fraction(percent, 100):
                found.setdefault(percent, at_ms / 1000)
    return found


@pytest.mark.parametrize("copy_count", [1, 2])
def test_quantiles_and_estimates_are_those_of_whole_numbers(
    loaded: Warehouse, puts: list[Row], copy_count: int
) -> None:
    family = {1: "7", 2: "3"}[copy_count]
    [row] = fetch(loaded, f"SELECT * FROM mart.time_to_tape('made', class_of_service => '{family}')")
    ours = [put for put in puts if put["copy_count"] == copy_count]
    states = Counter(put["state"] for put in ours)
    assert row["put_count"] == len(ours)
    assert row["on_tape_count"] == states["on tape"]
    assert row["waiting_count"] == states["waiting"]
    assert row["ended_count"] == states["overwritten"]
    assert row["unknown_count"] == states["unknown"]
    times = [put["watched_ms"] for put in ours if put["state"] == "on tape"]
    for name, value in describe(times, states["waiting"]).items():
        if not name.startswith("p90"):
            assert row[name] == (value if value is None else pytest.approx(value / 1000)), name
    estimates = estimate(ours, (50, 95, 99))
    for percent in (50, 95, 99):
        true = estimates.get(percent)
        assert row[f"estimated_p{percent}_s"] == (true if true is None else pytest.approx(true))


def test_bytes_that_are_not_on_tape_at_each_hour(loaded: Warehouse, puts: list[Row], folder: Path) -> None:
    first = datetime.fromisoformat(json.loads((folder / "truth.json").read_bytes())["first_midnight"])
    start = first.replace(tzinfo=ZoneInfo(ZONE)).timestamp()
    rows = fetch(
        loaded,
        f"SELECT copy_count, file_count, size_bytes::bigint AS size_bytes, unknown_count,"
        f" round((extract(EPOCH FROM happened_at) - {start}) * 1000)::bigint AS at_ms"
        f" FROM mart.not_on_tape('made', moments => ARRAY(SELECT to_timestamp({start} + 3600 * hour)"
        f" FROM generate_series(2, {24 * DAY_COUNT - 2}) AS hour))",
    )
    assert len(rows) == 2 * (24 * DAY_COUNT - 3)
    for row in rows:
        number, at_ms = row["copy_count"], row["at_ms"]
        at_risk = [
            put
            for put in puts
            if put["copy_count"] >= number
            and put["put_ms"] <= at_ms
            and (len(put["copies"]) < number or put["copies"][number - 1] > at_ms)
            and (put["replaced_ms"] is None or put["replaced_ms"] > at_ms)
        ]
        known = [put for put in at_risk if put["state"] != "unknown"]
        assert row["file_count"] == len(known)
        assert row["size_bytes"] == sum(put["size_bytes"] for put in known)
        assert row["unknown_count"] == len(at_risk) - len(known)


LINE = re.compile(r"(.{23}) uftpd end op=(RETR|STOR) .* rc=0 .* uid=(\w+) .* size=(\d+) path=(.*)")


@pytest.fixture(scope="module")
def versions(folder: Path) -> list[Row]:
    """Each version of each path, followed line by line. Times are milliseconds since the first midnight."""
    first = datetime.fromisoformat(json.loads((folder / "truth.json").read_bytes())["first_midnight"])
    found: list[Row] = []
    current: dict[str, Row] = {}
    for line in (folder / "client.log").read_text().splitlines():
        if match := LINE.fullmatch(line):
            moment = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S.%f")
            at_ms = round((moment - first).total_seconds() * 1000)
            path, is_put = match[5], match[2] == "STOR"
            if is_put and path in current:
                current[path]["ended_ms"] = at_ms
            if is_put or path not in current:
                current[path] = {
                    "put_ms": at_ms if is_put else None,
                    "size_bytes": int(match[4]),
                    "gets_ms": [],
                    "ended_ms": None,
                }
                found.append(current[path])
            if not is_put:
                current[path]["gets_ms"].append(at_ms)
            found[0]["end_ms"] = at_ms
    return found


DAY_MS = 86_400_000


def test_bytes_by_the_time_since_the_last_use(loaded: Warehouse, versions: list[Row]) -> None:
    edges = (0.25, 1, 2, 3)
    rows = fetch(
        loaded, f"SELECT * FROM mart.cold_data('made', idle_days => ARRAY{[float(each) for each in edges]})"
    )
    true: dict[int, list[Row]] = {}
    for version in versions:
        if version["ended_ms"] is None:
            last_ms = max([*version["gets_ms"], version["put_ms"] or 0])
            idle_days = (versions[0]["end_ms"] - last_ms) / DAY_MS
            true.setdefault(sum(idle_days >= edge for edge in edges), []).append(version)
    found = {row["idle_from_days"]: row for row in rows}
    assert len(true) == len(found) == len(rows)
    for place, held in true.items():
        row = found[(0, *edges)[place]]
        never = [each for each in held if each["put_ms"] is not None and not each["gets_ms"]]
        assert row["file_count"] == len(held)
        assert row["size_bytes"] == sum(each["size_bytes"] for each in held)
        assert row["never_read_count"] == len(never)
        assert row["never_read_bytes"] == sum(each["size_bytes"] for each in never)


@pytest.mark.parametrize("after_days", [0.02, 0.5, 2.0])
def test_shares_that_are_read_and_that_survive(
    loaded: Warehouse, versions: list[Row], after_days: float
) -> None:
    [row] = fetch(loaded, f"SELECT * FROM mart.file_fates('made', after_days => '{{{after_days}}}')")
    put = [each for each in versions if each["put_ms"] is not None]
    after_ms, end_ms = after_days * DAY_MS, versions[0]["end_ms"]
    followed = [each for each in put if end_ms - each["put_ms"] >= after_ms]
    read = [each for each in followed if each["gets_ms"] and each["gets_ms"][0] - each["put_ms"] <= after_ms]
    ended = [each for each in followed if each["ended_ms"] and each["ended_ms"] - each["put_ms"] <= after_ms]
    assert row["put_count"] == len(put)
    for name, those in (("followed", followed), ("read", read), ("ended", ended)):
        assert row[f"{name}_count"] == len(those)
        assert row[f"{name}_bytes"] == sum(each["size_bytes"] for each in those)
    for suffix in ("", "_bytes"):
        unread, lives = [], []
        for each in put:
            weight = each["size_bytes"] if suffix else 1
            first_ms = each["gets_ms"][0] if each["gets_ms"] else None
            stop_ms = each["ended_ms"] or end_ms
            unread.append(((first_ms or stop_ms) - each["put_ms"], 1 if first_ms else 2, weight))
            if first_ms is None and each["ended_ms"] is None:
                unread[-1] = (unread[-1][0], 0, weight)
            lives.append((stop_ms - each["put_ms"], 1 if each["ended_ms"] else 0, weight))
        assert row[f"estimated_read{suffix}_ratio"] == pytest.approx(shares(unread, after_ms)[1])
        assert row[f"estimated_survival{suffix}_ratio"] == pytest.approx(shares(lives, after_ms)[0])


def shares(watched: list[tuple[int, int, int]], after_ms: float) -> tuple[float, float]:
    """What survives a time, and what has had the event, step by step in plain floats."""
    survival, incidence = 1.0, 0.0
    at_risk = sum(weight for _, _, weight in watched)
    by_time: dict[int, list[tuple[int, int]]] = {}
    for at_ms, ending, weight in watched:
        by_time.setdefault(at_ms, []).append((ending, weight))
    for at_ms in sorted(by_time):
        if at_ms > after_ms:
            break
        events = sum(weight for ending, weight in by_time[at_ms] if ending == 1)
        ends = sum(weight for ending, weight in by_time[at_ms] if ending > 0)
        incidence += survival * events / at_risk
        survival *= 1 - ends / at_risk
        at_risk -= sum(weight for _, weight in by_time[at_ms])
    return survival, incidence


@pytest.fixture(scope="module")
def gets(folder: Path) -> list[Row]:
    """Each get, with the time since its file's last use in the log, followed line by line."""
    hits = {}
    last_ms: dict[str, int] = {}
    found = []
    for line in (folder / "client.log").read_text().splitlines():
        if match := re.search(r" start op=RETR cache=(\w+) .* path=(.*)", line):
            hits[match[2]] = match[1] == "hit"
        if match := LINE.fullmatch(line):
            at_ms = int(datetime.strptime(match[1] + "+0000", "%Y-%m-%d %H:%M:%S.%f%z").timestamp() * 1000)
            path = match[5]
            if match[2] == "RETR":
                since_ms = at_ms - last_ms[path] if path in last_ms else None
                found.append(
                    {"day": match[1][:10], "since_ms": since_ms, "size": int(match[4]), "is_hit": hits[path]}
                )
            last_ms[path] = at_ms
    return found


def test_hits_by_the_time_since_the_last_use(loaded: Warehouse, gets: list[Row]) -> None:
    rows = fetch(
        loaded,
        "SELECT starts_on::text AS day, last_use, age_from_days, get_count, cached_count, uncached_count,"
        " unknown_count, (cached_bytes + uncached_bytes)::bigint AS size"
        " FROM mart.hits_by_age('made', grouped_by => '{day}', age_days => '{0.25,1,2}')",
    )
    true: dict[tuple[Any, ...], list[Row]] = {}
    for get in gets:
        days = None if get["since_ms"] is None else get["since_ms"] / DAY_MS
        place = None if days is None else (0, 0.25, 1, 2)[sum(days >= edge for edge in (0.25, 1, 2))]
        last_use = "before the log" if days is None else "in the log"
        true.setdefault((get["day"], last_use, place), []).append(get)
    assert len(rows) == len(true)
    for row in rows:
        those = true[row["day"], row["last_use"], row["age_from_days"]]
        hit_count = sum(get["is_hit"] for get in those)
        assert row["get_count"] == len(those)
        assert (row["cached_count"], row["uncached_count"]) == (hit_count, len(those) - hit_count)
        assert row["size"] == sum(get["size"] for get in those)


@pytest.mark.parametrize(("period", "length"), [("hour", 13), ("day", 10), ("month", 7)])
def test_the_working_sets(loaded: Warehouse, folder: Path, period: str, length: int) -> None:
    rows = fetch(
        loaded,
        "SELECT (starts_at AT TIME ZONE 'Europe/Berlin')::text AS starts_at, use_count, file_count,"
        f" size_bytes::bigint AS size_bytes FROM mart.working_sets('made', period => '{period}')",
    )
    sizes: dict[str, dict[str, list[int]]] = {}
    for line in (folder / "client.log").read_text().splitlines():
        if match := LINE.fullmatch(line):
            of_period = sizes.setdefault(match[1][:length], {})
            of_period.setdefault(match[5], []).append(int(match[4]))
    assert len(rows) == len(sizes)
    for row in rows:
        files = sizes[row["starts_at"][:length]]
        assert row["use_count"] == sum(map(len, files.values()))
        assert row["file_count"] == len(files)
        assert row["size_bytes"] == sum(map(max, files.values()))
