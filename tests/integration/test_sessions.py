"""Recounts the sessions of users from the lines of a made-up log in plain Python, user by user."""

import random
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path

import pytest
from psycopg.rows import dict_row

from tapewise.schema.database import Role, Warehouse

pytestmark = pytest.mark.study("sql", "schema")

BEGINNING = datetime(1998, 3, 27, 9, 17, tzinfo=UTC)


@dataclass(frozen=True)
class Line:
    """A line of NFT, as this test made it up."""

    user: str
    machine: str
    is_put: bool
    size_bytes: int
    started_at: datetime
    ended_at: datetime

    @property
    def text(self) -> str:
        machines = f"{self.machine}s" if self.is_put else f"s{self.machine}"
        took_s = (self.ended_at - self.started_at).total_seconds()
        return f"{self.user} {self.ended_at:%y/%m/%d %H:%M:%S} {machines} {self.size_bytes} {took_s:.3f}"


def make_lines(dice: random.Random) -> list[Line]:
    """Make lines of three users on two machines, which overlap and pause for up to 5,000 s."""
    found = []
    for user in ("006", "007", "008"):
        for machine in "wc":
            at = BEGINNING + timedelta(seconds=dice.randrange(1000))
            for _ in range(60):
                ended = at + timedelta(seconds=dice.choice([1, 30, 2000]))
                is_put = dice.random() < 0.2
                found.append(Line(user, machine, is_put, dice.randrange(1, 10**9), at, ended))
                at += timedelta(seconds=dice.choice([0, 20, 600, 900, 930, 931, 5000]))
    return found


def divide(lines: list[Line], pause_s: float) -> list[list[Line]]:
    """Divide the lines of one user and machine into sessions."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: each.started_at):
        if found:
            silent_s = (line.started_at - max(each.ended_at for each in found[-1])).total_seconds()
        if not found or silent_s > pause_s:
            found.append([])
        found[-1].append(line)
    return found


def count_pauses(session: list[Line]) -> int:
    """Count the seconds of a session in which no transfer was under way, one by one."""
    begin = min(line.started_at for line in session)
    seconds = int((max(line.ended_at for line in session) - begin).total_seconds())
    busy: set[int] = set()
    for line in session:
        first, last = (int((at - begin).total_seconds()) for at in (line.started_at, line.ended_at))
        busy.update(range(first, last))
    return seconds - len(busy)


@pytest.mark.parametrize("pause_s", [None, 60])
def test_sessions(
    warehouse: Warehouse, load: Callable[..., object], tmp_path: Path, pause_s: float | None
) -> None:
    lines = make_lines(random.Random(7))
    lines.sort(key=lambda each: each.ended_at)
    (tmp_path / "nft.log").write_text("".join(f"{line.text}\n" for line in lines))
    load(tmp_path / "nft.log", "nft", timezone="UTC")
    with closing(warehouse.connect(Role.READER)) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        found = cursor.execute(
            "SELECT * FROM mart.user_sessions('test', pause_s => %s)", [pause_s]
        ).fetchall()
        [figures] = cursor.execute(
            "SELECT * FROM mart.session_figures('test', pause_s => %s)", [pause_s]
        ).fetchall()

    of_user = defaultdict(list)
    for line in lines:
        of_user[line.user, line.machine].append(line)
    sessions = [
        session
        for user_lines in of_user.values()
        for session in divide(user_lines, 900 if pause_s is None else pause_s)
    ]
    assert 10 < len(sessions) < len(lines)
    expected = sorted(
        (
            min(line.started_at for line in session),
            max(line.ended_at for line in session),
            len(session),
            sum(line.is_put for line in session),
            sum(line.size_bytes for line in session if line.is_put) or None,
            sum(line.size_bytes for line in session if not line.is_put) or None,
            count_pauses(session),
        )
        for session in sessions
    )
    columns = ["started_at", "ended_at", "transfer_count", "put_count", "put_bytes", "get_bytes", "paused_s"]
    assert sorted(tuple(row[name] for name in columns) for row in found) == expected

    assert (figures["session_count"], figures["user_count"]) == (len(sessions), 3)
    assert figures["transfer_count"] == len(lines)
    assert figures["two_way_count"] == sum(0 < row[3] < row[2] for row in expected)
    durations_s = [(row[1] - row[0]).total_seconds() for row in expected]
    sizes = [(row[4] or 0) + (row[5] or 0) for row in expected]
    for values, name in (([row[2] for row in expected], "transfer_count"), (durations_s, "duration_s")):
        for percent in (50, 95):
            value = sorted(values)[ceil(len(values) * percent / 100) - 1]
            assert figures[f"p{percent}_{name}"] == value
    assert figures["p95_bytes"] == sorted(sizes)[ceil(len(sizes) * 0.95) - 1]
    assert figures["paused_ratio"] == pytest.approx(sum(row[6] for row in expected) / sum(durations_s))
