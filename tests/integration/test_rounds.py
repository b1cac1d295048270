"""Nightly rounds read everything new and nothing twice, run one at a time, and report."""

import builtins
import gzip
import io
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tapewise.ingest.commands.output import describe_outcome
from tapewise.ingest.ledger.log_files import find_last_readings, ledger_path
from tapewise.ingest.nightly.metrics import (
    RoundReport,
    check_target,
    read_database_bytes,
    read_lines,
    write_metrics,
)
from tapewise.ingest.nightly.run import SourceOutcome, hold_round, read_sources
from tapewise.ingest.nightly.sources import SourcePlan, plan_round
from tapewise.ingest.reading.identities import identify_file
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SettingsError, TapewiseError
from tapewise.schema.settings import read_settings

pytestmark = pytest.mark.study("ingest", "schema")

CONFIG = """
[[archives]]
name = "llnl"
timezone = "America/Los_Angeles"
kind = "synthetic"
  [[archives.sources]]
  format = "nft"
  paths = ["nft.*"]
  timezone = "UTC"
  [[archives.sources]]
  format = "cond"
  paths = ["cond.*"]
"""
LATER = timedelta(hours=2)

Round = Callable[..., list[SourceOutcome]]


def nft(day: int, count: int = 3) -> str:
    return "".join(f"00504{row} 97/10/{day:02} 00:01:4{row} js 7700 0.425\n" for row in range(count))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tapewise.toml").write_text(CONFIG)
    (tmp_path / "cond.980505").write_text("002718 14:06:48 14:07:31 2360 102     17 put -d /scratch/k\n")
    return tmp_path


@pytest.fixture
def errors() -> list[TapewiseError]:
    return []


@pytest.fixture
def run(warehouse: Warehouse, folder: Path, errors: list[TapewiseError]) -> Round:
    def on_result(_plan: SourcePlan, found: object) -> None:
        if isinstance(found, TapewiseError):
            errors.append(found)

    def run(after: timedelta = timedelta(), *, is_dry: bool = False) -> list[SourceOutcome]:
        plans = plan_round(read_settings(config=folder / "tapewise.toml"))
        now = datetime.now(UTC) + after
        found = read_sources(warehouse, plans, now=now, is_dry=is_dry, is_shown=False, on_result=on_result)
        return sorted(found, key=lambda outcome: outcome.source != "nft")

    return run


def count_rows(warehouse: Warehouse, table: str) -> int:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return connection.execute(f"SELECT count(*) FROM core.{table}".encode()).fetchone()[0]


def test_missed_nights_are_caught_up_and_nothing_counts_twice(
    warehouse: Warehouse, folder: Path, run: Round
) -> None:
    for day in (1, 2, 3):
        (folder / f"nft.{day}").write_text(nft(day))
    first = run()
    assert [outcome.loaded_count for outcome in first] == [9, 1]
    assert count_rows(warehouse, "transfers") == 9
    with (folder / "nft.3").open("a") as log:
        log.write(nft(4))
    second = run()
    assert [(each.loaded_count, each.held_count) for each in second] == [(3, 3), (0, 0)]
    assert [each.untouched_count for each in second] == [2, 1]
    assert count_rows(warehouse, "transfers") == 12
    with closing(warehouse.connect(Role.OWNER)) as connection:
        zones = connection.execute(
            "SELECT archives.timezone, sources.name, sources.timezone FROM ledger.sources"
            " JOIN core.archives ON archives.id = archive_id ORDER BY 2"
        ).fetchall()
    assert zones == [
        ("America/Los_Angeles", "cond", "America/Los_Angeles"),
        ("America/Los_Angeles", "nft", "UTC"),
    ]


@pytest.fixture
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the logs that are opened, by whatever means."""
    names: list[str] = []

    def note(path: Any) -> None:
        if not isinstance(path, int) and Path(path).suffix != ".toml" and Path(path).is_relative_to(folder):
            names.append(Path(path).name)

    for module in (io, os, builtins):
        monkeypatch.setattr(module, "open", partial(_open_noted, module.open, note))
    return names


def _open_noted(really_open: Callable[..., Any], note: Callable[[Any], None], path: Any, *rest: Any) -> Any:
    note(path)
    return really_open(path, *rest)


def test_a_file_is_opened_only_if_it_may_have_changed(folder: Path, run: Round, opened: list[str]) -> None:
    (folder / "nft.1").write_text(nft(1))
    (folder / "nft.2.gz").write_bytes(gzip.compress(nft(2).encode()))
    (folder / "else").write_text(nft(3))
    (folder / "nft.link").symlink_to("else")
    opened.clear()
    run()
    assert set(opened) == {"cond.980505", "nft.1", "nft.2.gz", "nft.link"}
    opened.clear()
    assert [each.untouched_count for each in run()] == [3, 1]
    assert opened == []
    (folder / "nft.2.gz").write_bytes(gzip.compress(nft(2, 4).encode()))
    with (folder / "else").open("a") as log:
        log.write(nft(4))
    opened.clear()
    (changed, _) = run()
    assert (changed.untouched_count, changed.loaded_count, changed.held_count) == (1, 4, 6)
    assert set(opened) == {"nft.2.gz", "nft.link"}


def test_a_link_to_another_file_is_opened(folder: Path, run: Round) -> None:
    for number in (1, 2):
        (folder / f"else.{number}").write_text(nft(number))
        (folder / "nft.link").unlink(missing_ok=True)
        (folder / "nft.link").symlink_to(f"else.{number}")
        assert [each.untouched_count for each in run()] == [0, number - 1]
    assert [each.untouched_count for each in run()] == [1, 1]


def test_a_clock_that_was_ahead_hides_no_line(warehouse: Warehouse, folder: Path, run: Round) -> None:
    lines = [f"005041 97/10/01 00:{row // 60:02}:{row % 60:02} js 7700 0.425\n" for row in range(400)]
    (folder / "nft.1").write_text("".join(lines[:200]))
    run(timedelta(days=3))
    with (folder / "nft.1").open("a") as log:
        log.writelines(lines[200:])
    (second, _) = run(timedelta(hours=2))
    assert (second.untouched_count, second.loaded_count, second.held_count) == (0, 200, 200)
    for after in (timedelta(hours=26), timedelta(days=30), timedelta(days=-30)):
        assert [each.untouched_count for each in run(after)] == [1, 1]
    assert count_rows(warehouse, "transfers") == 400


def test_a_folder_replaced_by_an_older_one_is_read(folder: Path, run: Round) -> None:
    (folder / "tapewise.toml").write_text(CONFIG.replace("nft.*", "logs/nft.*"))
    for name, day in (("older", 1), ("logs", 2)):
        (folder / name).mkdir()
        (folder / name / "nft.log").write_text(nft(day))
    run(LATER)
    (folder / "logs").rename(folder / "newer")
    (folder / "older").rename(folder / "logs")
    (exchanged, _) = run(LATER)
    assert (exchanged.untouched_count, exchanged.loaded_count) == (0, 3)


def test_files_without_a_recorded_identity_are_read_again(
    warehouse: Warehouse, folder: Path, run: Round
) -> None:
    (folder / "nft.1").write_text(nft(1))
    run()
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
        connection.execute("UPDATE ledger.log_files SET device = NULL, inode = NULL, size_bytes = NULL")
        connection.execute("UPDATE ledger.log_files SET ctime_ns = NULL")
    assert [(each.untouched_count, each.held_count) for each in run()] == [(0, 3), (0, 1)]
    assert [each.untouched_count for each in run()] == [1, 1]


def test_inode_numbers_are_unsigned(warehouse: Warehouse, folder: Path, run: Round) -> None:
    (folder / "nft.1").write_text(nft(1))
    run()
    largest = 2**64 - 1
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("UPDATE ledger.log_files SET device = %s, inode = %s", [largest, largest])
        name = ledger_path(folder / "nft.1")
        [source_id] = connection.execute(
            "SELECT source_id FROM ledger.log_files WHERE path = %s", [name]
        ).fetchone()
        found = find_last_readings(connection, source_id, [name])[name].identity
    assert found == replace(identify_file(folder / "nft.1"), device=largest, inode=largest)


def test_a_file_whose_old_mtime_was_restored_is_opened(folder: Path, run: Round) -> None:
    for day in (1, 2):  # this is like a copy that keeps size and mtime
        (folder / "nft.1").write_text(nft(day))
        os.utime(folder / "nft.1", (1e9, 1e9))
        (outcome, _) = run()
        assert (outcome.loaded_count, outcome.untouched_count) == (3, 0)


def test_files_that_might_be_read_differently_are_opened_again(
    warehouse: Warehouse, folder: Path, run: Round
) -> None:
    (folder / "nft.1").write_text(nft(1) + "unfinished")
    run(LATER)
    assert [each.untouched_count for each in run(LATER)] == [1, 1]
    (folder / "tapewise.toml").write_text(CONFIG.replace('["nft.*"]', '["nft.*"]\n  complete = true'))
    (changed, _) = run(LATER)
    assert (changed.untouched_count, changed.rejected_count) == (0, 1)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("UPDATE ledger.log_files SET format_version = 0")
        connection.commit()
    assert [each.untouched_count for each in run(LATER)] == [0, 0]


def test_lines_dated_in_the_future_are_read_again(folder: Path, run: Round) -> None:
    (folder / "nft.1").write_text(nft(1) + "005041 39/10/01 00:01:41 js 7700 0.425\n")
    (first, _) = run(LATER)
    assert first.rejected_count == 1
    (again, _) = run(LATER)
    assert again.untouched_count == 0


def test_one_bad_file_or_source_does_not_stop_the_others(
    folder: Path, run: Round, errors: list[TapewiseError]
) -> None:
    (folder / "nft.1").write_text("nonsense\n")
    (folder / "nft.2").write_text(nft(2))
    (folder / "nft.3.gz").write_bytes(b"\x1f\x8bbroken")
    (nft_outcome, cond_outcome) = run()
    assert (nft_outcome.loaded_count, len(nft_outcome.failures), cond_outcome.loaded_count) == (3, 2, 1)
    assert describe_outcome(nft_outcome).startswith(
        "llnl/nft: 2 files read, 0 untouched, 2 FAILED; 4 lines = 3 loaded"
    )
    (folder / "tapewise.toml").write_text(CONFIG.replace('timezone = "UTC"', 'timezone = "Europe/Berlin"'))
    errors.clear()
    (nft_outcome, cond_outcome) = run()
    assert "has timezone UTC, not Europe/Berlin" in errors[0].message
    assert (len(nft_outcome.failures), len(cond_outcome.failures)) == (1, 0)


def test_a_source_without_files_of_its_format_is_not_kept(
    warehouse: Warehouse, folder: Path, run: Round
) -> None:
    (folder / "nft.1").write_text("nonsense\n")
    for _ in range(2):  # it fails every night, not only on the first
        (nft_outcome, cond_outcome) = run()
        assert (nft_outcome.untouched_count, len(nft_outcome.failures), cond_outcome.failures) == (0, 1, [])
        with closing(warehouse.connect(Role.OWNER)) as connection:
            sources = connection.execute("SELECT name FROM ledger.sources").fetchall()
        assert sources == [("cond",)]
    (folder / "nft.2").write_text(nft(2))
    (nft_outcome, _) = run()
    assert (nft_outcome.loaded_count, nft_outcome.rejected_count) == (3, 1)


def test_a_log_without_any_lines_yet_is_not_a_failure(folder: Path, run: Round) -> None:
    (folder / "nft.1").touch()
    (folder / "nft.2.gz").write_bytes(gzip.compress(b""))
    (folder / "nft.3.gz").write_bytes(gzip.compress(b"")[:10])
    (empty, _) = run()
    assert empty.failures == []
    assert describe_outcome(empty).startswith(
        "llnl/nft: 3 files read (3 without a line yet), 0 untouched; 0 l"
    )
    assert [each.untouched_count for each in run()] == [3, 1]
    (folder / "nft.1").write_text(nft(1))
    for number in (2, 3):
        (folder / f"nft.{number}.gz").write_bytes(gzip.compress(nft(number).encode()))
    (grown, _) = run()
    assert (grown.loaded_count, grown.empty_count, grown.failures) == (9, 0, [])


def test_a_file_that_is_not_regular_is_not_waited_for(
    folder: Path, run: Round, errors: list[TapewiseError]
) -> None:
    os.mkfifo(folder / "nft.fifo")
    (folder / "nft.null").symlink_to("/dev/null")
    (folder / "nft.loop").symlink_to("nft.loop")
    (folder / "nft.1").write_text(nft(1))
    (folder / "nft.latest").symlink_to("nft.1")
    (nft_outcome, cond_outcome) = run()
    assert sorted(each.message for each in errors) == [
        f"{folder}/nft.fifo: is not a regular file",
        f"{folder}/nft.loop: Too many levels of symbolic links",
        f"{folder}/nft.null: is not a regular file",
    ]
    assert (nft_outcome.loaded_count, len(nft_outcome.failures), cond_outcome.loaded_count) == (3, 3, 1)


def test_the_zone_of_an_archive_does_not_change_either(
    folder: Path, run: Round, errors: list[TapewiseError]
) -> None:
    (folder / "nft.1").write_text(nft(1))
    run()
    (folder / "tapewise.toml").write_text(CONFIG.replace("America/Los_Angeles", "UTC"))
    run()
    assert {each.message for each in errors} == {"archive 'llnl' has timezone America/Los_Angeles, not UTC"}


def test_a_source_without_files_is_a_failure(run: Round, errors: list[TapewiseError]) -> None:
    (nft_outcome, cond_outcome) = run()
    assert [each.message for each in errors] == ["llnl/nft: no files found"]
    assert (len(nft_outcome.failures), cond_outcome.loaded_count) == (1, 1)


def test_a_dry_round_writes_nothing(warehouse: Warehouse, folder: Path, run: Round) -> None:
    (folder / "nft.1").write_text(nft(1))
    assert [each.loaded_count for each in run(is_dry=True)] == [3, 1]
    assert count_rows(warehouse, "archives") == 0


def test_one_round_at_a_time(warehouse: Warehouse) -> None:
    with hold_round(warehouse) as first, hold_round(warehouse) as second:
        assert (first, second) == (True, False)
    with hold_round(warehouse) as third:
        assert third


def test_no_reader_can_hold_the_lock_of_rounds(warehouse: Warehouse) -> None:
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        for mode in ("ACCESS SHARE", "SHARE UPDATE EXCLUSIVE", "ACCESS EXCLUSIVE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), reader.transaction():
                reader.execute(f"LOCK TABLE ledger.rounds IN {mode} MODE".encode())


def test_a_round_runs_alongside_loads_and_backups(warehouse: Warehouse, folder: Path, run: Round) -> None:
    (folder / "nft.1").write_text(nft(1))
    with closing(warehouse.connect(Role.OWNER)) as dump:
        dump.execute("LOCK TABLE ledger.rounds IN ACCESS SHARE MODE")  # as pg_dump does with every table
        with hold_round(warehouse) as is_only:
            assert is_only
            assert run()[0].loaded_count == 3


def test_a_round_waits_for_an_upgrade_without_taking_it_for_a_round(warehouse: Warehouse) -> None:
    with closing(warehouse.connect(Role.OWNER)) as upgrade, ThreadPoolExecutor(1) as pool:
        upgrade.execute("LOCK TABLE ledger.rounds IN ACCESS EXCLUSIVE MODE")

        def begin() -> bool:
            with hold_round(warehouse) as is_only:
                return is_only

        waiting = pool.submit(begin)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.5)
        upgrade.rollback()
        assert waiting.result(timeout=60)


def test_prometheus_can_read_the_metrics(
    warehouse: Warehouse, folder: Path, run: Round, tmp_path: Path
) -> None:
    odd = r'a "b" \c'
    (folder / "tapewise.toml").write_text(CONFIG.replace('name = "llnl"', f"name = '{odd}'"))
    (folder / "nft.1").write_text(nft(1) + "nonsense\n\n")
    outcomes = run()
    with closing(warehouse.connect()) as connection:  # the loader's connection, as at night
        lines, size = read_lines(connection), read_database_bytes(connection)
    began_at = datetime(2026, 1, 1, 1, tzinfo=UTC)
    report = RoundReport(began_at, began_at + timedelta(seconds=90), 1, outcomes, lines, size)
    path = tmp_path / "tapewise.prom"
    path.write_text("old")
    write_metrics(path, report)
    assert path.stat().st_mode & 0o777 == 0o644
    assert [each.name for each in tmp_path.glob("*prom*")] == ["tapewise.prom"]
    found = {
        (sample.name, *(sample.labels.get(key) for key in ("archive", "source", "fate"))): sample.value
        for family in text_string_to_metric_families(path.read_text())
        for sample in family.samples
    }
    for fate, count in (("loaded", 3), ("held", 0), ("ignored", 1), ("rejected", 1)):
        assert found["tapewise_lines_total", odd, "nft", fate] == count
    event_at = datetime(1997, 10, 1, 0, 1, 42, tzinfo=UTC).timestamp()
    assert found["tapewise_last_event_timestamp_seconds", odd, "nft", None] == event_at
    assert found["tapewise_last_read_timestamp_seconds", odd, "nft", None] > event_at
    assert found["tapewise_last_run_failures", odd, "nft", None] == 0
    assert found["tapewise_last_run_end_timestamp_seconds", None, None, None] == began_at.timestamp() + 90
    assert found["tapewise_last_run_duration_seconds", None, None, None] == 90
    assert found["tapewise_last_run_exit_status", None, None, None] == 1
    assert found["tapewise_database_size_bytes", None, None, None] == size > 1e6


def test_metrics_that_cannot_be_written_name_the_file_and_leave_nothing(tmp_path: Path) -> None:
    report = RoundReport(datetime.now(UTC), datetime.now(UTC), 0, [])
    with pytest.raises(SettingsError, match="nowhere/tapewise"):
        write_metrics(tmp_path / "nowhere" / "tapewise.prom", report)
    (tmp_path / "taken").mkdir()
    with pytest.raises(SettingsError, match="taken"):
        write_metrics(tmp_path / "taken", report)
    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


def test_metrics_replace_regular_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old.prom").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "null.prom").symlink_to("/dev/null")
    check_target(tmp_path / "old.prom")
    check_target(tmp_path / "new.prom")
    for name in ("folder", "fifo", "null.prom"):
        with pytest.raises(SettingsError, match=f"{name}: is not a regular file"):
            check_target(tmp_path / name)
    with pytest.raises(SettingsError, match="nowhere: there is no such folder"):
        check_target(tmp_path / "nowhere" / "x.prom")
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)  # root may write anywhere
    with pytest.raises(SettingsError, match=f"{tmp_path}: no file can be created in this folder"):
        check_target(tmp_path / "new.prom")
