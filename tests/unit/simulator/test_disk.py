"""Staging, storing and purging agree with hand calculations, and deadlocks are reported."""

import pytest

from tapewise.simulator.disks import Purge
from tapewise.simulator.results import TIME_COLUMNS
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_held, make_machine, make_ports, make_tapes, make_trace

STORE = {"interval_s": 100, "min_age_s": 50, "cartridge_bytes": 300}


def run(machine, *jobs, held=None, **options):
    return run_trace(machine, make_trace(*jobs), seed=1, inventory=held, **options)


def test_a_get_from_tape_is_staged_then_sent():
    machine = make_machine(tapes=make_tapes(), latency__get_s=0.5)
    job = run(machine, (1, "get", 1, 1, 100)).jobs.row(0, named=True)
    assert job["is_staged"]
    assert (job["load_wait_s"], job["staging_s"], job["latency_s"], job["transfer_s"]) == (7, 20, 0.5, 10)
    assert job["stage_s"] == 27
    assert job["ended_s"] == 38.5


def test_a_second_get_waits_for_the_first_ones_stage_and_a_third_finds_the_file():
    jobs = run(
        make_machine(tapes=make_tapes()),
        (0, "get", 1, 1, 100), (5, "get", 2, 1, 100), (60, "get", 3, 1, 100),
    ).jobs  # fmt: skip
    assert jobs["is_staged"].to_list() == [True, False, False]
    assert jobs["joined_row"].to_list() == [None, 0, None]
    assert jobs["file_wait_s"].to_list() == [0, 22, 0]
    assert jobs["ended_s"].to_list() == [47, 47, 70]  # the first two share the chain


def test_a_get_of_a_file_that_is_being_put_waits_for_it():
    jobs = run(make_machine(), (0, "put", 1, 1, 100), (4, "get", 1, 1, 100)).jobs
    assert jobs["file_wait_s"].to_list() == [0, 6]
    assert jobs["joined_row"].to_list() == [None, None]
    assert jobs["ended_s"].to_list() == [10, 20]


def test_a_file_that_was_put_and_purged_is_joined_like_any_other():
    # The get at 9000 s finds the file purged and stages it. The next get waits for the stage, not the put.
    gets = [(9000, "get", 1, 9, 500), (9001, "get", 1, 9, 500)]
    table = run(purging(), (0, "put", 1, 9, 500), (8000, "put", 1, 10, 400), *gets)
    assert table.jobs["is_staged"].to_list() == [False, False, True, False]
    assert table.jobs["joined_row"].to_list() == [None, None, None, 2]
    assert (table.totals.staged_count, table.totals.joined_count) == (1, 1)


def test_a_drive_serves_one_stage_at_a_time():
    jobs = run(make_machine(tapes=make_tapes()), (0, "get", 1, 1, 100), (0, "get", 1, 2, 100)).jobs
    assert jobs["drive_wait_s"].to_list() == [0, 27]
    # From 34 s on, the first file's transfer gets only half of the disk chain, as the second file is staged.
    assert jobs["ended_s"].to_list() == [40, 64]


@pytest.mark.parametrize(("drive_queue", "is_waiting"), [("silo", True), ("chain", False)])
def test_drives_are_pooled_by_silo_or_by_chain(drive_queue, is_waiting):
    silos = [{"chain": 1, "drive_count": 1}] * 40
    tapes = make_tapes(drive_queue=drive_queue, silos=silos)
    jobs = [(0, "get", 1, number, 1) for number in range(40)]
    table = run(make_machine(tapes=tapes, ports=make_ports(40)), *jobs).jobs
    assert (table["drive_wait_s"].sum() > 0) == is_waiting


def test_files_are_stored_after_a_sleep_once_they_are_old_enough():
    # Both files arrive before 50 s, so they are old enough at 100 s. The cartridge of 300 bytes is full in
    # the middle of the second file, after 7 + 200/5 + 100/5 s. The next cartridge takes 7 + 100/5 s.
    machine = make_machine(tapes=make_tapes(store=STORE))
    jobs = [(0, "put", 1, 1, 200), (25, "put", 1, 2, 200), (1000, "get", 1, 1, 200)]
    result = run(machine, *jobs, sample_s=0.5)
    assert (result.totals.stored_count, result.totals.stored_bytes) == (2, 400)
    assert result.totals.moved_bytes["tape_chain_1"] == pytest.approx(400)
    busy = result.samples.filter(result.samples["busy_drives_count"] > 0)["sample_s"]
    assert (busy.min(), busy.max()) == (100.5, 194)  # a sample due at the time of an event is taken before it
    # A stage that waits gets the drive when the cartridge is full.
    assert run(machine, *jobs[:2], (101, "get", 1, 3, 1)).jobs["drive_wait_s"].to_list() == [0, 0, 66]


def test_a_file_too_young_at_one_wake_up_waits_for_the_next():
    # The file is old enough at 90 + 50 s, between the wake-ups at 100 and 200 s.
    machine = make_machine(tapes=make_tapes(store=STORE))
    jobs = [(80, "put", 1, 1, 100), (500, "put", 1, 2, 1)]
    samples = run(machine, *jobs, sample_s=1.0).samples
    busy = samples.filter(samples["busy_drives_count"] > 0)["sample_s"]
    assert (busy.min(), busy.max()) == (201, 227)


def test_a_list_holds_the_files_that_were_old_enough_when_it_was_made():
    # The second file is old enough only at 140 s. The first list is stored by 127 s, and the next list is
    # made one sleep later.
    machine = make_machine(tapes=make_tapes(store=STORE))
    jobs = [(0, "put", 1, 1, 100), (80, "put", 1, 2, 100), (500, "put", 1, 3, 1)]
    samples = run(machine, *jobs, sample_s=1.0).samples
    busy = samples.filter(samples["busy_drives_count"] > 0)["sample_s"].to_list()
    assert busy == [*range(101, 128), *range(228, 255)]


def test_a_list_is_stored_in_the_order_of_the_volumes():
    # The second file was on disk first but is stored last, as it is on the second volume.
    tapes = make_tapes(store=STORE)
    machine = make_machine(tapes=tapes, disk__chain_count=2, disk__allocation="chain_round_robin")
    jobs = [(0, "put", 1, 1, 200), (0, "put", 1, 2, 10), (500, "put", 1, 3, 1)]
    samples = run(machine, *jobs, sample_s=1.0).samples
    used = samples.filter((samples["disk_chain_2_utilisation_ratio"] > 0) & (samples["sample_s"] > 50))
    assert used["sample_s"].to_list() == [148, 149]


PURGE = {"high_ratio": 0.8, "low_ratio": 0.5, "keep_s": 3600}


def purging(**changes):
    tapes = make_tapes(store={"interval_s": 100, "min_age_s": 50, "cartridge_bytes": 10_000})
    return make_machine(
        disk__lvs_per_chain=1, disk__largest_file_bytes=1000, tapes=tapes, purge=PURGE, **changes
    )


def test_at_the_high_mark_the_heaviest_files_are_purged_down_to_the_low_mark():
    # Among files of equal size, the least recently used weighs most. The put raises 790 B to 800 B, so two of
    # the 200 B files are purged, which leaves 400 B.
    held = make_held(
        (1, 200, 9000, True), (2, 200, 90_000, True), (3, 200, 50_000, True), (4, 190, 100, True)
    )
    totals = run(purging(), (0, "put", 1, 9, 10), held=held).totals
    assert (totals.purge_count, totals.purged_count, totals.purged_bytes) == (1, 2, 400)
    gets = [
        (100, "get", 1, 1, 200),
        (200, "get", 1, 2, 200),
        (300, "get", 1, 3, 200),
        (400, "get", 1, 4, 190),
    ]
    staged = run(purging(), (0, "put", 1, 9, 10), *gets, held=held).jobs["is_staged"].to_list()
    assert staged == [False, False, True, True, False]


def test_the_run_is_steady_from_the_moment_the_disk_is_at_its_low_mark():
    # The disk holds 400 B at first. At 30 s, another 110 B pass the low mark of 500 B. At 60 s, another
    # 300 B pass the high mark, and a purge leaves 410 B. All this happens between two samples.
    held = make_held((1, 400, 90_000, True))
    jobs = [(30, "put", 1, 9, 110), (60, "put", 1, 10, 300), (2000, "put", 1, 11, 1)]
    result = run(purging(), *jobs, held=held, sample_s=1000)
    assert result.samples["disk_fill_ratio"].to_list() == [0.4, 0.41, 0.41]
    # The maxima and means of the intervals see it. Files take their room while they move, at 10 B/s.
    assert result.samples["disk_used_peak_bytes"].to_list() == [None, 810, 410]
    mean_bytes = (30 * 400 + 30 * 510 + 30 * 810 + 910 * 410) / 1000
    assert result.samples["disk_used_mean_bytes"].to_list() == [None, pytest.approx(mean_bytes), 410]
    disk = result.totals.levels["disk_used"]
    assert (disk.peak, disk.capacity, disk.mean) == (810, 1000, pytest.approx((mean_bytes + 410) / 2))
    assert result.totals.steady_s == 30
    assert run(purging(), jobs[2], held=held).totals.steady_s is None
    assert run(purging(), jobs[2], held=make_held((1, 500, 9000, True))).totals.steady_s == 0
    assert run(make_machine(), jobs[2]).totals.steady_s == 0  # nothing is ever purged


def test_young_unstored_and_locked_files_stay():
    held = make_held((1, 300, 3000, True), (2, 300, 90_000, False), (3, 190, 90_000, True))
    # When the mark is reached at 1 s, file 1 is young, file 2 is not on tape, and file 3 is being read.
    # File 2 is on tape from 167 s on.
    jobs = [(0, "get", 1, 3, 190), (0, "put", 1, 9, 10), (500, "put", 1, 10, 1)]
    before, after = (run(purging(), *jobs[:count], held=held).totals for count in (2, 3))
    assert before.purged_bytes == 0
    assert (after.purge_count, after.purged_bytes) == (1, 300)


@pytest.mark.parametrize(("age_s", "wait_s"), [(3000, 600), (3599.5, 0.5), (3600, 0)])
def test_a_put_waits_for_space_until_a_file_is_old_enough_to_be_purged(age_s, wait_s):
    held = make_held((1, 990, age_s, True))
    job = run(purging(), (0, "put", 1, 9, 100), held=held).jobs.row(0, named=True)
    assert (job["space_wait_s"], job["ended_s"]) == (wait_s, 10 + wait_s)


def test_no_job_overtakes_one_that_waits_for_space():
    held = make_held((1, 990, 3000, True))
    jobs = run(purging(), (0, "put", 1, 9, 100), (1, "put", 1, 10, 5), held=held).jobs
    assert jobs["space_wait_s"].to_list() == [600, 599]


def test_a_job_that_waits_for_space_gets_it_even_below_the_low_mark():
    held = make_held((1, 240, 9000, True), (2, 240, 9000, True))
    result = run(purging(), (0, "put", 1, 9, 530), held=held)
    assert result.jobs["space_wait_s"].to_list() == [0]
    assert result.totals.purged_bytes == 240


def test_a_file_that_was_read_may_be_purged_an_hour_later():
    held = make_held((3, 790, 5000, True))
    jobs = [(0, "get", 1, 3, 790), (3000, "put", 1, 9, 10), (4000, "put", 1, 10, 1)]
    assert [run(purging(), *jobs[:n], held=held).totals.purged_bytes for n in (2, 3)] == [0, 790]


@pytest.mark.parametrize(("size", "is_staged"), [(2_000_000, True), (3_000_000, False)])
def test_weights_grow_with_size_and_faster_with_age(size, is_staged):
    # 1 MB after two hours weighs 2.83, more than 2 MB after one hour but less than 3 MB. One file must go.
    purge = {"high_ratio": 0.8, "low_ratio": 0.799, "keep_s": 0}
    machine = make_machine(
        disk__lv_bytes=1_000_000, disk__chain_bytes_per_s=1e9,
        network={"in_bytes_per_s": 1e9, "out_bytes_per_s": 1e9},
        disk__largest_file_bytes=10_000_000, tapes=make_tapes(chain_bytes_per_s=1e9), purge=purge,
    )  # fmt: skip
    held = make_held((1, 1_000_000, 7100, True), (2, size, 3500, True))
    jobs = [(0, "put", 1, 9, 8_000_000 - 1_000_000 - size), (1, "get", 1, 1, 1_000_000)]
    assert run(machine, *jobs, held=held).jobs["is_staged"].to_list() == [False, is_staged]


def test_a_deadlock_is_reported_and_the_run_ends():
    # Without purging, nothing frees space.
    jobs = run(make_machine(disk__lvs_per_chain=1, disk__largest_file_bytes=1000),
               (0, "put", 1, 1, 900), (1, "put", 1, 2, 200), (2, "get", 1, 2, 200)).jobs  # fmt: skip
    assert jobs["stuck_in"].to_list() == [None, "space", "file"]
    assert jobs["ended_s"].to_list() == [90, None, None]
    # A stage holds the only drive while it waits for space, but storing needs the drive to free space.
    held = make_held((1, 999, 90_000, False))
    run_ = run(purging(), (0, "get", 1, 2, 100), held=held)
    assert run_.jobs["stuck_in"].to_list() == ["space"]
    assert run_.totals.unfinished_count == 1
    assert run_.jobs.select(TIME_COLUMNS).sum_horizontal()[0] == pytest.approx(run_.totals.ended_s)


def test_a_purge_that_fell_short_can_begin_again_with_files_that_were_free_when_nobody_wanted_room():
    # At 50 s file 3 arrives, and the disk is 90 % full. The purge removes file 2, but file 1 is being read
    # until 60 s, and file 3 is not on tape. Then the disk is 60 % full, and nobody wants room before 70 s.
    # From 107 to 133 s the last put shares the chain with the one that is written to tape.
    machine = purging().model_copy(update={"purge": Purge(**PURGE | {"keep_s": 0})})
    held = make_held((1, 400, 5000, True), (2, 300, 5000, True))
    jobs = run(
        machine, (0, "get", 1, 1, 400), (10, "put", 1, 3, 200), (70, "put", 1, 4, 500), held=held
    ).jobs  # fmt: skip
    assert jobs["ended_s"].to_list() == [60, 50, pytest.approx(133)]
    assert jobs["space_wait_s"].to_list() == [0, 0, 0]


@pytest.mark.parametrize(("keep_s", "wait_s"), [(3600, 3649), (0, 49)])
def test_a_put_that_is_on_tape_at_once_makes_room_for_those_who_wait(keep_s, wait_s):
    # At 1 s nothing may be removed, because file 1 arrives only at 50 s. Without a store it is on tape then.
    machine = make_machine(
        disk__lvs_per_chain=1,
        disk__largest_file_bytes=1000,
        tapes=make_tapes(),
        purge=PURGE | {"keep_s": keep_s},
    )
    result = run(machine, (0, "put", 1, 1, 500), (1, "put", 1, 2, 600))
    assert result.jobs["space_wait_s"].to_list() == [0, wait_s]
    assert result.totals.unfinished_count == 0


@pytest.mark.parametrize(("size", "purges"), [(150, (1, 891)), (450, (2, 990)), (520, (1, 990))])
def test_a_purge_makes_room_for_everyone_in_line(size, purges):
    # At 600 s, five of the ten files go for the low mark, which is room for the first put, and then more for
    # the second one: down to the low mark again, or below it for 520 B. So it does not have to wait until the
    # first put has arrived. If the two put the disk above its high mark, the last file goes as they arrive.
    held = make_held(*((number, 99, 3000, True) for number in range(1, 11)))
    result = run(purging(), (0, "put", 1, 20, 400), (0, "put", 1, 21, size), held=held)
    assert result.jobs["space_wait_s"].to_list() == [600, 600]
    assert (result.totals.purge_count, result.totals.purged_bytes) == purges


def test_a_purge_that_is_enough_for_some_in_line_continues_for_the_others():
    # At 600 s, what may go is enough for the first put; the second one waits until file 2 may go, too.
    held = make_held((1, 400, 3000, True), (2, 590, 2900, True))
    jobs = [(0, "put", 1, 20, 400), (0, "put", 1, 21, 450)]
    assert run(purging(), *jobs, held=held).jobs["space_wait_s"].to_list() == [600, 700]


def test_a_job_that_goes_first_takes_room_that_is_too_small_for_the_one_before():
    held = make_held((1, 990, 3000, True))
    machine = purging(priorities={"user": {"exceptions": {"2": 1}}})
    jobs = run(machine, (0, "put", 1, 20, 100), (1, "put", 2, 21, 5), held=held).jobs
    assert jobs["space_wait_s"].to_list() == [600, 0]
