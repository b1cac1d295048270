"""Where times fall into groups: the valleys of their histogram, by the rules of mart.open_time_valleys.

That function reads every request and smooths their density. The bins of this histogram are wider than its
smoothing, so narrow valleys are missed: a dip at 110 s lies within the bins from 70 and from 100 s.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import log10, sqrt

# The lower edges of the bins of mart.stage_times, in seconds; times below 1 s count as from half a second on.
EDGES_S = [0.0, *(step * 10.0**power for power in range(9) for step in (1, 1.5, 2, 3, 5, 7))]
FIRST_S = 0.5
# The thresholds of mart.open_time_valleys: depth, significance, least share of either side, most boundaries.
MOST_DEPTH_RATIO = 0.8
FEWEST_SIGMAS = 3
LEAST_SHARE = 0.02
MOST_VALLEYS = 3
# Nothing comes from tape within two seconds, so a valley below means nothing.
LEAST_BOUNDARY_S = 2


def find_valleys(counts: Mapping[float, int]) -> list[float]:
    """Return the boundaries between groups of times in seconds, in ascending order; at most three.

    `counts` has the number of times in each bin that has any, by its lower edge in seconds (EDGES_S). A
    boundary is the upper edge of the emptiest bin between two peaks or, if bins are empty, their middle on a
    logarithmic scale. This bin is at most 0.8 times as dense as the lower peak, less dense by three standard
    deviations, and has a fiftieth of all times on either side.
    """
    places = [place for place, edge_s in enumerate(EDGES_S[:-1]) if counts.get(edge_s)]
    if not places:
        return []
    edges_s = [max(edge_s, FIRST_S) for edge_s in EDGES_S[places[0] : places[-1] + 2]]
    inside = [counts.get(edge_s, 0) for edge_s in EDGES_S[places[0] : places[-1] + 1]]
    widths = [log10(high_s / low_s) for low_s, high_s in pairwise(edges_s)]
    densities = [count / width for count, width in zip(inside, widths, strict=True)]
    variances = [count / width**2 for count, width in zip(inside, widths, strict=True)]
    found = []
    for place in range(1, len(inside) - 1):
        if not densities[place - 1] >= densities[place] < densities[place + 1]:
            continue
        # The basin of a minimum extends to either side until the density falls below the minimum.
        first = last = place
        while first > 0 and densities[first - 1] >= densities[place]:
            first -= 1
        while last < len(inside) - 1 and densities[last + 1] >= densities[place]:
            last += 1
        lower = max(range(first, place), key=densities.__getitem__)
        upper = max(range(place + 1, last + 1), key=densities.__getitem__)
        peak = min(lower, upper, key=densities.__getitem__)
        begins = place
        while inside[begins - 1] == inside[place] == 0:
            begins -= 1
        boundary_s = edges_s[place + 1] if inside[place] else sqrt(edges_s[begins] * edges_s[place + 1])
        depth_ratio = densities[place] / densities[peak] if densities[peak] else 1
        if (
            boundary_s >= LEAST_BOUNDARY_S
            and depth_ratio <= MOST_DEPTH_RATIO
            and densities[peak] - densities[place] >= FEWEST_SIGMAS * sqrt(variances[peak] + variances[place])
            and min(sum(inside[first:place]), sum(inside[place + 1 : last + 1])) >= LEAST_SHARE * sum(inside)
        ):
            found.append((depth_ratio, boundary_s))
    return sorted(boundary_s for _, boundary_s in sorted(found)[:MOST_VALLEYS])
