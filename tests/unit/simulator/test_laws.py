"""A law is defined by a few quantiles and a mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.demand.laws import Law, draw_whole
from tapewise.simulator.demand.models import QUANTILE_LEVELS

SCORES = np.array([-2.3263, -1.6449, -1.2816, -0.6745, 0, 0.6745, 1.2816, 1.6449, 2.3263])
COUNT = 200_000


def make_law(values, mean: float, *, smallest: float = 1.0, largest_excess: float = 1e18) -> Law:
    return Law.from_mean(QUANTILE_LEVELS, values, mean=mean, smallest=smallest, largest_excess=largest_excess)


@given(
    st.lists(st.floats(1, 1e15), min_size=9, max_size=9).map(sorted),
    st.floats(1, 1e15),
    st.sampled_from([0.0, 1e3, 1e18]),
)
def test_the_mean_is_the_requested_one(values, mean, largest_excess):
    law = make_law(values, mean, largest_excess=largest_excess)
    # If all values are equal, there is nothing to scale.
    if values[0] > 1 or values[-1] > 1 or largest_excess > mean * 101:
        assert law.mean == pytest.approx(mean, rel=1e-9)
    drawn = law.draw(np.random.default_rng(1), 100)
    assert (drawn >= 1 - 1e-9).all()


def test_a_lognormal_law_is_reproduced_between_its_levels():
    law = make_law(np.exp(SCORES + 10).tolist(), np.exp(10.5), smallest=1.0)
    assert law.scale == pytest.approx(1)
    drawn = np.log(law.draw(np.random.default_rng(1), COUNT)) - 10
    # Quantiles between the levels are also right, to within five standard errors.
    for level, score in ((0.3, -0.5244), (0.6, 0.2533), (0.8, 0.8416), (0.97, 1.8808)):
        density = np.exp(-(score**2) / 2) / np.sqrt(2 * np.pi)
        error = 5 * np.sqrt(level * (1 - level) / COUNT) / density
        assert np.quantile(drawn, level) == pytest.approx(score, abs=error)


@pytest.mark.parametrize("mean", [8.8, 12.0, 30.0])
def test_drawn_values_have_the_quantiles_and_the_mean(mean):
    values = [1.0, 1.0, 1.0, 2.0, 3.0, 6.0, 20.0, 50.0, 90.0]
    law = make_law(values, mean)
    assert law.scale == pytest.approx(1)
    drawn = law.draw(np.random.default_rng(1), COUNT)
    assert drawn.mean() == pytest.approx(mean, abs=5 * drawn.std() / np.sqrt(COUNT))
    below = [np.mean(drawn <= value + 1e-9) for value in values[4:]]
    assert below == pytest.approx(QUANTILE_LEVELS[4:], abs=0.006)


def test_whole_numbers_keep_the_mean_and_the_minimum():
    law = make_law([1.0, 1.0, 1.0, 1.2, 1.5, 2.5, 4.0, 5.0, 9.0], 2.2)
    drawn = draw_whole(law, np.random.default_rng(1), COUNT)
    assert (drawn == np.floor(drawn)).all()
    assert drawn.min() == 1
    assert drawn.mean() == pytest.approx(2.2, abs=5 * drawn.std() / np.sqrt(COUNT))


def test_equal_values_stay_as_they_are():
    drawn = draw_whole(make_law([10.0] * 9, 10.0), np.random.default_rng(1), 1000)
    assert set(drawn) == {10.0}


def test_an_excess_that_the_top_may_not_have_is_spread_over_all():
    law = make_law([10.0] * 9, 20.0, largest_excess=5.0)
    drawn = law.draw(np.random.default_rng(1), COUNT)
    assert np.quantile(drawn, 0.5) == pytest.approx(20.0, rel=0.01)


def test_gaps_may_be_zero():
    values = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 10.0, 30.0, 50.0]
    drawn = Law.from_quantiles(QUANTILE_LEVELS, values, shift=1.0).draw(np.random.default_rng(1), COUNT)
    assert drawn.min() == 0
    assert drawn.max() == pytest.approx(50)
    assert np.mean(drawn == 0) == pytest.approx(0.25, abs=0.01)
    assert [np.mean(drawn <= value + 1e-9) for value in values[4:-1]] == pytest.approx(
        QUANTILE_LEVELS[4:-1], abs=0.006
    )
