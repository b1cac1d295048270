"""The nightly round: everything that is new, nothing twice, one at a time, and what is told of it."""

import os
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ingest import rounds, workers
from ingest.metrics import RoundReport, check_target, read_database_bytes, read_lines, write_metrics
from ingest.plans import SourcePlan, plan_round
from ingest.results import describe_outcome
from ingest.rounds import SourceOutcome, hold_round, read_sources
from schema.database import Role, Warehouse
from schema.errors import SettingsError, TapewiseError
from schema.settings import read_settings

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
# The time of day when a round begins must be after that of the files, or they are never untouched.
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
def told() -> list[TapewiseError]:
    return []


@pytest.fixture
def run(warehouse: Warehouse, folder: Path, told: list[TapewiseError]) -> Round:
    def tell(_plan: SourcePlan, found: object) -> None:
        if isinstance(found, TapewiseError):
            told.append(found)

    def run(after: timedelta = timedelta(), *, is_dry: bool = False) -> list[SourceOutcome]:
        plans = plan_round(read_settings(config=folder / "tapewise.toml"))
        now = datetime.now(UTC) + after
        found = read_sources(warehouse, plans, now=now, is_dry=is_dry, is_shown=False, tell=tell)
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
    assert [(each.loaded_count, each.held_count) for each in second] == [(3, 9), (0, 1)]
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


def test_an_untouched_file_is_not_opened_until_it_changes(
    folder: Path, run: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    load = workers.load_file
    monkeypatch.setattr(
        workers, "load_file", lambda *args, **rest: (opened.append(args[2].name), load(*args, **rest))[1]
    )
    (folder / "nft.1").write_text(nft(1))
    (folder / "nft.2").write_text(nft(2))
    run(LATER)
    assert sorted(opened) == ["cond.980505", "nft.1", "nft.2"]
    opened.clear()
    again = run(2 * LATER)
    assert opened == []
    assert [each.untouched_count for each in again] == [2, 1]


def test_a_file_whose_old_time_was_set_back_is_opened(folder: Path, run: Round) -> None:
    for day in (1, 2):  # as a copy that keeps size and mtime
        (folder / "nft.1").write_text(nft(day))
        os.utime(folder / "nft.1", (1e9, 1e9))
        (outcome, _) = run()
        assert (outcome.loaded_count, outcome.untouched_count) == (3, 0)


def test_what_might_read_otherwise_is_opened_again(warehouse: Warehouse, folder: Path, run: Round) -> None:
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


def test_the_future_is_looked_at_again(folder: Path, run: Round) -> None:
    (folder / "nft.1").write_text(nft(1) + "005041 39/10/01 00:01:41 js 7700 0.425\n")
    (first, _) = run(LATER)
    assert first.rejected_count == 1
    (again, _) = run(LATER)
    assert again.untouched_count == 0


def test_one_bad_file_or_source_keeps_nothing_else_out(
    folder: Path, run: Round, told: list[TapewiseError]
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
    told.clear()
    (nft_outcome, cond_outcome) = run()
    assert "has timezone UTC, not Europe/Berlin" in told[0].message
    assert (len(nft_outcome.failures), len(cond_outcome.failures)) == (1, 0)


def test_what_is_no_regular_file_is_not_waited_for(
    folder: Path, run: Round, told: list[TapewiseError]
) -> None:
    os.mkfifo(folder / "nft.fifo")
    (folder / "nft.null").symlink_to("/dev/null")
    (folder / "nft.1").write_text(nft(1))
    (folder / "nft.latest").symlink_to("nft.1")
    (nft_outcome, cond_outcome) = run()
    assert sorted(each.message for each in told) == [
        f"{folder}/nft.fifo: is not a regular file",
        f"{folder}/nft.null: is not a regular file",
    ]
    assert (nft_outcome.loaded_count, len(nft_outcome.failures), cond_outcome.loaded_count) == (3, 2, 1)


def test_an_archives_own_zone_does_not_change_either(
    folder: Path, run: Round, told: list[TapewiseError]
) -> None:
    (folder / "nft.1").write_text(nft(1))
    run()
    (folder / "tapewise.toml").write_text(CONFIG.replace("America/Los_Angeles", "UTC"))
    run()
    assert {each.message for each in told} == {"archive 'llnl' has timezone America/Los_Angeles, not UTC"}


def test_a_source_without_files_is_a_failure(run: Round, told: list[TapewiseError]) -> None:
    (nft_outcome, cond_outcome) = run()
    assert [each.message for each in told] == ["llnl/nft: no file of it is there"]
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


def test_who_may_not_load_stops_no_round(warehouse: Warehouse) -> None:
    warnings: list[str] = []
    for function in ("pg_advisory_lock", "pg_advisory_lock_shared"):
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            reader.execute(f"SELECT {function}(%s, %s)".encode(), rounds.ROUND_LOCK)
            with hold_round(warehouse, warnings.append) as is_only:
                assert is_only
            said = warnings.pop()
            assert said.startswith(f"role tapewise_reader (pid {reader.info.backend_pid}) holds the lock")
            assert warnings == []
    with hold_round(warehouse, warnings.append) as is_only:
        assert (is_only, warnings) == (True, [])


def test_a_round_is_one_though_a_reader_holds_its_lock_too(warehouse: Warehouse) -> None:
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        reader.execute("SELECT pg_advisory_lock_shared(%s, %s)", rounds.ROUND_LOCK)
        with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
            loader.execute("SELECT pg_advisory_lock_shared(%s, %s)", rounds.ROUND_LOCK)
            with hold_round(warehouse) as is_only:
                assert not is_only


def test_metrics_are_what_prometheus_reads(
    warehouse: Warehouse, folder: Path, run: Round, tmp_path: Path
) -> None:
    odd = r'a "b" \c'
    (folder / "tapewise.toml").write_text(CONFIG.replace('name = "llnl"', f"name = '{odd}'"))
    (folder / "nft.1").write_text(nft(1) + "nonsense\n\n")
    outcomes = run()
    with closing(warehouse.connect()) as connection:  # the loader's, as in the night
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
    with pytest.raises(SettingsError, match=f"{tmp_path}: no file can be made in this folder"):
        check_target(tmp_path / "new.prom")
