"""The colours of the dashboards, which are also those of `tapewise report --html`.

The categorical colours are those of Okabe and Ito (2008), "Color universal design". Three of theirs are too
light on white (less than 3:1), so orange, sky blue and yellow are darker here. Black would not be seen on
the pages' dark ground, so there is a purple instead. The sequential scheme has
steps of blue, from light to dark. Reports have their own copy, because Superset runs without Tapewise.
"""

from typing import Any

CATEGORICAL: dict[str, Any] = {
    "id": "tapewise",
    "label": "Tapewise",
    "description": "Okabe and Ito's, with orange, sky blue and yellow darkened, and purple for black",
    "isDefault": True,
    "colors": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7b5ea7", "#a87400", "#2a8bc2", "#8f8500"],
}
SEQUENTIAL: dict[str, Any] = {
    "id": "tapewise_sequential",
    "label": "Tapewise, light to dark",
    "description": "Steps of blue",
    "isDiverging": False,
    "colors": ["#e3edf5", "#b8d3e8", "#86b4d6", "#4f92c0", "#1f6ca1", "#0a4570"],
}
