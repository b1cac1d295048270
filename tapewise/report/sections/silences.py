"""The longest times without any transfer."""

from datetime import timedelta
from typing import TYPE_CHECKING

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

# A silence is notable if so much of it is in no recorded outage.
NOTABLE_S = 86_400


def find(facts: Facts) -> Finding | None:
    """Name the silence with the most time that no outage and no transfer of an unknown hour explains."""
    unexplained = [
        row for row in facts["silences"] if not row["is_explained"] and not row["hour_unknown_count"]
    ]
    if not unexplained:
        return Finding(
            "Recorded outages, or transfers whose hour is unknown, may explain all of these silences", False
        )
    longest = max(unexplained, key=lambda row: row["idle_s"] - row["explained_s"])
    left_s = longest["idle_s"] - longest["explained_s"]
    began = f"{longest['started_local']:%a %Y-%m-%d %H:%M}"
    if left_s < NOTABLE_S:
        hours, minutes = divmod(int(left_s // 60), 60)
        return Finding(
            f"No day passed in unexplained silence: at most {hours} h {minutes} min, in the silence from"
            f" {began}",
            False,
        )
    # If what is before or after was not read, the beginning and the length are not known.
    least, when = ("at least ", "around") if longest["is_edge"] else ("", "from")
    why = (
        f"; recorded outages explain {say_time(longest['explained_s'])} of it"
        if longest["explained_s"]
        else ", and no recorded outage explains it"
    )
    return Finding(f"No transfer for {least}{say_time(longest['idle_s'])} {when} {began}{why}", True)


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


def explain(facts: Facts) -> str:
    """Say why no silence is listed."""
    if "week" not in facts:
        return "The hours of the transfers are not known."
    return "No time without a transfer was an hour or longer."


SECTION = Section(
    name="silences",
    question="When was the archive silent, and does anything explain it?",
    heading="The longest times without a transfer",
    heads=(
        *("from", "until", "length", "in an outage", "explained", "goes on beyond what was read"),
        *("transfers of unknown hour", "notes of outages"),
    ),
    query="""
    SELECT started_local::timestamp(0) AS started_local, ended_local::timestamp(0) AS ended_local, idle_s,
        explained_s, is_explained, is_edge, hour_unknown_count, outage_notes
    FROM (
        SELECT *,
            row_number() OVER (ORDER BY idle_s DESC, started_at) AS length_rank,
            row_number() OVER (
                ORDER BY is_explained OR hour_unknown_count > 0, idle_s - explained_s DESC, started_at
            ) AS unexplained_rank
        FROM mart.idle_intervals(
            archive => %(archive)s, since => %(since)s, until => %(until)s, shortest_s => 3600
        )
    ) AS ranked
    WHERE length_rank <= 10 OR unexplained_rank = 1
    ORDER BY length_rank
    """,
    note="The ten longest are listed, of an hour or longer, and the least explained.",
    needs=("activity",),
    silence=explain,
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
