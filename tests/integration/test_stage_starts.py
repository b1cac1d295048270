"""Starts of stages have their ends, in any order of files and after any change.

The events are made up. A recount pairs them in plain Python, one line after the other.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts

pytestmark = pytest.mark.study("ingest", "schema")

FIRST_DAY = datetime(2004, 1, 28, tzinfo=UTC)
DAY = timedelta(days=1)
# A line: when, what (S, F, E or C), and the number of the copy.
Line = tuple[datetime, str, int]


def make_lines(seed: int) -> list[Line]:
    """Make up eight days of two copies of a file. Many lines have the same time, and some are lost."""
    dice = random.Random(seed)
    lines = []
    for copy in (1, 2):
        at = FIRST_DAY
        while at < FIRST_DAY + 8 * DAY:
            lines.append((at, "S", copy))
            long = dice.choice((0, 0, 1, 40_000, 86_399, 86_400, 86_401))
            at += timedelta(seconds=long if dice.random() < 0.2 else dice.choice((0, 0, 0, 1, 100)))
            lines.append((at, dice.choice("FFEC"), copy))
            at += timedelta(seconds=dice.choice((0, 0, 0, 1, 5_000, 50_000)))
    return [line for line in lines if dice.random() < 0.85]


def write_line(at: datetime, letter: str, copy: int) -> str:
    return f"{letter} {at:%Y/%m/%d %H:%M:%S} lt L1 54.2 15339.5 100 /sam/a b {copy} kim other lee 42 -\n"


def pair(lines: list[Line]) -> list[tuple[Any, ...]]:
    """Pair lines one after the other. At one time, an end comes first if a stage is under way."""
    of_copies: defaultdict[int, defaultdict[datetime, list[str]]] = defaultdict(lambda: defaultdict(list))
    for at, letter, copy in lines:
        of_copies[copy][at].append(letter)
    found = []
    for copy, moments in of_copies.items():
        # When a stage began that was under way after a moment that says so; equally many lines say nothing.
        began_at, opened = None, None
        for at, letters in sorted(moments.items()):
            ends = sum(letter != "S" for letter in letters)
            starts = len(letters) - ends
            is_under_way = began_at is not None and at - began_at <= DAY
            for number in range(max(starts, ends)):
                turn = [("S", number < starts), ("end", number < ends)]
                for what, is_there in reversed(turn) if is_under_way else turn:
                    if is_there and what == "S":
                        if opened is not None:
                            found.append((copy, opened, None))
                        opened = at
                    elif is_there and opened is not None:
                        found.append((copy, opened, at if at - opened <= DAY else None))
                        opened = None
            if starts != ends:
                began_at = at if starts > ends else None
        if opened is not None:
            found.append((copy, opened, None))
    return sorted(found, key=repr)


def read(warehouse: Warehouse, path: Path, source: str = "stager") -> None:
    request = SourceRequest(
        "made", "synthetic", find_format("samqfs"), "UTC", source, True, archive_timezone="Asia/Kathmandu"
    )
    load_file(warehouse, register(warehouse, request), path, now=NOW)


def write_files(dice: random.Random, lines: list[Line], folder: Path) -> list[Path]:
    """Deal the lines out to files, in any order; a copy of some of them is in one more file."""
    dealt: list[list[Line]] = [[] for _ in range(6)]
    # Equal lines are not dealt out to different files, in which they would be the same line.
    for line in sorted(set(lines)):
        number = dice.randrange(5)
        for chosen in [number, 5] if number == 0 and dice.random() < 0.5 else [number]:
            dealt[chosen] += [line] * lines.count(line)
    paths = [folder / f"stager.{number}" for number in range(len(dealt))]
    for path, part in zip(paths, dealt, strict=True):
        path.write_text("".join(write_line(*line) for line in part))
    dice.shuffle(paths)
    return paths


def fetch(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("SET timezone = 'UTC'")
        return connection.execute(query.encode()).fetchall()


def dump(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """Return the pairs of the warehouse, and assert that `mart.stages` has the same."""
    starts = fetch(warehouse, "SELECT copy_number, started_at, ended_at, outcome FROM mart.stage_starts")
    assert all((outcome == "unfinished") == (end is None) for _, _, end, outcome in starts)
    stages = fetch(
        warehouse,
        "SELECT copy_number, started_at, staged_at, duration_s, is_failed FROM mart.stages"
        " WHERE started_at IS NOT NULL OR duration_s IS NOT NULL",
    )
    assert sorted(row for row in starts if row[3] in ("staged", "failed")) == sorted(
        (copy, start, end, "failed" if is_failed else "staged") for copy, start, end, _, is_failed in stages
    )
    assert all(duration_s == (end - start).total_seconds() for _, start, end, duration_s, _ in stages)
    return sorted((row[:3] for row in starts), key=repr)


@pytest.fixture(params=range(2))
def lines(request: pytest.FixtureRequest) -> Iterator[list[Line]]:
    yield make_lines(request.param)


def test_they_equal_a_recount_in_any_order_of_files_and_after_any_change(
    warehouse: Warehouse, tmp_path: Path, lines: list[Line]
):
    dice = random.Random(len(lines))
    held: set[Line] = set()
    for path in write_files(dice, lines, tmp_path):
        read(warehouse, path)
        texts = path.read_text().splitlines(keepends=True)
        held |= {line for line in lines if write_line(*line) in texts}
        assert dump(warehouse) == pair([line for line in lines if line in held])
        check_warehouse(warehouse)
    before, cells = dump(warehouse), read_facts(warehouse)["stage_cells"]
    assert before == pair(lines)
    assert {end is None for _, _, end in before} == {True, False}

    # Any range may be derived again.
    with closing(warehouse.connect(Role.OWNER)) as connection:
        (archive_id,) = connection.execute("SELECT id FROM core.archives").fetchone() or (0,)
        for days in ([3], [1, 6], range(-1, 10)):
            rebuild_derived(connection, connection, archive_id, [(FIRST_DAY + n * DAY).date() for n in days])
            connection.commit()
    assert (dump(warehouse), read_facts(warehouse)["stage_cells"]) == (before, cells)
    replace_source(warehouse, "made", "stager", log_format=None, timezone=None, now=NOW)
    assert (dump(warehouse), read_facts(warehouse)["stage_cells"]) == (before, cells)

    # Another source has lines about the same copies.
    (tmp_path / "other").write_text("".join(write_line(at + DAY, *rest) for at, *rest in lines[::2]))
    read(warehouse, tmp_path / "other", "other")
    assert len(dump(warehouse)) > len(before)
    check_warehouse(warehouse)
    drop_source(warehouse, "made", "other")
    assert (dump(warehouse), read_facts(warehouse)["stage_cells"]) == (before, cells)

    # Midnight of Kathmandu is at 18:15.
    since = FIRST_DAY + 4 * DAY
    forget_detail(warehouse, "made", since.date(), NOW)
    assert dump(warehouse) == pair([line for line in lines if line[0] >= since - timedelta(hours=5.75)])
    check_warehouse(warehouse)
    drop_source(warehouse, "made", "stager")
    assert dump(warehouse) == []
    check_warehouse(warehouse)


@pytest.mark.usefixtures("short_segments")
def test_a_stage_of_the_second_pass_of_an_hour(warehouse: Warehouse, tmp_path: Path):
    """Only the order of the lines shows that it began and ended when clocks showed the hour again."""
    hour = datetime(2004, 10, 31, 1)
    lines = [
        write_line(hour + timedelta(minutes=minute - 60 * (minute >= 60)), letter, minute % 7)
        for minute in range(-60, 180, 2)
        for letter in "SF"
    ]
    (tmp_path / "stager").write_text("".join(lines))
    zone = "America/Los_Angeles"
    request = SourceRequest(
        "made", "synthetic", find_format("samqfs"), zone, "stager", True, archive_timezone="Pacific/Gambier"
    )
    load_file(warehouse, register(warehouse, request), tmp_path / "stager", now=NOW)
    began = [start for (start,) in fetch(warehouse, "SELECT started_at FROM mart.stages ORDER BY 1")]
    assert began == [datetime(2004, 10, 31, 7, tzinfo=UTC) + timedelta(minutes=2 * n) for n in range(120)]
    assert {outcome for (outcome,) in fetch(warehouse, "SELECT outcome FROM mart.stage_starts")} == {"staged"}
    check_warehouse(warehouse)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        drop_archive(connection, "made")
    assert fetch(warehouse, "SELECT * FROM core.stage_starts") == []
