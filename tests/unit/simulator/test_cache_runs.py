"""Machines with another disk, as `simulate cache --waits` runs them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator import cache_runs, caches_cli, plans
from tapewise.simulator.cache_runs import can_run, change_disk, run_disks
from tapewise.simulator.grids import FIGURES, Grid
from tapewise.simulator.inputs import Requests
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine, bundled_machine
from tapewise.simulator.plans import Plan, plan_run
from tapewise.simulator.results import Result
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import (
    make_library,
    make_library_machine,
    make_machine,
    make_tapes,
    make_trace,
)
from tests.unit.simulator.reuse import GB, make_disk, make_log, replay
from tests.unit.simulator.test_disk_pools import make_fast_machine

MARKS = {"high_ratio": 0.9, "keep_s": 7.0}


def test_the_whole_disk_gets_the_size_the_rule_and_the_marks() -> None:
    machine = bundled_machine("llnl-unitree-1998")
    assert machine.purge is not None
    other = change_disk(machine, None, "size * age", 10**12, MARKS)
    lv_count = machine.disk.chain_count * machine.disk.lvs_per_chain
    assert 10**12 <= other.disk.capacity_bytes < 10**12 + lv_count
    assert other.purge is not None
    assert (other.purge.policy, other.purge.high_ratio, other.purge.keep_s) == ("size * age", 0.9, 7)
    assert other.purge.low_ratio == machine.purge.low_ratio
    assert other.disk.chain_count == machine.disk.chain_count
    same = {"title", "disk", "purge"}
    assert other.model_dump(exclude=same) == machine.model_dump(exclude=same)


def test_exponents_go_with_their_rank() -> None:
    machine = make_fast_machine({}).model_copy()
    tables = machine.model_dump(exclude_unset=True)
    tables["purge"] |= {"rank": "size_age", "size_exponent": 2.0}
    of_rank = type(machine).model_validate(tables)
    other = change_disk(of_rank, None, "fifo", 5000, {})
    assert other.purge is not None and other.purge.policy == "fifo"


# small has 3,000 bytes of its own, large 9,000, and others the other 4,000 of the disk.
@pytest.mark.parametrize(
    ("name", "capacities"), [("small", [2000, 9000, 4000]), ("others", [3000, 9000, 2000])]
)
def test_a_pool_changes_and_the_others_stay(name: str, capacities: list[int]) -> None:
    machine = make_fast_machine()
    other = change_disk(machine, name, "gdsf", 2000, MARKS)
    assert [pool.capacity_bytes for pool in other.disk_pools] == capacities
    for pool, before in zip(other.disk_pools, machine.disk_pools, strict=True):
        assert pool.purge is not None
        if pool.name == name:
            assert (pool.purge.policy, pool.purge.high_ratio, pool.purge.keep_s) == ("gdsf", 0.9, 7)
        else:
            assert pool.purge == before.purge


def test_a_disk_that_is_smaller_than_its_largest_file_is_named() -> None:
    with pytest.raises(MachineError, match="lru with 800 bytes of disk: disk: largest_file_bytes"):
        change_disk(make_fast_machine({}), None, "lru", 800, {})


def test_only_rules_that_do_not_know_the_future_can_run() -> None:
    assert [can_run(each) for each in ("lru", "gdsf", "belady", "size * age")] == [True, True, False, True]


@pytest.mark.study("simulator")
def test_runs_begin_with_the_past_that_the_measured_machine_implies() -> None:
    is_get = pl.col("direction") == "get"
    trace = make_log(6, seed=1, per_day=150)
    trace = trace.with_columns(is_cached=pl.when(is_get).then(~pl.Series(replay(trace, 6 * GB))))
    given = Requests(trace, datetime(2000, 1, 1, tzinfo=UTC), "UTC", "archive", "made up")
    machine, measured = make_disk(3 * GB), make_disk(6 * GB)

    def count(plan: Plan) -> int:
        run = run_trace(plan.machine, plan.given.trace, seed=plan.seed, inventory=plan.held.inventory)
        return int(run.jobs.select((is_get & pl.col("is_staged")).sum()).item())

    plan = plan_run(given, machine, seed=2, measured_on=measured)
    other = change_disk(machine, None, "lru", 10 * GB, {})
    disks: dict[cache_runs.Disk, Machine] = {("lru", 10 * GB, None): other}
    (found,) = run_disks(plan, given, measured, disks, job_count=1)
    assert found.staged_count == count(plan_run(given, other, seed=2, measured_on=measured))
    assert found.staged_count != count(plan_run(given, other, seed=2, measured_on=machine))
    # Its cartridges have no identity.
    assert (found.mount_count, found.drive_h) == (None, None)


def test_each_disk_runs_with_both_placements_and_says_what_it_leaves_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = make_trace(
        (0, "put", 1, 1, 400), *((number, "get", 1, number, 1000 * number) for number in (1, 3, 5))
    )
    requests = Requests(trace, datetime(2000, 1, 1, tzinfo=UTC), "UTC", "archive", "made up")
    tables = make_library(store={"interval_s": 100, "min_age_s": 50})
    purge = {"high_ratio": 0.8, "low_ratio": 0.6, "keep_s": 10}
    of_cartridges = make_library_machine(tables, disk__largest_file_bytes=4000, purge=purge)
    of_silos = make_machine(tapes=make_tapes(), disk__largest_file_bytes=9000)
    disks: dict[cache_runs.Disk, Machine] = {("lru", 10, None): of_cartridges, ("gdsf", 20, None): of_silos}
    asked = []

    def answer(grid: Grid, **options: Any) -> Iterator[Result]:
        asked.append((grid, options))
        figures = dict.fromkeys(FIGURES) | {"mount_count": 3.0}
        yield Result(0, 7, figures, True)
        yield Result(1, 7, {}, False, fault="too few cartridges")
        yield Result(2, 7, dict.fromkeys(FIGURES), True)

    monkeypatch.setattr(cache_runs, "run_grid", answer)
    plan: Any = SimpleNamespace(seed=7, calibration="calibrated")
    first, second = run_disks(plan, requests, of_silos, disks, job_count=2)
    ((grid, options),) = asked
    assert options == {"job_count": 2}
    assert (grid.seeds, grid.calibration, grid.measured_on) == ([7], "calibrated", of_silos)
    assert grid.read_requests(7) is requests
    own, other, silos = (variant.machine for variant in grid.variants)
    assert (own, silos, grid.may_fail) == (of_cartridges, of_silos, {1})
    assert isinstance(own.tapes, Library) and isinstance(other.tapes, Library)
    assert (own.tapes.cartridges.placement, other.tapes.cartridges.placement) == ("time", "user")
    assert other.tapes.with_other_placement() == own.tapes
    assert other.model_copy(update={"tapes": own.tapes}) == own
    assert (first.mount_count, first.placement, first.left_out_get_count) == (3, "time", 1)
    assert first.other is not None
    assert (first.other.placement, first.other.fault, first.other.mount_count) == (
        "user",
        "too few cartridges",
        None,
    )
    assert (second.placement, second.other, second.left_out_get_count) == (None, None, 0)


@pytest.mark.parametrize(("kind", "is_said"), [("measured", False), ("synthetic", True)])
def test_made_up_logs_are_said(kind: str, is_said: bool, monkeypatch, capsys) -> None:
    monkeypatch.setattr(caches_cli, "read_archive", lambda *_, **__: SimpleNamespace(demand_kind=kind))
    monkeypatch.setattr(plans, "plan_run", lambda *_, **__: "plan")
    monkeypatch.setattr(caches_cli, "describe_plan", lambda _: ["the plan"])
    monkeypatch.setattr(cache_runs, "run_disks", lambda *_, **__: iter(()))
    warehouse: Any = "warehouse"
    machine: Any = SimpleNamespace(trace_columns=(), failures=None)
    caches_cli._run(warehouse, "hpss", None, machine, machine, {}, 1, is_silent=False)
    shown = capsys.readouterr().out
    assert "the plan" in shown
    assert ("the requests are made up" in shown) == is_said


def test_the_command_reads_plans_and_runs_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def answer(value: Any) -> Callable[..., Any]:
        def record(*arguments: Any, **options: Any) -> Any:
            asked.append((arguments, options))
            return value

        return record

    given, until = SimpleNamespace(demand_kind="measured"), datetime(2000, 1, 1, tzinfo=UTC)
    machine: Any = SimpleNamespace(trace_columns=("class_of_service",), failures="as measured")
    monkeypatch.setattr(caches_cli, "read_archive", answer(given))
    monkeypatch.setattr(plans, "plan_run", answer("plan"))
    monkeypatch.setattr(cache_runs, "run_disks", answer(iter(["run"])))
    options: Any = ("warehouse", "hpss", until, machine, "measured on", {"disk": "other"}, 3)
    runs: Any = caches_cli._run(*options, is_silent=True)
    assert runs == {"disk": "run"}
    columns = {"columns": ("class_of_service",), "are_failures_simulated": True}
    assert asked == [
        (("warehouse", "hpss"), {"until": until, **columns}),
        ((given, machine), {"seed": 1, "measured_on": "measured on"}),
        (("plan", given, "measured on", {"disk": "other"}), {"job_count": 3}),
    ]
