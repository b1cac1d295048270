"""Dashboards and reports have the same colours, and each contrasts with its ground."""

import pytest

from tapewise.dashboards.colour_schemes import CATEGORICAL, SEQUENTIAL
from tapewise.report import charts
from tests.dashboards.assets import DASHBOARDS

LEAST_CONTRAST = 3  # WCAG 2.2, 1.4.11


DARK = "#141414"  # the ground of the dashboards' charts in the dark


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour, ground):
    """The contrast ratio that WCAG defines, from 1 to 21."""
    darker, lighter = sorted((luminance(colour), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


def test_reports_have_the_colours_of_the_dashboards():
    assert CATEGORICAL["colors"][:4] == [charts.BLUE, charts.VERMILLION, charts.GREEN, charts.PURPLE]
    assert SEQUENTIAL["colors"] == charts.HEAT


@pytest.mark.parametrize("name", DASHBOARDS)
def test_names_on_a_dashboard_have_colours_of_the_scheme(name):
    used = set(DASHBOARDS[name]["metadata"]["label_colors"].values())
    assert used <= {*CATEGORICAL["colors"], charts.GREY}


@pytest.mark.parametrize("colour", [*CATEGORICAL["colors"], charts.GREY])
def test_each_colour_has_enough_contrast_with_its_ground(colour):
    assert contrast(colour, "#ffffff") >= LEAST_CONTRAST
    assert contrast(colour, DARK) >= LEAST_CONTRAST


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#ffffff", "#ffffff") == 1
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
