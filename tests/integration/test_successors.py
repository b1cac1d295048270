"""Recounts which files follow others from the lines of a made-up log in plain Python, user by user."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from psycopg.rows import dict_row

from tapewise.schema.database import Role, Warehouse

pytestmark = pytest.mark.study("sql", "schema")

BEGINNING = datetime(2003, 3, 27, 9, 17, tzinfo=UTC)


@dataclass(frozen=True)
class Get:
    """A line of an xferlog, as this test made it up."""

    user: str
    path: str
    started_at: datetime
    ended_at: datetime
    is_get: bool

    @property
    def text(self) -> str:
        took_s = int((self.ended_at - self.started_at).total_seconds())
        way = "o" if self.is_get else "i"
        return (
            f"{self.ended_at:%a %b %d %H:%M:%S %Y} {took_s} host.example.org 1000 {self.path} b _ {way} r "
            f"{self.user} ftp 0 * c"
        )


def make_lines(dice: random.Random) -> list[Get]:
    """Make lines of three users, who read series of files, repeat some, and pause for up to 500 s."""
    found = []
    for user in ("kim", "lee", "may"):
        at = BEGINNING + timedelta(seconds=dice.randrange(100))
        for _ in range(60):
            series = dice.randrange(6)
            for number in range(dice.randrange(1, 6)):
                # Sometimes another file than the next, the same once more, or a put between two gets.
                path = f"/a/{series}/{number if dice.random() < 0.8 else dice.randrange(6)}"
                for is_get in dice.choice([[True]] * 7 + [[True, True], [False, True], [True, False]]):
                    # No two begin in the same second, so that their order is that of the times.
                    took_s = dice.choice([2, 20, 200])
                    found.append(Get(user, path, at, at + timedelta(seconds=took_s), is_get))
                    at += timedelta(seconds=dice.choice([1, 21, 79, 80, 81, 82, 500]))
    return found


@pytest.mark.parametrize("together_s", [None, 5])
def test_successors(
    warehouse: Warehouse, load: Callable[..., object], tmp_path: Path, together_s: float | None
) -> None:
    lines = make_lines(random.Random(3))
    assert len({(line.user, line.started_at) for line in lines}) == len(lines)
    lines.sort(key=lambda each: each.ended_at)
    (tmp_path / "xferlog").write_text("".join(f"{line.text}\n" for line in lines))
    load(tmp_path / "xferlog", "xferlog", timezone="UTC")
    with closing(warehouse.connect(Role.READER)) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        found = cursor.execute(
            "SELECT * FROM mart.file_successors('test', together_s => %s, top_count => 1000)", [together_s]
        ).fetchall()
        [figures] = cursor.execute(
            "SELECT * FROM mart.successor_figures('test', together_s => %s)", [together_s]
        ).fetchall()
        top = cursor.execute(
            "SELECT * FROM mart.file_successors('test', together_s => %s, top_count => 3)", [together_s]
        ).fetchall()
    with closing(warehouse.connect(Role.OWNER)) as connection:
        paths = dict(connection.execute("SELECT file_key, archive_path FROM core.transfers").fetchall())

    of_user = defaultdict(list)
    for line in lines:
        if line.is_get:
            of_user[line.user].append(line)
    limit = timedelta(seconds=60 if together_s is None else together_s)
    repeats, pairs, gets, users = 0, [], Counter[str](), defaultdict(set)
    for own in of_user.values():
        own.sort(key=lambda each: each.started_at)
        for index, line in enumerate(own):
            after = own[index + 1] if index + 1 < len(own) else None
            if after is not None and after.started_at > line.ended_at + limit:
                after = None
            if after is not None and after.path == line.path:
                repeats += 1
                continue
            gets[line.path] += 1
            if after is not None:
                pairs.append((after.started_at, line.path, after.path))
                users[line.path, after.path].add(line.user)
    # Users may begin in the same second; which of them was first is then decided by the order of lines.
    assert len({(at, before) for at, before, _ in pairs}) == len(pairs)
    pairs.sort()
    counts = Counter((before, after) for _, before, after in pairs)
    assert {
        (paths[row["file_key"]], paths[row["successor_key"]]): (
            row["pair_count"],
            row["user_count"],
            row["file_get_count"],
            row["successor_get_count"],
            row["confidence_ratio"],
            row["last_at"],
        )
        for row in found
    } == {
        (before, after): (
            count,
            len(users[before, after]),
            gets[before],
            gets[after],
            pytest.approx(count / gets[before]),
            max(at for at, *pair in pairs if pair == [before, after]),
        )
        for (before, after), count in counts.items()
    }
    assert [row["pair_count"] for row in top] == sorted(counts.values(), reverse=True)[:3]

    # A prefetcher that is shown one get after the other.
    known: defaultdict[str, list[str]] = defaultdict(list)
    known_count = last_count = 0
    for _, before, after in pairs:
        known_count += after in known[before]
        last_count += known[before][-1:] == [after]
        known[before].append(after)
    assert 0 < last_count < known_count < len(pairs)
    assert figures == {
        "archive": "test",
        "kind": "synthetic",
        "get_count": sum(gets.values()) + repeats,
        "file_count": len(gets),
        "repeat_count": repeats,
        "followed_count": len(pairs),
        "pair_count": len(counts),
        "known_count": known_count,
        "last_successor_count": last_count,
        "most_frequent_count": sum(max(Counter(each).values()) for each in known.values()),
        "followed_ratio": pytest.approx(len(pairs) / (sum(gets.values()) + repeats)),
        "known_ratio": pytest.approx(known_count / (sum(gets.values()) + repeats)),
        "last_successor_ratio": pytest.approx(last_count / (sum(gets.values()) + repeats)),
        "most_frequent_ratio": pytest.approx(
            sum(max(Counter(each).values()) for each in known.values()) / (sum(gets.values()) + repeats)
        ),
    }
