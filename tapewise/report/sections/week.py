"""How transfers are spread over the hours of the week."""

from typing import TYPE_CHECKING

from tapewise.report.phrases import say_times
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# An hour is outstanding if it has this many times the mean hour's transfers. With ten transfers for each hour
# of the week, chance makes no such hour.
OUTSTANDING = 3.0
FEWEST_TRANSFERS = 1_680
FEWEST_WEEKS = 2
HOURS = 7 * 24


def find(facts: Facts) -> Finding | None:
    """Compare the busiest hour of the week with the mean hour in service."""
    served = [row for row in facts["week"] if row["hour_count"]]
    transfer_count = sum(row["transfer_count"] for row in served)
    weeks = min((row["hour_count"] for row in served), default=0)
    lacks = []
    if transfer_count < FEWEST_TRANSFERS:
        lacks.append(f"there are {transfer_count:,} transfers, not {FEWEST_TRANSFERS:,}")
    if len(served) < HOURS:
        lacks.append(f"{HOURS - len(served)} of them were never in service")
    elif weeks < FEWEST_WEEKS:
        lacks.append(f"some were in service in {weeks} week, not {FEWEST_WEEKS}")
    if lacks:
        return Finding(f"Too little to compare the hours of the week: {', and '.join(lacks)}", False)
    mean = transfer_count / sum(row["hour_count"] for row in served)
    busiest = max(served, key=lambda row: row["mean_transfer_count"])
    ratio = busiest["mean_transfer_count"] / mean
    hour = f"{busiest['weekday_name']} {busiest['hour']}:00 to {busiest['hour'] + 1}:00"
    if ratio < OUTSTANDING:
        return Finding(
            f"No hour of the week is exceptional: the busiest, {hour}, has {say_times(ratio)} the mean hour's"
            " transfers",
            False,
        )
    return Finding(f"{hour} is the busiest hour of the week, with {say_times(ratio)} the mean", True)


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A cell for each hour of the week, in six steps from few to many."""
    import altair as alt

    from tapewise.report import charts

    means = [row["mean_transfer_count"] for row in facts["week"] if row["hour_count"]]
    weekdays = [row["weekday_name"] for row in facts["week"] if row["hour"] == 0]
    # The ends of the first five of six equal steps, which are round numbers, so that the legend is exact.
    step = charts.round_up(max(means, default=0) / 6 or 1)
    ends = [step * number for number in range(1, 6)]
    return [
        charts.plot("week", "mean transfers per hour in service", height=130)
        .mark_rect(stroke=charts.GRID, strokeWidth=0.5)
        .encode(
            x=alt.X(
                "hour:O",
                title="hour of the local day",
                scale=alt.Scale(domain=list(range(24))),
                axis=alt.Axis(labelAngle=0, values=[0, 6, 12, 18]),
            ),
            y=alt.Y("weekday_name:O", title=None, scale=alt.Scale(domain=weekdays)),
            color=alt.Color(
                "mean_transfer_count:Q",
                title=None,
                scale=alt.Scale(type="threshold", domain=ends, range=charts.HEAT),
                legend=alt.Legend(format=",~g"),
            ),
        )
        .transform_filter("datum.hour_count > 0")
    ]


SECTION = Section(
    name="week",
    question="At which hours of the week is the archive busy?",
    heading="Transfers by hour of the week",
    query="""
    SELECT weekday, weekday_name, hour, transfer_count, hour_count, mean_transfer_count
    FROM mart.hour_profiles(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ORDER BY weekday, hour
    """,
    needs=("activity",),
    silence="No transfer has a known hour.",
    find=find,
    draw=draw,
    caption=(
        "Transfers that ended in an hour of the local week, failed ones included, divided by how often that"
        " hour was in service. Recorded outages, days without any transfer, and the time before the first"
        " and after the last transfer are not in service. An hour that never was is blank."
    ),
)
