"""The dataset of rolling medians, which charts of days draw as a line among their bars or lines.

They are annotations, like the marks of marks.py. A chart's own query could not have them, because PostgreSQL
has no median over a moving range.
"""

from typing import Any

from tapewise.dashboards.choices import (
    ASKED,
    write_choice,
    write_period,
    write_since,
    write_time,
    write_value,
)
from tapewise.dashboards.marks import write_range

NAME = "rolling_medians"
DAY_COUNT, LEAST_COUNT = 7, 4
METADATA: dict[str, Any] = {
    "summary": "Rolling medians of daily figures, as charts of days draw them.",
    "one_row_is": f"one row per figure and day with {LEAST_COUNT} known days among the {DAY_COUNT} up to it",
    "columns": {
        "figure": "transfers, bytes, hit ratio, or recall (the median duration of the day's recalls)",
        "shown_on": "the last of the days, by the archive's clock",
        "value": f"median of the figure, on the known ones of the {DAY_COUNT} days up to this one",
    },
}
# For each figure: the function of its days, the value of a day, the function's grouping, and a condition.
_ANSWERS = {
    "transfers": ("daily_activity", "sum(answers.transfer_count)", None, None),
    "bytes": ("daily_activity", "sum(answers.size_bytes)", None, None),
    "hit ratio": ("cache_hits", "max(answers.hit_ratio)", "'day'", None),
    "recall": ("recall_latencies", "max(answers.p50_s)", "ARRAY['day']", "answers.counted_per = 'stage'"),
}

# A chart asks for one figure, and PostgreSQL then only calls the function of that figure.
_SQL = """\
{range}WITH asked AS (
    SELECT
        chosen.archive,
{asked},
        period.grain,
        -- The first days of the range have a median too, of the days before.
        ({since} AT TIME ZONE chosen.timezone - INTERVAL '{before} days')
        AT TIME ZONE chosen.timezone AS since,
        {until} AS until,
        ({since} AT TIME ZONE chosen.timezone)::date AS since_on
    FROM (
{choice}
    ) AS chosen{period}
)

SELECT windows.figure, windows.starts_on AS shown_on, medians.value
FROM (
    SELECT
        days.figure,
        days.starts_on,
        days.since_on,
        array_agg(days.value) OVER (
            PARTITION BY days.figure
            ORDER BY days.starts_on
            RANGE BETWEEN INTERVAL '{before} days' PRECEDING AND CURRENT ROW
        ) AS known
    FROM (
{days}
    ) AS days
    WHERE days.value IS NOT NULL
) AS windows
CROSS JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY known.value) AS value
    FROM unnest(windows.known) AS known (value)
) AS medians
WHERE
    cardinality(windows.known) >= {least}
    AND windows.starts_on >= coalesce(windows.since_on, '-infinity')"""
_DAYS = """\
        SELECT '{figure}' AS figure, answers.starts_on, asked.since_on, ({value})::double precision AS value
        FROM asked
        CROSS JOIN LATERAL mart.{function}(
{arguments}
        ) AS answers
        WHERE asked.grain = 'day'{condition}
        GROUP BY answers.starts_on, asked.since_on"""


def write_medians(*, with_filters: bool) -> str:
    """Write the query. Without filters, it can be run directly and has the same columns."""
    since = f"({write_since('chosen')})::timestamptz" if with_filters else "period.starts_at"
    until = f"({write_time('to_dttm', 'chosen')})::timestamptz" if with_filters else "NULL::timestamptz"
    asked = {name: write_value(name) if with_filters else "NULL" for name in ASKED}
    return _SQL.format(
        range=write_range(*ASKED) if with_filters else "",
        asked=",\n".join(f"        {value}::text AS {name}" for name, value in asked.items()),
        choice=write_choice(NAME, with_filters=with_filters),
        period=write_period("chosen", with_filters=with_filters),
        since=since,
        until=until,
        before=DAY_COUNT - 1,
        least=LEAST_COUNT,
        days="\n        UNION ALL\n".join(map(_write_days, _ANSWERS)),
    )


def _write_days(figure: str) -> str:
    function, value, grouped_by, condition = _ANSWERS[figure]
    arguments = ["archive => asked.archive", "since => asked.since", "until => asked.until"]
    arguments += [f"{name} => asked.{name}" for name in ASKED]
    if grouped_by:
        arguments.append(f"grouped_by => {grouped_by}")
    return _DAYS.format(
        figure=figure,
        value=value,
        function=function,
        arguments=",\n".join(f"            {argument}" for argument in arguments),
        condition=f" AND {condition}" if condition else "",
    )
