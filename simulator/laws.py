"""Laws that a workload model tells by a few quantiles and a mean, to draw from.

Between two levels the logarithm of the value is interpolated over the normal law's quantiles, which is exact
for lognormal values. Below the lowest level every value is that level's. Above the highest, where archives
keep most of their bytes, the quantiles tell nothing and the mean does: the logarithm goes on with the slope
that makes the mean right, up to a bound that no single value can pass.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Self

import numpy as np

from simulator.tables import Floats

_NORMAL = NormalDist()
# A steeper tail lies at its bound almost everywhere.
STEEPEST = 20.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


@dataclass(frozen=True)
class Law:
    """`scores` and `logarithms` are its corners, `slope` and `bound` its upper end.

    `smallest` + `scale` times what a value is above `smallest` is drawn; `shift` has been added before the
    logarithms were taken.
    """

    scores: Floats
    logarithms: Floats
    slope: float = 0.0
    bound: float = math.inf
    smallest: float = 0.0
    scale: float = 1.0
    shift: float = 0.0

    @classmethod
    def from_quantiles(cls, levels: Sequence[float], values: Sequence[float], *, shift: float) -> Self:
        """The law of `values` at `levels`, flat at both ends; values may be 0 if `shift` is not."""
        scores = np.array([_NORMAL.inv_cdf(level) for level in levels])
        return cls(scores, np.log(np.array(values) + shift), shift=shift)

    @classmethod
    def from_mean(
        cls,
        levels: Sequence[float],
        values: Sequence[float],
        *,
        mean: float,
        smallest: float,
        bound: float,
    ) -> Self:
        """The law with this mean, of values from `smallest` (above 0) to `bound`.

        Where the quantiles alone make the mean too high, or the bound leaves it too low, all are scaled.
        """
        scores = np.array([_NORMAL.inv_cdf(level) for level in levels])
        logarithms = np.log(np.maximum(np.array(values), smallest))
        bound = max(bound, float(np.exp(logarithms[-1])))
        low, high = 0.0, STEEPEST
        for _ in range(60):
            slope = (low + high) / 2
            if cls(scores, logarithms, slope, bound).mean < mean:
                low = slope
            else:
                high = slope
        drawn = cls(scores, logarithms, low, bound).mean
        scale = (mean - smallest) / (drawn - smallest) if drawn > smallest else 1.0
        return cls(scores, logarithms, low, bound, smallest, scale)

    @cached_property
    def mean(self) -> float:
        """The mean, worked out."""
        ends = [*self.scores, np.inf]
        if self.slope:
            ends[-1] = self.scores[-1] + (math.log(self.bound) - self.logarithms[-1]) / self.slope
        # Beyond 40 the normal law has nothing, whatever a bound may be.
        ends[-1] = min(ends[-1], 40.0)
        slopes = [*np.diff(self.logarithms) / np.diff(self.scores), self.slope]
        total = math.exp(self.logarithms[0]) * _NORMAL.cdf(float(self.scores[0]))
        # Gauss and Legendre's rule between the corners: the closed form overflows where they are steep.
        width = np.diff(ends)[:, None]
        places = width * _NODES
        densities = np.exp(-((self.scores[:, None] + places) ** 2) / 2) / math.sqrt(2 * math.pi)
        values = np.exp(self.logarithms[:, None] + np.array(slopes)[:, None] * places)
        total += float((width * _WEIGHTS * densities * values).sum())
        total += self.bound * _NORMAL.cdf(-ends[-1]) if ends[-1] < 40 else 0.0
        return self.smallest + self.scale * (total - self.shift - self.smallest)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """So many values, independent of one another."""
        scores = rng.standard_normal(count)
        drawn = np.interp(scores, self.scores, self.logarithms)
        drawn += self.slope * np.maximum(scores - self.scores[-1], 0.0)
        values = np.exp(np.minimum(drawn, math.log(self.bound))) - self.shift
        return np.asarray(self.smallest + self.scale * (values - self.smallest))


def draw_whole(law: Law, rng: np.random.Generator, count: int) -> Floats:
    """Whole numbers of the law: rounded up as often as keeps the mean."""
    return np.floor(law.draw(rng, count) + rng.random(count))
