"""Generates streams, which are traces made from a workload model, and removes the bursts of a trace.

A stream is a trace (traces.py) with these additional columns:

    submitted_at   the moment of the request, in UTC
    interface      the program that makes the request
    user           from 1, the busiest first; each request from an unknown user has its own number below 0
    origin         put, or where a get finds its file: disk or tape
    class_number   the request's class among those of its interface and direction

Every request has a file of its own. docs/explanation/streams.md describes which properties of the original
archive a stream preserves.
"""

import math
from datetime import UTC, datetime

import numpy as np
import polars as pl

from tapewise.schema.errors import SimulationError, TraceError
from tapewise.simulator.demand.bursts import draw_labels, draw_origins, draw_requests, draw_sizes
from tapewise.simulator.demand.models import Bursts, Group, Model
from tapewise.simulator.demand.traces import LATEST_S
from tapewise.simulator.demand.weeks import count_observed_hours, draw_moments, find_rates, to_moments
from tapewise.simulator.kernel.tables import Floats, Integers

_SCHEMA = {
    "submitted_s": pl.Float64,
    "direction": pl.String,
    "interface": pl.String,
    "user": pl.Int64,
    "size_bytes": pl.Int64,
    "origin": pl.String,
    "class_number": pl.Int64,
}
# Stands for unknown users until the stream is sorted.
_NOBODY = 0


def make_stream(
    model: Model, *, began_at: datetime, duration_s: float, seed: int, rate_factor: float = 1.0
) -> pl.DataFrame:
    """Make a trace of the bursts and single requests that begin within `duration_s` of `began_at`.

    Bursts may continue past the end, so the expected number of requests is right. Bursts begin `rate_factor`
    times as often as in the model, from the same users. The same arguments give the same stream, to the last
    bit.

    Raises:
        SimulationError: an argument is out of range, or the stream would not fit into memory.
    """
    if began_at.tzinfo is None:
        raise SimulationError(f"began_at is {began_at}, which has no time zone")
    if not 0 < duration_s <= LATEST_S:
        raise SimulationError(f"duration_s is {duration_s}, not above 0 and up to {LATEST_S:.0e}")
    if seed < 0:
        raise SimulationError(f"the seed is {seed}, not a whole number from 0")
    if not 0 < rate_factor < math.inf:
        raise SimulationError(f"rate_factor is {rate_factor}, not above 0")
    began_at = began_at.astimezone(UTC)
    observed = count_observed_hours(model)

    def draw_begins(rng: np.random.Generator, counts: Floats) -> Floats:
        """Draw moments at the rates given by `counts` per hour of the week."""
        rates = rate_factor * find_rates(counts, observed)
        return draw_moments(rng, rates, model.zone, began_at, duration_s)

    frames = [pl.DataFrame(schema=_SCHEMA)]
    for group in model.groups:
        if group.request_count:
            # Each group has its own generator, so an additional group does not change the others.
            rng = np.random.default_rng([seed, 3, *f"{group.interface} {group.direction}".encode()])
            begins_s = draw_begins(rng, np.array(group.bursts.week_burst_counts, np.float64))
            singles_s = draw_begins(rng, _share_out(group.bursts, observed))
            frames.append(_draw_group(group, begins_s, singles_s, rng))
    stream = pl.concat(frames).sort("submitted_s", maintain_order=True)
    moments = to_moments(began_at, stream["submitted_s"].to_numpy())
    is_single = pl.col("user") == _NOBODY
    return stream.select(
        moments,
        # Calculated from the rounded moment, so both agree to the microsecond.
        ((moments - began_at).dt.total_microseconds() / 1e6).alias("submitted_s"),
        "direction",
        "interface",
        pl.when(is_single).then(-is_single.cum_sum().cast(pl.Int64)).otherwise("user").alias("user"),
        pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("file"),
        "size_bytes",
        "origin",
        "class_number",
    )


def count_unknown_origins(model: Model, stream: pl.DataFrame) -> int:
    """Count the gets in a stream of `model` whose class has no gets of known origin.

    A stream assumes their files to be on disk; callers should say so.
    """
    unknown = [
        (group.interface, one.class_number)
        for group in model.groups
        if group.direction == "get"
        for one in group.classes
        if not one.cached_count + one.uncached_count
    ]
    classes = pl.DataFrame(unknown, schema={"interface": pl.String, "class_number": pl.Int64}, orient="row")
    gets = stream.filter(pl.col("direction") == "get")
    return gets.join(classes, on=["interface", "class_number"], how="semi").height


def spread_arrivals(trace: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the same requests in the same order, at times drawn uniformly between the first and the last.

    The result is a Poisson stream with the same number of requests. Comparing it with the trace shows the
    effect of the bursts. A get still comes after the put of its file.
    """
    if seed < 0:
        raise SimulationError(f"the seed is {seed}, not a whole number from 0")
    if "submitted_s" not in trace.columns:
        raise TraceError("the trace has no column submitted_s")
    if trace.is_empty():
        return trace
    first, last = float(trace["submitted_s"][0]), float(trace["submitted_s"][-1])
    drawn = np.sort(np.random.default_rng([seed, 4]).uniform(0.0, last - first, trace.height))
    since_s = np.floor(drawn * 1e6) / 1e6
    spread = trace.with_columns(submitted_s=first + since_s)
    if "submitted_at" in trace.columns:
        spread = spread.with_columns(to_moments(trace["submitted_at"][0], drawn))
    return spread


def _draw_group(group: Group, begins_s: Floats, singles_s: Floats, rng: np.random.Generator) -> pl.DataFrame:
    """Draw the requests of bursts that begin at `begins_s`, and requests of unknown users at `singles_s`."""
    bursts, count = group.bursts, len(singles_s)
    found = draw_requests(bursts, begins_s, rng)
    asked_s = np.concatenate([found.asked_s, singles_s])
    burst = np.concatenate([found.burst, len(begins_s) + np.arange(count)])
    user = np.concatenate([found.user, np.full(count, _NOBODY)])
    # Requests in no class also occupy places in bursts, so they are drawn first and then left out.
    all_count = bursts.request_count + bursts.unattributed_count
    kept = rng.random(len(asked_s)) * all_count < group.request_count
    label = draw_labels(group, burst[kept], rng)
    return pl.DataFrame(
        {
            "submitted_s": asked_s[kept],
            "direction": np.full(len(label), group.direction),
            "interface": np.full(len(label), group.interface),
            "user": user[kept],
            "size_bytes": draw_sizes(group, label, rng),
            "origin": draw_origins(group, label, rng),
            "class_number": np.array([one.class_number for one in group.classes])[label],
        },
        schema=_SCHEMA,
    )


def _share_out(bursts: Bursts, observed: Integers) -> Floats:
    """Distribute requests of unknown users over the week like those of known users; if none, evenly."""
    week = np.array(bursts.week_request_counts, np.float64)
    week = week if week.any() else observed.astype(np.float64)
    counts: Floats = bursts.unattributed_count * week / week.sum()
    return counts
