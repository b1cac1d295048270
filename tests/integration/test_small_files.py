"""Files that are loaded together give the same as files that are loaded one by one."""

import gzip
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.ledger.resuming import FileRequest
from tapewise.ingest.ledger.stored_identities import StoredIdentities
from tapewise.ingest.loading import one_load, workers
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file, load_together
from tapewise.ingest.loading.workers import FileTask, gather_small, read_files
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.records.format import Format
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, HeldElsewhereError, LogFileError
from tests.conftest import NOW, Site, register
from tests.integration.evidence import check_lineage, check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import make_lines, write
from tests.integration.test_further_facts import session
from tests.integration.test_second_passes import LINES as LINES_OF_TWO_PASSES
from tests.integration.test_second_passes import US
from tests.session_format import SESSIONS
from tests.yearless_format import YEARLESS

pytestmark = pytest.mark.study("ingest", "schema")

DAY = date(2004, 6, 30)
# What the ledger and the derived tables contain, without ids that depend on the number of loads.
TABLES = {
    "segments": (
        "SELECT path, first_line_number, digest, segments.line_count, fact_count, ignored_counts::text,"
        " rejected_counts::text, segments.first_event_at, segments.last_event_at"
        " FROM ledger.segments JOIN ledger.log_files ON log_files.id = log_file_id"
    ),
    "landmarks": (
        "SELECT path, digest, fact_lines FROM ledger.landmarks JOIN ledger.log_files"
        " ON log_files.id = log_file_id"
    ),
    "loaded rows": (
        "SELECT path, fact_table, month, row_count, filled_columns FROM ledger.loaded_rows"
        " JOIN ledger.log_files ON log_files.id = log_file_id"
    ),
    "readings": (
        "SELECT path, format_version, first_read_at, last_read_at, inode, size_bytes, log_date_from"
        " FROM ledger.log_files"
    ),
    "requests": (
        "SELECT to_jsonb(requests) - ARRAY['id', 'user_id', 'host_id', 'transfer_id', 'open_id', 'stage_id',"
        " 'job_id', 'start_id'] FROM core.requests"
    ),
    "mounts": "SELECT to_jsonb(mounts) - ARRAY['mount_id', 'user_id', 'host_id'] FROM core.mounts",
    "starts of stages": (
        "SELECT to_jsonb(stage_starts) - ARRAY['start_id', 'cancel_id', 'stage_id', 'user_id']"
        " FROM core.stage_starts"
    ),
    "lineage": (
        "SELECT path, line_number, line_hash, occurrence FROM core.transfers"
        " JOIN ledger.log_files ON log_files.id = log_file_id"
        " UNION ALL SELECT path, line_number, line_hash, occurrence FROM core.opens"
        " JOIN ledger.log_files ON log_files.id = log_file_id"
    ),
}


def read_everything(warehouse: Warehouse) -> dict[str, Any]:
    """Return what the warehouse contains, and assert that it is consistent."""
    check_warehouse(warehouse)
    check_lineage(warehouse)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        tables = {
            name: Counter(map(str, connection.execute(query).fetchall())) for name, query in TABLES.items()
        }
    return {**read_facts(warehouse), **tables, "balance": read_balance(warehouse)}


def describe(outcome: object) -> object:
    """What the user sees of an outcome."""
    if not isinstance(outcome, FileResult):
        return type(outcome), str(outcome)
    return outcome.path, outcome.tally, outcome.waiting_bytes, outcome.is_unchanged, outcome.log_date


def make_files(folder: Path, lines: Sequence[bytes]) -> list[Path]:
    """Write files that overlap, and copies, and files without facts."""
    paths = [
        write(folder / "a.2004-06-30", lines[:30]),
        write(folder / "b.2004-06-30", lines[20:45]),
        write(folder / "a.2004-06-30.1", lines[:30]),  # a rotated copy
        folder / "b.2004-06-30.gz",
        write(folder / "empty.2004-06-30", []),
        write(folder / "broken.2004-06-30", [b"broken"] * 5),
        write(folder / "twice.2004-06-30", [*lines[50:], *lines[50:]]),
        write(folder / "unfinished.2004-06-30", lines[25:56]),
        write(folder / "long.2004-06-30", lines),
        write(folder / "held.2004-06-30.1", lines[3:9]),
        write(folder / "read.2004-06-30", lines[3:9]),
        write(folder / "grown.2004-06-30", lines[5:]),
    ]
    paths[3].write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines[20:45])))
    with (folder / "unfinished.2004-06-30").open("ab") as file:
        file.write(lines[0][:20])
    return paths


class Worlds:
    """Two warehouses: files are loaded one by one into the first, and together into the second."""

    def __init__(self, alone: Warehouse, together: Warehouse) -> None:
        self.alone, self.together = alone, together

    def compare(
        self,
        log_format: Format,
        paths: Sequence[Path],
        *,
        zone: str = "UTC",
        before: Callable[[Warehouse], None] | None = None,
        **options: Any,
    ) -> list[Any]:
        """Load the files, assert that both warehouses contain the same, and return the outcomes."""
        outcomes: list[list[object]] = []
        found: list[Any] = []
        for warehouse in (self.alone, self.together):
            if before is not None:
                before(warehouse)
            source = register(warehouse, SourceRequest("test", "synthetic", log_format, zone, "nft"))
            tasks = [FileTask(source, path, **options) for path in paths]
            if warehouse is self.alone:
                found = [result for task in tasks for result in read_files(warehouse, [task], now=NOW)]
            else:
                assert len(list(gather_small(tasks))) == 1
                found = list(read_files(warehouse, tasks, now=NOW))
            outcomes.append(list(map(describe, found)))
        assert outcomes[1] == outcomes[0]
        one, other = map(read_everything, (self.alone, self.together))
        for name, rows in one.items():
            assert other[name] == rows, name
        return found


@pytest.fixture
def worlds(site: Site, warehouse: Warehouse) -> Any:
    with site.clone() as other:
        yield Worlds(warehouse, other)


@pytest.mark.parametrize("format_name", ["nft", "hsi", "pftp", "cond", "unitree-tape"])
def test_files_that_overlap(worlds: Worlds, tmp_path: Path, format_name: str) -> None:
    lines = make_lines(format_name)
    read_before, grown = tmp_path / "read.2004-06-30", tmp_path / "grown.2004-06-30"

    def load_some(warehouse: Warehouse) -> None:
        request = SourceRequest("test", "synthetic", FORMATS[format_name], "UTC", "nft")
        write(grown, lines[5:12])
        for path in (read_before, grown):
            load_file(warehouse, register(warehouse, request), path, now=NOW)
        write(grown, lines[5:])

    paths = make_files(tmp_path, lines)
    found = worlds.compare(FORMATS[format_name], paths, before=load_some)
    assert [result.is_unchanged for result in found] == [path == read_before for path in paths]
    assert sum(result.tally.loaded_count for result in found) > 40


def test_requests_whose_lines_are_in_different_files(worlds: Worlds, tmp_path: Path) -> None:
    """An open, its transfer and the next open may be in three files, in any order."""
    lines = make_lines("pftp", 120)
    parts = [write(tmp_path / f"{number}.log", lines[number::7]) for number in range(7)]
    random.Random(4).shuffle(parts)
    worlds.compare(FORMATS["pftp"], parts)


def test_further_facts_of_lines(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "sessions", SESSIONS)
    sessions = [session(hour, f"A{number}").strip().encode() for hour in range(1, 9) for number in range(2)]
    parts = [write(tmp_path / f"{n}.log", sessions[n : n + 4]) for n in range(0, 16, 2)]
    worlds.compare(SESSIONS, parts)


@pytest.mark.parametrize("seed", range(3))
def test_the_hour_that_is_repeated(worlds: Worlds, tmp_path: Path, seed: int) -> None:
    """Some files show which pass their lines belong to, and others contain the same lines but do not."""
    lines = [line.strip().encode() for line in LINES_OF_TWO_PASSES]
    parts = [lines, lines[62:], lines[60:90], random.Random(seed).sample(lines, len(lines)), lines[:70]]
    paths = [write(tmp_path / f"{number}.log", part) for number, part in enumerate(parts)]
    random.Random(seed).shuffle(paths)
    worlds.compare(FORMATS["nft"], paths, zone=US)


def test_files_of_different_days(worlds: Worlds, tmp_path: Path) -> None:
    """The days of the files, of which one copies another as of another day, which would count twice."""
    paths = [
        write(tmp_path / f"cond.2004-07-{1 + number // 2:02}.{number}", make_lines("cond", 20 + 7 * number))
        for number in range(7)
    ]
    copy = tmp_path / "cond.2004-07-09"
    copy.write_bytes(paths[2].read_bytes())
    found = worlds.compare(FORMATS["cond"], [*paths[:5], copy, *paths[5:]])
    [error] = [outcome for outcome in found if isinstance(outcome, LogFileError)]
    assert "2004-07-02" in error.message and error is found[5]
    assert len({outcome.log_date for outcome in found if isinstance(outcome, FileResult)}) == 4


def test_runs_of_htar_end_with_their_file(worlds: Worlds, tmp_path: Path) -> None:
    """Lines are completed from the lines above them, but not from those of another file."""
    runs = [
        ["+ htar -cvf a.tar a", "ERROR: hpss_WriteList error -27", "HTAR: HTAR FAILED"],
        ["HTAR: x   b/in", "ERROR: hpss_ReadList error -5", "HTAR: HTAR FAILED"],
        ["HTAR: HTAR FAILED"],
        ["+ htar -cvf a.tar a"],
        ["HTAR: HTAR FAILED", "HTAR: HTAR FAILED"],
    ]
    paths = [
        write(tmp_path / f"{number}.2019-03-0{1 + number % 2}.log", [line.encode() for line in run])
        for number, run in enumerate(runs)
    ]
    worlds.compare(FORMATS["hsi-client"], paths)
    worlds.compare(FORMATS["hsi-client"], paths)  # all unchanged


def test_years_from_different_files(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "yearless", YEARLESS)

    def line(at: datetime) -> bytes:
        return f"{at:%b %e %H:%M:%S} anna cray put 1000 1.5".encode()

    lines = [line(datetime(2018, 12, 30) + timedelta(hours=hour)) for hour in range(72)]
    days = ["2018-12-31", "2019-01-01", "2019-01-02"]
    parts = [lines[:40], lines[20:60], lines[20:60], lines[30:]]
    paths = [write(tmp_path / f"{day}.{n}.log", part) for n, part in enumerate(parts) for day in days]
    worlds.compare(YEARLESS, paths)


def test_a_faulty_file_gets_its_error_and_the_others_are_loaded(worlds: Worlds, tmp_path: Path) -> None:
    paths = make_files(tmp_path, make_lines("nft"))
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(b"".join(make_lines("nft")))[:-30])
    missing = tmp_path / "missing.log"
    paths[4:4] = [tmp_path / "damaged.gz", missing]
    found = worlds.compare(FORMATS["nft"], paths)
    assert [place for place, outcome in enumerate(found) if isinstance(outcome, LogFileError)] == [4, 5]


def test_a_file_that_another_source_holds_is_refused_alone(worlds: Worlds, tmp_path: Path) -> None:
    lines = make_lines("nft")
    held = write(tmp_path / "held.log", lines[30:])

    def load_into_other(warehouse: Warehouse) -> None:
        request = SourceRequest("test", "synthetic", FORMATS["nft"], "UTC", "other")
        load_file(warehouse, register(warehouse, request), held, now=NOW)

    paths = [write(tmp_path / f"{n}.log", lines[n : n + 6]) for n in range(0, 24, 6)]
    copy = write(tmp_path / "copy.log", lines[30:])
    found = worlds.compare(FORMATS["nft"], [*paths[:2], copy, *paths[2:]], before=load_into_other)
    assert [type(outcome) for outcome in found].index(HeldElsewhereError) == 2
    assert sum(isinstance(outcome, LogFileError) for outcome in found) == 1


@pytest.mark.parametrize("group_bytes", [1, 3000])
def test_files_of_which_only_some_are_parsed_together(
    worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group_bytes: int
) -> None:
    monkeypatch.setattr("tapewise.ingest.reading.pipeline.GROUP_BYTES", group_bytes)
    worlds.compare(FORMATS["pftp"], make_files(tmp_path, make_lines("pftp")))


def test_a_load_that_is_broken_off_leaves_nothing_of_any_file(
    worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the load's session after all rows were sent."""
    warehouse = worlds.together
    paths = make_files(tmp_path, make_lines("pftp"))
    source = register(warehouse, SourceRequest("test", "synthetic", FORMATS["pftp"], "UTC", "nft"))
    sent: list[Any] = []

    def break_off(connection: psycopg.Connection, *_: Any, **__: Any) -> None:
        sent.append(connection.execute("SELECT count(*) FROM core.transfers").fetchone())
        with closing(warehouse.connect(Role.OWNER)) as owner:
            owner.execute("SELECT pg_terminate_backend(%s)", [connection.info.backend_pid])
        connection.execute("SELECT")

    with monkeypatch.context() as patch:
        patch.setattr(one_load, "end_log_files", break_off)
        with pytest.raises(DatabaseError):
            load_together(warehouse, source, [FileRequest(path) for path in paths], now=NOW)
    assert sent[0][0] > 20
    assert not any(rows for name, rows in read_everything(warehouse).items())
    worlds.compare(FORMATS["pftp"], paths)


def test_two_commands_that_load_the_same_files_count_each_line_once(
    worlds: Worlds, site: Site, tmp_path: Path
) -> None:
    lines = make_lines("pftp", 200)
    paths = [write(tmp_path / f"{n}.log", lines[n : n + 20]) for n in range(0, 180, 10)]
    request = SourceRequest("test", "synthetic", FORMATS["pftp"], "UTC", "nft")
    for path in paths:
        load_file(worlds.alone, register(worlds.alone, request), path, now=NOW)
    source = register(worlds.together, request)

    def read(order: Sequence[Path]) -> list[object]:
        own = site.warehouse(worlds.together.database)
        return list(read_files(own, [FileTask(source, path) for path in order], now=NOW))

    with ThreadPoolExecutor(2) as pool:
        found = [result for results in pool.map(read, [paths, paths[::-1]]) for result in results]
    assert all(isinstance(result, FileResult) for result in found)
    check_warehouse(worlds.together)
    assert read_facts(worlds.together) == read_facts(worlds.alone)


def test_which_files_are_loaded_together(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "TOGETHER", 3)
    monkeypatch.setattr(workers, "SMALL_BYTES", 10)
    sources = [
        register(warehouse, SourceRequest("test", "synthetic", FORMATS["nft"], "UTC", name))
        for name in ("one", "other")
    ]
    for name in "abcdefg":
        (tmp_path / name).write_bytes(b"x" * (11 if name == "e" else 10))
    (tmp_path / "link").symlink_to(tmp_path / "g")

    def gather(*named: tuple[int, str], is_dry: bool = False) -> list[str]:
        tasks = [FileTask(sources[number], tmp_path / name, is_dry=is_dry) for number, name in named]
        return [" ".join(task.path.name for task in together) for together in gather_small(tasks)]

    assert gather(*((0, name) for name in "abcdefg")) == ["a b c", "d", "e", "f g"]
    assert gather((0, "a"), (0, "b"), (1, "a"), (1, "c"), (0, "c")) == ["a b", "a c", "c"]
    assert gather((0, "a"), (0, "a"), (0, "g"), (0, "link")) == ["a", "a g", "link"]
    assert gather((0, "a"), (0, "b"), is_dry=True) == ["a", "b"]
    assert gather() == []
    monkeypatch.setattr(workers, "TOGETHER_BYTES", 20)
    assert gather(*((0, name) for name in "abcdefg")) == ["a b", "c d", "e", "f g"]
    assert DateRule("name") == FileTask(sources[0], tmp_path / "a", dates=DateRule("name")).request.dates


def test_what_is_held_between_the_files_is_not_read(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two files overlap with the first and the last lines of a long log, whose other lines are left alone."""
    lines = [
        f"000001 {datetime(1997, 1, 1) + timedelta(hours=hour):%y/%m/%d %H:%M:%S} ks 10 3.000".encode()
        for hour in range(2000)
    ]
    source = register(warehouse, SourceRequest("test", "synthetic", FORMATS["nft"], "UTC", "nft"))
    load_file(warehouse, source, write(tmp_path / "log", lines), now=NOW)
    fetched = []
    really_fetch = StoredIdentities._fetch

    def note(*arguments: Any) -> Any:
        held = really_fetch(*arguments)
        fetched.append(held.height)
        return held

    monkeypatch.setattr(StoredIdentities, "_fetch", note)
    paths = [write(tmp_path / "late", lines[-3:]), write(tmp_path / "early", lines[:4])]
    found = load_together(warehouse, source, [FileRequest(path) for path in paths], now=NOW)
    assert [result.tally.held_count for result in found] == [3, 4]
    assert fetched == [4, 3]
