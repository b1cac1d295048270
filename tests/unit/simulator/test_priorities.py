"""Recalls go before writes, where a machine file says so."""

import pytest

from tests.unit.simulator.builders import (
    make_held,
    make_library,
    make_library_machine,
    make_machine,
    make_tapes,
)
from tests.unit.simulator.test_cartridges import ONE, USERS, columns, gets, run

WRITES = {"interval_s": 10, "min_age_s": 0}
HELD = make_held(*((number, 100, 100.0, False) for number in range(100, 104)))


def make_writing(is_after: bool, *, silos: int = 0, **changes):
    """Make a machine that begins to write four files at 10 s; then a get waits for a drive."""
    store = WRITES | {"after_recalls": is_after}
    if silos:
        tapes = make_tapes(store=store | {"cartridge_bytes": 200}, silos=[{"chain": 1, "drive_count": silos}])
        return make_machine(tapes=tapes, disk__chain_bytes_per_s=1000, network={
            "in_bytes_per_s": 1000, "out_bytes_per_s": 1000})  # fmt: skip
    tapes = {"drives": [ONE], "cartridges": USERS, "store": store} | changes
    return make_library_machine(make_library(**tapes))


@pytest.mark.parametrize(("is_after", "ended_s"), [(False, 121), (True, 61)])
def test_a_run_of_writes_ends_after_a_file_if_a_recall_waits(is_after, ended_s):
    # The drive has the cartridge at 21 s. It writes 4 files of 20 s, or only the first; then it takes 9 s to
    # return that cartridge, 11 s to bring the other, and 20 s to read.
    got = run(make_writing(is_after), *gets((25, 1)), held=HELD)
    assert columns(got, "ended_s") == [[ended_s + 20]]


def test_a_drive_that_came_free_reads_first_and_writes_when_no_recall_waits():
    # The drive is busy until 40 s: then user 2's recall, which came at 25 s, goes before the writes of 10 s.
    got = run(make_writing(True), *gets((0, 1), (25, 2), (26, 3)), (300, "get", 1, 9, 0), held=HELD)
    assert columns(got, "ended_s")[0][:3] == [31, 71, 111]
    assert got.totals.stored_count == 4
    assert columns(run(make_writing(False), *gets((0, 1), (25, 2)), held=HELD), "ended_s") == [[31, 171]]


def test_one_recall_needs_one_drive_and_none_that_only_writes():
    tables = {"drives": [ONE | {"count": 3}], "robots": {"count": 9, "move_s": 4},
              "cartridges": USERS | {"open_count": 2}}  # fmt: skip
    got = run(make_writing(True, **tables), *gets((22, 1)), (90, "get", 1, 9, 0), held=HELD)
    assert columns(got, "ended_s")[0][0] == 22 + 11 + 20  # the third drive is free
    assert got.totals.tapes.mount_count == 3 + 1
    two = tables | {"drives": [ONE | {"count": 2}]}
    got = run(make_writing(True, **two), *gets((22, 1)), (90, "get", 1, 9, 0), held=HELD)
    # Both write a file until 41 s. Only the first of them then makes room for the recall.
    assert columns(got, "ended_s")[0][0] == 41 + 9 + 11 + 20
    assert got.totals.tapes.drive_s["write"] == pytest.approx(80)
    other = tables | {"drives": [ONE | {"role": "write"}, ONE | {"role": "read"}]}
    got = run(make_writing(True, **other), *gets((0, 1), (12, 2)), (150, "get", 1, 9, 0), held=HELD)
    assert columns(got, "ended_s")[0][:2] == [31, 71]
    assert got.totals.tapes.mount_count == 5


def test_a_drive_that_goes_out_or_only_writes_is_not_free_for_a_recall():
    # At 41 s a file is written, the other drive returns its cartridge, and user 2's recall waits: there is no
    # other drive for it, so the run of writes ends.
    robots = {"count": 9, "move_s": 4}
    tapes = make_library(drives=[ONE, ONE], cartridges=USERS, robots=robots,
                         store=WRITES | {"after_recalls": True})  # fmt: skip
    outages = [{"what": "drives", "begins_s": 20, "lasts_s": 500, "group": 1}]
    machine = make_library_machine(tapes, outages=outages)
    got = run(machine, *gets((8, 1), (25, 2)), (90, "get", 1, 9, 0), held=HELD)
    assert columns(got, "ended_s")[0][:2] == [39, 41 + 9 + 11 + 20]
    drives = [ONE | {"role": "write"}, ONE]
    machine = make_writing(True, drives=drives, robots=robots, cartridges=USERS | {"open_count": 2})
    held = make_held((100, 50, 100.0, False), (101, 100, 100.0, False), (102, 40, 100.0, False),
                     (103, 100, 100.0, False))  # fmt: skip
    got = run(machine, *gets((25, 2)), (90, "get", 1, 9, 0), held=held)
    assert columns(got, "ended_s")[0][0] == 41 + 9 + 11 + 20


@pytest.mark.parametrize("is_after", [False, True])
def test_in_silos_the_list_waits_until_no_stage_does(is_after):
    # The first stage has the drive from 0 s, another asks at 5 s, the list at 10 s, and the last at 12 s.
    got = run(
        make_writing(is_after, silos=1), *gets((0, 1), (5, 1), (12, 1)), (500, "get", 1, 9, 0), held=HELD
    )
    first, second, third = columns(got, "ended_s")[0][:3]
    assert (first, second) == pytest.approx((27.1, 54.1))
    assert third == pytest.approx(81.1 if is_after else 54 + 7 + 40 + 27.1)
    assert got.totals.stored_count == 4
