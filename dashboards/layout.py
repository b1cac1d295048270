"""Puts each chart's description below it on the page, because this version of Superset does not show it.

A description says what the chart leaves out and how to read it, and is written once, in the chart's file.
This module runs in Superset's environment, and imports none of our packages.
"""

import copy
from typing import Any

# A page's grid has 12 columns. Heights are in units of 8 pixels.
LETTERS_A_COLUMN = 12
LINE_UNITS = 2.6
MARGIN_UNITS = 4
# The charts that say what is shown, and what to print: Superset's own prints leave charts out.
FIRST = {
    "archive_shown": " · to read at once or to print: the report, in the table above",
    "study_shown": "",
}
# Pages in the order of their links; others follow by name.
ORDER = ("tapewise-morning", "tapewise-overview")


def place_descriptions(
    dashboard: dict[str, Any], descriptions: dict[str, str], pages: dict[str, str]
) -> dict[str, Any]:
    """Put each chart into a column, above its description; `descriptions` has the charts' UUIDs as keys.

    Below the first chart, which says what is shown, are also links to the other pages and what to print;
    `pages` has the titles by slug.
    """
    position = copy.deepcopy(dashboard["position"])
    parts = [part for part in position.values() if isinstance(part, dict)]
    for chart in [part for part in parts if part.get("type") == "CHART"]:
        (*ancestors, row) = chart["parents"]
        name = chart["id"].removeprefix("CHART-")
        column, words = f"COLUMN-{name}", f"MARKDOWN-{name}"
        width, text = chart["meta"]["width"], descriptions[chart["meta"]["uuid"]]
        if name in FIRST:
            text = f"{write_links(dashboard['slug'], pages)}{FIRST[name]}\n\n{text}"
        children = position[row]["children"]
        position[row]["children"] = [column if each == chart["id"] else each for each in children]
        position[column] = {
            "type": "COLUMN",
            "id": column,
            "children": [chart["id"], words],
            "parents": [*ancestors, row],
            "meta": {"background": "BACKGROUND_TRANSPARENT", "width": width},
        }
        position[words] = {
            "type": "MARKDOWN",
            "id": words,
            "children": [],
            "parents": [*ancestors, row, column],
            "meta": {"width": width, "height": find_height(text, width), "code": text},
        }
        chart["parents"] = [*ancestors, row, column]
    return dashboard | {"position": position}


def write_links(slug: str, pages: dict[str, str]) -> str:
    """Write the titles of all pages, as links except for the page itself."""
    return " · ".join(
        f"**{title}**" if each == slug else f"[{title}](/superset/dashboard/{each}/)"
        for each, title in pages.items()
    )


def find_height(text: str, width: int) -> int:
    """Return the height of the text in `width` columns, in the grid's units."""
    line_count = -(-len(text) // (LETTERS_A_COLUMN * width))
    return MARGIN_UNITS + round(LINE_UNITS * line_count)
