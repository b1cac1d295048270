"""Groups of times are found where they were made, and nowhere else."""

import math
import random
from collections import Counter

import pytest

from tapewise.report.valleys import find_valleys


def count(times_s):
    """The number of times in each bin."""
    return Counter(round(50 * math.log10(time_s)) for time_s in times_s)


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


def test_a_narrow_dip_is_found_where_it_is_deepest():
    """Mounted cartridges take 60 to 90 s, fetched ones from 120 s on; few stages take 105 to 115 s."""
    times_s = [*range(60, 90)] * 6 + [92, 95, 98, 100] + [105, 112, 114] + [*range(120, 150)] * 8
    (boundary_s,) = find_valleys(count(times_s))
    assert 104 <= boundary_s <= 116


@pytest.mark.parametrize("step_s", [0, 0.5, 1])
@pytest.mark.parametrize("seed", range(20))
def test_one_group_has_none(seed, step_s):
    times_s = draw(60, 2000, 3, seed)
    if step_s:
        times_s = [max(math.floor(time_s / step_s) * step_s, 0.5) for time_s in times_s]
    assert find_valleys(count(times_s)) == []


def test_at_most_the_three_deepest_of_four_are_found():
    # The second valley, from 72 to 864 s, is the shallowest, because it is partly filled.
    times_s = [time_s for power in range(5) for time_s in draw(6 * 12**power, 1000, 1.3)]
    boundaries_s = find_valleys(count(times_s + [72 * 12 ** (step / 500) for step in range(500)]))
    assert boundaries_s == sorted(boundaries_s)
    assert [math.floor(math.log(boundary_s / 6, 12)) for boundary_s in boundaries_s] == [0, 2, 3]


def plateau(*heights, width_bins=12):
    """Counts that are even over so many bins each."""
    return {
        100 + width_bins * step + place: height
        for step, height in enumerate(heights)
        for place in range(width_bins)
    }


@pytest.mark.parametrize(
    ("heights", "number"),
    [((1000, 780, 1000), 1), ((1000, 820, 1000), 0), ((9000, 780, 1000), 1), ((1000, 820, 9000), 0)],
)
def test_a_valley_is_at_most_four_fifths_as_dense_as_the_lower_peak(heights, number):
    assert len(find_valleys(plateau(*heights))) == number


def test_a_peak_beyond_a_deeper_valley_does_not_count():
    """The second dip is not deep below the peak before it, which a deeper valley separates from the first."""
    (boundary_s,) = find_valleys(plateau(5000, 100, 1000, 850, 3000))
    assert 10 ** (111 / 50) < boundary_s < 10 ** (124 / 50)
    (boundary_s,) = find_valleys(plateau(3000, 850, 1000, 100, 5000))
    assert 10 ** (135 / 50) < boundary_s < 10 ** (148 / 50)
    # A deep one beyond the lower peak is not taken for it either.
    for heights in ((5000, 100, 1000, 700, 3000), (3000, 700, 1000, 100, 5000)):
        low_s, high_s = find_valleys(plateau(*heights))
        assert 10 ** (111 / 50) < low_s < 10 ** (124 / 50) < 10 ** (135 / 50) < high_s < 10 ** (148 / 50)


def test_a_valley_is_deeper_than_chance():
    """Five bins count, about; 3 of 4 is a dip of less than a standard error, 300 of 400 one of many."""
    assert find_valleys(plateau(4, 3, 4)) == []
    assert len(find_valleys(plateau(400, 300, 400))) == 1


def test_each_side_has_a_fiftieth_of_the_times():
    assert find_valleys({50: 10_000, 150: 190}) == []
    assert len(find_valleys({50: 10_000, 150: 210})) == 1
    assert len(find_valleys({50: 210, 150: 10_000})) == 1
    assert find_valleys({50: 190, 150: 10_000}) == []


def test_nothing_below_five_seconds_is_a_boundary():
    """Whole seconds are dips from 1 to 2 s and from 2 to 3 s, which mean nothing."""
    assert find_valleys(count([1] * 1000 + [2] * 1000 + [3] * 1000 + [4] * 1000 + [5] * 1000)) == []
    assert find_valleys({10: 1000, 40: 1000}) == []
    assert find_valleys({10: 1000, 60: 1000}) == [pytest.approx(5, rel=0.05)]


def test_a_boundary_is_in_the_middle_of_a_gap():
    assert find_valleys({50: 100, 250: 300}) == [pytest.approx(1000, rel=0.05)]


@pytest.mark.parametrize("counts", [{}, {0: 5}, {50: 5}, {50: 1000, 51: 1000}, {-15: 1000, 400: 1000}])
def test_few_bins_are_no_error(counts):
    # Two bins far apart have a valley between them.
    assert len(find_valleys(counts)) == (1 if 400 in counts else 0)
