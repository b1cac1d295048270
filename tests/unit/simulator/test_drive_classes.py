"""Drives that serve only some classes of service serve no others, and others do not wait for them."""

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import MachineError, TraceError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.machines import Machine
from tapewise.simulator.runs import run_trace
from tapewise.simulator.worlds import make_world
from tests.unit.simulator.builders import make_library, make_library_machine, make_trace

MOUNT_S, READ_S, DISMOUNT_S = 4 + 7, 100 / 5, 3 + 2 + 4


def make_drives(count: int, *classes: str) -> dict:
    drives = {"count": count, "bytes_per_s": 5, "load_s": 7, "rewind_s": 3, "unload_s": 2}
    return drives | ({"classes_of_service": list(classes)} if classes else {})


def make_apart_machine(*drives: dict, capacity_bytes: int = 100, **tapes: object) -> Machine:
    """Make a machine whose cartridges have room for a single file of 100 bytes, with enough robots."""
    cartridges = {"capacity_bytes": capacity_bytes, "placement": "time"}
    robots = {"count": 100, "move_s": 4}
    return make_library_machine(
        make_library(drives=list(drives), robots=robots, cartridges=cartridges, **tapes),
        disk__largest_file_bytes=100,
    )


def draw_recalls(seed: int, count: int = 400) -> pl.DataFrame:
    """Draw gets of files of 100 bytes, each once, in three classes and without one."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(11.0, count))
    trace = make_trace(*((float(at), "get", 1, number, 100) for number, at in enumerate(times)))
    classes = rng.choice(np.array(["1", "2", "3", None]), count).tolist()
    return trace.with_columns(class_of_service=pl.Series(classes, dtype=pl.String))


def queue(trace: pl.DataFrame, groups: list[tuple[int, set | None]]) -> list[float]:
    """Return when each recall is read in plain Python; the oldest that a drive serves gets it."""
    drives = [[0.0, classes] for count, classes in groups for _ in range(count)]
    waiting = list(enumerate(trace.select("submitted_s", "class_of_service").rows()))
    ends: list[float] = [0.0] * trace.height
    while waiting:
        # Each drive's next recall, and when it can begin; the earliest begins, then the oldest.
        choices = []
        for number, (free_s, classes) in enumerate(drives):
            served = (
                (max(free_s, at_s), place, number)
                for place, (at_s, name) in waiting
                if classes is None or name in classes
            )
            if (first := min(served, default=None)) is not None:
                choices.append(first)
        begin_s = min(choices)[0]
        # At one moment, the drives choose in their order.
        _, place, number = min((each for each in choices if each[0] == begin_s), key=lambda each: each[2])
        ends[place] = begin_s + MOUNT_S + READ_S
        drives[number][0] = ends[place] + DISMOUNT_S
        waiting = [each for each in waiting if each[0] != place]
    return ends


@pytest.mark.parametrize(
    "groups",
    [
        [(2, {"1"}), (3, None)],
        [(1, {"1", "2"}), (1, {"2", "3"}), (2, {"3", "unknown"})],
        [(3, {"1"}), (1, {"2"}), (1, None)],
    ],
)
def test_recalls_queue_for_the_drives_of_their_class_only(groups):
    machine = make_apart_machine(*(make_drives(count, *(classes or ())) for count, classes in groups))
    assert machine.trace_columns == ["class_of_service"]
    trace = draw_recalls(1)
    known = trace.with_columns(pl.col("class_of_service").fill_null("unknown"))
    run = run_trace(machine, trace, seed=1)
    assert run.jobs["ended_s"].to_list() == pytest.approx(queue(known, groups), abs=1e-6)
    assert run.jobs["drive_wait_s"].max() > 100


def test_no_drive_ever_serves_another_class_and_cartridges_are_not_shared():
    drives = make_drives(2, "1"), make_drives(1, "2"), make_drives(2)
    cartridges = {"capacity_bytes": 5000, "placement": "time", "filled_count": 7}
    machine = make_apart_machine(
        *drives, store={"interval_s": 50, "min_age_s": 0}, recalls={"lazy_s": 30}, capacity_bytes=5000
    )
    tapes = machine.tapes.model_copy(
        update={"cartridges": machine.tapes.cartridges.model_copy(update=cartridges)}
    )
    for one in (machine, machine.model_copy(update={"tapes": tapes})):
        trace = draw_recalls(2)
        is_put = pl.int_range(pl.len()) % 3 == 0
        trace = trace.with_columns(direction=pl.when(is_put).then(pl.lit("put")).otherwise("direction"))
        demand = check_trace(trace, one)
        world = make_world(one, demand, seed=1, sample_s=1e9, sample_count=1)
        for _ in range(100_000):  # after each event
            if not run_events(world, 1):
                break
            for drive in world.drives[world.drives.cartridge >= 0]:
                assert world.serves[drive.group, world.cartridges[drive.cartridge].drive_set]
        assert world.state.unfinished_count[0] == 0
        jobs = world.jobs[: trace.height]
        served = {"1": {0, 2}, "2": {1, 2}, "3": {2}, None: {2}}
        for name, silo, is_staged in zip(trace["class_of_service"], jobs.silo, jobs.is_staged, strict=True):
            assert not is_staged or silo in served[name]
        assert {int(silo) for silo in jobs.silo[jobs.is_staged]} == {0, 1, 2}
        files = world.files[world.files.cartridge >= 0]
        assert (world.cartridges.drive_set[files.cartridge] == files.drive_set).all()
        assert files.drive_set.max() == 2


def test_a_mounted_cartridge_leaves_only_for_one_that_its_drive_serves():
    drives = make_drives(1, "1"), make_drives(1, "2")
    machine = make_apart_machine(*drives, recalls={"lazy_s": 1000})
    trace = make_trace(*((at, "get", 1, number, 100) for number, at in enumerate([0, 0, 100, 103])))
    trace = trace.with_columns(class_of_service=pl.Series(["1", "2", "2", "1"]))
    # The drive of class 2 is dismounting at 103 s, but that of class 1 has to dismount nevertheless.
    waits = run_trace(machine, trace, seed=1).jobs["drive_wait_s"].to_list()
    assert waits == [0, 0, DISMOUNT_S, DISMOUNT_S]


def make_writing_machine() -> Machine:
    """Make a machine with a drive for each of two classes, which writes at 50 s, and only after recalls."""
    store = {"interval_s": 50, "min_age_s": 0, "after_recalls": True}
    return make_apart_machine(make_drives(1, "1"), make_drives(1, "2"), store=store, capacity_bytes=200)


def test_a_drive_writes_on_while_recalls_wait_for_others_only():
    # The files of class 2 are on two cartridges, and the second waits for the drive of class 2.
    jobs = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100)]
    jobs += [(54, "get", 1, 3, 100), (54, "get", 1, 4, 100), (55, "get", 1, 5, 100)]
    trace = make_trace(*jobs).with_columns(class_of_service=pl.Series(list("11222")))
    tapes = run_trace(make_writing_machine(), trace, seed=1).totals.tapes
    # The drive of class 1 mounts once to write both files, and the other twice.
    assert (tapes.mount_count, tapes.recall_mount_count) == (3, 2)


def test_a_drive_stops_writing_for_a_recall_that_no_other_serves():
    # The files of class 1 fill a cartridge, and the drive of class 2 is empty.
    jobs = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100), (62, "get", 1, 3, 100), (400, "get", 1, 4, 100)]
    trace = make_trace(*jobs).with_columns(class_of_service=pl.Series(list("1111")))
    run = run_trace(make_writing_machine(), trace, seed=1)
    first_written_s = 50 + MOUNT_S + READ_S
    assert run.jobs["drive_wait_s"][2] == first_written_s + DISMOUNT_S - 62


def test_classes_that_no_drive_serves_are_refused():
    machine = make_apart_machine(make_drives(1, "1"), make_drives(1, "2"))
    with pytest.raises(TraceError, match=r"row \d+ of the trace: class_of_service \S+ is served by no drive"):
        run_trace(machine, draw_recalls(1), seed=1)
    with pytest.raises(TraceError, match=r"machine file has tapes\.drives\.classes_of_service"):
        run_trace(machine, draw_recalls(1).drop("class_of_service"), seed=1)
    with pytest.raises(MachineError, match="drives: none that serves class 1 may read"):
        make_apart_machine(make_drives(1, "1") | {"role": "write"}, make_drives(1, "2"))
    with pytest.raises(MachineError, match="drives: none that serves class 2 may write"):
        make_apart_machine(
            make_drives(1, "2") | {"role": "read"},
            make_drives(1, "1"),
            store={"interval_s": 50, "min_age_s": 0},
        )
