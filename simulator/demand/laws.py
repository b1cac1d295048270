"""Distributions that a workload model describes by a few quantiles and a mean.

Between two levels, the logarithm of the value is interpolated over the quantiles of the normal distribution,
which is exact for lognormal values. Below the lowest level, every value equals the lowest quantile. Most of
an archive's bytes are in files above the highest level. The quantiles say nothing about these files, but the
mean does. Above the highest level, an exponentially distributed excess is therefore added to the highest
quantile. Its mean is chosen to give the required overall mean. An exponential tail makes the fewest
assumptions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Self

import numpy as np

from tapewise.simulator.kernel.tables import Floats

_NORMAL = NormalDist()
# Gauss-Legendre quadrature from 0 to 1. The closed form overflows if values jump by many powers of ten.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


@dataclass(frozen=True)
class Law:
    """A distribution given by the `logarithms` of its quantiles at normal `scores`.

    `shift` was added to the quantiles before taking logarithms. Values above the last quantile exceed it by
    `excess` on average. The part of a value above `smallest` is multiplied by `scale`.
    """

    scores: Floats
    logarithms: Floats
    shift: float = 0.0
    excess: float = 0.0
    smallest: float = 0.0
    scale: float = 1.0

    @classmethod
    def from_quantiles(cls, levels: Sequence[float], values: Sequence[float], *, shift: float) -> Self:
        """Make the distribution with these quantiles, flat at both ends. With a `shift`, values may be 0."""
        scores = np.array([_NORMAL.inv_cdf(level) for level in levels])
        return cls(scores, np.log(np.array(values) + shift), shift)

    @classmethod
    def from_mean(
        cls,
        levels: Sequence[float],
        values: Sequence[float],
        *,
        mean: float,
        smallest: float,
        largest_excess: float,
    ) -> Self:
        """Make the distribution with these quantiles and this mean; no value is below `smallest` (above 0).

        If the quantiles alone make the mean too high, or `largest_excess` keeps it too low, all values are
        scaled.
        """
        flat = cls.from_quantiles(levels, np.maximum(np.array(values), smallest).tolist(), shift=0.0)
        excess = (mean - flat.mean) / (1 - levels[-1])
        excess = min(max(excess, 0.0), max(largest_excess, 0.0))
        drawn = flat.mean + (1 - levels[-1]) * excess
        scale = (mean - smallest) / (drawn - smallest) if drawn > smallest else 1.0
        return cls(flat.scores, flat.logarithms, 0.0, excess, smallest, scale)

    @cached_property
    def mean(self) -> float:
        """The mean of the distribution."""
        values = np.exp(self.logarithms)
        width = np.diff(self.scores)[:, None]
        places = self.scores[:-1, None] + width * _NODES
        between = np.exp(np.interp(places, self.scores, self.logarithms) - places**2 / 2)
        top = _NORMAL.cdf(-float(self.scores[-1]))
        total = (
            float((width * _WEIGHTS * between).sum()) / math.sqrt(2 * math.pi)
            + float(values[0]) * _NORMAL.cdf(float(self.scores[0]))
            + (float(values[-1]) + self.excess) * top
            - self.shift
        )
        return self.smallest + self.scale * (total - self.smallest)

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Draw `count` independent values."""
        scores = rng.standard_normal(count)
        values = np.exp(np.interp(scores, self.scores, self.logarithms)) - self.shift
        values += np.where(scores > self.scores[-1], self.excess * rng.standard_exponential(count), 0.0)
        return np.asarray(self.smallest + self.scale * (values - self.smallest))


def draw_whole(law: Law, rng: np.random.Generator, count: int) -> Floats:
    """Draw whole numbers. Values are rounded up or down at random, which preserves the mean."""
    return np.floor(law.draw(rng, count) + rng.random(count))
