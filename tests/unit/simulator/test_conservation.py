"""For any machine and any trace, bytes, tokens and jobs are conserved, and nothing is overused."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import TIME_COLUMNS, Run
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_library, make_machine, make_tapes

LIMIT, CLIENT_LIMIT, PORTS, LARGE, LARGE_PORTS = 2, 1, 3, 300, 1


MOVED_RATIO = 0.5
FAILURES = {"ratio": 0.3, "retry_after_s": 9, "most_retries": 1, "moved_ratio": MOVED_RATIO}
REPACK = {"drive_ratio": 0.2, "piece_s": 15}
LISTED = {"volumes": {"A": 4000, "B": 1, "C": 2500}, "piece_s": 40, "most_drives": 1}
TIERS = [{"name": "shelf", "share_ratio": 0.5, "fetch_s": 20, "fetcher_count": 1}]


def draw_library(data: st.DataObject) -> dict:
    drives = {"bytes_per_s": 5, "load_s": 7, "rewind_s": 3, "unload_s": 2}
    first = data.draw(st.sampled_from([{}, {"classes_of_service": ["0"]}]))
    repack = data.draw(st.sampled_from([None, REPACK, LISTED]))
    reads, second, technologies = {}, {}, {}
    if data.draw(st.booleans()):
        technologies = {"old": {"older_ratio": 0.5, "capacity_bytes": 4500}, "new": {"older_ratio": 0.5}}
        reads, second = {"reads": ["old"]}, {"reads": ["old", "new"], "writes": ["new"]}
        if repack is LISTED:
            repack = LISTED | {"from_technology": "old", "to_technology": "new"}
    return make_library(
        drives=[drives | {"count": 2} | first | reads, drives | {"count": 2} | second],
        technologies=technologies,
        store={"interval_s": 60, "min_age_s": 30, "after_recalls": data.draw(st.booleans())},
        recalls={"lazy_s": data.draw(st.sampled_from([0, 50])), "most_per_mount": 2},
        tiers=data.draw(st.sampled_from([[], TIERS])),
        repack=repack,
    )


def draw_silos(data: st.DataObject) -> dict:
    return make_tapes(
        chain_count=2,
        silos=[{"chain": 1, "drive_count": 1}, {"chain": 2, "drive_count": 2}],
        drive_queue=data.draw(st.sampled_from(["silo", "chain"])),
        load=data.draw(
            st.sampled_from(
                [
                    {"law": "fixed", "load_s": 7},
                    {"law": "fixed", "load_s": 0},
                    {
                        "law": "two_exponentials",
                        "short_ratio": 0.2,
                        "short_s": 6,
                        "short_mean_s": 2,
                        "long_s": 12,
                        "long_mean_s": 3,
                    },
                ]
            )
        ),
        store={"interval_s": 60, "min_age_s": 30, "cartridge_bytes": data.draw(st.sampled_from([70, 1000]))},
    )


def draw_pools(data: st.DataObject, capacity_bytes: int) -> dict:
    """Draw no pools, or two, of half of the disk each; class 0 has files with even numbers."""
    one = {"classes_of_service": ["0"], "capacity_bytes": capacity_bytes // 2, "keep_s": 10}
    return data.draw(st.sampled_from([{}, {"even": one, "others": {"rank": "lru"}}]))


def draw_machine(data: st.DataObject) -> Machine:
    tapes = data.draw(st.sampled_from([draw_silos, draw_library]))(data)
    lv_count = data.draw(st.sampled_from([2, 10]))
    failures = data.draw(st.sampled_from([None, FAILURES]))
    broken = {"fails_transfers": data.draw(st.booleans())} if failures else {}
    ranges = [{"over_bytes": -1, "first": 1, "last": PORTS}, {"over_bytes": LARGE, "first": 3, "last": 3}]
    return make_machine(
        users={"limit_count": LIMIT},
        ports={
            "count": PORTS,
            "queueing": data.draw(st.sampled_from(["serialised", "joint"])),
            "ranges": ranges,
        },
        network={
            "in_bytes_per_s": data.draw(st.sampled_from([8, 25])),
            "out_bytes_per_s": 25,
            "client_bytes_per_s": data.draw(st.sampled_from([None, 6])),
        },
        latency={"put_s": data.draw(st.sampled_from([0, 0.76])), "get_s": 0.2},
        disk__chain_count=2,
        disk__lvs_per_chain=lv_count,
        disk__pools=draw_pools(data, 2 * lv_count * 500),
        limits=data.draw(st.sampled_from([None, {"client": {"default_count": CLIENT_LIMIT}}])),
        priorities=data.draw(st.sampled_from([None, {"user": {"exceptions": {"1": 3}}}])),
        failures=failures,
        disk__lv_bytes=500,
        disk__largest_file_bytes=1000,
        disk__allocation=data.draw(st.sampled_from(["lv_round_robin", "chain_round_robin"])),
        purge={"high_ratio": 0.8, "low_ratio": 0.6, "keep_s": data.draw(st.sampled_from([0, 40]))},
        tapes=tapes,
        outages=data.draw(
            st.sampled_from(
                [
                    (),
                    [
                        {"what": "archive", "begins_s": 20, "lasts_s": 30, "every_s": 95} | broken,
                        {"what": "drives", "group": 2, "count": 1, "begins_s": 5, "lasts_s": 40},
                        {"what": "disk", "begins_s": 45, "lasts_s": 10, "every_s": 70} | broken,
                    ],
                ]
            )
        ),
    )


def draw_trace(seed: int, count: int, span_s: float) -> pl.DataFrame:
    """Draw jobs at whole seconds, so that many coincide. Files numbered from a million up are on tape."""
    rng = np.random.default_rng(seed)
    rows, sizes = [], {}
    for number, at in enumerate(np.sort(rng.integers(0, max(1, int(span_s)), count))):
        size = int(rng.choice([0, 1, 40, LARGE, LARGE + 1, 700]))
        if rng.random() < 0.5:
            file, direction = number, "put"
        else:
            known = list(sizes)
            pick = known and rng.random() < 0.6
            file = int(rng.choice(known)) if pick else 1_000_000 + int(rng.integers(0, 10))
            direction = "get"
        size = sizes.setdefault(file, size)
        rows.append((float(at), direction, int(rng.integers(0, 3)), file, size))
    names = ["submitted_s", "direction", "user", "file", "size_bytes"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        client=pl.col("user") // 2, class_of_service=pl.col("file") % 2
    )


def check(run: Run, machine: Machine) -> None:
    jobs, totals = run.jobs, run.totals
    done = jobs.filter(pl.col("ended_s").is_not_null())
    assert done.height == jobs.height - totals.unfinished_count
    assert (done["stuck_in"].null_count(), jobs["stuck_in"].null_count()) == (done.height, done.height)
    # The parts of each job's time add up to the whole.
    assert all((jobs[name] >= 0).all() for name in TIME_COLUMNS)
    split = jobs.select(pl.sum_horizontal(TIME_COLUMNS)).to_series().to_numpy()
    whole = jobs["ended_s"].fill_null(totals.ended_s).to_numpy() - jobs["submitted_s"].to_numpy()
    assert split == pytest.approx(whole, abs=1e-6)
    # A job that joined a stage waited for another job's stage of the same file, and started none itself.
    numbered = jobs.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    joined = numbered.filter(pl.col("joined_row").is_not_null()).join(
        numbered, left_on="joined_row", right_on="row", suffix="_stager"
    )
    assert joined.height == totals.joined_count == jobs["joined_row"].count()
    assert (joined["is_staged_stager"] & ~joined["is_staged"]).all()
    assert (joined["file"] == joined["file_stager"]).all()
    assert (joined["submitted_s"] >= joined["submitted_s_stager"]).all()
    # Every byte passes through every resource on its way.
    moved = totals.moved_bytes
    succeeded = done.filter(~pl.col("is_failed"))
    put = int(succeeded.filter(direction="put")["size_bytes"].sum())
    got = int(succeeded.filter(direction="get")["size_bytes"].sum())
    # Tries that failed move a part, and the file of a put that is given up leaves the disk again.
    in_vain = jobs.select("direction", bytes=MOVED_RATIO * pl.col("size_bytes") * pl.col("failed_count"))
    vain_put, vain_got = (in_vain.filter(direction=way)["bytes"].sum() for way in ("put", "get"))
    staged_jobs = jobs.filter(pl.col("is_staged") & pl.col("stage_s").is_not_null())
    staged = int(staged_jobs["size_bytes"].sum())
    assert staged_jobs.height == totals.staged_count
    tape = sum(value for name, value in moved.items() if name.startswith("tape"))
    disk = sum(value for name, value in moved.items() if name.startswith("disk"))
    assert tape >= staged + totals.stored_bytes - 1e-6
    if totals.unfinished_count == 0:  # otherwise a file may be only partly moved
        # Only storing can still be in progress at the end.
        under_way = tape - staged - totals.stored_bytes
        came, went = put + staged, got + totals.stored_bytes + under_way
        if any(outage.fails_transfers for outage in machine.outages):
            # A try that is broken off moves more or less than one that fails by chance, but at most all.
            assert came - 1e-6 <= moved["network_in"] <= came + vain_put / MOVED_RATIO + 1e-6
            assert went - 1e-6 <= moved["network_out"] <= went + vain_got / MOVED_RATIO + 1e-6
        else:
            assert moved["network_in"] == pytest.approx(came + vain_put, abs=1e-6)
            assert moved["network_out"] == pytest.approx(went + vain_got, abs=1e-6)
        assert totals.disk_used_bytes == put + staged - totals.purged_bytes
    assert disk == pytest.approx(moved["network_in"] + moved["network_out"], abs=1e-6)
    assert 0 <= totals.disk_used_bytes <= machine.disk.capacity_bytes
    # Nothing is used beyond its capacity.
    samples = run.samples
    for name in samples.columns:
        if name.endswith("_ratio"):
            assert samples[name].is_between(-1e-9, 1 + 1e-9).all()
            # In the first sample, only means since the previous sample are unknown.
            assert samples[name].null_count() == name.endswith("_utilisation_ratio")
    assert samples["busy_ports_count"].max() <= PORTS
    assert samples["busy_drives_count"].max() <= machine.tapes.drive_count
    check_levels(run, machine)
    check_pools(run, machine)
    if isinstance(machine.tapes, Library):
        check_library(run, machine.tapes)
    if machine.failures is not None:
        return  # when each try held what is not in the result
    # No more ports or tokens are held than exist.
    before = pl.col("file_wait_s") + pl.col("stage_s").fill_null(0) + pl.col("user_wait_s")
    begun = pl.col("submitted_s") + before + pl.col("limit_wait_s") + pl.col("port_wait_s")
    held = done.with_columns(begun_s=begun)
    assert most_at_a_time(held) <= PORTS
    assert most_at_a_time(held.filter(pl.col("size_bytes") > LARGE)) <= LARGE_PORTS
    if machine.ports.queueing == "serialised":
        held = done.with_columns(begun_s=pl.col("submitted_s") + before)
    for _, one in held.group_by("user"):
        assert most_at_a_time(one) <= LIMIT
    if machine.limits is not None:
        held = held.with_columns(pl.col("begun_s") + pl.col("limit_wait_s"), client=pl.col("user") // 2)
        for _, one in held.group_by("client"):
            assert most_at_a_time(one) <= CLIENT_LIMIT


def check_pools(run: Run, machine: Machine) -> None:
    """What came into a pool is in it, or was purged from it, and it is never too full."""
    pools, jobs = run.totals.disk_pools, run.jobs
    assert len(pools) == len(machine.disk.pools)
    for number, pool in enumerate(pools):
        own = jobs.filter(pl.col("file") % 2 == number)
        assert 0 <= pool.used_bytes <= pool.capacity_bytes
        assert (pool.request_count, pool.get_count) == (own.height, own.filter(direction="get").height)
        assert pool.miss_count == own["is_staged"].sum()
        if run.totals.unfinished_count == 0:
            came = (pl.col("direction") == "put") & ~pl.col("is_failed") | pl.col("is_staged")
            assert pool.used_bytes == own.filter(came)["size_bytes"].sum() - pool.purged_bytes
    if pools:
        assert sum(pool.used_bytes for pool in pools) == run.totals.disk_used_bytes
        assert sum(pool.purged_count for pool in pools) == run.totals.purged_count


def check_library(run: Run, library: Library) -> None:
    """Each mount ends with a dismount or is still there, and each drive does one thing at a time."""
    tapes, ended_s = run.totals.tapes, run.totals.ended_s
    assert tapes.mount_count == tapes.dismount_count + tapes.mounted_count
    assert sum(tapes.tier_mounts.values()) == (tapes.mount_count if library.tiers else 0)
    assert sum(tapes.drive_s.values()) == pytest.approx(library.drive_count * ended_s, abs=1e-6)
    if library.technologies:
        unused_s = tapes.drive_s["empty"] + tapes.drive_s["out"]
        unused_s += tapes.drive_s["repack"] if library.repack and not library.repack.volumes else 0
        own_s = sum(one.drive_s for one in tapes.technologies)
        assert own_s == pytest.approx(library.drive_count * ended_s - unused_s, abs=1e-6)
        assert sum(one.mount_count for one in tapes.technologies) == tapes.mount_count
    last_s = run.jobs["submitted_s"].max()
    if library.repack and library.repack.volumes:
        size_bytes = sum(LISTED["volumes"].values())
        repack = tapes.repack
        assert (repack.read_bytes, repack.written_bytes, repack.blank_count) == (size_bytes, size_bytes, 2)
        assert repack.ended_s <= ended_s
        assert tapes.drive_s["repack"] == pytest.approx(2 * size_bytes / library.drives[0].bytes_per_s)
        return
    pieces = REPACK["drive_ratio"] * library.drive_count * last_s / REPACK["piece_s"] + 1
    most_s = pieces * REPACK["piece_s"] if library.repack else 0
    assert tapes.drive_s["repack"] <= most_s + 1e-6


def check_levels(run: Run, machine: Machine) -> None:
    """Integrals and maxima over time are those of the jobs' own times."""
    jobs, levels, ended_s = run.jobs, run.totals.levels, run.totals.ended_s
    for cause in ("user", "limit", "port", "file", "drive", "load", "space"):
        waited_s = jobs[f"{cause}_wait_s"].sum()
        assert levels[f"{cause}_waits"].total_s == pytest.approx(waited_s, abs=1e-6)
    last_s = jobs["submitted_s"].max()
    disk = levels["disk_used"]
    assert disk.peak <= machine.disk.capacity_bytes
    if machine.failures is not None:
        return  # ports are held by tries, not by jobs
    granted = jobs.filter(pl.col("granted_s").is_not_null()).with_columns(
        pl.col("ended_s").fill_null(ended_s)
    )
    spans = granted.select(begun_s="granted_s", ended_s="ended_s").rows()
    assert levels["busy_ports"].total_s == pytest.approx(sum(end - begin for begin, end in spans), abs=1e-6)
    assert levels["busy_ports"].peak == find_peak(spans)
    if last_s > 0:
        asked_s = sum(max(0.0, min(end, last_s) - begin) for begin, end in spans)
        assert levels["busy_ports"].mean == pytest.approx(asked_s / last_s, abs=1e-6)
    # What the intervals say agrees with the whole, as far as they reach.
    samples = run.samples
    peaks = samples["disk_used_peak_bytes"].drop_nulls()
    assert (samples["disk_used_bytes"][1:] <= peaks).all()
    assert (samples["disk_used_mean_bytes"].drop_nulls() <= peaks + 1e-6).all()
    assert max(peaks, default=0) <= disk.peak <= machine.disk.capacity_bytes


def find_peak(spans: list[tuple[float, float]]) -> int:
    """Return the most spans at a time; what ends and begins at one moment never overlaps."""
    changes: dict[float, int] = {}
    for begin, end in spans:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    return max(np.cumsum([changes[at] for at in sorted(changes)]), default=0)


def most_at_a_time(held: pl.DataFrame) -> int:
    # Because of rounding, a job may begin just before the end of the job that it waited for.
    changes = [(at + 1e-6, 1) for at in held["begun_s"]] + [(at, -1) for at in held["ended_s"]]
    return max(np.cumsum([change for _, change in sorted(changes)]), default=0)


@pytest.mark.study("simulator")
@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    data=st.data(),
    seed=st.integers(0, 10_000),
    count=st.integers(1, 60),
    span=st.sampled_from([1, 100, 2000]),
)
def test_nothing_is_lost_and_nothing_overused(data, seed, count, span):
    machine, trace = draw_machine(data), draw_trace(seed, count, span)
    check(run_trace(machine, trace, seed=seed, sample_s=3.0), machine)


def test_a_run_on_an_overloaded_machine_ends_too():
    # Stages hold the drive while they wait for space, but storing needs it to free space.
    machine = make_machine(tapes=make_tapes(store={"interval_s": 60, "min_age_s": 0, "cartridge_bytes": 500}),
                           purge={"high_ratio": 0.8, "low_ratio": 0.6, "keep_s": 10})  # fmt: skip
    run = run_trace(machine, draw_trace(1, 3000, 3000), seed=1)
    assert run.totals.unfinished_count > 0
    assert run.totals.unfinished_count + run.jobs["ended_s"].count() == 3000
    assert "space" in run.jobs["stuck_in"].to_list()
