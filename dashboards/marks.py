"""The dataset of recorded outages and changes, which charts over time draw as annotations.

Superset does not apply a page's filters to the query of an annotation. But templates see the request that the
annotation belongs to, and so the archive and the range of its filters. What they see also has to be part of
the key under which Superset keeps the answer.
"""

from typing import Any

from tapewise.dashboards.choices import write_choice, write_period, write_since, write_time

NAME = "time_marks"
# What a bar or point of a chart is. In charts that show days as weeks or months it depends on the range.
SPANS = ("shown", "day", "hour", "month")
METADATA: dict[str, Any] = {
    "summary": "Recorded outages and changes, as charts over time draw them.",
    "one_row_is": "one row per outage or change, and kind of bar",
    "columns": {
        "what": "outage or change",
        "span": "what a bar of the chart is: day, hour, month, or what the range makes it",
        "starts_at": "where the mark begins on the chart's axis, by the archive's clock",
        "ends_at": "where it ends",
        "title": "its kind and note",
    },
}

# A bar is drawn around its beginning, so a mark begins half a bar earlier than what it marks.
_SQL = """\
{range}SELECT
    marks.what,
    spans.span,
    date_trunc(spans.grain, marks.started_local) - spans.half AS starts_at,
    date_trunc(spans.grain, marks.last_local) + 2 * spans.half - spans.half AS ends_at,
    marks.title
FROM (
{choice}
) AS chosen{period}
CROSS JOIN LATERAL (
    SELECT
        CASE WHEN recorded.change LIKE '%outage' THEN 'outage' ELSE 'change' END AS what,
        greatest(recorded.started_local, range.since_local) AS started_local,
        -- The last moment of the outage in the range. A change has only a beginning.
        CASE
            WHEN recorded.change LIKE '%outage'
                THEN least(recorded.ended_local, range.until_local) - INTERVAL '1 second'
            ELSE recorded.started_local
        END AS last_local,
        concat_ws(': ', recorded.change, nullif(recorded.note, '')) AS title
    FROM (
        SELECT
            {since} AT TIME ZONE chosen.timezone AS since_local,
            coalesce({until}, period.ends_at) AT TIME ZONE chosen.timezone AS until_local
    ) AS range
    CROSS JOIN mart.recorded_changes AS recorded
    WHERE
        recorded.archive = chosen.archive
        AND recorded.started_local < range.until_local
        AND CASE
            WHEN recorded.change LIKE '%outage' THEN coalesce(recorded.ended_local, 'infinity')
            ELSE recorded.started_local + INTERVAL '1 second'
        END > coalesce(range.since_local, '-infinity')
) AS marks
CROSS JOIN LATERAL (
    VALUES
    ('shown', period.grain),
    ('day', 'day'),
    ('hour', 'hour'),
    ('month', 'month')
) AS grains (span, grain)
CROSS JOIN LATERAL (
    SELECT
        grains.span,
        grains.grain,
        ('1 ' || grains.grain)::interval / 2 AS half
) AS spans"""
_RANGE = """\
{{% set range = get_time_filter(strftime='%Y-%m-%dT%H:%M:%S') %}}
{{% set from_dttm, to_dttm = range.from_expr, range.to_expr %}}
{{% set key = cache_key_wrapper(
    [{values}, from_dttm, to_dttm] | string
) %}}
"""


def write_range(*more: str) -> str:
    """Write the template that finds the range, and the answer's key: archive, period, `more` and range."""
    values = ", ".join(f"filter_values('{name}')" for name in ("archive", "time_preset", *more))
    return _RANGE.format(values=values)


def write_marks(*, with_filters: bool) -> str:
    """Write the query. Without filters, it can be run directly and has the same columns."""
    since = f"({write_since('chosen')})::timestamptz" if with_filters else "period.starts_at"
    until = f"({write_time('to_dttm', 'chosen')})::timestamptz" if with_filters else "NULL::timestamptz"
    return _SQL.format(
        range=write_range() if with_filters else "",
        choice=write_choice(NAME, with_filters=with_filters),
        period=write_period("chosen", with_filters=with_filters),
        since=since,
        until=until,
    )
