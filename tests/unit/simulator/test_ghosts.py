"""Ghosts: what was on a disk before a log began. The replays are of plain Python (`reuse.py`)."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tapewise.simulator.calibrations import (
    Calibration,
    Check,
    calibrate,
    check_hits,
    find_hits,
    run_with_ghosts,
)
from tapewise.simulator.demand.ghosts import (
    ReuseLaw,
    draw_ghosts,
    find_asked,
    find_law,
    find_limit,
    lay_ghosts,
    weigh,
)
from tapewise.simulator.descriptions import _describe_ghosts
from tapewise.simulator.inventories import lay_on_disk
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_machine, make_tapes
from tests.unit.simulator.reuse import DAY_S, GB, make_disk, make_log, replay

MACHINE = bundled_machine("llnl-unitree-1998")


def make_uses(*uses: tuple[float, str, int, int, bool | None]) -> pl.DataFrame:
    """Make uses of known files, given as (submitted_s, direction, file, size_bytes, is_cached)."""
    names = ["submitted_s", "direction", "file", "size_bytes", "is_cached"]
    return pl.DataFrame(uses, schema=names, orient="row").with_columns(
        user=pl.lit(1),
        is_file_known=pl.lit(value=True),
        origin=pl.lit("tape"),
        is_cached=pl.col("is_cached").cast(pl.Boolean),
    )


def test_the_law_weighs_an_interval_by_how_often_it_can_be_seen():
    """In 100 s, an interval of 50 s can only end in the last 50 s, so it counts twice; one of 20 s 1.25."""
    asked = find_asked(
        make_uses((0, "put", 1, 5, None), (30, "get", 2, 6, True), (50, "get", 1, 5, False),
                  (70, "get", 1, 5, True),
                  (100, "put", 3, 7, None))
    )  # fmt: skip
    assert (asked.files.tolist(), asked.after_s.tolist(), asked.evidence.tolist()) == ([2], [30.0], [1])
    assert (asked.intervals_s.tolist(), asked.again_evidence.tolist()) == ([50.0, 20.0], [0, 1])
    assert sorted(zip(asked.last_sizes.tolist(), asked.last_s.tolist(), strict=True)) == [
        (5, 70),
        (6, 30),
        (7, 100),
    ]
    law = find_law(asked, tail=0.35)
    assert law.intervals_s.tolist() == [20.0, 50.0]
    assert law.cumulative.tolist() == pytest.approx([0.65 * 1.25 / 3.25, 0.65])
    drawn = law.draw(np.full(20_000, 10.0), np.random.default_rng(1))
    assert [(drawn == 20).mean(), (drawn == 50).mean()] == pytest.approx([0.25, 0.4], abs=0.01)
    assert np.median(drawn[drawn > 50]) == pytest.approx(200, rel=0.03)  # 100 s / an even number from 0 to 1
    drawn = law.draw(np.full(20_000, 20.0), np.random.default_rng(1))
    assert [(drawn == 20).sum(), (drawn == 50).mean()] == pytest.approx([0, 0.4 / 0.75], abs=0.01)
    nothing = find_law(find_asked(make_uses((0, "get", 1, 5, None), (100, "get", 2, 5, None))), tail=0.0)
    assert (nothing.draw(np.array([30.0]), np.random.default_rng(1)) >= 100).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.0, 99.0), max_size=8), st.lists(st.floats(0.0, 100.0), min_size=1, max_size=8),
    st.floats(0.0, 0.9), st.integers(0, 9),
)  # fmt: skip
@example([0.0] * 7 + [2.0], [3.0], 0.0, 0)
def test_a_file_is_last_used_before_the_log(intervals, after, tail, seed):
    asked = replace(
        find_asked(make_uses((0, "get", 1, 5, None))), intervals_s=np.array(intervals), length_s=100.0
    )
    drawn = find_law(asked, tail).draw(np.array(after), np.random.default_rng(seed))
    assert (drawn >= np.array(after)).all()
    assert set(drawn[drawn < 100].tolist()) <= set(intervals)


def test_a_ghost_agrees_with_what_its_get_found():
    log = make_log(14, seed=3)
    small = 20 * GB
    misses = pl.Series(replay(log, small))
    known = log.with_columns(is_cached=pl.when(pl.col("direction") == "get").then(~misses))
    later = known.filter(pl.col("submitted_s") > 7 * DAY_S).with_columns(pl.col("submitted_s") - 7 * DAY_S)
    asked, machine = find_asked(later), make_disk(small)
    limit = find_limit(machine, asked)
    assert limit is not None
    is_light = weigh(machine, asked.again_sizes, asked.intervals_s) <= limit
    is_known = asked.again_evidence >= 0
    assert (is_light == (asked.again_evidence == 1))[is_known].mean() > 0.97
    ghosts = draw_ghosts(asked, machine, tail=0.05, seed=1)
    assert (ghosts.evident_count, ghosts.contrary_count) == (asked.files.size, pytest.approx(0, abs=20))
    at_get = weigh(machine, asked.sizes, ghosts.ages_s[: asked.files.size] + asked.after_s)
    assert (at_get <= limit)[asked.evidence == 1].mean() > 0.98
    assert (at_get > limit)[asked.evidence == 0].all()
    assert (ghosts.ages_s >= 0).all()
    unknown = draw_ghosts(
        find_asked(later.with_columns(is_cached=pl.lit(None, pl.Boolean))), machine, tail=0.05, seed=1
    )
    assert (unknown.evident_count, unknown.contrary_count) == (0, 0)


def test_the_lightest_are_laid_and_a_file_nobody_asks_for_mirrors_a_last_use():
    """The file of 8 MB was last used 9 h after the beginning of the log, so its ghost 9 h before it."""
    uses = make_uses((0, "get", 1, 5_000_000, None), (9 * 3600.0, "put", 2, 8_000_000, None))
    ghosts = draw_ghosts(find_asked(uses), MACHINE, tail=0.0, seed=1)
    assert ghosts.files.tolist() == [1, -1, -2]
    assert ghosts.ages_s[1:].tolist() == [0.0, 9 * 3600.0]
    ghosts = replace(ghosts, ages_s=np.array([4 * 3600.0, 1.0, 3600.0]))
    # The weights are 5 * 4^1.5 = 40, 5 and 8.
    laid = [lay_ghosts(ghosts, MACHINE, room_bytes=room)["file"].to_list() for room in (4e6, 13e6, 18e6)]
    assert laid == [[], [-1, -2], [-1, -2, 1]]
    assert weigh(MACHINE, np.array([1]), np.array([3601.0])).tolist() == [2 * np.sqrt(2)]


def test_at_most_all_files_that_are_older_than_the_log_are_gone():
    """The log has no interval, so all are longer than it; the second get found its file, which is thus there.

    Files 3 and 4 give a limit between hits and misses.
    """
    uses = make_uses(
        (0, "get", 1, 5_000_000, None), (10, "get", 2, 5_000_000, True), (20, "get", 3, 5_000_000, False),
        (30, "get", 3, 5_000_000, True),
    )  # fmt: skip
    asked = find_asked(uses)
    kept, gone = (
        draw_ghosts(asked, MACHINE, tail=1.0, seed=1, are_old_gone=are_gone) for are_gone in (False, True)
    )
    assert np.isfinite(kept.ages_s).all()
    assert np.isinf(gone.ages_s).tolist() == [True, False, True, False, False, False]
    assert lay_ghosts(kept, MACHINE, room_bytes=1e9).height == 6
    assert lay_ghosts(gone, MACHINE, room_bytes=1e9)["file"].sort().to_list() == [-3, -2, -1, 2]


def test_the_disk_is_filled_with_ghosts_then_with_older_files():
    machine = make_machine(
        purge={"high_ratio": 0.8, "low_ratio": 0.6, "keep_s": 0}, tapes=make_tapes(), disk__lv_bytes=1000
    )
    uses = make_uses((0, "get", 1, 900, None), (10, "get", 1, 900, None), (100, "put", 2, 700, None))
    ghosts = draw_ghosts(find_asked(uses), machine, tail=0.5, seed=1)
    held = lay_on_disk(uses, machine, fill_ratio=0.7, seed=1, ghosts=ghosts)
    assert held.inventory["file"].is_unique().all()
    assert (held.trace_count, held.made_up_count) == (1, held.inventory.height - 1)
    older = held.inventory.filter(pl.col("file") < -2)
    assert 6000 < held.inventory["size_bytes"].sum() <= 7000
    assert older.height > 2
    assert older["age_s"].is_between(100, 200).all()
    # Without a purge, whatever is asked for is there.
    held = lay_on_disk(uses, make_machine(), fill_ratio=0.0, seed=1, ghosts=ghosts)
    assert held.inventory["file"].to_list() == [1]


def test_misses_are_those_of_a_plain_replay_of_trace_and_inventory():
    log = make_log(12, seed=5)
    asked = find_asked(log)
    counts = []
    for size in (12, 24, 48, 96, 190):
        machine = make_disk(size * GB)
        ghosts = draw_ghosts(asked, machine, tail=0.05, seed=1)
        inventory = lay_on_disk(log, machine, fill_ratio=0.75, seed=1, ghosts=ghosts).inventory
        run = run_trace(machine, log, seed=1, inventory=inventory)
        expected = sum(replay(log, machine.disk.capacity_bytes, inventory))
        assert run.jobs["is_staged"].sum() == pytest.approx(expected, rel=0.02 if size < 20 else 0.01)
        counts.append(expected)
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 1.5 * counts[-1]


def test_a_log_cut_off_from_its_past_gives_the_misses_of_the_whole():
    """The log is the second half of a history; the truth is a replay of all of it."""
    history, middle = make_log(28, seed=7), 14 * DAY_S
    is_later = history["submitted_s"] >= middle
    measured = 40 * GB
    misses = pl.Series(replay(history, measured))
    log = history.with_columns(is_cached=pl.when(pl.col("direction") == "get").then(~misses)).filter(is_later)
    log = log.with_columns(pl.col("submitted_s") - middle)
    found = calibrate(log, make_disk(measured), seed=1)
    assert found is not None
    assert found.simulated_ratio == pytest.approx(found.measured_ratio, abs=0.005)
    assert 0.01 < found.tail < 0.3
    assert np.mean([check.is_within for check in found.checks]) > 0.8
    ghosts = draw_ghosts(find_asked(log), make_disk(measured), tail=found.tail, seed=1)
    for size in (measured // 2, measured, 2 * measured):
        run = run_with_ghosts(log, make_disk(size), ghosts, seed=1)
        truth = int((pl.Series(replay(history, size)) & is_later).sum())
        count = int((log["direction"] == "get").sum()) - int(find_hits(run).sum())
        assert count == pytest.approx(truth, rel=0.1), size


def test_the_calibration_finds_a_known_tail_without_the_last_third():
    """The outcomes are those of a run with a tail of .02, so it is found. The last third is unseen."""
    log, machine = make_log(8, seed=9, per_day=300), make_disk(25 * GB)
    run = run_with_ghosts(log, machine, draw_ghosts(find_asked(log), machine, tail=0.02, seed=4), seed=4)
    is_get = pl.col("direction") == "get"
    is_early = pl.col("submitted_s") < log["submitted_s"][-1] * 2 / 3
    log = log.with_columns(is_cached=pl.when(is_get).then(find_hits(run)))
    found = calibrate(log, machine, seed=4)
    later = calibrate(log.with_columns(is_cached=pl.col("is_cached") ^ ~is_early), machine, seed=4)
    assert found is not None
    assert later is not None
    assert found.tail == pytest.approx(0.02, abs=0.01)
    assert later.tail == found.tail
    ratios = [[check.simulated_ratio for check in each.checks] for each in (found, later)]
    assert ratios[0] == ratios[1]
    assert ratios[0] != [check.measured_ratio for check in later.checks]


def test_too_few_known_outcomes_calibrate_nothing():
    assert calibrate(make_log(1, seed=1), make_disk(GB * 10), seed=1) is None


def test_the_last_third_is_compared_in_groups():
    """Of two bursts with 2 gets each, one hit: the ratio is 1/2 +- 1.96 * sqrt(1 + 1) / 4."""
    uses = make_uses(
        (0, "get", 1, 50, True), (1, "get", 1, 50, True),
        (7200, "get", 2, 50, False), (7201, "get", 2, 50, False),
        (90_000, "get", 1, 50, True),
    )  # fmt: skip
    is_checked = pl.Series([True, True, True, True, False])
    checks = check_hits(uses, pl.Series([True, True, False, True, False]), is_checked)
    whole = checks[0]
    assert (whole.group, whole.get_count, whole.measured_ratio, whole.simulated_ratio) == (
        "last third",
        4,
        0.5,
        0.75,
    )
    assert (whole.low_ratio, whole.high_ratio) == pytest.approx((0, 1))
    assert whole.is_within
    groups = {(check.grouped_by, check.group): check for check in checks}
    assert set(groups) == {
        ("all", "last third"), ("day", "day 1"), ("size", "from 10^1 bytes"), ("age", "below 1 h"),
        ("age", "first use in the log"),
    }  # fmt: skip
    assert not replace(whole, high_ratio=0.7).is_within


def test_people_read_by_how_much_the_last_third_is_off():
    """Each hit ratio that is outside its interval is listed, with that interval."""
    groups = {"all": "last third", "day": "day 9", "size": "from 10^6 bytes", "age": "1 h to 1 d"}
    within = [Check(by, "within", 7, 0.5, 0.4, 0.6, 0.6) for by in groups]
    outside = [Check(by, group, 1234, 0.5, 0.4, 0.6, 0.601) for by, group in groups.items()]
    uses = make_uses((0, "get", 1, 50, True), (5, "get", 2, 50, False))
    plan: Any = SimpleNamespace(
        ghosts=draw_ghosts(find_asked(uses), MACHINE, tail=0.1, seed=1),
        options={"tail": 0.1},
        calibration=Calibration(0.1, 5678, 0.7, 0.71, (*within, *outside)),
    )
    lines = list(_describe_ghosts(plan))
    assert "first two thirds: 5,678 gets, hit ratio 0.710, measured 0.700" in lines[2]
    assert "on the last third, 4 of 8 hit ratios" in lines[3]
    assert [line.strip() for line in lines[4:]] == [
        f"{group}: 0.601, measured 0.500 (0.400 to 0.600) of 1,234 gets" for group in groups.values()
    ]


def test_a_law_draws_nothing_where_nothing_is_asked():
    law = ReuseLaw(np.array([1.0]), np.array([1.0]), 10.0)
    assert law.draw(np.empty(0), np.random.default_rng(1)).size == 0


def test_ghosts_of_some_files_are_those_made_from_them_whether_asked_for_or_not():
    """What is asked for comes first, with the file's own number; the mirrored past has numbers below 0."""
    asked = find_asked(
        make_uses((0, "get", 1, 5, None), (10, "put", 2, 6, None), (20, "get", 3, 7, None),
                  (30, "get", 4, 8, None), (40, "get", 2, 6, None))
    )  # fmt: skip
    ghosts = draw_ghosts(asked, MACHINE, tail=0.1, seed=1)
    assert ghosts.asked_count == 3
    parts = [ghosts.made_from(np.array(files)) for files in ([1, 2], [4, 3], [9])]
    assert [(each.files >= 0).sum() for each in parts] == [each.asked_count for each in parts] == [1, 2, 0]
    for each, files in zip(parts, ([1, 2], [3, 4], []), strict=True):
        assert sorted(set(each.sources.tolist())) == files
        assert each.files[: each.asked_count].tolist() == [file for file in files if file != 2]
        # Each has the size and the age that it had among all.
        for number, size, age_s in zip(each.files, each.sizes, each.ages_s, strict=True):
            (place,) = np.flatnonzero(ghosts.files == number)
            assert (ghosts.sizes[place], ghosts.ages_s[place]) == (size, age_s)
        assert each.of_requests().files.tolist() == each.files[: each.asked_count].tolist()
    assert sorted(np.concatenate([each.files for each in parts]).tolist()) == sorted(ghosts.files.tolist())
