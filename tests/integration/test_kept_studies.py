"""A study is kept run by run: when it is stopped and started again, it computes only what is missing."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SimulationError
from tapewise.simulator.grids import Grid, run_grid
from tapewise.simulator.inputs import read_file_requests
from tapewise.simulator.kept_studies import drop_study, list_studies, open_study
from tapewise.simulator.machines import find_machine, read_machine_text
from tapewise.simulator.variants import list_variants, parse_change
from tests.conftest import NOW
from tests.forks import Fork

CHANGES = ("users.limit_count=1,2",)
SEEDS = 40  # takes long enough to be stopped on the way
PRICES = '\n[prices]\ncurrency = "EUR"\ndrive_per_year = 1000\ndisk_tb_per_year = 40\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a trace of bursts, and a machine with prices."""
    lines = ["submitted_s,direction,user,file,size_bytes"]
    lines += [
        f"{20.0 * (n // 3)},{'put' if n < 30 else 'get'},1,{n % 30},{5_000_000 + n % 30}" for n in range(60)
    ]
    (tmp_path / "trace.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "mine.toml").write_text(
        read_machine_text("llnl-unitree-1998")
        # A small disk, because made-up files fill it at the start of each run.
        .replace("lv_bytes = 2_000_000_000", "lv_bytes = 20_000_000")
        .replace("largest_file_bytes = 4_000_000_000", "largest_file_bytes = 1_000_000_000")
        + PRICES
    )
    return tmp_path


@contextmanager
def start(warehouse: Warehouse, folder: Path, *options: str) -> Iterator[Fork]:
    urls = ["--database-url", warehouse.url(Role.OWNER), "--reader-url", warehouse.url(Role.READER)]
    command = ["simulate", "study", "--machine", "mine.toml", "--trace-file", "trace.csv", *CHANGES]
    with Fork([*urls, *command, "--jobs", "1", *options], folder, dict(os.environ)) as fork:
        yield fork


def run(warehouse: Warehouse, folder: Path, *options: str) -> tuple[int | None, str, str]:
    with start(warehouse, folder, *options) as fork:
        output, errors = fork.communicate()
        return fork.returncode, output, errors


def read_runs(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    with warehouse.connect(Role.READER) as reader:
        return reader.execute(
            "SELECT option, seed, lost_hours, put_wait_p95_s, disk_peak_bytes, cost_per_year, ran_at"
            " FROM mart.study_results ORDER BY seed, is_as_in_file DESC, option"
        ).fetchall()


def wait_for(warehouse: Warehouse, fork: Fork, count: int) -> None:
    for _ in range(3000):
        if len(read_runs(warehouse)) >= count:
            return
        assert fork.poll() is None, fork.communicate()
        time.sleep(0.1)
    raise AssertionError("no runs are kept")


@pytest.mark.slow
@pytest.mark.study("simulator")
def test_a_stopped_study_continues_with_the_same_bits(warehouse: Warehouse, folder: Path) -> None:
    # Ctrl-C, then a kill; the third start completes it.
    for number, status in ((signal.SIGINT, 1), (signal.SIGKILL, -signal.SIGKILL)):
        before = read_runs(warehouse)
        with start(warehouse, folder, "--seeds", str(SEEDS)) as fork:
            wait_for(warehouse, fork, len(before) + 3)
            os.kill(fork.pid, number)
            _, errors = fork.communicate()
            assert fork.returncode == status
        assert "Traceback" not in errors
        kept = read_runs(warehouse)
        assert len(before) < len(kept) < 3 * SEEDS
        assert before == kept[: len(before)]
    status, output, errors = run(warehouse, folder, "--seeds", str(SEEDS))
    assert (status, errors) == (0, "")
    assert (
        f"Study 'trace.csv on LLNL UniTree 1998': {3 * SEEDS:,} runs, {len(kept):,} of them from before."
        in output
    )
    rows = read_runs(warehouse)
    assert rows[: len(kept)] == kept
    # As one undisturbed run in this process.
    machine = find_machine(str(folder / "mine.toml"))
    variants = list_variants(machine, [parse_change(text) for text in CHANGES])
    given = read_file_requests(folder / "trace.csv")
    results = run_grid(Grid(variants, range(1, SEEDS + 1), lambda _: given), job_count=1)
    names = ("lost_h", "put_wait_p95_s", "disk_peak_bytes", "cost_per_year")
    assert [row[:-1] for row in rows] == [
        (variants[each.variant].name, each.seed, *(each.figures[name] for name in names)) for each in results
    ]
    # 20 drives and 3.84 GB.
    assert {row[-2] for row in rows} == {20_000 + 3.84e9 / 1e12 * 40}


def test_a_study_grows_and_has_a_name(warehouse: Warehouse, folder: Path) -> None:
    def ask(*options: str) -> list[dict[str, Any]]:
        status, output, errors = run(warehouse, folder, *options, "--json")
        assert (status, errors) == (0, "")
        return [json.loads(line) for line in output.splitlines()]

    first = ask("--seeds", "1", "--name", "mine")
    grown = ask("--seeds", "2", "--name", "mine", "--keep-archive", "last")
    assert [row for row in grown if row["seed"] == 1] == first
    assert len(grown) == len(read_runs(warehouse)) == 6
    # The same requests and machine under another name, and without one, are studies of their own.
    given, machine = read_file_requests(folder / "trace.csv"), find_machine(str(folder / "mine.toml"))
    with warehouse.connect(Role.LOADER, autocommit=True) as loader:
        opened = [
            open_study(
                loader, name, given, machine, measured_on=machine, assumes_origins=False, options={}, now=NOW
            )
            for name in ("mine", "other", None, "other", None)
        ]
    assert [each.name for each in opened[:3]] == ["mine", "other", "trace.csv on LLNL UniTree 1998"]
    assert opened[3:] == opened[1:3]
    assert len({each.id for each in opened}) == 3
    # Another trace makes another study, which cannot have the same name.
    text = (folder / "trace.csv").read_text()
    (folder / "trace.csv").write_text(text.replace(",5000000\n", ",5000001\n"))
    status, _, errors = run(warehouse, folder, "--seeds", "1", "--name", "mine")
    assert status == 1
    assert "study 'mine' has other requests, another machine or version of Tapewise" in errors
    assert len(ask("--seeds", "1", "--no-keep")) == 3
    assert len(read_runs(warehouse)) == 6
    with warehouse.connect(Role.READER) as reader:
        kept = reader.execute(
            "SELECT options ->> 'study', options ->> 'option', machine #>> '{users,limit_count}', seed"
            " FROM mart.simulation_runs WHERE archive = 'last'"
        ).fetchall()
        assert kept == [("mine", "users.limit_count=2", "2", 1)]
        assert reader.execute(
            "SELECT option, value_number FROM mart.study_fields ORDER BY option"
        ).fetchall() == [("as in the file", 10), ("users.limit_count=1", 1), ("users.limit_count=2", 2)]
        (summary,) = list_studies(reader)
    assert (summary.study, summary.option_count, summary.seed_count, summary.run_count) == ("mine", 3, 2, 6)
    with warehouse.connect(Role.LOADER, autocommit=True) as loader:
        drop_study(loader, "mine")
        with pytest.raises(SimulationError, match="no study is called 'mine'"):
            drop_study(loader, "mine")
    assert read_runs(warehouse) == []
