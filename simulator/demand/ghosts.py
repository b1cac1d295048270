"""Ghosts: the files on a disk before a log begins, made from the log itself.

A log says what was asked for. What was on disk when it began is not in it, but it decides which of the first
gets hit: on an empty disk, all of them would miss. So each file whose first request is a get is given an age:

    last use            log begins         first get
       |--- age_s ----------|---- after_s -----|
       |------------- interval_s --------------|

The interval is drawn from the log's own intervals between two uses of a file (`ReuseLaw`). Files of the past
that nobody asks for again are the log's own last uses, mirrored at its beginning: one that was last used an
hour after the beginning becomes a file that was last used an hour before it. The further a last use is from
the end of the log, the more certain it is that it was the last.

The disk then holds the files that its own purge would have kept: the ones of the least weight, up to midway
between its marks. So a smaller disk begins with fewer of them.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.simulator.machines import Machine
from tapewise.simulator.weights import weigh_files

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

_DRAW_COUNT = 60
# Intervals of almost the length of the log are seen so seldom that a single one would weigh too much.
_LEAST_SEEN = 0.02


@dataclass(frozen=True)
class Asked:
    """What a log says about its files, of which each request is known to be for which.

    Of each file whose first request is a get: its number, its bytes, when it was got, and whether that get
    found it on disk (1), did not (0), or is not known to (-1). Of each use of a file that was used before:
    the bytes, the seconds since then, and the same evidence, which is -1 for puts. Of the last use of each
    file: its number, its bytes and when it was.
    """

    files: Integers
    sizes: Integers
    after_s: Floats
    evidence: Integers
    again_sizes: Integers
    intervals_s: Floats
    again_evidence: Integers
    last_files: Integers
    last_sizes: Integers
    last_s: Floats
    length_s: float


@dataclass(frozen=True)
class Ghosts:
    """All files of the past, on disk or not. The number of a file that nobody asks for is below 0.

    `sources` are the files of the log that they are made from.

    `contrary_count` files have an age that contradicts what their first get found: no drawn interval fits.
    """

    files: Integers
    sources: Integers
    sizes: Integers
    ages_s: Floats
    asked_count: int
    evident_count: int
    contrary_count: int

    def of_requests(self) -> "Ghosts":
        """Return those that are asked for."""
        return self._select(np.arange(self.files.size) < self.asked_count)

    def made_from(self, files: Integers) -> "Ghosts":
        """Return those that are made from these files of the log."""
        return self._select(np.isin(self.sources, files))

    def _select(self, is_in: Booleans) -> "Ghosts":
        return replace(
            self,
            files=self.files[is_in],
            sources=self.sources[is_in],
            sizes=self.sizes[is_in],
            ages_s=self.ages_s[is_in],
            asked_count=int(is_in[: self.asked_count].sum()),
        )


def find_asked(trace: pl.DataFrame) -> Asked:
    """Find the first, later and last uses of the files that the log identifies (`is_file_known`)."""
    file = pl.col("file")
    is_get = pl.col("direction") == "get"
    uses = (
        trace.filter("is_file_known")
        .with_columns(evidence=pl.when(is_get).then(pl.col("is_cached").cast(pl.Int64)).fill_null(-1))
        .with_columns(
            interval_s=pl.col("submitted_s").diff().over("file"),
            is_first=file.is_first_distinct(),
            is_last=file.is_last_distinct(),
        )
    )
    first = uses.filter(pl.col("is_first") & is_get)
    again = uses.filter(~pl.col("is_first"))
    last = uses.filter("is_last")
    return Asked(
        files=first["file"].to_numpy(),
        sizes=first["size_bytes"].to_numpy(),
        after_s=first["submitted_s"].to_numpy(),
        evidence=first["evidence"].to_numpy(),
        again_sizes=again["size_bytes"].to_numpy(),
        intervals_s=again["interval_s"].to_numpy(),
        again_evidence=again["evidence"].to_numpy(),
        last_files=last["file"].to_numpy(),
        last_sizes=last["size_bytes"].to_numpy(),
        last_s=last["submitted_s"].to_numpy(),
        length_s=float(trace["submitted_s"].to_numpy().max(initial=0.0)),
    )


@dataclass(frozen=True)
class ReuseLaw:
    """How long ago a file that is used was used before.

    An interval of a quarter of the log can only be seen from the uses in its last three quarters, so each
    counts 1 / (1 - interval / length of the log). A share `tail` of the intervals is longer than the log.
    Their length is the log's, divided by a number drawn evenly from 0 to 1: a guess, like the share.
    """

    intervals_s: Floats  # sorted
    cumulative: Floats  # the share of all intervals up to each of them; the last is 1 - tail
    length_s: float

    def draw(self, above_s: Floats, rng: np.random.Generator) -> Floats:
        """Draw an interval above each of `above_s`."""
        shares = np.concatenate([[0.0], self.cumulative])
        floor = shares[np.searchsorted(self.intervals_s, above_s, side="right")]
        drawn = floor + rng.random(above_s.size) * (1.0 - floor)
        place = np.searchsorted(self.cumulative, drawn, side="right")
        longer = self.length_s / (1.0 - rng.random(above_s.size))
        if not self.intervals_s.size:
            return np.asarray(longer)
        is_seen = place < self.intervals_s.size
        return np.where(is_seen, self.intervals_s[np.minimum(place, self.intervals_s.size - 1)], longer)


def find_law(asked: Asked, tail: float) -> ReuseLaw:
    """Find the law of a log's intervals. Where there are none, all intervals are longer than the log."""
    intervals = np.sort(asked.intervals_s)
    weights = 1.0 / np.maximum(1.0 - intervals / max(asked.length_s, 1e-9), _LEAST_SEEN)
    sums = np.cumsum(weights)
    # The last of the sums, and not another sum: the last share must be 1 to the last bit.
    shares = sums / sums[-1] if sums.size else sums
    return ReuseLaw(intervals, shares * (1.0 - tail), asked.length_s)


def weigh(machine: Machine, sizes: Integers, ages_s: Floats) -> Floats:
    """Return the weights by which a machine's purge chooses files: the largest go first.

    A machine that never purges keeps every file, so any order serves: the files unused for longest come last.
    """
    return weigh_files(machine.purge.policy if machine.purge else "lru", sizes, ages_s)


def find_limit(machine: Machine, asked: Asked) -> float | None:
    """Return the weight that best separates the gets that found their file from those that did not.

    `machine` is the one that the log was measured on. None if the log does not say what its gets found.
    """
    is_known = asked.again_evidence >= 0
    is_hit = asked.again_evidence[is_known] == 1
    if not is_hit.size:
        return None
    weights = weigh(machine, asked.again_sizes[is_known], asked.intervals_s[is_known])
    order = np.argsort(weights, kind="stable")
    # With the limit above the first k weights, the misses among them and the hits among the others are wrong.
    wrong = np.concatenate([[0], np.cumsum(np.where(is_hit[order], -1, 1))])
    best = int(np.argmin(wrong))
    return float(weights[order[best - 1]]) if best else 0.0


def draw_ghosts(
    asked: Asked, measured: Machine, *, tail: float, seed: int, are_old_gone: bool = False
) -> Ghosts:
    """Draw the files of the past; `measured` is the machine that the log was measured on.

    Where the log says what a first get found, its interval is drawn again until the weight of the file at the
    get is on the same side of the limit (`find_limit`).

    With `are_old_gone`, files that were last used longer ago than the log lasts are on no disk, however
    large, unless their first get found them: how long ago that was is a guess.
    """
    rng = np.random.default_rng([seed, 6])
    law, limit = find_law(asked, tail), find_limit(measured, asked)
    intervals = law.draw(asked.after_s, rng)
    wrong = np.flatnonzero(asked.evidence >= 0) if limit is not None else np.empty(0, np.int64)
    evident_count = wrong.size
    for number in range(_DRAW_COUNT + 1):
        is_below = weigh(measured, asked.sizes[wrong], intervals[wrong]) <= (limit or 0.0)
        wrong = wrong[is_below != (asked.evidence[wrong] == 1)]
        if not wrong.size or number == _DRAW_COUNT:
            break
        intervals[wrong] = law.draw(asked.after_s[wrong], rng)
    # Nothing that was drawn fits: a file that was found was used just before, another one long ago.
    is_hit = asked.evidence[wrong] == 1
    longest = np.maximum(asked.length_s, asked.after_s[wrong]) / (1.0 - rng.random(wrong.size))
    intervals[wrong] = np.where(is_hit, asked.after_s[wrong], longest)
    if are_old_gone:
        intervals[(intervals >= asked.length_s) & (asked.evidence != 1)] = np.inf
    return Ghosts(
        files=np.concatenate([asked.files, -1 - np.arange(asked.last_sizes.size)]),
        sources=np.concatenate([asked.files, asked.last_files]),
        sizes=np.concatenate([asked.sizes, asked.last_sizes]),
        ages_s=np.concatenate([intervals - asked.after_s, asked.last_s]),
        asked_count=asked.files.size,
        evident_count=int(evident_count),
        contrary_count=int(wrong.size),
    )


def lay_ghosts(ghosts: Ghosts, machine: Machine, *, room_bytes: float) -> pl.DataFrame:
    """Return the files of the past that fit into `room_bytes`, the lightest first, as an inventory."""
    there = np.flatnonzero(np.isfinite(ghosts.ages_s))
    order = there[np.argsort(weigh(machine, ghosts.sizes[there], ghosts.ages_s[there]), kind="stable")]
    kept = order[np.cumsum(ghosts.sizes[order]) <= room_bytes]
    return pl.DataFrame(
        {"file": ghosts.files[kept], "size_bytes": ghosts.sizes[kept], "age_s": ghosts.ages_s[kept]},
        schema={"file": pl.Int64, "size_bytes": pl.Int64, "age_s": pl.Float64},
    )
