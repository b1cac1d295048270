"""Transfers and bytes by day, or by week or month if there are many days."""

from statistics import median
from typing import TYPE_CHECKING

from tapewise.report.phrases import say_times
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# A day is outstanding if it moved this many times the bytes of a median day, of at least so many.
OUTSTANDING = 3.0
FEWEST_DAYS = 10


def find(facts: Facts) -> Finding | None:
    """Compare the busiest day (week, month) with the median one, of those on which bytes were moved."""
    sums: dict[object, float] = {}
    for row in facts["days"]:
        if row["size_bytes"]:
            sums[row["starts_on"]] = sums.get(row["starts_on"], 0.0) + float(row["size_bytes"])
    grain = facts["days"][0]["grain"]
    if len(sums) < FEWEST_DAYS:
        return Finding(
            f"Too few {grain}s with bytes ({len(sums)}, not {FEWEST_DAYS}) to say which is exceptional", False
        )
    middle = median(sums.values())
    busiest_on = max(sums, key=lambda day: sums[day])
    ratio = sums[busiest_on] / middle
    which = f"{busiest_on:%a %Y-%m-%d}" if grain == "day" else f"The {grain} from {busiest_on}"
    if ratio < OUTSTANDING:
        return Finding(
            f"No {grain} is exceptional: the busiest moved {say_times(ratio)} the median's bytes", False
        )
    return Finding(f"{which} moved {say_times(ratio)} the bytes of a median {grain}", True)


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """One panel of bytes and one of transfers, each with gets above puts."""
    import altair as alt

    from tapewise.report import charts

    span = (min(row["starts_on"] for row in facts["days"]), max(row["ends_on"] for row in facts["days"]))
    grain = facts["days"][0]["grain"]
    present = {row["direction"] for row in facts["days"]}
    shade = (
        charts.plot("site_events", height=95)
        .mark_rect(color=charts.GREY, opacity=0.3, clip=True)
        .encode(x=charts.days("started_local", *span), x2="until_local:T")
        .transform_filter("datum.what == 'outage'")
        .transform_calculate(
            until_local=f"isValid(datum.ended_local) ? datum.ended_local : '{span[1]}T00:00:00Z'"
        )
    )
    rule = (
        charts.plot("site_events", height=95)
        .mark_rule(color=charts.INK, strokeDash=[4, 3], clip=True)
        .encode(x=charts.days("started_local", *span))
        .transform_filter("datum.what == 'change'")
    )
    panels: list[altair.TopLevelMixin] = []
    for column, what, labels in (
        ("size_bytes", "bytes", charts.BYTES),
        ("transfer_count", "transfers", charts.COUNTS),
    ):
        rows = []
        for direction, colour in charts.DIRECTIONS.items():
            if direction not in present:
                continue
            bars = (
                charts.plot("days", f"{what} by {grain}, {direction}", height=95)
                .mark_bar(color=colour, clip=True)
                .encode(
                    x=charts.days("starts_on", *span),
                    x2="ends_on:T",
                    y2=alt.datum(0),
                    y=charts.counts(column, "", labels),
                )
                .transform_filter(f"datum.direction == '{direction}'")
            )
            rows.append(alt.layer(shade, bars, rule))
        panels.append(alt.vconcat(*rows, spacing=14))
    return panels


SECTION = Section(
    name="days",
    question="When was how much moved?",
    heading="Bytes and transfers by day",
    query="""
    WITH days AS (
        SELECT starts_on, direction, sum(transfer_count)::bigint AS transfer_count,
            sum(size_bytes) AS size_bytes
        FROM mart.daily_activity(archive => %(archive)s, since => %(since)s, until => %(until)s)
        GROUP BY starts_on, direction
    ),
    grains AS (
        SELECT CASE
            WHEN max(starts_on) - min(starts_on) < 100 THEN 'day'
            WHEN max(starts_on) - min(starts_on) < 700 THEN 'week'
            ELSE 'month'
        END AS grain
        FROM days
    )
    SELECT grain, date_trunc(grain, starts_on::timestamp)::date AS starts_on,
        (date_trunc(grain, starts_on::timestamp) + ('1 ' || grain)::interval)::date AS ends_on,
        direction, sum(transfer_count)::bigint AS transfer_count, sum(size_bytes) AS size_bytes,
        count(*) AS day_count
    FROM days
    CROSS JOIN grains
    GROUP BY grain, 2, 3, direction
    ORDER BY 2, direction
    """,
    needs=("activity",),
    silence="No transfer ended.",
    find=find,
    draw=draw,
    caption=(
        "Transfers by the local day on which they ended, failed ones included; bytes of those that did not"
        " fail and whose size is known. Bars are days up to 100 days, weeks (from Monday) up to 700, and"
        " months beyond; the first and the last may be partial. Recorded outages are shaded; a dashed line"
        " marks a change of the configuration."
    ),
)
