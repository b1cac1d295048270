"""Dashboards and reports have the same colours, and each contrasts with its ground."""

import pytest

from tapewise.dashboards.colour_schemes import CATEGORICAL, CURVES, LINES, OPTIONS, SEQUENTIAL
from tapewise.report import charts
from tests.dashboards.assets import ASSETS, DASHBOARDS, STUDIES

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


@pytest.mark.parametrize("name", DASHBOARDS)
def test_names_on_a_dashboard_have_colours_of_the_scheme(name):
    used = set(DASHBOARDS[name]["metadata"]["label_colors"].values())
    assert used <= {*CATEGORICAL["colors"], charts.GREY} | ({*OPTIONS} if name == STUDIES else set())


@pytest.mark.parametrize("colour", [*OPTIONS, charts.GREY])
def test_each_colour_has_enough_contrast_with_its_ground(colour):
    assert contrast(colour, "#ffffff") >= LEAST_CONTRAST
    assert contrast(colour, DARK) >= LEAST_CONTRAST


def test_a_study_of_24_options_has_as_many_colours():
    colours = DASHBOARDS[STUDIES]["metadata"]["label_colors"]
    assert len({colours[str(number)] for number in range(1, 25)}) == len(OPTIONS) == 24
    assert all(colours[str(number)] == colours[f"{number:02}"] for number in range(1, 25))


def test_lines_differ_in_more_than_colour():
    assert len({line["symbol"] for line in LINES}) == len({str(line["lineStyle"]) for line in LINES}) == 8


def test_curves_of_several_pools_differ_and_have_no_gaps_at_sizes_of_others():
    looks = {(CATEGORICAL["colors"][place % 8], str(line["lineStyle"])) for place, line in enumerate(CURVES)}
    assert len(looks) == len(CURVES) == 32
    assert all(line["connectNulls"] and not line["smooth"] for line in CURVES)


def test_the_scale_that_css_draws_has_the_colours_of_the_cells():
    style = (ASSETS.parent / "pages.css").read_text()
    assert f"linear-gradient(90deg, {', '.join(SEQUENTIAL['colors'])})" in style


@pytest.mark.parametrize("ground", ["#ffffff", DARK])
def test_more_is_farther_from_the_ground_in_the_light_and_in_the_dark(ground):
    contrasts = [contrast(blend(colour, ground), ground) for colour in SEQUENTIAL["colors"]]
    assert contrasts == sorted(contrasts) and contrasts[0] < 1.2 and contrasts[-1] >= LEAST_CONTRAST


def blend(colour, ground):
    """A colour with its opacity, as it is seen on the ground."""
    share = int(colour[7:], 16) / 255
    parts = [(int(colour[each : each + 2], 16), int(ground[each : each + 2], 16)) for each in (1, 3, 5)]
    return "#" + "".join(f"{round(share * own + (1 - share) * below):02x}" for own, below in parts)


def test_contrast_is_measured_as_wcag_does():
    assert contrast("#ffffff", "#ffffff") == 1
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
