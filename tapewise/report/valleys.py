"""Where times separate into groups: the valleys of their density.

The rules are those of mart.open_time_valleys, but dips half as wide are seen, because fetching a cartridge
may not even double the time of a stage. Of 3,600 draws of one hump, by clocks of any step, at most 10 had a
false valley (with 300 times; fewer with more).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

# There are so many bins per factor of ten. Gaussians of so many bins smooth the density in which valleys are
# found, and the one that shows where they are deepest.
BINS_PER_DECADE = 50
SMOOTHING_BINS = 2
PLACING_BINS = 0.5
# The least depth and significance of a valley, the least share of the times on either side, and the number
# of valleys.
MOST_DEPTH_RATIO = 0.8
FEWEST_SIGMAS = 3
LEAST_SHARE = 0.02
MOST_VALLEYS = 3
# The steps of a clock of whole seconds are dips, too, where they are as wide as the smoothing.
LEAST_BOUNDARY_S = 5

_Densities = NDArray[np.float64]


def find_valleys(counts: Mapping[int, int]) -> list[float]:
    """Return the boundaries between groups of times in seconds, in ascending order; at most three.

    `counts` has the number of times in each bin: that of a time is 50 times its logarithm (base 10), rounded.
    Their density is smoothed over a factor of 1.1. A valley is a minimum that is at most 0.8 times as high as
    the lower of the peaks on its sides, lower by three standard errors, and has a fiftieth of all times on
    either side. The boundary is the deepest place between the two peaks of a density that is smoothed a
    quarter as much, or the middle of several.
    """
    if not counts:
        return []
    bins = np.arange(min(counts), max(counts) + 1)
    inside = np.array([counts.get(int(place), 0) for place in bins])
    squares = np.subtract.outer(bins, bins) ** 2
    densities, sharp_densities = (
        np.exp(-squares / (2 * width_bins**2)) @ inside for width_bins in (SMOOTHING_BINS, PLACING_BINS)
    )
    variances = np.exp(-squares / SMOOTHING_BINS**2) @ inside
    found = []
    for place in range(1, len(bins) - 1):
        if not densities[place - 1] >= densities[place] < densities[place + 1]:
            continue
        below, above = _find_basin(place, densities)
        lower, upper = (side.start + int(np.argmax(densities[side])) for side in (below, above))
        peak = min(lower, upper, key=lambda at: float(densities[at]))
        depth_ratio = float(densities[place] / densities[peak])
        between = sharp_densities[lower + 1 : upper]
        # In a wide gap, the density is exactly 0 in many places.
        least = np.flatnonzero(between == between.min())
        deepest = lower + 1 + int(least[len(least) // 2])
        boundary_s = 10 ** (int(bins[deepest]) / BINS_PER_DECADE)
        sigma = np.sqrt(variances[peak] + variances[place])
        if (
            boundary_s >= LEAST_BOUNDARY_S
            and depth_ratio <= MOST_DEPTH_RATIO
            and densities[peak] - densities[place] >= FEWEST_SIGMAS * sigma
            and min(inside[below].sum(), inside[above].sum()) >= LEAST_SHARE * inside.sum()
        ):
            found.append((depth_ratio, boundary_s))
    return sorted({boundary_s for _, boundary_s in sorted(found)[:MOST_VALLEYS]})


def _find_basin(place: int, densities: _Densities) -> tuple[slice, slice]:
    """Return what is below and above a minimum, as far as the density does not fall below it."""
    lower = np.flatnonzero(densities[:place] < densities[place])
    upper = np.flatnonzero(densities[place:] < densities[place])
    return (
        slice(lower[-1] + 1 if lower.size else 0, place),
        slice(place + 1, place + upper[0] if upper.size else len(densities)),
    )
