"""Writes Superset's log of events without those of requests for data.

Superset adds three to six rows to its own database for each answer to a chart, and more for what a page
reports about itself. Nobody reads these. Who opened a page, ran SQL in SQL Lab, or changed something is still
logged. Runs in Superset's environment.
"""

from typing import Any

from superset.utils.log import DBEventLogger

LEFT_OUT = {
    "ChartDataRestApi.data",
    "ChartDataRestApi.json_dumps",
    "QueryObject.post_processing",
    "_get_data_response",
    "execute_sql",
    "load_into_dataframe",
    "log",
}


class ChangeLogger(DBEventLogger):
    """Superset's logger of events, without those named in LEFT_OUT."""

    def log_with_context(self, action: str, *given: Any, **named: Any) -> None:
        """Log an event, unless it is left out."""
        if action not in LEFT_OUT:
            super().log_with_context(action, *given, **named)
