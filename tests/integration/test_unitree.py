"""COND and STAT in the warehouse: files dated from outside, jobs, stages, and transfers reported twice."""

import gzip
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest, find_source
from tapewise.ingest.upkeep.explanations import LineFate, explain_line, explain_row
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tests.conftest import NOW
from tests.integration.evidence import FACTS, check_warehouse, read_balance, read_facts

pytestmark = pytest.mark.study("ingest", "schema")

JOBS = [
    "002718 14:06:48 14:07:31 2360 102     17 put -d /scratch/k/run 7/out.tar",
    "003141 14:09:02 14:12:40 12361100      1 get /archive/w/out.dat",
    "003141 14:13:00 14:13:00 2360 100 2 dir /archive/w",  # the first line's persona again
    "002718 23:59:41 00:00:07 2399 102     18 put -d /scratch/k/run 8/out.tar",
]
MOVES = [
    "98/05/05 14:07:31.383 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds",
    "98/05/05 14:35:01.060 3298  File staged in 180 seconds",
    "98/05/05 14:35:09.417 3298  File transfer (s-w) 8388608 bytes in 2.204 seconds",
    "98/05/05 15:54:31.012 3871  File failure (k-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)",
    "98/05/05 15:54:40.500 3871  File transfer (k-s) 1307 bytes in 0.214 seconds",
]
MAY_5, MAY_6, MAY_7 = (date(1998, 5, day) for day in (5, 6, 7))
Load = Callable[..., FileResult]


def write(path: Path, lines: Sequence[str]) -> Path:
    content = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def fetch(warehouse: Warehouse, query: str, role: Role = Role.OWNER) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(role)) as connection:
        return connection.execute(query).fetchall()


def read_ledger(warehouse: Warehouse) -> list[tuple[str, str | None, int, int, int]]:
    """Each file's name, day, and numbers of lines, loaded and held facts, in the order of first reading."""
    rows = fetch(
        warehouse,
        "SELECT path, log_date::text, line_count, loaded_count, held_count FROM ledger.log_files ORDER BY id",
    )
    return [(Path(path).name, *counts) for path, *counts in rows]


def assert_refused(warehouse: Warehouse, read: Callable[[], FileResult], *expected: str) -> None:
    """Assert that `read` raises an error with these words, and leaves the warehouse unchanged."""
    facts, balance = read_facts(warehouse), read_balance(warehouse)
    with pytest.raises(LogFileError) as raised:
        read()
    for words in expected:
        assert words in raised.value.message
    assert "drop the archive" in (raised.value.hint or "")
    assert (read_facts(warehouse), read_balance(warehouse)) == (facts, balance)


def preview(warehouse: Warehouse, path: Path, log_date: date | None = None) -> FileResult:
    request = SourceRequest("test", "synthetic", find_format("cond"), "UTC", "cond")
    with closing(warehouse.connect(Role.LOADER)) as connection:
        source = find_source(connection, request)
    assert source is not None
    return preview_file(warehouse, source, path, now=NOW, log_date=log_date)


# Days


def test_the_name_gives_the_day_of_the_jobs(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    path = write(tmp_path / "cond.980505", [*JOBS, "", "nonsense"])
    tally = load(path, "cond", timezone="America/Los_Angeles").tally
    assert (tally.line_count, tally.loaded) == (6, {"unitree_jobs": 4})
    assert (tally.ignored.total(), tally.rejected.total()) == (1, 1)
    assert read_ledger(warehouse) == [("cond.980505", "1998-05-05", 6, 4, 0)]
    assert fetch(
        warehouse,
        "SELECT persona, session_number, job_number, direction, operation, started_at, ended_at, duration_s,"
        " is_failed, is_start_after_end FROM core.unitree_jobs ORDER BY line_number",
    ) == [
        (2360, 2, 17, "put", "put", *clocks((21, 6, 48), (21, 7, 31)), 43.0, None, False),
        (12361, 0, 1, "get", "get", *clocks((21, 9, 2), (21, 12, 40)), 218.0, None, False),
        (2360, 0, 2, None, "dir", *clocks((21, 13), (21, 13)), 0.0, None, False),
        # The times are kept as written: the start is after the end, and there is no duration.
        (
            *(2399, 2, 18, "put", "put", datetime(1998, 5, 6, 6, 59, 41, tzinfo=UTC)),
            *(datetime(1998, 5, 5, 7, 0, 7, tzinfo=UTC), None, None, True),
        ),
    ]
    check_warehouse(warehouse)


def clocks(*times: tuple[int, ...]) -> list[datetime]:
    return [datetime(1998, 5, 5, *time, tzinfo=UTC) for time in times]


def test_a_given_day_takes_precedence_over_the_names(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    load(write(tmp_path / "cond.980505", JOBS), "cond", log_date=MAY_7)
    assert read_ledger(warehouse) == [("cond.980505", "1998-05-07", 4, 4, 0)]
    check_warehouse(warehouse)


@pytest.mark.parametrize("name", ["cond", "cond.980505-980506"])
def test_nothing_is_read_without_a_day(warehouse: Warehouse, load: Load, tmp_path: Path, name: str) -> None:
    with pytest.raises(LogFileError, match="the lines have no dates"):
        load(write(tmp_path / name, JOBS), "cond")
    assert read_ledger(warehouse) == []


def test_a_day_is_not_kept_for_lines_that_have_dates(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    load(write(tmp_path / "stat.980506", MOVES), "stat")
    assert read_ledger(warehouse) == [("stat.980506", None, 5, 5, 0)]
    check_warehouse(warehouse)


def test_copies_of_a_day_under_other_names_are_held(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    load(write(tmp_path / "cond.980505", JOBS[:3]), "cond")
    facts = read_facts(warehouse)
    load(write(tmp_path / "cond-1998-05-05", JOBS[1:3]), "cond")
    load(write(tmp_path / "cond.19980505.gz", JOBS[:3]), "cond")
    load(write(tmp_path / "today", JOBS[:3]), "cond", log_date=MAY_5)
    assert read_facts(warehouse) == facts
    load(write(tmp_path / "today", JOBS), "cond", log_date=MAY_5)  # it has grown
    load(write(tmp_path / "cond.980505", JOBS), "cond")
    assert read_ledger(warehouse) == [
        ("cond.980505", "1998-05-05", 4, 3, 1),
        ("cond-1998-05-05", "1998-05-05", 2, 0, 2),
        ("cond.19980505.gz", "1998-05-05", 3, 0, 3),
        ("today", "1998-05-05", 4, 1, 3),
    ]
    assert load(tmp_path / "cond.980505", "cond", log_date=MAY_5).is_unchanged
    check_warehouse(warehouse)


def test_the_same_clock_times_on_another_day_are_other_jobs(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    load(write(tmp_path / "cond.980505", JOBS), "cond")
    load(write(tmp_path / "cond.980506", JOBS[:2]), "cond")
    assert [row[1:] for row in read_ledger(warehouse)] == [("1998-05-05", 4, 4, 0), ("1998-05-06", 2, 2, 0)]
    check_warehouse(warehouse)


def test_the_same_lines_under_the_name_of_another_day_are_refused(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    first = write(tmp_path / "cond.980505", JOBS)
    load(first, "cond")
    for name in ("cond.980506", "cond.980506.gz"):
        other = write(tmp_path / name, JOBS)
        assert_refused(
            warehouse, lambda other=other: load(other, "cond"), name, "with the date 1998-05-05", str(first)
        )
    # Another source may have the same lines on another day.
    load(other, "cond", source="other")
    check_warehouse(warehouse)


def test_lines_that_were_only_held_have_their_day_too(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    first, copy = write(tmp_path / "cond.980505", JOBS[:2]), write(tmp_path / "copy", JOBS[:2])
    load(first, "cond")
    assert load(copy, "cond", log_date=MAY_5).tally.held_count == 2
    load(write(first, JOBS), "cond")  # only the copy has exactly these lines now
    assert_refused(warehouse, lambda: load(copy, "cond", log_date=MAY_6), "with the date 1998-05-05", "copy")
    other = write(tmp_path / "cond.980506", JOBS[:2])
    assert_refused(warehouse, lambda: load(other, "cond"), "with the date 1998-05-05", "copy")
    write(copy, JOBS[:3])  # now it equals no other file
    assert_refused(warehouse, lambda: load(copy, "cond", log_date=MAY_6), "with the date 1998-05-05", "copy")


def test_the_same_file_as_of_another_day_is_refused(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    path = write(tmp_path / "cond", JOBS[:2])
    load(path, "cond", log_date=MAY_5)
    assert_refused(
        warehouse, lambda: load(path, "cond", log_date=MAY_6), "with the date 1998-05-05", str(path)
    )
    write(path, JOBS)  # it has grown, but begins with the same lines
    assert_refused(warehouse, lambda: load(path, "cond", log_date=MAY_6), "with the date 1998-05-05")
    load(path, "cond", log_date=MAY_5)
    assert read_ledger(warehouse) == [("cond", "1998-05-05", 4, 4, 0)]


def test_a_file_without_facts_may_be_read_as_of_another_day(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    path = write(tmp_path / "cond", [])
    load(path, "cond", log_date=MAY_5)
    load(path, "cond", log_date=MAY_6)
    load(write(path, ["", "nonsense"]), "cond", log_date=MAY_6)
    load(path, "cond", log_date=MAY_7)
    load(write(path, ["", "nonsense", *JOBS]), "cond", log_date=MAY_7)
    assert read_ledger(warehouse) == [
        ("cond", "1998-05-05", 0, 0, 0),
        ("cond", "1998-05-06", 2, 0, 0),
        ("cond", "1998-05-07", 6, 4, 0),
    ]
    assert fetch(warehouse, "SELECT DISTINCT ended_at::date FROM core.unitree_jobs") == [(MAY_7,)]
    check_warehouse(warehouse)


def test_a_path_may_hold_other_jobs_each_day(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    path = tmp_path / "cond"
    for day, lines in ((MAY_5, JOBS[:1]), (MAY_6, JOBS[1:3]), (MAY_7, JOBS[3:])):
        for _ in range(2):
            result = load(write(path, lines), "cond", log_date=day)
        assert result.is_unchanged
    assert read_ledger(warehouse) == [
        ("cond", "1998-05-05", 1, 1, 0),
        ("cond", "1998-05-06", 2, 2, 0),
        ("cond", "1998-05-07", 1, 1, 0),
    ]
    # These jobs were loaded from this path for another day.
    write(path, JOBS[:1])
    assert_refused(warehouse, lambda: load(path, "cond", log_date=MAY_7), "with the date 1998-05-05")
    # This is the nightly run after midnight, before the log was rotated.
    write(path, JOBS[3:])
    assert_refused(
        warehouse, lambda: load(path, "cond", log_date=date(1998, 5, 8)), "with the date 1998-05-07"
    )
    # Under its own name, the rotated log still belongs to its day.
    assert load(write(tmp_path / "cond.980506", JOBS[1:3]), "cond").tally.held_count == 2
    check_warehouse(warehouse)


# Dry runs


def test_a_dry_run_reports_what_a_load_would_do(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    path = write(tmp_path / "cond.980505", JOBS[:2])
    load(path, "cond")
    facts, balance = read_facts(warehouse), read_balance(warehouse)
    grown = preview(warehouse, write(path, [*JOBS, "nonsense"])).tally
    assert (grown.line_count, grown.loaded_count, grown.held_count) == (5, 2, 2)
    other = preview(warehouse, write(tmp_path / "cond.980506", JOBS)).tally
    assert (other.loaded_count, other.held_count) == (4, 0)
    assert (read_facts(warehouse), read_balance(warehouse)) == (facts, balance)
    write(path, JOBS[:2])
    for refused, log_date in ((write(tmp_path / "cond.980507", JOBS[:2]), None), (path, MAY_6)):
        assert_refused(warehouse, lambda: preview(warehouse, refused, log_date), "with the date 1998-05-05")  # noqa: B023
    assert_refused(
        warehouse, lambda: preview(warehouse, write(path, JOBS), MAY_6), "with the date 1998-05-05"
    )
    with pytest.raises(LogFileError, match="the name has no date"):
        preview(warehouse, write(tmp_path / "cond", JOBS))


# From rows to lines and back


def explain(warehouse: Warehouse, path: Path, line_number: int) -> LineFate:
    with closing(warehouse.connect(Role.LOADER)) as connection:
        [fate] = explain_line(connection, path, line_number, NOW)
    return fate


def test_lines_of_a_file_with_a_day_are_explained(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    first = write(tmp_path / "cond.980505", JOBS[:2])
    load(first, "cond")
    copy = write(tmp_path / "today", ["", JOBS[1], "nonsense", JOBS[2]])
    load(copy, "cond", log_date=MAY_5)
    assert explain(warehouse, copy, 1).fate == "ignored: blank line"
    held = explain(warehouse, copy, 2)
    assert held.fate == f"held: loaded from {first}, line 2"
    assert (held.table, held.text) == ("unitree_jobs", JOBS[1])
    assert held.row is not None
    assert held.row["ended_at"] == datetime(1998, 5, 5, 14, 12, 40, tzinfo=UTC)
    assert held.row["persona"] == 12361
    assert explain(warehouse, copy, 3).fate == "rejected: not a line of this format"
    loaded = explain(warehouse, copy, 4)
    assert (loaded.fate, loaded.table, loaded.text) == ("loaded", "unitree_jobs", JOBS[2])
    assert loaded.row is not None
    assert (loaded.row["user_name"], loaded.row["host_name"]) == ("003141", None)


def test_rows_of_jobs_and_stages_lead_to_their_lines(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    cond, stat = write(tmp_path / "cond.980505", JOBS), write(tmp_path / "stat", MOVES)
    load(cond, "cond")
    load(stat, "stat")
    for table, path, lines in (
        ("unitree_jobs", cond, JOBS),
        ("stages", stat, MOVES),
        ("transfers", stat, MOVES),
    ):
        for row_id, number in fetch(warehouse, f"SELECT id, line_number FROM core.{table}"):  # ours
            with closing(warehouse.connect(Role.LOADER)) as connection:
                fate = explain_row(connection, table, row_id)
            assert (fate.path, fate.line_number, fate.text) == (str(path), number, lines[number - 1])
    held = write(tmp_path / "copy of stat", MOVES)
    load(held, "stat")
    assert explain(warehouse, held, 2).fate == f"held: loaded from {stat}, line 2"
    assert explain(warehouse, held, 2).table == "stages"


# STAT


def test_everything_in_stat_is_kept_including_failures(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    tally = load(write(tmp_path / "stat", MOVES), "stat").tally
    assert tally.loaded == {"transfers": 4, "stages": 1}
    assert fetch(
        warehouse,
        "SELECT direction, persona, is_failed, status_code, status_text, started_at, ended_at"
        " FROM core.transfers WHERE persona = 3871 ORDER BY ended_at",
    ) == [
        (
            *("put", 3871, True, -192, "-192 (Ftp 1000)"),
            *clocks((15, 54, 30, 281000), (15, 54, 31, 12000)),
        ),
        ("put", 3871, False, None, None, *clocks((15, 54, 40, 286000), (15, 54, 40, 500000))),
    ]
    assert fetch(
        warehouse,
        "SELECT persona, duration_s, started_at, staged_at, is_duration_coarse, user_id, host_id"
        " FROM core.stages",
    ) == [(3298, 180.0, *clocks((14, 32, 1, 60000), (14, 35, 1, 60000)), True, None, None)]
    check_warehouse(warehouse)


@pytest.mark.parametrize("counted", ["nft", "stat"])
def test_transfers_reported_by_nft_and_stat_count_once(
    warehouse: Warehouse, load: Load, tmp_path: Path, counted: str
) -> None:
    nft = [
        "002718 98/05/05 14:07:31 ks 34713600 25.115",
        "003141 98/05/05 14:35:09 sw 8388608 2.204",
        "003141 98/05/05 15:54:40 ks 1307 0.214",
    ]
    load(write(tmp_path / "nft", nft), "nft", is_counted=counted == "nft")
    load(write(tmp_path / "stat", MOVES), "stat", is_counted=counted == "stat")
    load(write(tmp_path / "cond.980505", JOBS), "cond")
    moved = (
        "SELECT DISTINCT source, count(*), sum(size_bytes) FROM mart.transfers WHERE NOT is_failed GROUP BY 1"
    )
    assert fetch(warehouse, moved, Role.READER) == [(counted, 3, 34713600 + 8388608 + 1307)]
    assert fetch(warehouse, "SELECT sum(transfer_count - failed_count) FROM core.activity_cells") == [(3,)]
    assert fetch(warehouse, "SELECT count(*) FROM core.transfers") == [(7,)]
    # No other log has the stage and the jobs.
    assert fetch(warehouse, "SELECT count(*) FROM mart.stages", Role.READER) == [(1,)]
    assert fetch(warehouse, "SELECT count(*) FROM mart.unitree_jobs", Role.READER) == [(4,)]
    check_warehouse(warehouse)


def test_an_archive_is_dropped_with_its_jobs_and_stages(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    cond, stat = write(tmp_path / "cond.980505", JOBS), write(tmp_path / "stat", MOVES)
    for archive in ("test", "other"):
        load(cond, "cond", archive=archive)
        load(stat, "stat", archive=archive)
    facts = read_facts(warehouse)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        assert drop_archive(connection, "test") == 9
    left = read_facts(warehouse)
    assert {table: left[table].total() for table in FACTS} == {
        table: facts[table].total() / 2 for table in FACTS
    }
    assert {row[0] for rows in left.values() for row in rows} == {"other"}
    # The day may be different this time.
    assert load(write(tmp_path / "cond.980506", JOBS), "cond").tally.loaded_count == 4
    check_warehouse(warehouse)
