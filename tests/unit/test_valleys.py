"""Groups of times are found where they were made, and nowhere else."""

import math
import random
from bisect import bisect_right
from collections import Counter

import pytest

from tapewise.report.valleys import EDGES_S, find_valleys


def count(times_s):
    """The number of times in each bin, by its lower edge."""
    return Counter(EDGES_S[bisect_right(EDGES_S, time_s) - 1] for time_s in times_s)


def draw(middle_s, number, factor=1.4, seed=1):
    """Draw times around a middle, whose logarithms have a normal distribution."""
    source = random.Random(seed)
    return [source.lognormvariate(math.log(middle_s), math.log(factor)) for _ in range(number)]


def test_two_groups_have_a_boundary_between_them():
    (boundary_s,) = find_valleys(count(draw(20, 1000) + draw(300, 1000)))
    assert 40 < boundary_s < 150


def test_three_groups_have_two_boundaries():
    low_s, high_s = find_valleys(count(draw(5, 1000) + draw(60, 1000) + draw(900, 1000)))
    assert 8 < low_s < 35
    assert 120 < high_s < 450


@pytest.mark.parametrize("seed", range(20))
def test_one_group_has_none(seed):
    assert find_valleys(count(draw(60, 2000, 3, seed))) == []


def test_at_most_the_three_deepest_of_five_are_found():
    times_s = [
        time_s
        for power, number in enumerate((1000, 1000, 1000, 1000, 1000))
        for time_s in draw(4 * 12**power, number, 1.3)
    ]
    boundaries_s = find_valleys(count(times_s))
    assert len(boundaries_s) == 3
    assert boundaries_s == sorted(boundaries_s)


def test_a_boundary_is_the_upper_edge_of_the_emptiest_bin():
    counts = {10: 100, 15: 100, 20: 20, 30: 100, 50: 100}
    assert find_valleys(counts) == [30]
    # Per decade, 80 from 15 to 20 s are as dense as 113 from 20 to 30 s.
    assert find_valleys({10: 1000, 15: 80, 20: 70, 30: 1000}) == [30]


def test_a_boundary_is_in_the_middle_of_empty_bins():
    assert find_valleys({10: 100, 1000: 100}) == [pytest.approx(math.sqrt(15 * 1000))]


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        # The bin from 15 s is 0.125 decades wide, those around it 0.176.
        ({10: 1410, 15: 790, 20: 1410}, [20]),
        ({10: 1410, 15: 810, 20: 1410}, []),
        ({10: 14100, 15: 790, 20: 1410}, [20]),
        ({10: 1410, 15: 810, 20: 14100}, []),
    ],
)
def test_a_valley_is_at_most_four_fifths_as_dense_as_the_lower_peak(counts, found):
    assert find_valleys(counts) == found


def test_a_peak_beyond_a_deeper_valley_does_not_count():
    """The dip from 50 to 70 s is not deep below the peak before it, which a deeper valley sets apart."""
    counts = {10: 5000, 15: 10, 20: 1000, 30: 1100, 50: 700, 70: 3000}
    assert find_valleys(counts) == [20]
    assert find_valleys({10: 3000, 15: 600, 20: 1000, 30: 10, 50: 5000}) == [50]


def test_a_valley_is_deeper_than_chance():
    assert find_valleys({10: 20, 15: 4, 20: 20}) == []
    assert find_valleys({10: 200, 15: 40, 20: 200}) == [20]


def test_each_side_has_a_fiftieth_of_the_times():
    assert find_valleys({10: 10_000, 1000: 190}) == []
    assert len(find_valleys({10: 10_000, 1000: 210})) == 1
    assert len(find_valleys({10: 210, 1000: 10_000})) == 1
    assert find_valleys({10: 190, 1000: 10_000}) == []


def test_nothing_below_two_seconds_is_a_boundary():
    assert find_valleys({0: 1000, 1.5: 1000}) == []
    assert find_valleys({0: 1000, 1: 10, 1.5: 1000}) == []
    assert find_valleys({0: 1000, 1: 1000, 1.5: 10, 2: 1000}) == [2]


@pytest.mark.parametrize("counts", [{}, {0: 5}, {10: 5}, {0: 1000, 7e8: 1000}, {10: 1000, 15: 1000}])
def test_few_bins_are_no_error(counts):
    assert find_valleys(counts) == []
