"""Repack takes drives that are empty, as a single server takes vacations, and delays nobody for longer."""

import numpy as np
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import (
    make_library,
    make_library_machine,
    make_machine,
    make_tapes,
    make_trace,
)
from tests.unit.simulator.test_cartridges import ONE, USERS, gets, run


def make(ratio, piece_s, *, count=1, outages=(), **changes):
    tapes = make_library(drives=[ONE | {"count": count}], cartridges=USERS, **changes)
    tapes["repack"] = {"drive_ratio": ratio, "piece_s": piece_s}
    return make_library_machine(tapes, outages=outages)


def test_a_single_drive_takes_vacations_as_long_as_pieces():
    # A recall holds the drive for 11 s to mount, 20 s to read and 9 s to dismount. Repack is always late
    # here, so the drive begins a piece of 15 s whenever no recall waits.
    piece_s, served_s = 15, 40
    at_s = np.cumsum(np.random.default_rng(2).exponential(60, 200_000)).tolist()
    free_s, begins_s = 0.0, []
    for at in at_s:
        while free_s < at:
            free_s += piece_s
        begins_s.append(free_s)
        free_s += served_s
    # This is a server with fixed service and multiple vacations: the mean wait of M/D/1, and half a piece.
    load = served_s / 60
    formula_s = load * served_s / (2 * (1 - load)) + piece_s / 2
    assert np.mean(np.array(begins_s) - at_s) == pytest.approx(formula_s, rel=0.03)
    trace = make_trace(*((at, "get", n, n, 100) for n, at in enumerate(at_s[:300])))
    got = run_trace(make(1, piece_s), trace, seed=1)
    ends_s = [begins + 31 for begins in begins_s[:300]]
    assert got.jobs["ended_s"].to_list() == pytest.approx(ends_s, abs=1e-5)


def test_pieces_are_due_evenly_until_the_last_request_and_what_is_late_is_made_up_for():
    # Of two drives, .1 is wanted: a piece of 40 s every 200 s, of which there are 6 until 1,000 s.
    got = run(make(0.1, 40, count=2), *gets((1000, 1)))
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(
        5 * 40 + 31
    )  # the last one lasts until the end
    assert got.totals.levels["busy_drives"].peak == 2
    assert (got.totals.tapes.mount_count, got.totals.tapes.dismount_count) == (1, 0)
    got = run(make(0.1, 40, count=2), *gets((1000, 1), (1300, 2)))
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(7 * 40)
    # No piece is due after the last request, although a drive is empty while the other one reads two files.
    got = run(make(0.5, 10, count=2), *gets((1, 1), (1, 1)))
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(10)
    # Both drives are always busy: one from 0 to 110 s, the other from 5 to 105 s, when it takes the recall.
    got = run(make(1, 10, count=2), *gets((100, 1)))
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(210)
    assert got.jobs["ended_s"].round(6).to_list() == [136]
    # One drive: .5 of it is 10 s every 20 s. The recall at 1 s has the drive from 10 to 50 s, when the pieces
    # of 20 and 40 s are late. The recall of 55 s waits for the first of them, until 60 s.
    got = run(make(0.5, 10), *gets((1, 1), (55, 2), (200, 3)))
    assert got.jobs["ended_s"].round(6).to_list() == [41, 91, 241]
    # They begin at 0 and 50 s, six from 100 to 150 s, then at 160, 180 and 200 s, when they are due.
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(110)


def test_repack_takes_no_drive_that_is_wanted_mounted_or_out():
    assert (
        run(make(1, 100, recalls={"lazy_s": 1e6}), *gets((0, 1), (500, 1))).jobs["ended_s"].round(6)[1] == 520
    )
    outages = [{"what": "drives", "begins_s": 50, "lasts_s": 300}]
    got = run(make(1, 100, outages=outages), *gets((360, 1)))
    # The piece that has begun ends at 100 s, the next one begins at 350 s.
    assert got.totals.tapes.drive_s["out"] == pytest.approx(250)
    assert got.jobs["ended_s"].round(6).to_list() == [450 + 31]
    outages = [{"what": "archive", "begins_s": 50, "lasts_s": 300}]
    got = run(make(0.25, 100, outages=outages), *gets((900, 1)))
    # Due at 0, 400 and 800 s; the first ends at 400 s.
    assert got.totals.tapes.drive_s["repack"] == pytest.approx(300)
    assert got.totals.tapes.mounted_count == 1


@pytest.mark.parametrize(("fields", "message"), [
    ({"drive_ratio": 0}, "small: tapes.repack.drive_ratio: must be above 0"),
    ({"drive_ratio": 1.1}, "small: tapes.repack.drive_ratio: must be at most 1"),
    ({"piece_s": 0}, "small: tapes.repack.piece_s: must be above 0"),
])  # fmt: skip
def test_what_no_repack_can_be_is_refused_with_its_field(fields, message):
    with pytest.raises(MachineError) as error:
        make_library_machine(make_library(repack={"drive_ratio": 0.5, "piece_s": 1} | fields))
    assert str(error.value).startswith(message)
    with pytest.raises(MachineError, match=r"small: tapes\.repack: there is no such key"):
        make_machine(tapes=make_tapes(repack={"drive_ratio": 0.5, "piece_s": 1}))


def test_more_pieces_than_a_run_can_take_are_refused():
    # The last request comes after 1000 s, in which half a drive has 10 million pieces of 50 microseconds.
    trace = make_trace((0, "get", 1, 1, 100), (1000, "get", 2, 2, 100))
    with pytest.raises(MachineError, match=r"4\.9e-05 s are 10,204,082 pieces until the last request"):
        run_trace(make(0.5, 4.9e-5), trace, seed=1)
    few = make_trace((0, "get", 1, 1, 100), (1, "get", 2, 2, 100))
    assert run_trace(make(0.5, 4.9e-5), few, seed=1).totals.tapes.drive_s["repack"] > 0
