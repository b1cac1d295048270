"""The hour that is repeated when clocks go back is recognised from any file, in any order of reading."""

import itertools
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.explanations import explain_line
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.writing.file_counts import refresh_files
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts

Load = Callable[..., FileResult]

pytestmark = [pytest.mark.usefixtures("short_segments"), pytest.mark.study("ingest", "schema")]
US = "America/Los_Angeles"
HOUR = datetime(1997, 10, 26, 1)  # local time; in UTC it is 8 o'clock, then 9
FIRST, SECOND = datetime(1997, 10, 26, 8, tzinfo=UTC), datetime(1997, 10, 26, 9, tzinfo=UTC)


def nft(minute: float, size: int = 1000) -> str:
    return f"000001 {HOUR + timedelta(minutes=minute):%y/%m/%d %H:%M:%S} ks {size} 30.000\n"


def in_order(seed: int = 0) -> list[str]:
    """The log of a night, with a line every other minute; some lines are equal in both passes."""
    rng = random.Random(seed)
    ticks = range(-60, 180, 2)
    return [nft(tick - 60 * (tick >= 60), rng.choice([10, 20])) for tick in ticks]


LINES = in_order()


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines))
    return path


def read(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute(query).fetchall()


def test_facts_of_a_file_in_order_are_in_order(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    result = load(write(tmp_path / "log", LINES), "nft", timezone=US)
    assert (result.tally.loaded_count, result.tally.held_count) == (120, 0)
    rows = read(
        warehouse,
        "SELECT ended_at, is_time_ambiguous, started_at, duration_s FROM core.transfers ORDER BY line_number",
    )
    expected = [FIRST + timedelta(minutes=tick) for tick in range(-60, 180, 2)]
    assert [row[0] for row in rows] == expected
    assert [row[1] for row in rows] == [FIRST <= at < FIRST + timedelta(hours=2) for at in expected]
    assert {(ended_at - started_at, duration_s) for ended_at, _, started_at, duration_s in rows} == {
        (timedelta(seconds=30), 30.0)
    }
    check_warehouse(warehouse)


def test_the_ledger_follows_facts_that_move_to_another_month(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """Windhoek's clocks went back at the end of March 2007, at midnight in UTC."""
    minutes = [*range(-60, 60, 2), *range(0, 120, 2)]
    at = [datetime(2007, 4, 1, 1) + timedelta(minutes=minute) for minute in minutes]
    lines = [f"000001 {time:%y/%m/%d %H:%M:%S} ks {size} 3.000\n" for size, time in enumerate(at)]
    months = "SELECT to_char(month, 'MM'), sum(row_count)::int FROM ledger.loaded_rows GROUP BY 1 ORDER BY 1"
    # The part loaded first does not show that it belongs to the second pass.
    load(write(tmp_path / "part", lines[75:]), "nft", timezone="Africa/Windhoek")
    assert read(warehouse, months) == [("03", 15), ("04", 30)]
    check_warehouse(warehouse)
    load(write(tmp_path / "log", lines), "nft", timezone="Africa/Windhoek")
    assert read(warehouse, months) == [("03", 60), ("04", 60)]
    check_warehouse(warehouse)


def test_a_moved_line_ends_the_recount_of_files(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    recounts = "SELECT count(*)::int FROM studies.file_recounts"
    load(write(tmp_path / "part", LINES[62:]), "nft", timezone=US)
    assert refresh_files(warehouse, "test", NOW) is not None
    load(write(tmp_path / "next", [nft(600)]), "nft", timezone=US)
    assert read(warehouse, recounts) == [(1,)]  # new facts alone do not end it
    load(write(tmp_path / "log", LINES), "nft", timezone=US)
    assert read(warehouse, recounts) == [(0,)]


def test_reading_again_changes_nothing(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "log", LINES), "nft", timezone=US)
    facts = read_facts(warehouse)
    source = register(warehouse, SourceRequest("test", "synthetic", FORMATS["nft"], US, "nft"))
    for name in ("log", "copy"):
        path = write(tmp_path / name, LINES)
        assert preview_file(warehouse, source, path, now=NOW).tally.held_count == len(LINES)
        result = load_file(warehouse, source, path, now=NOW, is_forced=True)
        assert (result.tally.loaded_count, result.tally.held_count) == (0, len(LINES))
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_file_may_reveal_the_pass_in_any_order(
    load: Load, warehouse: Warehouse, tmp_path: Path, order: tuple[int, ...]
) -> None:
    """A piece that begins in the second pass does not reveal it, nor does one with lines out of order."""
    pieces = [LINES, LINES[62:], random.Random(1).sample(LINES, len(LINES))]
    for index in order:
        load(write(tmp_path / f"log.{index}", pieces[index]), "nft", timezone=US)
    rows = read(warehouse, "SELECT ended_at FROM core.transfers ORDER BY ended_at")
    assert [row[0] for row in rows] == [FIRST + timedelta(minutes=tick) for tick in range(-60, 180, 2)]
    check_warehouse(warehouse)


def test_requests_follow_moved_lines(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    """A file is opened in the first pass and transferred in the second, which is earlier by the clock."""
    texts = dict.fromkeys(range(-60, 180, 2), "30.000 n 9 /q b o RETR_Cmd r ftp u fd 0")
    texts |= {51: "n /p b POPN_Cmd r r ftp u fd 0", 71: "30.000 n 9 /p b o RETR_Cmd r ftp u fd 0"}
    lines = [
        f"{HOUR + timedelta(minutes=tick - 60 * (tick >= 60)):%a %b %d %H:%M:%S %Y} {texts[tick]}\n"
        for tick in sorted(texts)
    ]
    # Out of order, lines reveal nothing about the pass.
    load(write(tmp_path / "shuffled", random.Random(1).sample(lines, len(lines))), "pftp", timezone=US)
    query = "SELECT opened_at, ended_at FROM core.requests WHERE open_id IS NOT NULL"
    opened_at = FIRST + timedelta(minutes=51)
    assert read(warehouse, query) == [(opened_at, opened_at)]  # no transfer follows
    # The other file adds no new fact.
    result = load(write(tmp_path / "in order", lines), "pftp", timezone=US)
    assert (result.tally.loaded_count, result.tally.held_count) == (0, len(lines))
    assert read(warehouse, query) == [(opened_at, SECOND + timedelta(minutes=11))]
    check_warehouse(warehouse)


def test_a_move_may_end_on_another_day_of_the_archives_clock(warehouse: Warehouse, tmp_path: Path) -> None:
    """On Gambier, the day ended between the two passes."""
    request = SourceRequest(
        "test", "synthetic", FORMATS["nft"], US, "nft", archive_timezone="Pacific/Gambier"
    )
    source = register(warehouse, request)
    days = "SELECT day::text, sum(transfer_count)::int FROM core.day_cells GROUP BY day ORDER BY day"
    load_file(warehouse, source, write(tmp_path / "part", LINES[60:90]), now=NOW)
    assert read(warehouse, days) == [("1997-10-25", 30)]
    check_warehouse(warehouse)
    load_file(warehouse, source, write(tmp_path / "log", LINES), now=NOW)
    assert read(warehouse, days) == [("1997-10-25", 60), ("1997-10-26", 60)]
    check_warehouse(warehouse)


@pytest.mark.parametrize("seed", range(6))
def test_any_pieces_in_any_order_give_the_same_warehouse(
    load: Load, warehouse: Warehouse, tmp_path: Path, seed: int
) -> None:
    """Facts, cells and balances are the same even if files grow between readings."""
    rng = random.Random(seed)
    lines = in_order(seed)
    files = []
    for _ in range(5):
        begin, end = sorted(rng.sample(range(len(lines) + 1), 2))
        piece = lines[begin:end]
        for _ in range(rng.choice([0, 0, 3])):
            at = rng.randrange(len(piece))
            piece.insert(rng.randrange(len(piece)), piece.pop(at))
        files.append(piece)
    for archive, order in (("forth", files), ("back", files[::-1])):
        for piece in order:
            path = tmp_path / f"{archive}.{files.index(piece)}"
            if rng.random() < 0.5:  # it grows
                load(write(path, piece[: rng.randrange(len(piece))]), "nft", archive=archive, timezone=US)
            load(write(path, piece), "nft", archive=archive, timezone=US)
    for table in ("transfers", "activity_cells", "day_cells"):
        facts = read_facts(warehouse)[table]
        if table == "activity_cells":
            names = sorted({row[0] for row in facts}, key=str)
            assert len(names) == 2
        else:
            names = ["forth", "back"]
        forth, back = ({row[1:]: n for row, n in facts.items() if row[0] == name} for name in names)
        assert forth == back
    check_warehouse(warehouse)
    spans = [row[5:8] for row in read_balance(warehouse)]
    assert sorted(spans[: len(spans) // 2]) == sorted(spans[len(spans) // 2 :])


def test_held_facts_are_moved_with_their_requests(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    """The first file of COND's jobs does not reveal the pass, but the second does."""
    day = date(1997, 10, 26)

    def cond(start: str, end: str, job: int) -> str:
        return f"002718 {start} {end} {2360 + job:5}102 {job:6} put -d /scratch/k/run\n"

    before = cond("01:50:00", "01:55:00", 1)
    jobs = [
        cond("01:05:00", "01:10:00", 2),  # both in the second pass
        cond("01:56:00", "01:12:00", 3),  # started in the first pass
        cond("00:50:00", "01:14:00", 4),  # started before both passes
    ]
    load(write(tmp_path / "a.971026", jobs), "cond", timezone=US, log_date=day)
    query = (
        "SELECT job_number, started_at, ended_at, duration_s, is_start_after_end FROM core.unitree_jobs"
        " WHERE job_number > 1 ORDER BY 1"
    )
    at = [FIRST + timedelta(minutes=minute) for minute in (-10, 5, 10, 12, 14, 56)]
    assert read(warehouse, query) == [
        (2, at[1], at[2], 300.0, False),
        (3, at[5], at[3], None, True),
        (4, at[0], at[4], 1440.0, False),
    ]
    load(write(tmp_path / "b.971026", [before, *jobs]), "cond", timezone=US, log_date=day)
    hour = timedelta(hours=1)
    assert read(warehouse, query) == [
        (2, at[1] + hour, at[2] + hour, 300.0, False),
        (3, at[5], at[3] + hour, 960.0, False),
        (4, at[0], at[4] + hour, 5040.0, False),
    ]
    assert read(warehouse, "SELECT ended_at FROM core.requests ORDER BY 1")[1:] == [
        (at[2] + hour,),
        (at[3] + hour,),
        (at[4] + hour,),
    ]
    check_warehouse(warehouse)


def test_a_load_that_is_killed_midway_moves_nothing(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    """The file that reveals the pass adds no fact; its load is killed while it waits to write cells."""
    load(write(tmp_path / "shuffled", random.Random(1).sample(LINES, len(LINES))), "nft", timezone=US)
    facts = read_facts(warehouse)
    log = write(tmp_path / "in order", LINES)
    waiting = (
        "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'core.activity_cells'::regclass"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    with warehouse.connect(Role.OWNER) as holder, ThreadPoolExecutor(1) as pool:
        holder.execute("LOCK TABLE core.activity_cells IN SHARE MODE")
        cut_off = pool.submit(load, log, "nft", timezone=US)
        deadline = time.monotonic() + 60
        while (pid := holder.execute(waiting).fetchone()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert pid is not None
        holder.execute("SELECT pg_terminate_backend(%s)", pid)
        with pytest.raises(DatabaseError, match="aborted the load"):
            cut_off.result()
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)
    ids = read(warehouse, "SELECT id, line_number, line_hash FROM core.transfers ORDER BY id")
    load(log, "nft", timezone=US)
    rows = read(warehouse, "SELECT ended_at FROM core.transfers ORDER BY ended_at")
    assert [row[0] for row in rows] == [FIRST + timedelta(minutes=tick) for tick in range(-60, 180, 2)]
    # A moved fact is still the same fact, from the same line.
    assert read(warehouse, "SELECT id, line_number, line_hash FROM core.transfers ORDER BY id") == ids
    check_warehouse(warehouse)


def test_a_moved_line_is_explained(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "log", LINES), "nft", timezone=US)
    copy = write(tmp_path / "copy", LINES[62:])
    load(copy, "nft", timezone=US)
    # This line occurs only in the second pass: the first has no equal line.
    number = next(number for number, line in enumerate(LINES[62:90], 1) if LINES.count(line) == 1)
    with closing(warehouse.connect(Role.LOADER)) as connection:
        (fate,) = explain_line(connection, copy, number, NOW)
    assert fate.fate == f"held: loaded from {tmp_path / 'log'}, line {62 + number}"


def test_the_second_pass_may_be_in_the_next_month(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    """In Cairo, the hour from 2:00 on 1 October 1990 was in September by UTC, and again in October."""
    lines = [f"000001 90/10/01 02:{minute:02}:00 ks 5 1.000\n" for minute in range(0, 60, 5)]
    load(write(tmp_path / "log", lines * 2), "nft", timezone="Africa/Cairo")
    rows = read(warehouse, "SELECT min(ended_at), max(ended_at) FROM core.transfers")
    assert rows == [(datetime(1990, 9, 30, 23, tzinfo=UTC), datetime(1990, 10, 1, 0, 55, tzinfo=UTC))]
    check_warehouse(warehouse)
