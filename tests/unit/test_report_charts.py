"""The ends and ticks of axes that no page of an example has."""

import json
import re

import altair as alt
import pytest

from tapewise.report import charts


@pytest.mark.parametrize(
    ("values", "domain", "ticks"),
    [
        ([100.0], [100, 1000], [100, 200, 500, 1000, 2000, 5000]),
        ([0.5, 3], [0.1, 10], [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]),
        ([3, 2e4], [1, 1e5], [1, 10, 100, 1000, 1e4, 1e5]),
    ],
)
def test_an_axis_of_sizes_ends_at_powers_of_ten(values, domain, ticks):
    axis = charts.sizes(alt.X, "size_bytes", "size", values).to_dict()
    assert axis["scale"]["domain"] == domain
    assert axis["axis"]["values"] == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("values", "domain"),
    [([60.0], [60, 600]), ([0.02, 45], [0.01, 60]), ([0.0000001, 1e10], [1e-7, 1e10])],
)
def test_an_axis_of_times_ends_at_ticks_or_at_its_values(values, domain):
    assert charts.times(alt.X, "wait_s", "wait", values).to_dict()["scale"]["domain"] == domain


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(1, 1), (1.01, 1.2), (1.21, 1.5), (6.01, 8), (8.01, 10), (0.013, 0.015), (99, 100), (120, 120)],
)
def test_steps_of_a_scale_are_round_and_not_below_what_is_needed(value, rounded):
    assert charts.round_up(value) == pytest.approx(rounded)


@pytest.mark.parametrize("greatest", [0.00004, 0.012, 0.025, 0.3, 1.0])
def test_no_label_of_an_axis_of_shares_is_repeated(greatest: float) -> None:
    chart = (
        alt.Chart(alt.Data(values=[{"x": 1, "share": greatest}]))
        .mark_bar()
        .encode(x="x:Q", y=alt.Y("share:Q", axis=charts.share_axis()))
        .properties(height=95)
    )
    labels = re.findall(r">([\d.]+%)<", charts.render(json.dumps(chart.to_dict())))
    assert len(labels) > 2
    assert len(set(labels)) == len(labels)
