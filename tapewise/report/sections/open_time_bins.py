"""The distribution of open times, with the boundaries of SDSC's groups."""

from typing import TYPE_CHECKING

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# Waits are notable if this share of the gets took longer than a minute (the cartridge was not in a drive).
NOTABLE = 0.05
FEWEST_GETS = 100


def find(facts: Facts) -> Finding | None:
    """Say how many gets waited for more than a minute."""
    gets = sum(row["request_count"] for row in facts["open_time_bins"])
    if gets < FEWEST_GETS:
        return Finding(
            f"Too few gets with an open time ({gets}, not {FEWEST_GETS}) to say how long they wait", False
        )
    # A bin that contains the boundary has a row for each side.
    long = sum(row["request_count"] for row in facts["open_time_bins"] if row["group_number"] > 2)
    known = f"of the {gets:,} gets with an open time"
    if not long:
        return Finding(f"None {known} waited a minute for its file", False)
    return Finding(f"{say_share(long / gets)} {known} waited a minute or longer", long / gets >= NOTABLE)


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """Shares of gets by open time, with a colour for each group and lines between them."""
    import altair as alt

    from tapewise.report import charts

    names = {row["group_number"]: row["group_name"] for row in facts["open_time_bins"]}
    last = max(row["open_to_s"] or 7e8 for row in facts["open_time_bins"])
    bars = (
        charts.plot("open_time_bins")
        .mark_bar()
        .encode(
            x=charts.times(alt.X, "from_s", "open time", [0.05, last, 200]),
            x2="open_to_s:Q",
            y2=alt.datum(0),
            y=alt.Y("request_ratio:Q", title="share of the gets", axis=charts.share_axis()),
            color=alt.Color(
                "group_name:N",
                title=None,
                scale=alt.Scale(
                    domain=[names[number] for number in sorted(names)],
                    range=[
                        (charts.BLUE, charts.GREEN, charts.VERMILLION, charts.PURPLE)[number - 1]
                        for number in sorted(names)
                    ],
                ),
            ),
        )
        .transform_filter("datum.request_count > 0")
        .transform_calculate(from_s="max(datum.open_from_s, 0.05)")
    )
    boundaries = (
        alt.Chart(alt.InlineData(values=[{"at_s": at_s} for at_s in (8, 60, 130)]))
        .mark_rule(color=charts.INK, strokeDash=[4, 3])
        .encode(x="at_s:Q")
    )
    return [alt.layer(bars, boundaries)]


SECTION = Section(
    name="open_time_bins",
    question="How long do gets wait for their file to open?",
    heading="Open times of gets",
    query="""
    -- A bin that contains a boundary has a row for each group. Each ends at the boundary.
    SELECT group_number, group_name,
        greatest(open_from_s, (ARRAY[0, 8, 60, 130])[group_number]) AS open_from_s,
        least(open_to_s, (ARRAY[8, 60, 130])[group_number]) AS open_to_s, request_count, request_ratio
    FROM mart.open_time_bins(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ORDER BY group_number, open_from_s
    """,
    needs=("open_times",),
    silence="No get has a known open time.",
    find=find,
    draw=draw,
    caption=(
        "Successful gets with an open time; those that bypassed staging are left out. The dashed lines, at"
        " 8, 60 and 130 s, are SDSC's: below them a file was on disk, its cartridge was in a drive, or the"
        " library fetched it. They were derived from files of about 100 MB, so a large file may take longer"
        " to stage than the name of its group suggests. A bin that contains a line is cut there."
    ),
)
