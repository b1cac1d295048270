"""Colours that differ in lightness, so that a page can still be read when it is printed in grey.

The categorical colours are samples of cividis (Nuñez et al. 2018), taken in turn from its dark, light and
middle parts, so that neighbours differ most in lightness. The sequential scheme runs from light to dark.
"""

from typing import Any

CATEGORICAL: dict[str, Any] = {
    "id": "tapewise",
    "label": "Tapewise, readable in grey",
    "description": "Samples of cividis by turns of lightness",
    "isDefault": True,
    "colors": ["#00336f", "#d9c55c", "#7b7b78", "#ffe945", "#4a5268", "#b3a76d", "#1c4570", "#95917a"],
}
SEQUENTIAL: dict[str, Any] = {
    "id": "tapewise_sequential",
    "label": "Tapewise, light to dark",
    "description": "Cividis, reversed",
    "isDiverging": False,
    "colors": ["#fff3b0", "#ffe945", "#d9c55c", "#a69d75", "#7b7b78", "#4a5268", "#00336f", "#001f4d"],
}
