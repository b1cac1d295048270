"""How a report formats its numbers."""

import pytest

from tapewise.report.text import describe_row


@pytest.mark.parametrize(
    "step_s, shown",
    [
        (1.0, ["< 1 s", "< 1 s", "1 s", "", "1 s"]),
        (0.0, ["0 s", "0.999 s", "1 s", "", "0 s"]),
        (None, ["0 s", "0.999 s", "1 s", "", ""]),
    ],
)
def test_a_quantile_below_the_clock_resolution_is_shown_as_less_than_it(
    step_s: float | None, shown: list[str]
):
    quantiles = {"p5_s": 0.0, "p25_s": 0.999, "p50_s": 1.0, "p75_s": None}
    assert describe_row(quantiles | {"clock_step_s": step_s}) == shown


def test_a_mean_of_counts_has_decimals():
    row = {"transfer_count": 1234, "mean_transfer_count": 2.5, "other_count": 3.0}
    assert describe_row(row) == ["1,234", "2.50", "3"]
