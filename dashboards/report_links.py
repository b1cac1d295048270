"""The dataset of what each archive holds, with the time when its report was written.

Superset looks into the folder of reports whenever it asks (reports.py).
"""

from typing import Any

NAME = "archive_summaries"
METADATA: dict[str, Any] = {
    "columns": {"report_at": "when its report for the dashboards was written; null if there is none"},
}

_SQL = """\
SELECT summaries.*, reports.written_at AS report_at
FROM mart.archive_summaries AS summaries
LEFT JOIN (
    {reports}
) AS reports (archive, written_at) ON summaries.archive = reports.archive"""


def write_summaries(*, with_filters: bool) -> str:
    """Write the query. Without Superset's templates, no report is known."""
    reports = "{{ written_reports() }}" if with_filters else "VALUES (NULL::text, NULL::timestamptz)"
    return _SQL.format(reports=reports)
