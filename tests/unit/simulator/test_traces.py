"""The message about an invalid trace or inventory names the row."""

from pathlib import Path

import polars as pl
import pytest

from tapewise.schema.errors import MachineError, SimulationError, TraceError
from tapewise.simulator.demand.traces import MADE_UP_LIMIT, make_inventory, read_trace
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_held, make_machine, make_ports, make_tapes, make_trace

GOOD = (0.0, "put", 1, 1, 10)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        (
            [(5, "put", 1, 1, 10), (4, "put", 1, 2, 10)],
            "row 2 of the trace: submitted_s 4.0 is before that of",
        ),
        ([(-1, "put", 1, 1, 10)], "row 1 of the trace: submitted_s -1.0 is not a valid time"),
        ([(float("nan"), "put", 1, 1, 10)], "row 1 of the trace: submitted_s nan is not a valid time"),
        ([(float("inf"), "put", 1, 1, 10)], "row 1 of the trace: submitted_s inf is not a valid time"),
        ([(0, "post", 1, 1, 10)], "row 1 of the trace: direction post is neither put nor get"),
        ([(0, "put", 1, 1, -1)], "row 1 of the trace: size_bytes -1 is below 0"),
        (
            [(0, "put", 1, 1, 2001)],
            "row 1 of the trace: size_bytes 2001 is more than the machine accepts (2000)",
        ),
        ([GOOD, (1, "get", 1, 1, 11)], "row 2 of the trace: size_bytes 11 is not the file's size above"),
        ([(0, "get", 1, 7, 10)], "row 1 of the trace: file 7 is on tape, but the machine has none"),
        ([(0, "put", 1, 50, 10), (0, "get", 1, 50, 5)], "row 2 of the trace: size_bytes 5 is not the file's"),
        ([(0, "get", 1, 50, 6)], "row 1 of the trace: size_bytes 6 is not the file's size above"),
        ([(None, "put", 1, 1, 10)], "row 1 of the trace: submitted_s is missing"),
    ],
)
def test_a_wrong_row_is_named(jobs, message):
    with pytest.raises(TraceError) as caught:
        run_trace(make_machine(), make_trace(*jobs), seed=1, inventory=make_held((50, 5, 1.0, True)))
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("held", "message"),
    [
        ([(1, 10, -1.0, True)], "row 1 of the inventory: age_s -1.0 is not a valid age"),
        ([(1, 10, 1.0, True), (1, 10, 1.0, True)], "row 1 of the inventory: file 1 is listed twice"),
        (
            [(1, 9_000, 1.0, True), (2, 9_000, 1.0, True)],
            "the inventory's 18000 bytes are more than the disk",
        ),
    ],
)
def test_a_wrong_inventory_is_named(held, message):
    with pytest.raises(TraceError) as caught:
        run_trace(make_machine(), make_trace((0, "put", 1, 9, 1)), seed=1, inventory=make_held(*held))
    assert caught.value.message.replace("row 2", "row 1").startswith(message)


def test_a_put_makes_a_new_version_of_its_file():
    """A get before it reads the old one: file 50 from disk, file 1 from tape (7 s load, 10 B at 5 B/s)."""
    trace = make_trace(
        (0, "get", 1, 50, 5), (10, "put", 1, 50, 8), (20, "get", 1, 50, 8), (30, "put", 1, 50, 9),
        (40, "get", 1, 1, 10), (60, "put", 1, 1, 20), (70, "get", 1, 1, 20), (80, "put", 1, 2, 1),
    )  # fmt: skip
    machine = make_machine(tapes=make_tapes())
    run = run_trace(machine, trace, seed=1, inventory=make_held((50, 5, 1.0, True)))
    assert (run.jobs["is_staged"].arg_true().to_list(), run.jobs["stage_s"][4]) == ([4], 9.0)
    assert run.totals.disk_used_bytes == 5 + 8 + 9 + 10 + 20 + 1
    assert (run.totals.early_get_count, run.totals.overwriting_count) == (2, 3)
    assert run.totals.unfinished_count == 0


def test_columns_and_types_are_checked():
    trace = make_trace(GOOD)
    for changed, message in [
        (trace.drop("user"), "the trace has no column user"),
        (trace.with_columns(size_bytes=pl.lit(1.5)), "the trace's size_bytes is of type Float64"),
        (trace.with_columns(submitted_s=pl.lit("now")), "the trace's submitted_s is of type String"),
        (trace.with_columns(user=pl.lit(1.5)), "the trace's user is of type Float64"),
        (trace.with_columns(direction=pl.lit(1)), "the trace's direction is of type Int32, not strings"),
    ]:
        with pytest.raises(TraceError) as caught:
            run_trace(make_machine(), changed, seed=1)
        assert caught.value.message.startswith(message)
    with pytest.raises(TraceError, match="the inventory's file is of type String"):
        run_trace(make_machine(), trace, seed=1,
                  inventory=make_held().with_columns(pl.col("file").cast(pl.String)))  # fmt: skip


def test_arguments_are_checked():
    with pytest.raises(SimulationError, match="seed"):
        run_trace(make_machine(), make_trace(GOOD), seed=-1)
    with pytest.raises(SimulationError, match="sample_s is 0"):
        run_trace(make_machine(), make_trace(GOOD), seed=1, sample_s=0)
    with pytest.raises(SimulationError, match="more than 1000000 samples"):
        run_trace(make_machine(), make_trace(GOOD, (1e9, "put", 1, 2, 1)), seed=1, sample_s=0.1)
    with pytest.raises(MachineError, match="the most that a run can hold"):
        machine = make_machine(disk__chain_count=1000, ports=make_ports(100_000))
        run_trace(machine, make_trace(GOOD), seed=1)


def test_an_empty_trace_gives_an_empty_run():
    run = run_trace(make_machine(), make_trace(), seed=1)
    assert run.jobs.height == 0
    assert run.totals.event_count == 0


def test_a_trace_with_text_columns_is_read_from_parquet(tmp_path: Path):
    trace = make_trace(GOOD, (1, "get", 2, 1, 10)).with_columns(pl.col("user", "file").cast(pl.String))
    trace.write_parquet(tmp_path / "trace.parquet")
    run = run_trace(make_machine(), read_trace(tmp_path / "trace.parquet"), seed=1)
    assert run.jobs["user"].to_list() == ["1", "2"]
    (tmp_path / "trace.parquet").write_text("submitted_s")
    with pytest.raises(TraceError, match="not a Parquet file"):
        read_trace(tmp_path / "trace.parquet")
    with pytest.raises(TraceError, match="No such file"):
        read_trace(tmp_path / "nothing.parquet")


def test_an_inventory_is_generated_up_to_the_fill():
    machine = make_machine(tapes=make_tapes())
    trace = make_trace(*((0, "put", 1, number, 10 + number) for number in range(20)))
    held = make_inventory(trace, machine, fill_ratio=0.7, seed=1)
    assert 0.7 * 10_000 - 30 <= held["size_bytes"].sum() <= 0.7 * 10_000
    assert held.equals(make_inventory(trace, machine, fill_ratio=0.7, seed=1))
    assert not held.equals(make_inventory(trace, machine, fill_ratio=0.7, seed=2))
    trace = trace.with_columns(pl.col("file").cast(pl.String))
    assert run_trace(machine, trace, seed=1, inventory=held).totals.disk_used_bytes > held["size_bytes"].sum()


def test_a_disk_is_filled_with_a_bounded_number_of_files():
    machine = bundled_machine("llnl-unitree-1998")
    held = make_inventory(
        make_trace((0, "put", 1, 1, 5), (1, "put", 1, 2, 15)), machine, fill_ratio=0.75, seed=1
    )
    assert held["size_bytes"].sum() == pytest.approx(0.75 * machine.disk.capacity_bytes, rel=1e-4)
    assert held.height == pytest.approx(MADE_UP_LIMIT, rel=0.01)
