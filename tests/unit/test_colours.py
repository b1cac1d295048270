"""Dashboards and reports have the same colours, and each contrasts with white."""

import pytest

from tapewise.dashboards.colour_schemes import CATEGORICAL, SEQUENTIAL
from tapewise.report import charts
from tests.dashboards.assets import DASHBOARDS

LEAST_CONTRAST = 3  # WCAG 2.2, 1.4.11


def contrast_with_white(colour):
    """The contrast ratio that WCAG defines, from 1 to 21."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_reports_have_the_colours_of_the_dashboards():
    assert CATEGORICAL["colors"][:4] == [charts.BLUE, charts.VERMILLION, charts.GREEN, charts.PURPLE]
    assert SEQUENTIAL["colors"] == charts.HEAT


@pytest.mark.parametrize("name", DASHBOARDS)
def test_names_on_a_dashboard_have_colours_of_the_scheme(name):
    used = set(DASHBOARDS[name]["metadata"]["label_colors"].values())
    assert used <= {*CATEGORICAL["colors"], charts.GREY}


@pytest.mark.parametrize("colour", [*CATEGORICAL["colors"], charts.GREY])
def test_each_colour_has_enough_contrast_with_white(colour):
    assert contrast_with_white(colour) >= LEAST_CONTRAST


def test_contrast_is_measured_as_wcag_does():
    assert contrast_with_white("#ffffff") == 1
    assert contrast_with_white("#000000") == 21
    assert contrast_with_white("#767676") == pytest.approx(4.54, abs=0.01)
