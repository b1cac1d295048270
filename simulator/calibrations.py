"""Calibrates the ghosts on a log that says which gets hit, and checks them on the log's last third.

How many uses are of files that were last used longer ago than the log lasts (`tail`) is not in the log. But
it says how many gets hit. So the log is run on the machine that it was measured on, and the tail is the one
with which as many gets of its first two thirds hit as did. Evidence about single files is not used for that:
with it, almost any tail would give the right number.

Then the run with the calibrated tail, in which the outcomes of the last third are unknown, is compared there
with what was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tapewise.simulator.demand.ghosts import Asked, Ghosts, draw_ghosts, find_asked
from tapewise.simulator.demand.tails import MOST_TAIL
from tapewise.simulator.inventories import lay_on_disk
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import Run
from tapewise.simulator.runs import run_trace

# Fewer gets with known outcomes in the first two thirds cannot say anything about the tail.
LEAST_GETS = 100
_HIGHEST_TAIL = 5 * MOST_TAIL
_HALVING_COUNT = 7
_QUANTILE = 1.96
_DAY_S, _HOUR_S = 86_400.0, 3600.0


@dataclass(frozen=True)
class Check:
    """Gets of the last third: how many, the measured hit ratio with its 95 % interval, and the run's."""

    grouped_by: str
    group: str
    get_count: int
    measured_ratio: float
    low_ratio: float
    high_ratio: float
    simulated_ratio: float

    @property
    def is_within(self) -> bool:
        """Whether the simulated hit ratio is in the interval of the measured one."""
        return self.low_ratio - 1e-9 <= self.simulated_ratio <= self.high_ratio + 1e-9


@dataclass(frozen=True)
class Calibration:
    """The tail that was found, the hit ratios of the first two thirds with it, and the checks of the last."""

    tail: float
    get_count: int
    measured_ratio: float
    simulated_ratio: float
    checks: tuple[Check, ...]


def find_hits(run: Run) -> pl.Series:
    """Return which jobs are gets that found their file on disk: they neither started nor joined a stage."""
    is_hit = (pl.col("direction") == "get") & ~pl.col("is_staged") & pl.col("joined_row").is_null()
    return run.jobs.select(is_hit).to_series()


def run_with_ghosts(
    trace: pl.DataFrame, machine: Machine, ghosts: Ghosts, *, seed: int, fill_ratio: float | None = None
) -> Run:
    """Run a trace on a disk that holds as many of the ghosts as the machine keeps."""
    held = lay_on_disk(trace, machine, fill_ratio=fill_ratio, seed=seed, ghosts=ghosts)
    return run_trace(machine, trace, seed=seed, inventory=held.inventory)


def calibrate(trace: pl.DataFrame, measured: Machine, *, seed: int) -> Calibration | None:
    """Find the tail of a trace that was measured on a machine, and check it.

    None if the log does not say of enough gets what they found. Requests that the machine cannot take must
    not be in the trace.
    """
    split_s = float(trace["submitted_s"][-1]) * 2 / 3
    is_early = trace["submitted_s"] < split_s
    is_known = (trace["direction"] == "get") & trace["is_cached"].is_not_null()
    is_fitted = is_early & is_known
    get_count = int(is_fitted.sum())
    if get_count < LEAST_GETS:
        return None
    measured_count = int((trace["is_cached"] & is_fitted).sum())
    unseen = trace.with_columns(is_cached=pl.when(is_early).then("is_cached"))
    asked = find_asked(unseen)
    blind = replace(asked, evidence=np.full(asked.evidence.size, -1, np.int64))
    tail, hit_count = _halve(trace, measured, blind, is_fitted, measured_count, seed)
    run = run_with_ghosts(trace, measured, draw_ghosts(asked, measured, tail=tail, seed=seed), seed=seed)
    return Calibration(
        tail,
        get_count,
        measured_count / get_count,
        hit_count / get_count,
        tuple(check_hits(trace, find_hits(run), ~is_early & is_known)),
    )


def _halve(
    trace: pl.DataFrame, measured: Machine, asked: Asked, is_fitted: pl.Series, target: int, seed: int
) -> tuple[float, int]:
    """Return the tail whose number of hits is closest to the measured one, by halving, and that number.

    The more uses are of files older than the log, the fewer hit.
    """

    def count(tail: float) -> int:
        ghosts = draw_ghosts(asked, measured, tail=tail, seed=seed)
        return int((find_hits(run_with_ghosts(trace, measured, ghosts, seed=seed)) & is_fitted).sum())

    low, high = 0.0, _HIGHEST_TAIL
    found = {low: count(low)}
    for _ in range(_HALVING_COUNT):
        if found[0.0] <= target:  # no share below 0 can give more hits
            break
        middle = (low + high) / 2
        found[middle] = count(middle)
        if found[middle] > target:
            low = middle
        else:
            high = middle
    tail = min(found, key=lambda each: (abs(found[each] - target), each))
    return tail, found[tail]


def check_hits(trace: pl.DataFrame, is_hit: pl.Series, is_checked: pl.Series) -> list[Check]:
    """Compare the hits of a run with the measured ones: all, by day, by size and by age (since the last use).

    The interval of a measured ratio counts each user's gets within an hour as one observation, because gets
    of a burst hit or miss together.
    """
    seconds = pl.col("submitted_s")
    age = seconds.diff().over("file")
    gets = (
        trace.with_columns(
            simulated=is_hit.cast(pl.Float64),
            measured=pl.col("is_cached").cast(pl.Float64),
            day=(seconds / _DAY_S).floor().cast(pl.Int64) + 1,
            size=pl.col("size_bytes").clip(lower_bound=1).log10().floor().cast(pl.Int64),
            age=pl.when(age < _HOUR_S)
            .then(0)
            .when(age < _DAY_S)
            .then(1)
            .when(age < 7 * _DAY_S)
            .then(2)
            .when(age.is_not_null())
            .then(3)
            .otherwise(4),
            hour=(seconds / _HOUR_S).floor().cast(pl.Int64),
            all=pl.lit(0),
        )
        .filter(is_checked)
        .select("all", "day", "size", "age", "user", "hour", "simulated", "measured")
    )
    names = {
        "all": ("last third",),
        "age": ("below 1 h", "1 h to 1 d", "1 d to 7 d", "above 7 d", "first use in the log"),
    }
    return [check for by in ("all", "day", "size", "age") for check in _check_groups(gets, by, names.get(by))]


def _check_groups(gets: pl.DataFrame, by: str, names: Sequence[str] | None) -> list[Check]:
    counts = [pl.len().alias("n"), pl.col("measured").sum(), pl.col("simulated").sum()]
    bursts = gets.group_by(by, "user", "hour").agg(counts)
    ratio = pl.col("measured").sum().over(by) / pl.col("n").sum().over(by)
    found = (
        bursts.with_columns(off=pl.col("measured") - ratio * pl.col("n"))
        .group_by(by)
        .agg(pl.col("n", "measured", "simulated").sum(), spread=pl.col("off").pow(2).sum().sqrt())
        .sort(by)
    )
    checks = []
    for group, count, measured, simulated, spread in found.iter_rows():
        half = _QUANTILE * spread / count
        # Where all hit or all miss, the spread is 0: three observations are allowed, as by the rule of three.
        if measured in (0, count):
            half = min(1.0, 3.0 / count)
        name = names[group] if names else f"day {group}" if by == "day" else f"from 10^{group} bytes"
        ratio_here = measured / count
        low, high = max(0.0, ratio_here - half), min(1.0, ratio_here + half)
        checks.append(Check(by, name, count, ratio_here, low, high, simulated / count))
    return checks
