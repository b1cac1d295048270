"""Loads of several files whose database goes away and comes back, or whose reading processes die."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.integration.evidence import check_warehouse
from tests.integration.test_kills import CELLS, PROJECT, TIMEOUT_S, Bench, Moment, lock, waits_for
from tests.integration.test_kills import bench as bench  # noqa: PLC0414  # a fixture: our own server

pytestmark = [pytest.mark.slow, pytest.mark.study("ingest", "schema")]

SMALL_LINES = 200
# At this moment, the first file (whichever it is) is completely copied, and nothing is committed.
ADDS_CELLS = Moment("adds the cells", waits_for(CELLS), lock(CELLS), has_copied=True)
JOBS = pytest.mark.parametrize("jobs", ["1", "2"])


@pytest.fixture
def logs(bench: Bench, tmp_path: Path) -> list[Path]:
    """A large log, and two small ones with other transfers."""
    paths = [bench.log]
    for name in ("b.log", "c.log"):
        path = tmp_path / name
        begin = "07" if name == "b.log" else "08"
        lines = [
            f"000001 96/{begin}/01 00:{n // 60:02}:{n % 60:02} ks {n} 1.25\n" for n in range(SMALL_LINES)
        ]
        path.write_text("".join(lines))
        paths.append(path)
    return paths


def start(bench: Bench, logs: list[Path], jobs: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "tapewise", "--home", bench.server.home, "ingest", "--archive", "test"),
            *("--kind", "synthetic", "--format", "nft", "--timezone", "UTC", "--json", "-j", jobs, *logs),
        ],
        cwd=PROJECT,
        env=os.environ
        | {
            "TAPEWISE_SYSTEM_FOLDER": str(bench.server.system_folder),
            "TAPEWISE_POSTGRES_VERSION": str(bench.server.version),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def complete(bench: Bench, logs: list[Path]) -> None:
    """Run the command again, and check that every line is loaded exactly once."""
    process = start(bench, logs, "1")
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert (errors, process.returncode) == ("", 0)
    assert len(output.splitlines()) == len(logs)
    check_warehouse(bench.warehouse)
    with bench.connect() as connection:
        counts = connection.execute(
            "SELECT sum(line_count), sum(loaded_count), (SELECT count(*) FROM core.transfers)"
            " FROM ledger.log_files"
        ).fetchone()
    assert counts is not None
    lines = sum(path.read_bytes().count(b"\n") for path in logs)
    assert counts == (lines, lines - 6, lines - 6)


def find_children(pid: int) -> Iterator[int]:
    """Yield the child processes that read files for `pid`."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"popen_loky" in (folder / "cmdline").read_bytes():
                yield int(folder.name)


@JOBS
def test_the_remaining_files_are_loaded_when_the_database_is_back(
    bench: Bench, logs: list[Path], jobs: str
) -> None:
    bench.make_database()
    with bench.holding(ADDS_CELLS):
        process = start(bench, logs, jobs)
        os.kill(bench.wait_for(ADDS_CELLS, process), signal.SIGKILL)
        output, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert "Traceback" not in errors
    results = [json.loads(line) for line in output.splitlines()]
    assert [result["path"] for result in results] == list(map(str, logs))
    lost = [result["error"] for result in results if "error" in result]
    assert lost
    assert all("the database aborted the load: " in said for said in lost)
    if jobs == "1":
        assert lost[0].startswith(f"{logs[0]}: ")
        assert [result["loaded_count"] for result in results[1:]] == [SMALL_LINES, SMALL_LINES]
        assert "tapewise: 1 of 3 files not loaded." in errors
    complete(bench, logs)


def test_a_database_that_stays_away_ends_the_command(bench: Bench, logs: list[Path]) -> None:
    bench.make_database()
    with bench.holding(ADDS_CELLS):
        process = start(bench, logs, "1")
        bench.wait_for(ADDS_CELLS, process)
        with bench.connect() as connection:
            [(data,)] = connection.execute("SELECT current_setting('data_directory')").fetchall()
        os.kill(int((Path(data) / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        output, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, output) == (1, "")
    first, hint = errors.splitlines()
    assert first.startswith(f"tapewise: {logs[0]}: the database aborted the load")
    assert "again when the database is up" in hint
    bench.wait_until_up()
    complete(bench, logs)


def test_a_killed_reading_process_is_reported(bench: Bench, logs: list[Path]) -> None:
    bench.make_database()
    with bench.holding(ADDS_CELLS):
        process = start(bench, logs, "2")
        bench.wait_for(ADDS_CELLS, process)
        os.kill(next(find_children(process.pid)), signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    first, hint = errors.splitlines()
    assert first == "tapewise: a process that read log files was killed."
    assert "-j 1 if memory is short" in hint
    complete(bench, logs)


@pytest.mark.parametrize(
    "number, status", [(signal.SIGINT, 1), (signal.SIGTERM, 128 + signal.SIGTERM)], ids=["Ctrl-C", "TERM"]
)
def test_a_stopped_command_leaves_nothing(bench: Bench, logs: list[Path], number: int, status: int) -> None:
    bench.make_database()
    with bench.holding(ADDS_CELLS):
        process = start(bench, logs, "2")
        bench.wait_for(ADDS_CELLS, process)
        readers = list(find_children(process.pid))
        assert len(readers) == 2
        process.send_signal(number)
        began_s = time.monotonic()
        _, errors = process.communicate(timeout=TIMEOUT_S)
        assert time.monotonic() - began_s < 10
    assert process.returncode == status
    if number == signal.SIGINT:
        assert "stopped; unfinished work was discarded" in errors
    assert not [pid for pid in readers if is_running(pid)]
    complete(bench, logs)


def test_reading_processes_end_with_a_killed_command(bench: Bench, logs: list[Path]) -> None:
    bench.make_database()
    with bench.holding(ADDS_CELLS):  # otherwise the readers might simply finish
        process = start(bench, logs, "2")
        bench.wait_for(ADDS_CELLS, process)
        readers = list(find_children(process.pid))
        assert len(readers) == 2
        process.kill()
        deadline = time.monotonic() + 10
        while any(map(is_running, readers)):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.communicate(timeout=TIMEOUT_S)
    complete(bench, logs)


def is_running(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
