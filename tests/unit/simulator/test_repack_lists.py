"""Listed cartridges are repacked as plain Python does it, to the end, and give way to recalls."""

import heapq
from dataclasses import asdict

import numpy as np
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator import descriptions, machine_descriptions
from tapewise.simulator.kernel.cartridges import READ, WRITE
from tapewise.simulator.machines import Machine
from tapewise.simulator.shelves import list_repacks
from tests.unit.simulator.builders import make_held, make_library, make_library_machine
from tests.unit.simulator.test_cartridges import ONE, STORE, USERS, gets, puts, run

MOUNT_S, DISMOUNT_S, RATE = 4 + 7, 3 + 2 + 4, 5
VOLUMES = {"A00001": 300, "A00002": 400}
LATE = gets((100_000, 1))


def make(
    volumes: dict[str, int] = VOLUMES, *, count: int = 1, outages=(), repack=(), **changes: object
) -> Machine:
    tapes = make_library(drives=[ONE | {"count": count}], cartridges=USERS, **changes)
    tapes["repack"] = {"piece_s": 1e6, "volumes": volumes, **dict(repack)}
    return make_library_machine(tapes, outages=outages)


def test_each_volume_is_read_and_then_all_is_written():
    got = run(make(), *LATE).totals.tapes
    assert got.repack.ended_s == pytest.approx(3 * MOUNT_S + 2 * DISMOUNT_S + 2 * 700 / RATE)
    assert got.drive_s["repack"] == pytest.approx(2 * 700 / RATE)
    assert (got.repack.volume_count, got.repack.blank_count) == (2, 1)
    assert (got.repack.read_bytes, got.repack.written_bytes) == (700, 700)
    # The last mount is that of the recall.
    assert (got.mount_count, got.dismount_count, got.mounted_count) == (4, 3, 1)
    # With 500 bytes on a cartridge, there are two of them; the mounts are one more.
    smaller = {"cartridges": USERS | {"capacity_bytes": 500}}
    machine = make_library_machine(make_library(
        drives=[ONE], repack={"piece_s": 1e6, "volumes": VOLUMES}, **smaller))  # fmt: skip
    got = run(machine, *LATE).totals.tapes
    assert got.repack.blank_count == 2
    assert got.repack.ended_s == pytest.approx(4 * MOUNT_S + 3 * DISMOUNT_S + 2 * 700 / RATE)


def test_a_blank_cartridge_follows_the_volume_that_fills_it():
    listed = list_repacks(make({"A": 1000, "B": 300, "C": 700, "D": 1}).tapes)
    rows = zip(listed.kind.tolist(), listed.size_bytes.tolist(), listed.needed_bytes.tolist(), strict=True)
    assert list(rows) == [
        (READ, 1000, 0), (WRITE, 1000, 1000),
        (READ, 300, 0), (READ, 700, 0), (WRITE, 1000, 2000),
        (READ, 1, 0), (WRITE, 1, 2001),
    ]  # fmt: skip


def test_drives_share_the_list_and_what_is_not_read_is_not_written():
    # The robot brings the first volume until 4 s, and the second until 8 s, which is read until 95 s. The
    # first drive is empty from 80 s on, and writes from 106 s.
    assert run(make(count=2), *LATE).totals.tapes.repack.ended_s == pytest.approx(106 + 140)
    one = make(count=2, repack={"most_drives": 1})
    assert run(one, *LATE).totals.tapes.repack.ended_s == pytest.approx(331)
    assert run(one, *LATE).totals.levels["busy_drives"].peak == 1


def test_a_recall_waits_for_a_piece_and_its_dismount_only():
    # The pieces of the first volume begin at 11 and 21 s; the recall of 30 s waits for the second one's end.
    machine = make(repack={"piece_s": 10})
    got = run(machine, *gets((30, 1)))
    assert got.jobs["ended_s"].to_list() == pytest.approx([31 + DISMOUNT_S + MOUNT_S + 20])
    # It costs the list its own time, and a further mount.
    later_s = MOUNT_S + 20 + DISMOUNT_S + MOUNT_S + DISMOUNT_S
    assert got.totals.tapes.repack.ended_s == pytest.approx(331 + later_s)
    assert got.totals.tapes.repack.written_bytes == 700
    # One that comes during the mount waits for a piece, so that the mount was not in vain.
    got = run(machine, *gets((5, 1)))
    assert got.jobs["ended_s"].to_list() == pytest.approx([21 + DISMOUNT_S + MOUNT_S + 20])
    # With a drive to spare, nobody waits for the list.
    got = run(make(count=2, repack={"piece_s": 1e6, "most_drives": 1}), *gets((30, 1)))
    assert got.jobs["ended_s"].to_list() == pytest.approx([30 + MOUNT_S + 20])


def test_recalls_go_before_the_list_when_a_drive_is_empty():
    # Both recalls are there before the drive is empty again, at 80 s.
    got = run(make(), *gets((71, 1), (72, 2)))
    assert got.jobs["ended_s"].to_list() == pytest.approx([80 + 31, 80 + 31 + 40])


def test_a_listed_cartridge_does_not_stay_in_its_drive():
    lazy = {"lazy_s": 1e6}
    assert run(make(recalls=lazy), *LATE).totals.tapes.repack.ended_s == pytest.approx(331)


def test_the_list_goes_on_after_the_last_request_and_after_outages():
    assert run(make(), *gets((0, 1))).totals.tapes.repack.ended_s == pytest.approx(331 + 40)
    # The drive returns its volume after the piece that it has begun, at 21 s.
    outages = [{"what": "drives", "begins_s": 15, "lasts_s": 500}]
    got = run(make(outages=outages, repack={"piece_s": 10}), *LATE).totals.tapes.repack
    assert got.ended_s == pytest.approx(515 + 331 - 10)
    outages = [{"what": "archive", "begins_s": 15, "lasts_s": 500}]
    assert run(make(outages=outages), *LATE).totals.tapes.repack.ended_s == pytest.approx(331 + 500)


@pytest.mark.parametrize(("drive_count", "most"), [(1, 1), (3, 3), (5, 2)])
def test_it_takes_as_long_as_in_plain_python(drive_count: int, most: int):
    """Drives take what comes first in the list, as soon as everything that it needs has been read."""
    sizes = np.random.default_rng(drive_count).integers(1, 1000, 40).tolist()
    room, tasks, waiting = 1000, [], 0
    total = 0
    for place, size in enumerate(sizes):
        total, waiting = total + size, waiting + size
        tasks.append(("read", size, 0))
        while waiting >= room or (place == len(sizes) - 1 and waiting):
            part = min(waiting, room)
            waiting -= part
            tasks.append(("write", part, total - waiting))
    now_s, read, ended_s, running = 0.0, 0, 0.0, 0
    events: list[tuple[float, int, str, int]] = []
    number = 0
    while tasks or running:
        for task in list(tasks):
            if running < most and task[2] <= read:
                tasks.remove(task)
                done_s = now_s + MOUNT_S + task[1] / RATE
                heapq.heappush(events, (done_s, number, task[0], task[1]))
                heapq.heappush(events, (done_s + DISMOUNT_S, number, "empty", 0))
                running, number = running + 1, number + 1
        now_s, _, what, size = heapq.heappop(events)
        running -= what == "empty"
        read += size if what == "read" else 0
        ended_s = now_s if what == "write" else ended_s
    machine = make(
        {f"V{n}": size for n, size in enumerate(sizes)}, count=drive_count, robots={"count": 20, "move_s": 4},
        repack={"most_drives": most},
    )  # fmt: skip
    got = run(machine, *LATE).totals.tapes
    assert got.repack.ended_s == pytest.approx(ended_s, abs=1e-6)
    assert got.repack.blank_count == -(-sum(sizes) // room)
    assert got.mount_count == len(sizes) + got.repack.blank_count + 1


def test_drives_that_only_read_or_write_do_their_part():
    drives = [ONE | {"role": "read"}, ONE | {"role": "write", "bytes_per_s": 7}]
    machine = make_library_machine(make_library(
        drives=drives, cartridges=USERS, repack={"piece_s": 1e6, "volumes": VOLUMES}))  # fmt: skip
    # The reader ends at 80 + 91 s; the writer, which is faster, has waited for it.
    assert run(machine, *LATE).totals.tapes.repack.ended_s == pytest.approx(171 + MOUNT_S + 100)


def test_puts_are_not_written_to_listed_cartridges():
    # The volume is in the reader until 220 s. The put's own blank cartridge is in the writer from 100 s on.
    drives = [ONE | {"role": "read"}, ONE | {"role": "write"}]
    repack = {"piece_s": 1e6, "volumes": {"A00001": 1000}, "most_drives": 1}
    machine = make_library_machine(make_library(
        drives=drives, cartridges=USERS, store=STORE, repack=repack))  # fmt: skip
    got = run(machine, *puts(1)).totals
    assert (got.stored_count, got.levels["busy_drives"].peak) == (1, 2)


def test_a_list_that_is_not_done_has_no_end():
    # From 80 s on, a recall has the only drive, and waits for room on the disk for ever.
    tapes = make_library(drives=[ONE], cartridges=USERS, repack={"piece_s": 1e6, "volumes": VOLUMES})
    small = {"disk__lvs_per_chain": 1, "disk__lv_bytes": 1000, "disk__largest_file_bytes": 1000}
    machine = make_library_machine(tapes, **small)
    got = run(machine, (30, "get", 1, 2, 100), held=make_held((1, 999, 90_000, True)))
    assert got.totals.unfinished_count == 1
    repack = got.totals.tapes.repack
    assert (repack.read_bytes, repack.written_bytes, repack.ended_s) == (300, 0, None)


def test_the_list_gives_way_only_to_what_its_drive_may_do():
    # The second put waits for the writer meanwhile, and the reader goes on.
    drives = [ONE | {"role": "read"}, ONE | {"role": "write"}]
    repack = {"piece_s": 10, "volumes": {"A00001": 1000}}
    machine = make_library_machine(make_library(
        drives=drives, cartridges=USERS, store=STORE, repack=repack))  # fmt: skip
    got = run(machine, *puts(1, 2)).totals
    assert (got.stored_count, got.tapes.mount_count) == (2, 4)


@pytest.mark.parametrize(("fields", "message"), [
    ({"drive_ratio": 0.1}, "small: tapes.repack: give drive_ratio, or volumes with their bytes"),
    ({"volumes": None}, "small: tapes.repack: give drive_ratio, or volumes with their bytes"),
    ({"volumes": {"A00001": 1, "A00002": 0}}, "small: tapes.repack.volumes.A00002: must be above 0"),
    ({"volumes": {"A00001": 1, "A00002": 1001}},
     "small: tapes: repack.volumes.A00002: 1001 bytes are more than cartridges.capacity_bytes (1000)"),
    ({"volumes": {}}, "small: tapes.repack.volumes: "),
    ({"volumes": None, "drive_ratio": 0.1, "most_drives": 1},
     "small: tapes.repack: most_drives belongs to volumes"),
    ({"most_drives": 0}, "small: tapes.repack.most_drives: must be above 0"),
])  # fmt: skip
def test_what_no_list_can_be_is_refused_with_its_field(fields: dict, message: str):
    with pytest.raises(MachineError) as error:
        make(repack=fields)
    assert str(error.value).startswith(message)
    with pytest.raises(MachineError, match=r"small: tapes: repack\.volumes need a drive that may write"):
        make_library_machine(make_library(
            drives=[ONE | {"role": "read"}], repack={"piece_s": 1, "volumes": VOLUMES}))  # fmt: skip


def test_more_pieces_than_a_run_can_take_are_refused():
    # Of the slowest drive, for reading and for writing.
    tapes = make_library(drives=[ONE, ONE | {"bytes_per_s": 7}], cartridges=USERS,
                         repack={"piece_s": 1e-9, "volumes": VOLUMES})  # fmt: skip
    with pytest.raises(MachineError, match="1e-09 s are 280,000,000,000 pieces of the listed cartridges"):
        run(make_library_machine(tapes), *LATE)


def test_people_read_what_is_listed_and_what_became_of_it():
    def describe(**repack: object) -> str:
        said = machine_descriptions.describe_machine(make(count=3, repack=repack))
        (line,) = (each for each in said if each.startswith("  repack"))
        return line

    assert describe() == "  repack: 2 volumes with 700 B, on 3 drives at most, in pieces of 1e+06 s"
    assert describe(most_drives=2).endswith(", on 2 drives at most, in pieces of 1e+06 s")
    assert describe(most_drives=9, piece_s=60).endswith(", on 3 drives at most, in pieces of 60 s")
    tapes = asdict(run(make(), *LATE).totals.tapes)
    (said,) = (each for each in descriptions._describe_tapes(tapes, {}) if each.startswith("  repack"))
    assert said == (
        "  repack: 2 volumes onto 1 blank cartridge; 700 B read, 700 B written, ended 0.1 h after the first"
        " request"
    )
    tapes["repack"] |= {"written_bytes": 0, "ended_s": None}
    (said,) = (each for each in descriptions._describe_tapes(tapes, {}) if each.startswith("  repack"))
    assert said.endswith("; 700 B read, 0 B written, not ended")
    # Without a list, there is nothing to say.
    assert run(make_library_machine(make_library(drives=[ONE])), *LATE).totals.tapes.repack is None
