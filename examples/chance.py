"""Random draws that depend only on a seed.

NumPy promises that a seeded bit generator always gives the same bits, but not that its `lognormal()` or
`exponential()` always turn them into the same numbers. This module therefore takes only `random()` from
NumPy, and derives every law from it by inversion.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeVar
from zlib import crc32

import numpy as np

T = TypeVar("T")

_STANDARD_NORMAL = NormalDist()


class Chance:
    """One stream of draws, determined by a seed and the name of its purpose.

    Each purpose has its own stream, so an additional request in one log does not change the other logs.
    """

    def __init__(self, seed: int, purpose: str) -> None:
        """Start the stream at its beginning."""
        self._generator = np.random.Generator(np.random.PCG64([seed, crc32(purpose.encode())]))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Draw from [low, high)."""
        return low + (high - low) * float(self._generator.random())

    def integer(self, low: int, high: int) -> int:
        """Draw one of low, low + 1, ... high."""
        return low + int(self.uniform() * (high - low + 1))

    def happens(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.uniform() < probability

    def exponential(self, mean: float) -> float:
        """Draw from the exponential law."""
        return -mean * math.log1p(-self.uniform())

    def lognormal(self, median: float, sigma: float) -> float:
        """Draw from the lognormal law; `sigma` is the standard deviation of the logarithm."""
        # 1 - uniform() is in (0, 1]. The factor just below 1 excludes 1, where the inverse is infinite.
        u = (1.0 - self.uniform()) * (1.0 - 1e-12)
        return median * math.exp(sigma * _STANDARD_NORMAL.inv_cdf(u))

    def count(self, mean: float) -> int:
        """Draw 1, 2, 3, ... from the geometric law with this mean."""
        if mean <= 1.0:
            return 1
        return 1 + int(math.log1p(-self.uniform()) / math.log1p(-1.0 / mean))

    def pick(self, items: Sequence[T]) -> T:
        """Pick one item, all with the same probability."""
        return items[int(self.uniform() * len(items))]

    def pick_by_weight(self, items: Sequence[T], running_weights: Sequence[float]) -> T:
        """Pick one item; `running_weights` are the running sums of the weights."""
        return items[bisect_right(running_weights, self.uniform() * running_weights[-1])]
