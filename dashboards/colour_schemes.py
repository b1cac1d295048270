"""The colours of the dashboards, which are also those of `tapewise report --html`.

The categorical colours are those of Okabe and Ito (2008), "Color universal design". Three of theirs are too
light on white (less than 3:1), so orange, sky blue and yellow are darker here. Black would not be seen on
the pages' dark ground, so there is a purple instead. Reports have their own copy, because Superset runs
without Tapewise. The sequential scheme is one blue, and the less there is, the more of the ground shows
through, so that little is pale on a light page and dim on a dark one. Reports have opaque steps of blue.
"""

from typing import Any

CATEGORICAL: dict[str, Any] = {
    "id": "tapewise",
    "label": "Tapewise",
    "description": "Okabe and Ito's, with orange, sky blue and yellow darkened, and purple for black",
    "isDefault": True,
    "colors": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7b5ea7", "#a87400", "#2a8bc2", "#8f8500"],
}
# The options of a study, by their numbers: the same hues in three lightnesses.
OPTIONS: list[str] = [
    *CATEGORICAL["colors"],
    *("#0081ca", "#a84a00", "#007455", "#a73f79", "#8970b1", "#885e00", "#206c96", "#6f6700"),
    *("#0099ee", "#f06a00", "#008d66", "#bf5791", "#9e89be", "#c38700", "#369bd4", "#a09400"),
]
SEQUENTIAL: dict[str, Any] = {
    "id": "tapewise_sequential",
    "label": "Tapewise, pale to full",
    "description": "One blue, from hardly visible to full",
    "isDiverging": False,
    "colors": [f"#1f7fb8{opacity:02x}" for opacity in (15, 60, 105, 155, 205, 255)],
}
# How the lines of a chart differ besides their colour, in the order in which they are drawn.
LINES: list[dict[str, Any]] = [
    {"symbol": symbol, "lineStyle": {"type": dashes}}
    for symbol, dashes in (
        ("circle", "solid"),
        ("triangle", [8, 4]),
        ("rect", [2, 3]),
        ("diamond", [10, 3, 2, 3]),
        ("arrow", [5, 2]),
        ("pin", [14, 4]),
        ("roundRect", [2, 6]),
        ("emptyCircle", [6, 2, 2, 2, 2, 2]),
    )
]
# The lines of a chart over sizes, where each pool has its own sizes: a line goes on past those of the others.
# From the ninth line on, colours and symbols are used again, with other dashes.
CURVES: list[dict[str, Any]] = [
    {
        "symbol": LINES[place % 8]["symbol"],
        "lineStyle": LINES[(place + 3 * (place // 8)) % 8]["lineStyle"],
        "smooth": False,
        "connectNulls": True,
    }
    for place in range(32)
]
