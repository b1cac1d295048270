"""The questions that a page asks when it is opened: for its filters' lists, then for its charts.

Superset keeps an answer under its question, so they must be what a browser sends; a test opens the pages in
one. Runs in Superset's environment.
"""

from collections.abc import Callable, Iterable
from typing import Any

Rows = list[dict[str, Any]]
Ask = Callable[[dict[str, Any]], Rows]
# Superset's own number for the list of a filter.
LIST_ROW_LIMIT = 1000
# These answers depend on the warehouse only, whose state is part of their keys.
KEPT_S = 30 * 86_400


def ask_page(filters: Rows, charts: Iterable[dict[str, Any]], ask: Ask) -> None:
    """Ask what a page asks before anything is chosen in its filters.

    `filters` is the page's `native_filter_configuration`. Each of `charts` has `id`, `query_context` (parsed)
    and `cache_timeout` in s, or None, as in Superset. `ask` answers a question with the rows of its first
    query.
    """
    lists = [each for each in filters if each["filterType"] == "filter_select"]
    chosen: dict[str, Rows] = {}
    for each in lists:
        rows, column = ask(_write_list(each, [])), _find_column(each)
        chosen[each["id"]] = each["defaultDataMask"]["extraFormData"].get("filters", [])
        if each["controlValues"]["defaultToFirstItem"] and rows:
            chosen[each["id"]] = [{"col": column, "op": "IN", "val": [rows[0][column]]}]
    for each in lists:  # again, for what was chosen in the filters that limit them
        if limits := [choice for parent in each["cascadeParentIds"] for choice in chosen[parent]]:
            ask(_write_list(each, limits))
    for chart in charts:
        applied = [each["id"] for each in lists if chart["id"] not in each["scope"]["excluded"]]
        ask(_write_chart(chart, [choice for name in applied for choice in chosen[name]]))


def _find_column(listed: dict[str, Any]) -> str:
    return str(listed["targets"][0]["column"]["name"])


def _write_list(listed: dict[str, Any], limits: Rows) -> dict[str, Any]:
    column, sorted_by = _find_column(listed), listed.get("sortMetric")
    query = {
        "columns": [column],
        "metrics": [sorted_by] if sorted_by else [],
        "orderby": [[sorted_by or column, listed["controlValues"]["sortAscending"]]],
        "filters": limits,
        "extras": {"having": "", "where": ""},
        "row_limit": LIST_ROW_LIMIT,
        "order_desc": True,
    }
    return {
        "datasource": {"id": listed["targets"][0]["datasetId"], "type": "table"},
        "queries": [query],
        "form_data": {"viz_type": "filter_select"},
        "custom_cache_timeout": KEPT_S,
    }


def _write_chart(chart: dict[str, Any], choices: Rows) -> dict[str, Any]:
    context = chart["query_context"]
    return {
        "datasource": context["datasource"],
        "queries": [query | {"filters": query["filters"] + choices} for query in context["queries"]],
        "form_data": context["form_data"] | {"slice_id": chart["id"]},
        # A chart with a time of its own depends on the clock.
        "custom_cache_timeout": KEPT_S if chart["cache_timeout"] is None else None,
    }
