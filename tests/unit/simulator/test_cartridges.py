"""Cartridges, drives and robots agree with hand calculations and queueing theory, and lose nothing."""

import heapq
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.schema.errors import MachineError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel import locate
from tapewise.simulator.kernel.cartridges import READ, WRITE
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import EMPTY, LOADING, LOCATING, OUT, READING, WRITING
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import TIME_COLUMNS, Run
from tapewise.simulator.runs import run_trace
from tapewise.simulator.worlds import make_world
from tests.unit.simulator.builders import make_held, make_library, make_library_machine, make_trace

Job = tuple[float, str, int, int, int]
ONE = {"count": 1, "bytes_per_s": 5, "load_s": 7, "rewind_s": 3, "unload_s": 2}
USERS = {"capacity_bytes": 1000, "placement": "user"}
# One wrap of 500 bytes there and one back, so that a file at 600 bytes is near one at 300.
LOCATE = {"end_to_end_s": 100, "band_count": 1, "wraps_per_band": 2}


def run(machine: Machine, *jobs: Job, held: pl.DataFrame | None = None) -> Run:
    return run_trace(machine, make_trace(*jobs), seed=1, inventory=held, sample_s=1e6)


def columns(run_: Run, *names: str) -> list[list[float]]:
    return [[round(value, 5) for value in run_.jobs[name]] for name in names]


def gets(*times_and_users: tuple[float, int], size: int = 100) -> list[Job]:
    return [(at, "get", user, number, size) for number, (at, user) in enumerate(times_and_users)]


def test_a_file_moves_at_its_drives_rate_however_many_drives_there_are():
    drives = [{"count": 10, "bytes_per_s": 400e6}]
    tapes = make_library(drives=drives, cartridges={"capacity_bytes": 18 * 10**12, "placement": "time"})
    got = run(make_library_machine(tapes, network={"in_bytes_per_s": 4e9, "out_bytes_per_s": 4e9}),
              (0, "get", 1, 1, 400 * 10**9))  # fmt: skip
    assert got.jobs["staging_s"].to_list() == [1000]
    assert columns(got, "stage_s") == [[4 + 1000]]
    assert got.totals.tapes.drive_s["read"] == pytest.approx(1000)


def test_requests_for_one_cartridge_share_a_mount_and_others_wait_for_its_dismount():
    # Robot and load take 4 + 7 s, and each file 20 s. User 1's two files are read until 51 s. Then the drive
    # rewinds, unloads and returns the cartridge, until 60 s, and user 2's is there at 71 s.
    got = run(make_library_machine(make_library(drives=[ONE], cartridges=USERS)),
              *gets((0, 1), (1, 2), (5, 1)))  # fmt: skip
    assert columns(got, "drive_wait_s", "load_wait_s") == [[0, 59, 20], [11, 11, 6]]
    assert columns(got, "ended_s") == [[31, 91, 51]]
    assert all((got.jobs.select(pl.sum_horizontal(TIME_COLUMNS)).to_series() - got.jobs["ended_s"]
                + got.jobs["submitted_s"]).abs() < 1e-6)  # fmt: skip
    tapes = got.totals.tapes
    assert (tapes.mount_count, tapes.recall_mount_count, tapes.dismount_count) == (2, 2, 1)
    steps = {name: seconds for name, seconds in tapes.drive_s.items() if round(seconds, 5)}
    assert steps == pytest.approx(
        {"fetch": 8, "load": 14, "read": 60, "rewind": 3, "unload": 2, "return": 4}, abs=1e-5
    )


def test_a_cartridge_goes_back_after_as_many_recalls_as_a_mount_may_serve():
    # User 1's second file waits behind user 2's, who asked first: its cartridge comes back at 140 s.
    tapes = make_library(drives=[ONE], cartridges=USERS, recalls={"most_per_mount": 1, "lazy_s": 1e9})
    got = run(make_library_machine(tapes), *gets((0, 1), (1, 2), (5, 1)))
    assert columns(got, "ended_s") == [[31, 71, 111]]
    assert columns(got, "load_wait_s") == [[11, 11, 11]]
    assert got.totals.tapes.mount_count == 3


def test_only_the_recalls_of_the_next_mount_wait_for_its_load():
    tapes = make_library(drives=[ONE], cartridges=USERS, recalls={"most_per_mount": 1})
    got = run(make_library_machine(tapes), *gets((0, 1), (1, 2), (2, 2)))
    assert columns(got, "ended_s") == [[31, 71, 111]]
    assert columns(got, "drive_wait_s", "load_wait_s") == [[0, 39, 78], [11, 11, 11]]


@pytest.mark.parametrize(
    ("lazy_s", "second_s", "ended_s", "mounts"),
    [
        # Until 51 s the first cartridge stays in the drive, and its next file is read at once.
        (20, 50, 70, 1),
        # After that it goes back, until 60 s; a request at 52 s waits for that, and for another mount.
        (20, 52, 60 + 11 + 20, 2),
        (0, 50, 50 + 11 + 20, 2),
    ],
)
def test_an_unwanted_cartridge_stays_in_its_drive_for_a_while(lazy_s, second_s, ended_s, mounts):
    tapes = make_library(drives=[ONE], cartridges=USERS, recalls={"lazy_s": lazy_s})
    got = run(make_library_machine(tapes), *gets((0, 1), (second_s, 1)))
    assert columns(got, "ended_s") == [[31, ended_s]]
    assert got.totals.tapes.mount_count == mounts


def test_an_unwanted_cartridge_leaves_for_another_only_if_no_other_drive_is_free_or_about_to_be():
    # Two drives keep the cartridges of users 1 and 2. User 3's request at 100 s empties one of them, and the
    # other is still there for user 2 at 101 s.
    tapes = make_library(drives=[ONE | {"count": 2}], cartridges=USERS, recalls={"lazy_s": 1e9})
    got = run(make_library_machine(tapes), *gets((0, 1), (1, 2), (100, 3), (101, 2)))
    assert columns(got, "ended_s") == [[31, 35, 100 + 9 + 11 + 20, 121]]
    assert got.totals.tapes.drive_s["mounted"] == pytest.approx(
        (100 - 31) + (101 - 35) + (140 - 121), abs=1e-5
    )


def test_reads_and_writes_that_wait_for_a_drive_are_counted_together():
    # At 195 s, the first drive leaves for user 3's file, and at 200 s the second one for user 4's put.
    tapes = make_library(drives=[ONE | {"count": 2}], cartridges=USERS, recalls={"lazy_s": 1e9}, store=STORE,
                         robots={"count": 2, "move_s": 4})  # fmt: skip
    got = run(make_library_machine(tapes), *gets((0, 1), (1, 2)), (149, "put", 4, 8, 100),
              (195, "get", 3, 9, 100), (235, "put", 4, 10, 1))  # fmt: skip
    assert columns(got, "ended_s")[0][3] == 195 + 9 + 11 + 20
    assert got.totals.tapes.drive_s["mounted"] == pytest.approx((195 - 31) + (200 - 32), abs=1e-5)


def test_robots_move_one_cartridge_at_a_time_first_come_first_served():
    tapes = make_library(drives=[ONE | {"count": 3}], cartridges=USERS, robots={"count": 2, "move_s": 10})
    got = run(make_library_machine(tapes), *gets((0, 1), (1, 2), (2, 3)))
    assert columns(got, "load_wait_s") == [[17, 17, 8 + 17]]


@pytest.mark.parametrize(
    ("order", "ended"),
    # The files of 100 bytes are at 300, 700 and 0 bytes and asked for in this order; the head is at 0. The
    # second wrap runs backwards, so that 700 bytes is 60 % along the tape and 400 bytes 80 %.
    [
        # 4.29 + 60 - 6.04 (the other half); 4.29 + 6.69 + 5.22 (turn) + 20; 4.29 + 6.69 + 5.22 + 40
        ("arrival", [11 + 58.25 + 20, 89.25 + 36.2 + 20, 145.45 + 56.2 + 20]),
        # 0; 4.29 + 40 - 6.04 from 100 bytes (20 %) to 300; 36.2 as above
        ("record", [31 + 38.25 + 20, 89.25 + 36.2 + 20, 31]),
        ("nearest", [31 + 38.25 + 20, 89.25 + 36.2 + 20, 31]),
    ],
)
def test_recalls_are_read_in_the_order_of_the_machine(order, ended):
    got = run_placed(order, {0: 300, 1: 700, 2: 0})
    assert [round(value, 5) for value in got] == [round(value, 5) for value in ended]


def test_the_nearest_file_may_be_further_along_the_tape():
    # From 100 bytes, the file at 900 bytes (20 % along) is nearer than the one at 350 (70 %): 16.2 s. Then
    # from 1000 bytes (the beginning of the tape) to 350: 4.29 + 6.69 + 5.22 - 6.04 + 70.
    got = run_placed("nearest", {0: 350, 1: 900, 2: 0})
    assert [round(value, 5) for value in got] == [round(31 + 16.2 + 20 + 80.16 + 20, 5), 31 + 16.2 + 20, 31]
    by_record = run_placed("record", {0: 350, 1: 900, 2: 0})
    assert by_record[1] > by_record[0]


def test_files_that_are_equally_near_are_read_in_the_order_of_arrival():
    assert run_placed("nearest", {0: 350, 1: 900, 2: 0}, locate=None) == pytest.approx([31, 51, 71])


def run_placed(order: str, positions: dict[int, float], locate: dict | None = LOCATE) -> list[float]:
    """Run gets of files on one cartridge at these positions; returns when their stages ended."""
    tapes = make_library(drives=[ONE], cartridges={"capacity_bytes": 1000, "placement": "time"},
                         recalls={"order": order}, locate=locate)  # fmt: skip
    machine = make_library_machine(tapes)
    trace = make_trace(*((0, "get", 1, file, 100) for file in positions))
    world = make_world(machine, check_trace(trace, machine), seed=1, sample_s=1e6, sample_count=1)
    world.files.position_bytes = list(positions.values())
    while run_events(world, 1000):
        pass
    return world.jobs.stage_ended_s[: len(positions)].tolist()


@pytest.mark.parametrize(
    ("start", "end", "seconds"),
    [
        (0, 0, 0),
        (0, 100, 4.29 + 20),  # wraps of 500 bytes, two in each of two bands
        (0, 300, 4.29 + 30 - 6.04 + 30),
        (300, 260, 4.29 + 4 * 2 + 11.32),  # back in the wrap
        (0, 900, 4.29 + 20 + 6.69 + 5.22),  # the next wrap, backwards
        (0, 1100, 4.29 + 20 + 6.69 + 3.2),  # the next band, in the same direction
        (0, 2000, 4.29 + 6.69 + 3.2 + 5.22),  # the very end of the last wrap is at the beginning of the tape
    ],
)
def test_times_to_locate_are_worked_by_hand(start, end, seconds):
    assert locate_by_hand(2000, 2, 2, 100, start, end) == pytest.approx(seconds)


def locate_by_hand(
    capacity: float, bands: int, wraps: int, length_s: float, start: float, end: float
) -> float:
    tape = SimpleNamespace(cartridge_bytes=capacity, wraps_per_band=wraps, wrap_count=bands * wraps,
                           end_to_end_s=length_s, has_locate=True)  # fmt: skip
    function: Any = getattr(locate.locate_s, "py_func", locate.locate_s)
    return float(function(SimpleNamespace(drive_sets=[tape]), 0, start, end))


def test_the_mean_time_from_the_load_point_is_the_published_one():
    # IBM gives 45 s for LTO-9, which has 4 bands of 70 wraps.
    positions = np.random.default_rng(1).random(20_000)
    assert np.mean([locate_by_hand(1, 4, 70, 64, 0, one) for one in positions]) == pytest.approx(45, abs=1)


STORE = {"interval_s": 100, "min_age_s": 50}


def puts(*users: int, size: int = 300) -> list[Job]:
    return [(0, "put", user, number, size) for number, user in enumerate(users)]


@pytest.mark.parametrize(
    ("placement", "open_count", "mounts", "ended_s"),
    [
        # Three files fit on a cartridge. It is there at 111 s and full at 291 s; the other one is written in
        # the second drive meanwhile, and the drives go back to be empty.
        ("time", 1, 2, 111 + 180),
        ("time", 2, 2, 111 + 120),
        ("user", 1, 3, 111 + 120),
    ],
)
def test_files_are_written_to_their_cartridges_in_one_run_each(placement, open_count, mounts, ended_s):
    cartridges = {"capacity_bytes": 1000, "placement": placement, "open_count": open_count}
    tapes = make_library(drives=[ONE | {"count": 3}], robots={"count": 9, "move_s": 4}, store=STORE,
                         cartridges=cartridges, locate=LOCATE)  # fmt: skip
    got = run(make_library_machine(tapes), *puts(1, 2, 1, 3), (1000, "put", 1, 9, 1))
    assert (got.totals.stored_count, got.totals.stored_bytes) == (4, 1200)
    tape = got.totals.tapes
    assert (tape.mount_count, tape.dismount_count, tape.recall_mount_count) == (mounts, mounts, 0)
    assert tape.drive_s["write"] == pytest.approx(1200 / 5, abs=1e-5)
    assert tape.drive_s["locate"] == 0  # blank cartridges are written from the beginning


def test_a_file_may_fill_a_cartridge_to_its_end():
    tapes = make_library(store=STORE, cartridges={"capacity_bytes": 1000, "placement": "time"})
    got = run(make_library_machine(tapes), *puts(1, 1, size=500), (900, "put", 1, 9, 1))
    assert got.totals.tapes.mount_count == 1


def test_a_later_list_is_appended_to_the_cartridge_that_is_not_full():
    # The second list is written at the end of the first, 60 % along the tape.
    tapes = make_library(drives=[ONE], store=STORE, locate=LOCATE | {"wraps_per_band": 1},
                         cartridges={"capacity_bytes": 1000, "placement": "time"})  # fmt: skip
    got = run(make_library_machine(tapes), *puts(1, 1), (200, "put", 1, 8, 300), (900, "put", 1, 9, 1))
    assert got.totals.tapes.mount_count == 2
    assert got.totals.tapes.drive_s["locate"] == pytest.approx(4.29 + 60 - 6.04)


def test_a_mount_serves_its_recalls_first_then_what_is_to_be_written():
    # Files 0 and 1 are written to one cartridge until 231 s, and purged. At 331 s, file 2 is to be written to
    # it. File 0 is asked for during the load, until 342 s, so it is read first. File 1 is asked for during
    # the run, from 402 to 462 s, and waits for its end.
    purge = {"high_ratio": 0.3, "low_ratio": 0.1, "keep_s": 0}
    tapes = make_library(drives=[ONE], store=STORE, cartridges={"capacity_bytes": 1000, "placement": "time"})
    machine = make_library_machine(tapes, purge=purge, disk__lvs_per_chain=1, disk__lv_bytes=800,
                                   disk__largest_file_bytes=800)  # fmt: skip
    got = run(machine, *puts(1, 1), (250, "put", 1, 2, 300), (335, "get", 1, 0, 300),
              (410, "get", 1, 1, 300))  # fmt: skip
    assert got.totals.purged_count >= 2
    assert got.jobs["is_staged"].to_list() == [False, False, False, True, True]
    assert columns(got, "ended_s")[0][3:] == [402, 522]
    assert columns(got, "drive_wait_s", "load_wait_s") == [[0, 0, 0, 0, 52], [0, 0, 0, 7, 0]]
    assert got.totals.tapes.mount_count == 2


def test_drives_for_writing_leave_recalls_to_drives_for_reading():
    drives = [ONE | {"role": "write"}, ONE | {"role": "read"}]
    tapes = make_library(drives=drives, store=STORE, recalls={"lazy_s": 1e9},
                         robots={"count": 2, "move_s": 4},
                         cartridges={"capacity_bytes": 1000, "placement": "time"})  # fmt: skip
    purge = {"high_ratio": 0.75, "low_ratio": 0.1, "keep_s": 0}
    machine = make_library_machine(tapes, purge=purge, disk__lvs_per_chain=1, disk__lv_bytes=800,
                                   disk__largest_file_bytes=800)  # fmt: skip
    # File 0 is read in the second drive, to which its cartridge goes from the first: 9 s to leave.
    got = run(machine, *puts(1, 1), (320, "get", 1, 0, 300))
    assert columns(got, "ended_s")[0][2] == 320 + 9 + 11 + 60
    assert got.totals.tapes.mount_count == 2
    # What is to be written at 431 s goes back to the first drive.
    got = run(machine, *puts(1, 1), (320, "get", 1, 0, 300), (340, "put", 1, 2, 10), (900, "put", 1, 3, 1))
    assert (got.totals.stored_count, got.totals.tapes.mount_count) == (3, 3)
    # Each recall waits for a load of the second drive only.
    got = run(machine, *puts(1, 1), (235, "get", 1, 0, 300), (250, "put", 1, 2, 10), (390, "get", 1, 1, 300))
    assert got.jobs["is_staged"].to_list() == [False, False, True, False, True]
    assert columns(got, "load_wait_s")[0][2:] == [11, 0, 11]


def test_a_recall_does_not_wait_for_the_load_of_a_drive_that_only_writes():
    # At 331 s, the drive that writes fetches the cartridge again, and loads it until 342 s. File 0 is asked
    # for at 337 s. It waits for 10 B to be written, until 344 s, and for the return, until 353 s.
    drives = [ONE | {"role": "write"}, ONE | {"role": "read"}]
    tapes = make_library(drives=drives, store=STORE, robots={"count": 2, "move_s": 4},
                         cartridges={"capacity_bytes": 1000, "placement": "time"})  # fmt: skip
    purge = {"high_ratio": 0.75, "low_ratio": 0.1, "keep_s": 0}
    machine = make_library_machine(tapes, purge=purge, disk__lvs_per_chain=1, disk__lv_bytes=800,
                                   disk__largest_file_bytes=800)  # fmt: skip
    got = run(machine, *puts(1, 1), (250, "put", 1, 2, 10), (337, "get", 1, 0, 300))
    assert columns(got, "drive_wait_s", "load_wait_s") == [[0, 0, 0, 16], [0, 0, 0, 11]]
    # If it is asked for before that fetch, while the other drive is reading until 351 s, it does not either.
    got = run(machine, *puts(1, 1), (250, "put", 1, 2, 10), (320, "get", 2, 3, 100), (325, "get", 1, 0, 300))
    assert columns(got, "drive_wait_s", "load_wait_s") == [[0, 0, 0, 0, 351 + 9 - 325], [0, 0, 0, 11, 11]]


def test_the_way_to_a_file_begins_at_the_end_of_what_was_written():
    # File 2 is written from 600 to 900 bytes, until 331 + 11 + 58.25 + 60 s. File 1, at 300 bytes, was asked
    # for meanwhile: back in the wrap by 60 % of the tape, into its other half.
    purge = {"high_ratio": 0.3, "low_ratio": 0.1, "keep_s": 0}
    tapes = make_library(drives=[ONE], store=STORE, locate=LOCATE | {"wraps_per_band": 1},
                         cartridges={"capacity_bytes": 1000, "placement": "time"})  # fmt: skip
    machine = make_library_machine(tapes, purge=purge, disk__lvs_per_chain=1, disk__lv_bytes=800,
                                   disk__largest_file_bytes=800)  # fmt: skip
    got = run(machine, *puts(1, 1), (250, "put", 1, 2, 300), (410, "get", 1, 1, 300))
    assert got.jobs["is_staged"].to_list() == [False, False, False, True]
    back_s = 4.29 + 60 - 6.04 + 11.32
    assert columns(got, "locate_wait_s", "ended_s")[0][3] == round(back_s, 5)
    assert columns(got, "ended_s")[0][3] == round(331 + 11 + 58.25 + 60 + back_s + 60, 5)


def test_a_spread_file_lies_before_the_end_of_its_cartridge():
    # Three files of 600 bytes, spread over 2,000: the second would begin at 667 bytes, and ends at the end.
    cartridges = {"capacity_bytes": 1000, "placement": "time", "filled_count": 2}
    machine = make_library_machine(make_library(cartridges=cartridges))
    trace = make_trace(*gets(*[(0, 1)] * 3, size=600))
    world = make_world(machine, check_trace(trace, machine), seed=1, sample_s=1.0, sample_count=1)
    places = zip(world.files.cartridge.tolist(), world.files.position_bytes.tolist(), strict=True)
    assert sorted(places) == [(0, 0), (0, 400), (1, pytest.approx(1000 / 3))]


def test_a_drive_that_leaves_counts_only_for_what_it_may_do():
    # At 231 s, the first drive leaves for user 6's put. The recall of 235 s needs the second one at once.
    drives = [ONE | {"role": "write"}, ONE | {"role": "read"}]
    tapes = make_library(drives=drives, store=STORE, recalls={"lazy_s": 1e9}, cartridges=USERS,
                         robots={"count": 2, "move_s": 4})  # fmt: skip
    got = run(make_library_machine(tapes), (0, "get", 1, 0, 100), (0, "put", 5, 1, 100),
              (149, "put", 6, 2, 100), (235, "get", 2, 3, 100), (300, "put", 6, 4, 1))  # fmt: skip
    assert columns(got, "ended_s")[0][3] == 235 + 9 + 11 + 20
    assert got.totals.stored_count == 2


def test_files_from_before_the_run_are_spread_over_the_filled_cartridges():
    cartridges = {"capacity_bytes": 1000, "placement": "time", "filled_count": 5}
    machine = make_library_machine(make_library(cartridges=cartridges))
    trace = make_trace(*gets(*[(0, 1)] * 20))
    world = make_world(machine, check_trace(trace, machine), seed=1, sample_s=1.0, sample_count=1)
    places = sorted(zip(world.files.cartridge.tolist(), world.files.position_bytes.tolist(), strict=True))
    assert places == [(one, at) for one in range(5) for at in (0, 250, 500, 750)]
    assert world.files.cartridge.tolist() != sorted(world.files.cartridge.tolist())  # at random
    with pytest.raises(MachineError, match=r"tapes\.cartridges\.filled_count: 1 cartridges hold 1000 bytes"):
        run(make_library_machine(make_library(cartridges=cartridges | {"filled_count": 1})),
            *gets(*[(0, 1)] * 20))  # fmt: skip


def test_a_users_files_from_before_the_run_lie_together():
    # Those of user 1 fit on one cartridge, and begin anywhere on it; those of user 2 fill one and a half.
    cartridges = {"capacity_bytes": 1000, "placement": "user", "filled_count": 3}
    machine = make_library_machine(make_library(cartridges=cartridges))
    trace = make_trace(*gets(*[(0, 1)] * 4, *[(0, 2)] * 15))
    world = make_world(machine, check_trace(trace, machine), seed=1, sample_s=1.0, sample_count=1)
    cartridge, position = world.files.cartridge, world.files.position_bytes
    assert cartridge[:4].tolist() == [0] * 4
    first = position[:4].min()
    assert 0 < first < 600
    assert sorted(position[:4]) == pytest.approx([first + 100 * n for n in range(4)])
    assert sorted(zip(cartridge[4:].tolist(), position[4:].tolist(), strict=True)) == [
        *((1, 100 * n) for n in range(10)), *((2, 100 * n) for n in range(5))
    ]  # fmt: skip
    with pytest.raises(MachineError, match=r"filled_count is 2, but the files of the users are on 3"):
        run(make_library_machine(make_library(cartridges=cartridges | {"filled_count": 2})), *trace.rows())


def test_unstored_files_on_disk_get_their_cartridges_only_when_they_are_written():
    machine = make_library_machine(make_library(store=STORE))
    held = make_held((1, 100, 900, False), (2, 100, 800, True))
    trace = make_trace((0, "get", 1, 1, 100), (500, "get", 1, 2, 100), (500, "put", 1, 3, 100))
    world = make_world(machine, check_trace(trace, machine, held), seed=1, sample_s=1.0, sample_count=1)
    assert world.files.cartridge.tolist() == [-1, 0, -1]
    assert run(machine, *trace.rows(), held=held).totals.stored_count == 1


# Queueing theory: every file is on a cartridge of its own, because every file has a user of its own.
def run_queue(count: int, drives: dict[str, Any], *, load: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the waits for a drive, and those of a list of drives that are given first come, first served."""
    rng = np.random.default_rng(seed)
    fixed_s = sum(drives[name] for name in ("load_s", "rewind_s", "unload_s")) + 2 * 10
    sizes = np.maximum(1, rng.exponential(1_000_000, count).astype(np.int64))
    busy_s = fixed_s + sizes / 1_000_000
    at_s = np.cumsum(rng.exponential((fixed_s + 1) / load / drives["count"], count))
    tapes = make_library(
        cartridges={"capacity_bytes": 10**9, "placement": "user"},
        drives=[drives | {"bytes_per_s": 1_000_000}],
        robots={"count": drives["count"], "move_s": 10},
    )
    if not drives["load_s"]:
        tapes["robots"]["move_s"] = 0
        busy_s = busy_s - fixed_s
        at_s = at_s / (fixed_s + 1)
    trace = pl.DataFrame(
        {"submitted_s": at_s, "direction": "get", "user": np.arange(count), "file": np.arange(count),
         "size_bytes": sizes}
    )  # fmt: skip
    jobs = run_trace(make_library_machine(tapes), trace, seed=1, sample_s=1e7).jobs
    free = [0.0] * drives["count"]
    waits = np.zeros(count)
    for number in range(count):
        began_s = max(at_s[number], heapq.heappop(free))
        waits[number] = began_s - at_s[number]
        heapq.heappush(free, began_s + busy_s[number])
    return jobs["drive_wait_s"].to_numpy(), waits


def test_waits_for_drives_are_those_of_first_come_first_served():
    drives = {"count": 6, "load_s": 17, "rewind_s": 55, "unload_s": 30}
    ours, theirs = run_queue(20_000, drives, load=0.85, seed=1)
    assert theirs.mean() > 10
    assert np.abs(ours - theirs).max() < 1e-5


def test_the_mean_wait_for_four_drives_is_that_of_erlangs_formula():
    drives = {"count": 4, "load_s": 0, "rewind_s": 0, "unload_s": 0}
    means = np.array([run_queue(20_000, drives, load=0.8, seed=seed)[0][2000:].mean() for seed in range(10)])
    offered = 0.8 * 4
    busy = offered**4 / math.factorial(4) / 0.2
    waiting = busy / (sum(offered**k / math.factorial(k) for k in range(4)) + busy)
    half = 2.262 * means.std(ddof=1) / math.sqrt(len(means))
    assert abs(means.mean() - waiting / (4 * 0.2)) <= half
    assert half < 0.1 * means.mean()


OUTAGES = [
    {"what": "drives", "group": 1, "begins_s": 15, "lasts_s": 50, "every_s": 200},
    {"what": "archive", "begins_s": 40, "lasts_s": 30},
    {"what": "robots", "count": 1, "begins_s": 60, "lasts_s": 50, "every_s": 70},
]


TECHNOLOGIES = {"old": {"older_ratio": 0.5, "capacity_bytes": 701}, "new": {"older_ratio": 0.5}}
BY_TECHNOLOGY = [
    [{"reads": ["old", "new"], "writes": ["new"]}],
    [{"reads": ["old"]}, {"reads": ["new"], "writes": ["new"]}],
    [{"reads": ["new"]}, {"writes": ["old"]}, {"reads": ["old", "new"]}],
]


def draw_library(data: st.DataObject) -> dict:
    whole = [["both"], ["read", "write"], ["both", "read"], ["write", "both"]]
    roles = [[{"role": role} for role in each] for each in whole]
    uses = data.draw(st.sampled_from([*roles, *(["technologies", *each] for each in BY_TECHNOLOGY)]))
    has_technologies = uses[0] == "technologies"
    return make_library(
        drives=[ONE | {"count": data.draw(st.integers(1, 2))} | use for use in uses[has_technologies:]],
        technologies=TECHNOLOGIES if has_technologies else {},
        robots={"count": data.draw(st.integers(1, 2)), "move_s": data.draw(st.sampled_from([0, 4]))},
        cartridges={
            "capacity_bytes": 700,
            "placement": data.draw(st.sampled_from(["time", "user"])),
            "open_count": data.draw(st.integers(1, 2)),
            "filled_count": data.draw(st.sampled_from([None, 50])),
        },
        recalls={
            "order": data.draw(st.sampled_from(["arrival", "record", "nearest"])),
            "most_per_mount": data.draw(st.sampled_from([1, 2, 100])),
            "lazy_s": data.draw(st.sampled_from([0, 50, 1e9])),
        },
        locate=data.draw(st.sampled_from([None, LOCATE])),
        store={"interval_s": 60, "min_age_s": 30},
    )


@pytest.mark.study("simulator")
@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data(), seed=st.integers(0, 10_000), span=st.sampled_from([1, 100, 2000]))
def test_no_cartridge_is_in_two_drives_and_no_mount_is_lost(data, seed, span):
    machine = make_library_machine(
        draw_library(data),
        disk__lvs_per_chain=3,
        disk__lv_bytes=data.draw(st.sampled_from([700, 10**6])),
        purge={"high_ratio": 0.8, "low_ratio": 0.5, "keep_s": 0},
        outages=data.draw(st.sampled_from([(), OUTAGES])),
    )
    trace = draw_requests(seed, data.draw(st.integers(1, 60)), span)
    demand = check_trace(trace, machine)
    world = make_world(machine, demand, seed=seed, sample_s=1e6, sample_count=1)
    state, drives, cartridges = world.state[0], world.drives, world.cartridges
    while run_events(world, 1):
        inside = np.flatnonzero(drives.cartridge >= 0)
        assert (cartridges.drive[drives.cartridge[inside]] == inside).all()
        assert (cartridges.drive >= 0).sum() == len(inside)
        assert set(inside) >= set(np.flatnonzero((drives.step != EMPTY) & (drives.step != OUT)))
        drive_sets = cartridges.drive_set[drives.cartridge[inside]]
        allowed = world.serves[drives.group[inside], drive_sets]
        assert (allowed[np.isin(drives.step[inside], (LOADING, LOCATING))] > 0).all()
        assert (allowed[drives.step[inside] == READING] & READ > 0).all()
        assert (allowed[drives.step[inside] == WRITING] & WRITE > 0).all()
        counts = [machine.tapes.robots.count, *(tier.fetcher_count for tier in machine.tapes.tiers)]
        there = world.movers.free_count + world.movers.out_count
        assert (there >= 0).all() and (there <= counts).all()
        waiting = world.waiting[: state.waiting_count]
        assert (cartridges.drive[waiting] < 0).all()
        assert (cartridges.place >= 0).sum() == state.waiting_count == len(set(waiting.tolist()))
    got = run_trace(machine, trace, seed=seed, sample_s=1e6)
    tapes = got.totals.tapes
    assert tapes.mount_count == tapes.dismount_count + tapes.mounted_count
    assert sum(tapes.drive_s.values()) == pytest.approx(machine.tapes.drive_count * got.totals.ended_s)
    assert tapes.drive_s["ready"] == 0
    moved = got.totals.moved_bytes
    tape = sum(value for name, value in moved.items() if name.startswith("tape_drives"))
    staged = int(got.jobs.filter(pl.col("is_staged") & pl.col("stage_s").is_not_null())["size_bytes"].sum())
    assert tape >= staged + got.totals.stored_bytes - 1e-6
    # No file lies over the end of its cartridge.
    ends = world.files.position_bytes + world.files.size_bytes
    rooms = world.drive_sets.cartridge_bytes[world.files.drive_set]
    assert (ends <= rooms)[world.files.cartridge >= 0].all()
    if machine.tapes.technologies:
        totals = tapes.technologies
        assert sum(one.mount_count for one in totals) == tapes.mount_count
        assert sum(one.recall_count for one in totals) == tapes.recall_count
        used_s = sum(tapes.drive_s.values()) - tapes.drive_s["empty"] - tapes.drive_s["out"]
        assert sum(one.drive_s for one in totals) == pytest.approx(used_s, abs=1e-6)


def draw_requests(seed: int, count: int, span: float) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows: list[Job] = []
    sizes: dict[int, int] = {}
    for number, at in enumerate(np.sort(rng.integers(0, max(1, span), count))):
        is_put = rng.random() < 0.5
        known = list(sizes)
        file = int(rng.choice(known)) if known and not is_put and rng.random() < 0.7 else number
        size = sizes.setdefault(file, int(rng.choice([0, 1, 40, 300, 700])))
        rows.append((float(at), "put" if is_put else "get", int(rng.integers(0, 3)), file, size))
    return make_trace(*rows)
