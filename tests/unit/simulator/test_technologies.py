"""Drives read and write only cartridges of their technologies, and wait for nothing else."""

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import MachineError, TraceError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.grid_descriptions import describe_results
from tapewise.simulator.grids import Grid, measure
from tapewise.simulator.kernel.cartridges import READ, WRITE
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.machine_descriptions import describe_machine
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import Result, Run
from tapewise.simulator.runs import run_trace
from tapewise.simulator.variants import Variant
from tapewise.simulator.worlds import make_world
from tests.unit.simulator.builders import make_library, make_library_machine, make_trace

ROBOTS = {"count": 100, "move_s": 4}
DRIVE = {"count": 1, "bytes_per_s": 5, "load_s": 7, "rewind_s": 3, "unload_s": 2}
# A mount and a file of 100 bytes take 4 + 7 + 20 s, and a dismount 9 s.
OLD, NEW = {"reads": ["old"]}, {"reads": ["new"], "writes": ["new"]}
BOTH = NEW | {"reads": ["old", "new"]}
BY_CLASS = {"old": {"classes_of_service": ["1"]}, "new": {}}
SHARED = {"old": {"older_ratio": 0.5}, "new": {"older_ratio": 0.5}}
STORE = {"interval_s": 50, "min_age_s": 0}
ONE_FILE = {"capacity_bytes": 100, "placement": "time"}
SPREAD = {"placement": "time", "filled_count": 800}
USERS = {"capacity_bytes": 10**6, "placement": "user"}


FROM_OLD_TO_NEW = {"from_technology": "old", "to_technology": "new"}


def make(*drives: dict, largest_bytes: int = 100, **tapes: object) -> Machine:
    given = {"robots": ROBOTS, "cartridges": ONE_FILE, "technologies": BY_CLASS} | tapes
    library = make_library(drives=[DRIVE | each for each in drives], **given)
    return make_library_machine(library, disk__largest_file_bytes=largest_bytes)


def run(machine: Machine, *jobs: tuple, classes: str = "") -> Run:
    trace = make_trace(*jobs)
    if classes:
        trace = trace.with_columns(class_of_service=pl.Series(list(classes)))
    return run_trace(machine, trace, seed=1, sample_s=1e6)


def gets(*times: float) -> list[tuple]:
    return [(at, "get", 1, number, 100) for number, at in enumerate(times)]


def test_a_free_drive_of_another_technology_is_not_taken_and_blocks_nobody():
    # Two old cartridges and a new one: the second old one waits for the old drive's dismount, though the new
    # drive is free and its request is the oldest when the new one comes.
    got = run(make(OLD, NEW), *gets(0, 1, 2), classes="112")
    assert got.jobs["drive_wait_s"].to_list() == [0, 40 - 1, 0]
    assert got.jobs["ended_s"].round(6).to_list() == [31, 40 + 31, 2 + 31]
    # A drive that reads both takes what waits longest.
    got = run(make(BOTH), *gets(0, 1, 2), classes="121")
    assert got.jobs["ended_s"].round(6).to_list() == [31, 71, 111]


def draw_gets(seed: int, count: int = 300) -> pl.DataFrame:
    """Draw gets of files of several users, in two classes, and one of each class at the end."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(13, count))
    jobs = [(float(at), "get", int(rng.integers(0, 6)), n, int(rng.integers(1, 300)))
            for n, at in enumerate(times)]  # fmt: skip
    classes = rng.choice(np.array(["1", "2"]), count).tolist()
    # Both end at the same moment, so that drives of both have the same time.
    jobs += [(1e5, "get", 1, count, 100), (1e5 + 3, "get", 1, count + 1, 100)]
    return make_trace(*jobs).with_columns(class_of_service=pl.Series([*classes, "2", "1"]))


@pytest.mark.parametrize("recalls", [{}, {"most_per_mount": 2, "lazy_s": 40}])
def test_two_technologies_that_share_nothing_are_two_machines(recalls):
    old, new = DRIVE | {"count": 2}, {"count": 1, "bytes_per_s": 4, "load_s": 5, "rewind_s": 6, "unload_s": 1}
    tapes = {"cartridges": USERS, "recalls": recalls, "largest_bytes": 1000}
    both = make(old | OLD, new | NEW, **tapes)
    trace = draw_gets(3)
    got = run_trace(both, trace, seed=1)
    assert got.jobs["drive_wait_s"].max() > 100
    totals = {one.name: one for one in got.totals.tapes.technologies}
    assert sum(one.mount_count for one in totals.values()) == got.totals.tapes.mount_count
    for name, drives, classes in (("old", old, "1"), ("new", new, "2")):
        alone = run_trace(make(drives, technologies={}, **tapes),
                          trace.filter(class_of_service=classes), seed=1)  # fmt: skip
        own = got.jobs.filter(trace["class_of_service"] == classes)
        for column in ("drive_wait_s", "load_wait_s", "started_s", "ended_s"):
            assert own[column].to_numpy() == pytest.approx(alone.jobs[column].to_numpy(), abs=1e-5)
        tapes_alone, one = alone.totals.tapes, totals[name]
        assert (one.mount_count, one.recall_count) == (tapes_alone.mount_count, own.height)
        used_s = sum(tapes_alone.drive_s.values()) - tapes_alone.drive_s["empty"]
        assert one.drive_s == pytest.approx(used_s, abs=1e-4)
        assert one.drive_count == drives["count"]
        assert one.used_ratio == pytest.approx(used_s / (drives["count"] * got.totals.ended_s), abs=1e-6)


def test_one_technology_for_all_gives_the_same_bits_as_none():
    for store in (None, STORE):
        plain = make(DRIVE | {"count": 2}, {"role": "read"}, technologies={}, store=store)
        given = {"technologies": {"only": {}}, "store": store}
        named = make({"count": 2, "reads": ["only"], "writes": ["only"]}, {"reads": ["only"]}, **given)
        trace = draw_gets(5).with_columns(pl.lit(100).cast(pl.Int64).alias("size_bytes"))
        if store:
            is_put = pl.int_range(pl.len()) % 4 == 0
            trace = trace.with_columns(direction=pl.when(is_put).then(pl.lit("put")).otherwise("direction"))
        a, b = run_trace(plain, trace, seed=1), run_trace(named, trace, seed=1)
        assert a.jobs.equals(b.jobs)
        assert a.totals.tapes.drive_s == b.totals.tapes.drive_s


def test_new_files_go_to_what_is_written_and_older_ones_are_drawn():
    technologies = {"old": {"older_ratio": 0.3, "capacity_bytes": 500}, "new": {"older_ratio": 0.7}}
    users = USERS | {"capacity_bytes": 1000}
    for cartridges in (users, users | {"placement": "time"}, users | SPREAD):
        given = {"cartridges": cartridges, "technologies": technologies, "largest_bytes": 500}
        machine = make(OLD, {"count": 3} | BOTH, store=STORE, **given)
        jobs = [(float(n), "put" if n % 3 == 0 else "get", n % 4, n, 100 + n % 7) for n in range(3000)]
        trace = make_trace(*jobs, (1e6, "get", 1, 9999, 100))
        world = make_world(machine, check_trace(trace, machine), seed=1, sample_s=1e9, sample_count=1)
        while run_events(world, 1000):
            inside = world.drives[world.drives.cartridge >= 0]
            assert (world.serves[inside.group, world.cartridges.drive_set[inside.cartridge]] > 0).all()
        assert world.serves.T.tolist() == [[READ, READ], [0, READ | WRITE]]
        files, is_put = world.files[:-1], np.array([job[1] == "put" for job in jobs])
        assert (files.drive_set[is_put] == 1).all()
        assert files.is_stored[is_put].all()
        assert np.mean(files.drive_set[~is_put] == 0) == pytest.approx(0.3, abs=0.03)
        assert (world.cartridges.drive_set[files.cartridge] == files.drive_set).all()
        rooms = np.array([500, 1000])
        assert world.drive_sets.cartridge_bytes.tolist() == rooms.tolist()
        ends_bytes = files.position_bytes + files.size_bytes
        assert (ends_bytes <= rooms[files.drive_set]).all()
        for are_new in (is_put, ~is_put):  # both fill the larger cartridges
            assert ends_bytes[are_new & (files.drive_set == 1)].max() > 500
        # Nothing was read by the drives that do not read it.
        silos = world.jobs.silo[:-1][: len(jobs)][~is_put]
        assert set(silos[files.drive_set[~is_put] == 1]) == {1}
        assert set(silos[files.drive_set[~is_put] == 0]) == {0, 1}
        if cartridges.get("filled_count"):
            # Half as large, so twice as many for as many bytes.
            old_count = len(set(files.cartridge[files.drive_set == 0]))
            assert world.state.next_cartridge[0] >= 800
            assert old_count == pytest.approx(800 * 0.3 * 2 / (0.3 * 2 + 0.7), rel=0.1)


def test_a_mounted_cartridge_leaves_only_for_one_that_its_drive_reads():
    # At 100 s a new cartridge waits: the old one stays in its drive, and is read at once at 110 s.
    machine = make(OLD, NEW, recalls={"lazy_s": 1000}, cartridges=USERS)
    jobs = [(0, "get", 1, 1, 100), (0, "get", 2, 2, 100), (100, "get", 3, 3, 100), (110, "get", 1, 4, 100)]
    got = run(machine, *jobs, classes="1221")
    assert got.jobs["ended_s"].round(6).to_list() == [31, 31, 100 + 9 + 31, 130]
    # From 0 s to the end, there is a cartridge in each drive.
    assert [one.drive_s for one in got.totals.tapes.technologies] == pytest.approx([140, 140])


def test_a_drive_stops_writing_for_a_recall_that_only_it_can_read():
    # Two files are to be written to new cartridges at 50 s. A recall of 62 s comes next where its cartridge
    # is an old one, for which the other drive, which is empty, does not fit.
    store = STORE | {"after_recalls": True}
    new = {"reads": ["new"], "writes": []}
    technologies = {"old": {"classes_of_service": ["1"], "older_ratio": 1},
                    "new": {"classes_of_service": ["1", "2"], "older_ratio": 0}}  # fmt: skip
    machine = make(BOTH, new, store=store, technologies=technologies,
                   cartridges={"capacity_bytes": 10**6, "placement": "time"})  # fmt: skip
    puts = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100)]
    late = (500, "get", 1, 9, 100)
    got = run(machine, *puts, (62, "get", 1, 3, 100), late, classes="2212")
    first_written_s = 50 + 31
    assert got.jobs["drive_wait_s"][2] == first_written_s + 9 - 62
    got = run(machine, *puts, (62, "get", 1, 3, 100), late, classes="2222")
    assert got.jobs["drive_wait_s"][2] == 0


def test_the_way_to_a_file_is_that_of_its_technology():
    locate = {"end_to_end_s": 100, "band_count": 1, "wraps_per_band": 2}
    technologies = {"old": {"classes_of_service": ["1"], "locate": locate}, "new": {}}
    # The second file of a user lies behind the first one, 300 bytes from the beginning at most.
    machine = make(OLD, NEW, technologies=technologies, cartridges=USERS | {"capacity_bytes": 1000})
    jobs = [(0, "get", user, 10 * user + n, 100) for user in (1, 2) for n in range(4)]
    got = run(machine, *jobs, classes="11112222")
    assert got.jobs["locate_wait_s"][:4].sum() > 4
    assert got.jobs["locate_wait_s"][4:].sum() == 0


def test_the_nearest_file_is_that_of_its_technology():
    locate = {"end_to_end_s": 100, "band_count": 1, "wraps_per_band": 2}
    given = {"recalls": {"order": "nearest"}, "cartridges": USERS | {"capacity_bytes": 1000}}
    alone = run(make({}, technologies={}, locate=locate, **given), *gets(*[0] * 8))
    technologies = {"old": {"classes_of_service": ["1"]}, "new": {"locate": locate}}
    got = run(make(OLD, NEW, technologies=technologies, **given), *gets(*[0] * 8), classes="2" * 8)
    assert got.jobs["ended_s"].to_list() == alone.jobs["ended_s"].to_list()
    assert not got.jobs["ended_s"].is_sorted()


def test_smaller_cartridges_of_a_technology_are_enough_and_take_no_more_than_they_can():
    technologies = {"old": {"older_ratio": 0.5, "capacity_bytes": 1000}, "new": {"older_ratio": 0.5}}
    machine = make(OLD, BOTH, technologies=technologies, store=STORE)
    jobs = [*((0, "put", 1, number, 100) for number in range(10)), (1000, "get", 1, 99, 100)]
    demand = check_trace(make_trace(*jobs), machine)
    world = make_world(machine, demand, seed=1, sample_s=1e9, sample_count=1)
    # Each file of 100 bytes is written to a new cartridge of 100 bytes.
    assert len(world.cartridges) >= 10
    while run_events(world, 1000):
        pass
    assert len(set(world.files.cartridge[:10].tolist())) == 10


def test_listed_cartridges_move_from_one_technology_to_another():
    # Two old cartridges of 500 bytes, and a new one that takes both. Only the first drive reads old ones, and
    # only the second writes.
    technologies = {"old": {"classes_of_service": ["1"], "capacity_bytes": 500}, "new": {}}
    repack = {"piece_s": 1e6, "volumes": {"a": 500, "b": 400}} | FROM_OLD_TO_NEW
    given = {"technologies": technologies, "repack": repack, "cartridges": USERS | {"capacity_bytes": 900}}
    got = run(make(OLD, NEW, **given), *gets(1e5), classes="2").totals.tapes
    assert (got.repack.blank_count, got.repack.written_bytes) == (1, 900)
    # 11 + 100 + 9 + 11 + 80 s to read; then the other drive writes for 11 + 180 s.
    assert got.repack.ended_s == pytest.approx(211 + 191)
    old, new = got.technologies
    assert (old.mount_count, new.mount_count) == (2, 2)
    assert old.drive_s == pytest.approx(2 * (11 + 9) + 180)
    assert new.drive_s == pytest.approx(11 + 180 + 9 + 31)


def test_what_cannot_be_is_refused_with_its_field():
    for changes, message in (
        ({"drives": [OLD, {"reads": ["lto"]}]}, "tapes: drives.1.reads: lto is none of technologies"),
        ({"drives": [OLD, NEW | {"role": "read"}]}, "tapes: drives.1.role: reads and writes say"),
        ({"drives": [BOTH, {}]}, "tapes: drives.1: reads and writes name no technology"),
        ({"drives": [NEW]}, "tapes: technologies.old: no drive of drives reads it"),
        ({"technologies": {}}, "tapes: drives.0.reads: old is none of technologies"),
        ({"technologies": {}, "drives": [{"reads": []}]}, "tapes: drives.0.reads: there are no technologies"),
        ({"technologies": {"Old": {}}}, "tapes.technologies.Old: is no name"),
        ({"technologies": {"old": {"classes_of_service": ["1"]}, "new": {"classes_of_service": ["1"]}}},
         "tapes: technologies.old.older_ratio: it is missing"),
        ({"technologies": {"old": {"older_ratio": 0.5}, "new": {"older_ratio": 0.4}}},
         "tapes: technologies: older_ratio is 0.9 in all"),
        ({"technologies": {"old": {"classes_of_service": ["1"]}, "new": {"classes_of_service": ["2"]}},
          "drives": [BOTH | {"classes_of_service": ["1", "2", "3"]}]},
         "tapes: technologies: none has the files of class 3"),
        ({"technologies": {"old": {"classes_of_service": ["1"]}, "new": {}},
          "drives": [OLD, NEW | {"classes_of_service": ["1"]}]},
         "tapes: drives: none that serves class without a name here may read on new"),
        ({"technologies": BY_CLASS, "drives": [OLD | {"classes_of_service": ["2"]}, BOTH]},
         "tapes: drives.0: no class that they serve has files on what they read or write"),
        ({"technologies": SHARED | {"spare": {"classes_of_service": ["1"]}},
          "drives": [BOTH, {"reads": ["spare"], "classes_of_service": ["2"]}]},
         "tapes: drives: none that serves class 1 may read on spare"),
        ({"store": STORE}, "tapes: drives: none that serves class 1 may write on old"),
        ({"technologies": SHARED, "store": STORE, "drives": [BOTH | {"writes": ["old", "new"]}]},
         "tapes: technologies: drives write old and new for class without a name here"),
        ({"repack": {"piece_s": 1, "volumes": {"a": 1}, "to_technology": "new"}},
         "tapes: repack.from_technology: it is missing"),
        ({"repack": {"piece_s": 1, "volumes": {"a": 1}, "from_technology": "old", "to_technology": "old"}},
         "tapes: repack.to_technology: no drive of drives writes old"),
        ({"repack": {"piece_s": 1, "volumes": {"a": 1}, "from_technology": "old", "to_technology": "lto"}},
         "tapes: repack.to_technology: lto is none of technologies"),
        ({"repack": {"piece_s": 1, "drive_ratio": 0.1, "to_technology": "new"}},
         "tapes.repack: to_technology belongs to volumes"),
        ({"technologies": BY_CLASS | {"new": {"capacity_bytes": 200}},
          "repack": {"piece_s": 1, "volumes": {"a": 101}} | FROM_OLD_TO_NEW},
         "tapes: repack.volumes.a: 101 bytes are more than technologies.old.capacity_bytes (100)"),
        ({"technologies": BY_CLASS | {"new": {"capacity_bytes": 99}}},
         "machine: tapes.technologies.new.capacity_bytes is 99, but a file"),
    ):  # fmt: skip
        given = {"drives": [OLD, BOTH]} | changes
        with pytest.raises(MachineError) as error:
            make(*given.pop("drives"), **given)
        assert str(error.value).startswith(f"small: {message}"), error.value


def test_classes_on_no_technology_are_refused():
    technologies = {"old": {"classes_of_service": ["1"]}, "new": {"classes_of_service": ["2"]}}
    machine = make(OLD, NEW, technologies=technologies)
    assert machine.trace_columns == ["class_of_service"]
    with pytest.raises(TraceError, match="class_of_service 3 is served by no drive"):
        run(machine, *gets(0, 1), classes="13")


def test_machines_and_studies_say_what_each_technology_is_and_took():
    machine = make(OLD, BOTH, technologies=SHARED)
    text = "\n".join(describe_machine(machine))
    assert "1 drive at 5 B/s (reads old), 1 drive at 5 B/s (reads old, new; writes new)" in text
    assert "old cartridges of 100 B, with 50% of the older files, filled by time (assumed)" in text
    # The last get finds its file on disk.
    got = run(machine, *gets(*range(0, 4000, 100)), (3900, "get", 1, 0, 100))
    figures = measure(got, machine)
    old, new = got.totals.tapes.technologies
    assert (old.mount_count + new.mount_count, old.recall_count + new.recall_count) == (40, 40)
    assert figures["technology.old.mount_count"] == old.mount_count
    # The last cartridge is still in its drive when the run ends.
    assert figures["technology.old.drive_h"] + figures["technology.new.drive_h"] == pytest.approx(
        (39 * 40 + 31) / 3600
    )
    assert (figures["technology.old.drive_count"], figures["technology.new.drive_count"]) == (2, 1)
    assert figures["technology.new.used_ratio"] == pytest.approx(new.drive_s / 3931)
    # That is not the share at work, which the drives have: idle cartridges count.
    grid = Grid([Variant({}, machine)], [1], pytest.fail)
    said = "\n".join(describe_results(grid, [Result(0, 1, figures, is_warm=True)], is_trace=False))
    assert "  Drives held: drive h, as a share of the time of all drives that take the cartridges." in said
    assert "old drives held  new mounts" in said
    assert "old drives used" not in said
