"""Compares the variants of a study with its machine as in the file, seed by seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from tapewise.simulator.results import Result

# With fewer seeds, not even the interval from the least to the greatest difference covers 95 %.
LEAST_SEEDS = 6
_COVERAGE = 0.95


@dataclass(frozen=True)
class Spread:
    """The median and quartiles of a figure over the seeds; those of a single value are itself."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """A figure of a variant less that of the machine as in the file, seed by seed.

    `low` to `high` is an interval of the median difference of all possible seeds. It consists of two order
    statistics, so it holds that median in at least a share `coverage_ratio` of studies with as many seeds,
    whatever the distribution; with ties, in more. The share is at least 95 %; with fewer than LEAST_SEEDS no
    interval has it, and all three are None.
    `ratio` is the geometric mean of the ratios, None unless all values are above 0.
    """

    middle: float
    low: float | None
    high: float | None
    coverage_ratio: float | None
    ratio: float | None
    lower_count: int
    higher_count: int
    seed_count: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def take(results: Sequence[Result], variant: int, figure: str) -> list[float]:
    """Return the known values of a figure of one variant, by seed."""
    mine = sorted((each for each in results if each.variant == variant), key=lambda each: each.seed)
    return [value for each in mine if (value := each.figures[figure]) is not None]


def spread(values: Sequence[float]) -> Spread | None:
    """Return the median and quartiles of values, or None if there are none."""
    if not values:
        return None
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return Spread(middle, low, high)


def compare(base: Sequence[float], other: Sequence[float]) -> Difference | None:
    """Compare the values of two variants for the same seeds, in their order. None if one is unknown."""
    if not base or len(base) != len(other):
        return None
    differences = sorted(b - a for a, b in zip(base, other, strict=True))
    place = find_place(len(differences))
    is_positive = min(*base, *other) > 0
    logs = [math.log(b / a) for a, b in zip(base, other, strict=True)] if is_positive else []
    return Difference(
        median(differences),
        differences[place - 1] if place else None,
        differences[-place] if place else None,
        find_coverage(len(differences), place) if place else None,
        math.exp(math.fsum(logs) / len(logs)) if logs else None,
        sum(each < 0 for each in differences),
        sum(each > 0 for each in differences),
        len(differences),
    )


def find_place(count: int) -> int:
    """Return which smallest and which greatest of `count` values enclose the median with at least 95 %.

    0 if not even the outermost ones do.
    """
    place = 0
    while place < count // 2 and find_coverage(count, place + 1) >= _COVERAGE:
        place += 1
    return place


def find_coverage(count: int, place: int) -> float:
    """Return how often the `place`-th smallest and greatest of `count` values enclose the median.

    The number of values below the median is binomial (a sign test). This is for values without ties; with
    ties they enclose it at least as often.
    """
    return 1.0 - 2 * sum(math.comb(count, less) for less in range(place)) / 2.0**count


def describe_coverage(coverage_ratio: float | None, seeds: int) -> str:
    """Say in which share of studies an interval holds the median, or why there is no interval."""
    if coverage_ratio is None:
        return f"(An interval needs {LEAST_SEEDS} seeds or more.)"
    share = math.floor(coverage_ratio * 1000) / 10
    return (
        f"(An interval holds the median difference of all possible seeds in at least {share:.1f} % of studies"
        f" with {seeds} seeds.)"
    )
