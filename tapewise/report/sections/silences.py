"""The longest times without any transfer."""

from datetime import timedelta
from typing import TYPE_CHECKING

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# A silence is notable if it lasted this long without a recorded outage.
NOTABLE_S = 86_400


def find(facts: Facts) -> Finding | None:
    """Name the longest silence that nothing explains: no outage, and no transfer of an unknown hour."""
    unexplained = [
        row for row in facts["silences"] if not row["is_explained"] and not row["hour_unknown_count"]
    ]
    if not unexplained:
        return Finding(
            "Recorded outages, or transfers whose hour is unknown, may explain all of these silences", False
        )
    longest = max(unexplained, key=lambda row: row["idle_s"] - row["explained_s"])
    length_s = longest["idle_s"] - longest["explained_s"]
    began = f"{longest['started_local']:%a %Y-%m-%d %H:%M}"
    if longest["is_edge"]:
        return Finding(
            f"No transfer for at least {say_time(length_s)} around {began}, and no recorded outage"
            " explains it",
            length_s >= NOTABLE_S,
        )
    if length_s < NOTABLE_S:
        return Finding(
            f"No unexplained silence of a day: the longest, from {began}, was {say_time(length_s)}", False
        )
    return Finding(
        f"No transfer for {say_time(length_s)} from {began}, and no recorded outage explains it", True
    )


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A stem for each silence: when it began and how long it was; hollow if an outage explains it."""
    import altair as alt

    from tapewise.report import charts

    base = charts.plot("silences").transform_calculate(
        hours="datum.idle_s / 3600", why="datum.is_explained ? 'recorded outage' : 'not explained'"
    )
    days = [row[end].date() for row in facts["silences"] for end in ("started_local", "ended_local")]
    x = charts.days("started_local", min(days), max(days) + timedelta(days=1), "beginning")
    y = alt.Y("hours:Q", title="hours without a transfer", scale=alt.Scale(domainMin=0))
    names = ["not explained", "recorded outage"]
    return [
        alt.layer(
            base.mark_rule(color=charts.GREY).encode(x=x, y=y, y2=alt.datum(0)),
            base.mark_point(size=50, opacity=1, strokeWidth=2).encode(
                x=x,
                y=y,
                color=alt.Color(
                    "why:N", title=None, scale=alt.Scale(domain=names, range=[charts.VERMILLION, charts.BLUE])
                ),
                shape=alt.Shape("why:N", scale=alt.Scale(domain=names, range=["triangle-up", "circle"])),
            ),
        )
    ]


SECTION = Section(
    name="silences",
    question="When was the archive silent, and does anything explain it?",
    heading="The ten longest times without a transfer (of an hour or longer)",
    heads=(
        *("from", "until", "length", "in an outage", "explained", "goes on beyond what was read"),
        *("transfers of unknown hour", "notes of outages"),
    ),
    query="""
    SELECT started_local::timestamp(0) AS started_local, ended_local::timestamp(0) AS ended_local, idle_s,
        explained_s, is_explained, is_edge, hour_unknown_count, outage_notes
    FROM mart.idle_intervals(
        archive => %(archive)s, since => %(since)s, until => %(until)s, shortest_s => 3600
    )
    ORDER BY idle_s DESC, started_at
    LIMIT 10
    """,
    silence="There was none of an hour or longer, or the hours of the transfers are not known.",
    needs_detail=True,
    find=find,
    draw=draw,
    caption=(
        "Times during which no transfer of the archive was under way, failed ones included. A silence that"
        " crosses an edge of the period is whole, but no more than a day beyond it is read. It is explained"
        " if recorded outages cover all of it but less than an hour. Transfers whose hour is unknown may have"
        " been under way on its days."
    ),
)
