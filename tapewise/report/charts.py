"""What all figures of a report share: colours, axes and the way from a chart to SVG.

Panels are as wide as a phone; on a wider page they appear next to each other. A chart names a section, and
gets its rows. The colours are written into the SVG as they are for a light ground. The page's style sheet
replaces those of text, grid and the steps of HEAT on a dark ground (`page.css`).
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import ceil, floor, log10
from typing import Any

import altair as alt
import vl_convert

from tapewise.report.section import Facts

# Okabe and Ito's colours, without the three that are under 3:1 on white or on the dark ground.
BLUE, VERMILLION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
GREY = "#808080"
INK, GRID = "#222222", "#dddddd"
HEAT = ["#e3edf5", "#b8d3e8", "#86b4d6", "#4f92c0", "#1f6ca1", "#0a4570"]
DIRECTIONS = {"get": BLUE, "put": VERMILLION}

WIDTH, HEIGHT = 270, 130
VEGA_LITE = "5.21"
# An axis of more days than this has months and years.
SHORT_DAYS = 300

# Labels as people write them: 12 GB, 3 min.
BYTES = (
    "datum.value > 0 && datum.value < 1 ? ''"
    " : replace(format(datum.value, '.3~s'), regexp('([a-zA-Z]?)$'), ' $1B')"
)
COUNTS = "datum.value % 1 ? '' : format(datum.value, datum.value < 10000 ? ',' : '.3~s')"
TIMES = (
    "datum.value < 60 ? format(datum.value, '~g') + ' s'"
    " : datum.value < 3600 ? format(datum.value / 60, '~g') + ' min'"
    " : datum.value < 86400 ? format(datum.value / 3600, '~g') + ' h'"
    " : format(datum.value / 86400, ',~g') + ' d'"
)
TIME_TICKS_S = [
    1e-6,
    1e-5,
    1e-4,
    0.001,
    0.01,
    0.1,
    1,
    10,
    60,
    600,
    3_600,
    36_000,
    864_000,
    8_640_000,
    86_400_000,
    864_000_000,
]
# An axis of so few ticks at powers of ten has 2 and 5 times these, too.
FEW_DECADES = 3

_CONFIG: dict[str, Any] = {
    "aria": False,  # the page describes the figure
    "background": None,
    "font": "Arial, Liberation Sans, Helvetica, DejaVu Sans Condensed, sans-serif",
    "view": {"stroke": None},
    "axis": {
        **{"labelColor": INK, "titleColor": INK, "domainColor": GREY, "tickColor": GREY, "gridColor": GRID},
        **{
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelOverlap": "parity",
            "labelFlush": False,
            "labelSeparation": 8,
        },
    },
    "axisBand": {"labelOverlap": False},
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "orient": "top",
    },
    "title": {"color": INK, "fontSize": 12, "anchor": "start", "fontWeight": "bold"},
    "text": {"color": INK, "fontSize": 11},
}


def plot(section: str, title: str | None = None, height: int = HEIGHT) -> alt.Chart:
    """Begin a chart of the rows of `section`."""
    chart = alt.Chart(alt.NamedData(name=section)).properties(width=WIDTH, height=height)
    return chart if title is None else chart.properties(title=title)


def days(field: str, first_on: date, last_on: date, title: str | None = None) -> alt.X:
    """An axis of local days or times from one day to another; they are passed as if they were UTC."""
    day_count = (last_on - first_on).days
    layout = "%-d %b" if day_count < SHORT_DAYS else "%b %Y"
    # Whole days, because Vega would put several labels on each of few days.
    step = max(1, round(day_count / 4))
    ticks = [_plain(first_on + timedelta(days=number)) for number in range(0, day_count + 1, step)]
    return alt.X(
        f"{field}:T",
        title=title,
        scale=alt.Scale(type="utc", domain=[_plain(first_on), _plain(last_on)]),
        axis=alt.Axis(grid=False, format=layout, values=ticks),
    )


def sizes(
    channel: type[alt.X] | type[alt.Y], field: str, title: str | None, values: Iterable[float], unit: str = ""
) -> Any:
    """A logarithmic axis for bytes (or, with "/s" as `unit`, rates) from the decade of the least value on."""
    values = list(values)
    first, last = floor(log10(min(values))), ceil(log10(max(values)))
    decades = range(first, max(last, first + 1) + 1)
    steps = (1,) if len(decades) > FEW_DECADES else (1, 2, 5)
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False, domain=[10.0 ** decades[0], 10.0 ** decades[-1]]),
        axis=alt.Axis(
            labelExpr=f"({BYTES}) + '{unit}'",
            values=[step * 10.0**decade for decade in decades for step in steps],
            grid=bool(unit),
        ),
    )


def times(channel: type[alt.X] | type[alt.Y], field: str, title: str, values: Iterable[float]) -> Any:
    """A logarithmic axis of seconds, from the tick below the least value to the one above the greatest."""
    values = list(values)
    least_s, greatest_s = min(values), max(values)
    first_s = max((tick_s for tick_s in TIME_TICKS_S if tick_s <= least_s), default=least_s)
    last_s = min((tick_s for tick_s in TIME_TICKS_S if tick_s > greatest_s), default=greatest_s)
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False, domain=[first_s, last_s]),
        axis=alt.Axis(labelExpr=TIMES, values=TIME_TICKS_S),
    )


def round_up(value: float) -> float:
    """The least number of two round digits (1, 1.2, 1.5, 2, 2.5, ...) that is not below `value` (> 0)."""
    power = 10.0 ** floor(log10(value))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next((step * power for step in steps if step * power >= value), 10 * power)


def count_axis(labels: str = COUNTS) -> alt.Axis:
    """An axis that has no fractions."""
    return alt.Axis(labelExpr=labels, tickCount=4, tickMinStep=1)


def share_axis(tick_count: int = 4) -> alt.Axis:
    """An axis of shares in per cent, with the decimals that its ticks need."""
    return alt.Axis(format="~%", tickCount=tick_count)


def counts(field: str, title: str, labels: str = COUNTS, **how: Any) -> alt.Y:
    """An axis of counts or, with BYTES as `labels`, of bytes, from 0."""
    return alt.Y(f"{field}:Q", title=title, axis=count_axis(labels), **how)


def write_spec(chart: alt.TopLevelMixin, facts: Facts) -> str:
    """Return the chart in Vega-Lite's JSON, with the rows that it draws."""
    spec = chart.to_dict()
    own = spec.get("datasets", {})  # of data that the chart itself contains
    names = set(re.findall(r'"data": \{"name": "([\w-]+)"\}', json.dumps(spec))) - own.keys()
    spec["datasets"] = own | {name: [_to_json(row) for row in facts.get(name, [])] for name in names}
    spec["config"] = _CONFIG
    return json.dumps(spec)


def render(spec: str) -> str:
    """Return a chart as an SVG element, which is decoration: the page describes the figure."""
    svg = vl_convert.vegalite_to_svg(spec, VEGA_LITE)
    return re.sub(r'^<svg [^>]*?(width="[^>]*)>', r'<svg aria-hidden="true" \1>', svg)


def _to_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {column: _plain(value) for column, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat()}Z"
    if isinstance(value, date):
        return f"{value.isoformat()}T00:00:00Z"
    return value
