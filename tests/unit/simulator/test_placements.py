"""What a run says of the other placement of files where there is little to say."""

from types import SimpleNamespace

import pytest

from tapewise.simulator import descriptions
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.plans import run_other_placement
from tests.unit.simulator.builders import make_library, make_library_machine, make_trace
from tests.unit.simulator.test_cartridges import Job

ASSUMED = "  Placement assumed: by time. No log says which files share a cartridge."
TAPES = {
    **{"mount_count": 1200, "recall_count": 3},
    **{"mean_drive_wait_s": 1.0, "mean_load_wait_s": 20.0, "mean_locate_wait_s": 300.0},
}


@pytest.mark.parametrize(("jobs", "found"), [
    ([(0, "put", 1, 1, 900)], {"mount_count": 0, "recall_wait_s": None}),
    # Nothing is ever purged, so there is no room for the second put.
    ([(0, "put", 1, 1, 900), (1, "put", 1, 2, 200)], {"fault": "some requests never end"}),
])  # fmt: skip
def test_without_recalls_nothing_waits_and_runs_that_get_stuck_have_no_figures(jobs: list[Job], found: dict):
    tapes = make_library()
    machine = make_library_machine(tapes, disk__lvs_per_chain=1, disk__lv_bytes=1000,
                                   disk__largest_file_bytes=1000)  # fmt: skip
    trace = make_trace(*jobs)
    plan = SimpleNamespace(
        machine=machine, given=SimpleNamespace(trace=trace), seed=1, demand=check_trace(trace, machine)
    )
    assert run_other_placement(plan, machine.tapes, 600.0) == {"placement": "user", **found}


@pytest.mark.parametrize(("recall_count", "other", "text"), [
    (3, {"mount_count": 1500, "recall_wait_s": 9.25},
     "  The truth is likely between: by time 1,200 mounts, and a recall waits 321.0 s; by user 1,500 mounts,"
     " and a recall waits 9.2 s"),
    (0, {"mount_count": 5, "recall_wait_s": None},
     "  The truth is likely between: by time 1,200 mounts; by user 5 mounts"),
    (3, {"fault": "some requests never end"}, "  By user, there is no run: some requests never end."),
    (3, None, None),  # an earlier version ran no other placement
])  # fmt: skip
def test_people_read_what_was_assumed(recall_count: int, other: dict | None, text: str | None):
    options = {} if other is None else {"other_placement": {"placement": "user", **other}}
    run = SimpleNamespace(placement="time", options=options)
    said = list(descriptions._describe_placement(TAPES | {"recall_count": recall_count}, run))
    assert said == [ASSUMED] + ([] if text is None else [text])
