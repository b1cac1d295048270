"""What is out of service waits, loses nothing, and drains as calculated by hand."""

import numpy as np
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.kernel.tables import ARCHIVE, POOL
from tapewise.simulator.outages import Outage, find_backlogs, list_windows, make_changes
from tapewise.simulator.results import Outages
from tests.unit.simulator.builders import (
    make_library,
    make_library_machine,
    make_machine,
    make_ports,
    make_tapes,
)
from tests.unit.simulator.test_cartridges import ONE, USERS, columns, gets, run


def out(what: str, begins_s: float, lasts_s: float, **others: object) -> dict:
    return {"what": what, "begins_s": begins_s, "lasts_s": lasts_s, **others}


def drained(run_) -> tuple[int, int, float | None]:
    (one,) = run_.totals.outages
    return one.worst_before_count, one.worst_after_count, one.longest_drain_s


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
@pytest.mark.parametrize("has_library", [True, False])
def test_while_the_archive_is_out_of_service_its_time_stops(queueing, has_library):
    # The same requests, where those after 4,000 s come 1,000 s later: what happens is the same, later.
    tables: dict = {"latency": {"put_s": 3, "get_s": 2}, "ports": make_ports(3, queueing)}
    tables |= {"users": {"limit_count": 2}, "network": {"in_bytes_per_s": 9, "out_bytes_per_s": 7}}

    def make(outages):
        if not has_library:
            return make_machine(tapes=make_tapes(), outages=outages, disk__lv_bytes=9000, **tables)
        tapes = make_library(drives=[ONE | {"count": 2}], cartridges=USERS, recalls={"lazy_s": 50})
        return make_library_machine(tapes, outages=outages, disk__chain_bytes_per_s=8, **tables)

    rng = np.random.default_rng(4)
    at_s = np.sort(rng.uniform(0, 8000, 150))
    jobs = [
        (float(at), "get" if number % 3 else "put", number % 5, number, int(rng.integers(50, 400)))
        for number, at in enumerate(at_s)
    ]
    later = [(at + 1000 * (at >= 4000), *others) for at, *others in jobs]
    plain = run(make([]), *jobs)
    stopped = run(make([out("archive", 4000, 1000)]), *later)
    ends_s = plain.jobs["ended_s"].to_numpy()
    assert stopped.jobs["ended_s"].to_numpy() == pytest.approx(ends_s + 1000 * (ends_s >= 4000), abs=1e-6)
    assert ((at_s < 4000) & (ends_s > 4000)).sum() >= 5  # some are under way
    assert stopped.totals.moved_bytes == pytest.approx(plain.totals.moved_bytes)
    if has_library:
        assert stopped.totals.tapes.drive_s["out"] == pytest.approx(2000)
        assert stopped.totals.tapes.drive_s["read"] == pytest.approx(plain.totals.tapes.drive_s["read"])


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
def test_who_came_first_goes_first_when_the_archive_is_back(queueing):
    # Two ports, one disk. At 4 s, 60 bytes of the first put are left; from 24 s on, it shares the disk.
    machine = make_machine(ports=make_ports(2, queueing), outages=[out("archive", 4, 20)])
    got = run(
        machine, (0, "put", 1, 1, 100), (5, "put", 1, 2, 100), (8, "put", 2, 3, 100), (30, "put", 2, 4, 100)
    )
    assert columns(got, "ended_s", "port_wait_s") == [[36, 44, 56, 60], [0, 19, 28, 14]]
    assert drained(got) == (1, 3, 32)  # at 56 s, only the put of 30 s is left


def test_a_large_file_that_came_first_gets_its_port_before_small_ones():
    ports = {"count": 2, "queueing": "serialised", "ranges": [
        {"over_bytes": -1, "first": 1, "last": 2}, {"over_bytes": 50, "first": 2, "last": 2}]}  # fmt: skip
    machine = make_machine(ports=ports, outages=[out("archive", 0, 10), out("archive", 5, 20)])
    got = run(machine, (1, "put", 1, 1, 100), (2, "put", 1, 2, 50), (3, "put", 1, 3, 50))
    assert columns(got, "port_wait_s") == [[24, 23, 32]]  # outages that overlap are one: until 25 s


def test_without_the_disk_only_its_flows_stop():
    machine = make_machine(outages=[out("disk", 4, 20)], latency={"put_s": 1, "get_s": 0})
    got = run(machine, (0, "put", 1, 1, 100), (5, "put", 1, 2, 0))
    assert columns(got, "ended_s", "port_wait_s", "latency_s") == [[31, 24], [0, 0], [1, 1]]


def test_a_backlog_of_recalls_drains_in_the_time_that_the_free_capacity_needs():
    # A get every 40 s takes the drive for 27 s. The drive is out for 600 s, then works off 14 gets more.
    jobs = [(40.0 * number, "get", 1, number, 100) for number in range(80)]
    plain = make_machine(tapes=make_tapes(load={"law": "fixed", "load_s": 7}))
    got = run(make_machine(tapes=make_tapes(), outages=[out("drives", 380, 600)]), *jobs)
    assert got.jobs["drive_wait_s"].max() == pytest.approx(980 - 400)
    before, after, drain_s = drained(got)
    assert (before, after) == (1, 15)  # the get of 360 s has its drive, and ends
    assert drain_s == pytest.approx(14 * 27 / (1 - 27 / 40), abs=27)
    assert got.totals.levels["busy_drives"].total_s == pytest.approx(80 * 27)
    assert got.jobs["ended_s"][-1] == run(plain, *jobs).jobs["ended_s"][-1]


@pytest.mark.parametrize(("count", "ends"), [(1, [29, 29, 45]), (2, [29, 29, 128])])
def test_a_drive_of_a_pool_goes_out_when_it_is_released(count, ends):
    # A load takes 7 s, two files at a time 20 s, one alone 10 s; then the network takes 1 s for each.
    tapes = make_tapes(silos=[{"chain": 1, "drive_count": 2}], chain_bytes_per_s=10)
    outages = [out("drives", 10, 100, group=1, count=count)]
    machine = make_machine(tapes=tapes, disk__chain_bytes_per_s=1000, outages=outages)
    got = run(machine, *gets((0, 1), (0, 1), (20, 1)))
    assert columns(got, "ended_s") == [ends]


def test_a_drive_that_goes_out_ends_its_file_and_returns_the_cartridge():
    # Of user 1's files, the first is read from 11 to 31 s. The drive is out until 200 s, so its cartridge
    # comes back at 40 s; the other drive has user 2's until 11 + 60 + 9 = 80 s, and brings it at 91 s.
    drives = [ONE, ONE]
    tapes = make_library(drives=drives, cartridges=USERS, robots={"count": 2, "move_s": 4})
    jobs = [*gets((0, 1), (0, 1), (0, 2)), (0, "get", 2, 8, 200), (0, "get", 1, 9, 100)]
    got = run(make_library_machine(tapes, outages=[out("drives", 20, 180, group=1)]), *jobs)
    assert columns(got, "ended_s") == [[31, 111, 31, 71, 131]]
    tape = got.totals.tapes
    assert (tape.mount_count, tape.dismount_count, tape.drive_s["out"]) == (3, 2, pytest.approx(131 - 40))


def test_the_oldest_recall_still_counts_when_a_drive_returns_its_cartridge():
    # The nearest file is read first, so the oldest request of user 1 waits when the drive goes out.
    tapes = make_library(
        drives=[ONE], cartridges=USERS, recalls={"order": "nearest", "most_per_mount": 10},
        locate={"end_to_end_s": 100, "band_count": 1, "wraps_per_band": 2},
    )  # fmt: skip
    # The third of them is read; in the second case, no later recall waits then.
    for fifth_user in (1, 2):
        jobs = gets((0, 1), (0, 1), (0, 1), (1, 2), (2, fifth_user), (50, 1))
        got = run(make_library_machine(tapes, outages=[out("drives", 12, 60)]), *jobs)
        ends_s = got.jobs["ended_s"].to_numpy()
        users = got.jobs["user"].to_numpy()
        assert ends_s[2] == pytest.approx(31)
        assert ends_s[users == 2].min() > ends_s[users == 1].max()  # user 1's comes back first, for all
        assert got.totals.tapes.recall_mount_count == 3


def test_a_drive_that_goes_out_also_returns_a_cartridge_that_nobody_wants():
    # Both drives keep their cartridges. The first returns its own from 40 to 49 s, so user 3's get evicts the
    # other's at 41 s, and that of 60 s evicts user 3's at 81 s.
    tapes = make_library(
        drives=[ONE, ONE], cartridges=USERS, robots={"count": 2, "move_s": 4}, recalls={"lazy_s": 1e9}
    )
    jobs = gets((0, 1), (0, 2), (41, 3), (60, 1), (600, 1))
    got = run(make_library_machine(tapes, outages=[out("drives", 40, 460, group=1)]), *jobs)
    assert columns(got, "ended_s") == [[31, 31, 81, 121, 620]]
    assert got.totals.tapes.drive_s["out"] == pytest.approx(500 - 49)
    idle = ("empty", "out", "mounted")
    busy_s = sum(seconds for step, seconds in got.totals.tapes.drive_s.items() if step not in idle)
    assert got.totals.levels["busy_drives"].total_s == pytest.approx(busy_s)


def test_what_a_clock_would_begin_in_an_outage_begins_at_its_end():
    # The list of 10 s is written from 50 + 11 to 81 s; then the drive takes 9 + 11 s for the other cartridge.
    tapes = make_library(drives=[ONE], cartridges=USERS, store={"interval_s": 10, "min_age_s": 0})
    machine = make_library_machine(tapes, outages=[out("archive", 5, 45)])
    assert columns(run(machine, (0, "put", 1, 1, 100), (51, "get", 2, 2, 100)), "ended_s")[0][1] == 121
    # The first put ends at 50 s, and may be purged from 90 s on; but not in the outage.
    purge = {"high_ratio": 1.0, "low_ratio": 0.1, "keep_s": 40}
    machine = make_machine(tapes=make_tapes(), purge=purge, disk__lv_bytes=60, disk__largest_file_bytes=500,
                           outages=[out("archive", 80, 50)])  # fmt: skip
    got = run(machine, (0, "put", 1, 1, 500), (60, "put", 1, 2, 500))
    assert columns(got, "space_wait_s", "ended_s") == [[0, 70], [50, 180]]


def test_a_recall_that_comes_in_an_outage_gets_its_drive_at_the_end():
    tapes = make_library(drives=[ONE], cartridges=USERS)
    got = run(make_library_machine(tapes, outages=[out("archive", 5, 45)]), *gets((10, 1)))
    assert columns(got, "drive_wait_s", "ended_s") == [[40], [50 + 11 + 20]]


def test_joint_after_the_archive_is_back_a_job_waits_for_its_user_again():
    tables: dict = {"users": {"limit_count": 1}, "ports": make_ports(3, "joint")}
    got = run(
        make_machine(outages=[out("archive", 0, 20)], **tables), (1, "put", 1, 1, 100), (2, "put", 1, 2, 100)
    )
    assert columns(got, "user_wait_s", "port_wait_s") == [[0, 10], [19, 18]]


def test_a_run_of_writes_stops_after_a_file_and_continues():
    tapes = make_library(drives=[ONE], store={"interval_s": 10, "min_age_s": 0})
    jobs = [(0, "put", 1, number, 100) for number in range(3)] + [(500, "put", 1, 9, 1)]
    plain, got = (
        run(make_library_machine(tapes, outages=outages), *jobs) for outages in ([], [out("drives", 25, 100)])
    )
    assert plain.totals.tapes.mount_count == 1
    assert (got.totals.stored_count, got.totals.tapes.mount_count) == (3, 2)
    assert got.totals.tapes.drive_s["write"] == pytest.approx(plain.totals.tapes.drive_s["write"])


def test_robots_end_their_move_and_a_lesser_outage_within_a_greater_one_changes_nothing():
    tapes = make_library(drives=[ONE | {"count": 3}], cartridges=USERS, robots={"count": 2, "move_s": 4})
    outages = [out("robots", 2, 50), out("robots", 10, 5, count=1), out("robots", 40, 60, count=1)]
    got = run(make_library_machine(tapes, outages=outages), *gets((0, 1), (3, 2), (3, 3)))
    # One move ends at 4 s. At 52 s one robot is back, and moves a cartridge after the other.
    assert columns(got, "load_wait_s") == [[11, 60, 64]]
    assert got.totals.levels["busy_robots"].peak == 1
    assert columns(got, "ended_s") == [[31, 83, 87]]


def test_an_outage_recurs_until_the_last_request():
    outage = Outage(what="disk", begins_s=10, lasts_s=5, every_s=20)
    windows = list_windows([outage], 50, [], None)
    assert [(one.begins_s, one.ends_s) for one in windows] == [(10, 15), (30, 35), (50, 55)]
    assert make_changes(windows).at_s.tolist() == [10, 15, 30, 35, 50, 55]
    assert len(list_windows([Outage(what="disk", begins_s=60, lasts_s=5, every_s=20)], 50, [], None)) == 1
    with pytest.raises(MachineError, match="outages: more than 100,000 until"):
        list_windows([Outage(what="disk", begins_s=0, lasts_s=1, every_s=2)], 1e9, [], None)


def test_drives_of_two_silos_of_a_chain_are_out_together():
    outages = [
        Outage(what="drives", begins_s=0, lasts_s=9, group=2, count=1),
        Outage(what="archive", begins_s=3, lasts_s=9),
    ]
    changes = make_changes(list_windows(outages, 50, [2, 3, 4], [0, 0, 1]))
    assert changes.tolist() == [
        (0, POOL, 0, 1),
        *((3, ARCHIVE, 0, 1), (3, POOL, 0, 5), (3, POOL, 1, 4)),
        *((12, ARCHIVE, 0, 0), (12, POOL, 0, 0), (12, POOL, 1, 0)),
    ]


def test_a_backlog_that_never_drains_is_unknown():
    windows = list_windows([Outage(what="disk", begins_s=5, lasts_s=5)], 50, [], None)
    (one,) = find_backlogs(windows, np.array([0.0, 6, 7]), np.array([4.0, 20]), 30.0)
    assert (one.worst_before_count, one.worst_after_count, one.longest_drain_s) == (0, 2, None)
    outages = [Outage(what="disk", begins_s=at, lasts_s=5) for at in (1, 10, 20)]
    windows = list_windows(outages, 50, [], None)
    submitted_s, ended_s = np.array([0.0, 11, 12, 16, 21]), np.array([8.0, 17, 19, 22, 23])
    (one,) = find_backlogs(windows, submitted_s, ended_s, 24.0)
    # At 15 s, two more were unfinished than at 10 s; at 23 s, none is.
    assert one == Outages("disk", 3, 5 + 5 + 4, 0, 2, 23 - 15)
    (first,) = find_backlogs(windows[:1], submitted_s, ended_s, 24.0)
    assert first.longest_drain_s == 0
    assert find_backlogs(windows[1:], np.array([0.0]), np.array([4.0]), 4.0) == ()


@pytest.mark.parametrize(
    ("outage", "message"),
    [
        (out("tapes", 1, 1), "outages.0.what: must be 'archive', 'disk', 'drives' or 'robots'"),
        ({"what": "disk", "begins_s": 1}, "outages.0: lasts_s is missing"),
        ({"what": "disk", "lasts_s": 1}, "outages.0: begins_s is missing"),
        ({"what": "disk", "begins_s": 1, "lasts_s": 0}, "outages.0.lasts_s: must be above 0, not 0"),
        ({"what": "disk", "when": "as measured", "every_s": 9}, "outages.0: every_s cannot be given"),
        (out("disk", 0, 5, every_s=5), "outages.0: every_s must be more than lasts_s"),
        (out("robots", 0, 5, group=1), "outages.0: group is for drives, not for the robots"),
        (out("archive", 0, 5, count=1), "outages.0: count is for drives and robots, not for the archive"),
        (out("robots", 0, 5, count=2), "outages.0.count: is 2, but there are only 1"),
        (out("drives", 0, 5, count=5), "outages.0.count: is 5, but there are only 4"),
        (out("drives", 0, 5, group=2), "outages.0.group: is 2, but the last group of drives is 1"),
    ],
)  # fmt: skip
def test_a_fault_names_its_field(outage, message):
    with pytest.raises(MachineError) as raised:
        make_library_machine(make_library(), outages=[outage])
    assert str(raised.value).startswith(f"small: {message}")


def test_what_the_machine_does_not_have_cannot_be_out():
    for what, message in (
        ("drives", "the machine has no drives"),
        ("robots", "the machine has no tapes.robots"),
    ):
        with pytest.raises(MachineError, match=f"outages.0: {message}"):
            make_machine(outages=[out(what, 0, 5)])
    silos = [{"chain": 1, "drive_count": 2}, {"chain": 1, "drive_count": 2}]
    with pytest.raises(MachineError, match=r"outages.0: group is missing"):
        make_machine(tapes=make_tapes(silos=silos), outages=[out("drives", 0, 5, count=1)])


def test_outages_as_measured_are_those_of_the_archive():
    machine = make_machine(tapes=make_tapes(), outages=[
        {"what": "drives", "when": "as measured", "group": 1}, out("disk", 1, 2)])  # fmt: skip
    found = machine.with_outages([(5.0, 7.0), (20.0, 30.0)], "archive a").outages
    assert [(one.what, one.group, one.begins_s, one.lasts_s) for one in found] == [
        ("drives", 1, 5, 2), ("drives", 1, 20, 10), ("disk", None, 1, 2)]  # fmt: skip
    with pytest.raises(
        MachineError, match='when = "as measured" needs the requests of an archive, not of model m'
    ):
        machine.with_outages(None, "model m")
    plain = make_machine()
    assert plain.with_outages(None, "model m") is plain
