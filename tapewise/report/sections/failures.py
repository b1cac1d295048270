"""The most frequent failures by the log's own code."""

from typing import TYPE_CHECKING

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# Failures are notable if this share of the transfers of an interface and direction failed. There must be
# at least so many transfers.
NOTABLE = 0.01
FEWEST_TRANSFERS = 100


def find(facts: Facts) -> Finding | None:
    """Name the interface and direction with the largest share of failed transfers."""
    known = [
        (row["failed_count"] / logged_count, logged_count, row)
        for row in facts.get("transfers", [])
        if row["failed_count"] is not None
        and (logged_count := row["transfer_count"] - row["failures_unknown_count"]) >= FEWEST_TRANSFERS
    ]
    if not known:
        return Finding(
            f"No interface has {FEWEST_TRANSFERS} transfers of which it is known whether they failed", False
        )
    ratio, logged_count, row = max(known, key=lambda found: found[0])
    what = f"{row['direction']}s by {row['interface']}"
    if ratio < NOTABLE:
        return Finding(
            f"No interface fails often: {say_share(ratio)} of the {what} failed, the most of any", False
        )
    return Finding(
        f"{say_share(ratio)} of the {what} failed ({row['failed_count']:,} of {logged_count:,})", True
    )


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A bar for each of the most frequent codes."""
    import altair as alt

    from tapewise.report import charts

    return [
        charts.plot("failures", height=16 * len(facts["failures"]) + 20)
        .properties(width=charts.WIDTH - 30)  # the names of codes are long
        .mark_bar(color=charts.VERMILLION)
        .encode(
            x=alt.X("failed_count:Q", title="failures", axis=charts.count_axis()),
            y=alt.Y("name:N", title=None, sort="-x", axis=alt.Axis(labelLimit=150)),
        )
        .transform_calculate(
            name="datum.interface + ' ' + datum.direction + (datum.what == 'open' ? ' (open), ' : ', ')"
            " + (isValid(datum.status_code) ? 'code ' + datum.status_code : 'no code')"
        )
    ]


SECTION = Section(
    name="failures",
    question="What failed, and with which code?",
    heading="Failures, by the log's own code (the ten most frequent)",
    heads=("what", "interface", "direction", "code", "failed", "first", "last"),
    query="""
    SELECT what, interface, direction, status_code, count(*) AS failed_count,
        min(happened_at AT TIME ZONE timezone)::text AS first_local,
        max(happened_at AT TIME ZONE timezone)::text AS last_local
    FROM (
        SELECT 'transfer' AS what, archive, interface, direction, status_code, ended_at AS happened_at
        FROM mart.transfers WHERE is_failed
        UNION ALL
        SELECT 'open', archive, interface, direction, status_code, opened_at
        FROM mart.opens WHERE is_failed
    ) AS failures
    JOIN mart.archives USING (archive)
    WHERE archive = %(archive)s
        AND happened_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND happened_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY what, interface, direction, status_code
    ORDER BY failed_count DESC, what DESC, interface, direction, status_code
    LIMIT 10
    """,
    needs=("transfers or opens",),
    silence="Nothing failed, as far as these logs report failures.",
    needs_detail=True,
    find=find,
    draw=draw,
    caption=(
        "Failed transfers and failed opens by the code that the log gives; the ten most frequent. Logs that"
        " do not report failures are not in it."
    ),
)
