"""How long it took to bring files from tape to disk."""

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Rows, Section
from tapewise.report.valleys import find_valleys

if TYPE_CHECKING:
    import altair

# Stages are slow if one in twenty takes this long.
SLOW_S = 600
FEWEST_STAGES = 100
# Its logs have, in place of stages, how long each file took from the tape server's buffer to the disk.
TAPE_SERVERS = "cta"


def find(facts: Facts) -> Finding | None:
    """Say how long the median stage took, how long the slowest twentieth, and where the times divide."""
    rows = facts["stage_times"]
    stage_count = sum(row["stage_count"] for row in rows)
    if stage_count < FEWEST_STAGES:
        return Finding(
            f"Too few stages ({stage_count}, not {FEWEST_STAGES}) to say how long they take", False
        )
    middle_s, late_s = (_find_quantile(rows, ratio) for ratio in (0.5, 0.95))
    of_tape_servers = {row["interface"] == TAPE_SERVERS for row in rows}
    what = "copy from the tape server's buffer to disk" if of_tape_servers == {True} else "stage"
    sentence = (
        f"The median {what} took about {say_time(middle_s)}, and the slowest twentieth {say_time(late_s)} or"
        " longer"
    )
    if boundaries_s := find_valleys(_count(rows)):
        sentence += f"; the times divide at {' and '.join(map(say_time, boundaries_s))}"
    if of_tape_servers == {True}:
        sentence += "; the wait for the tape is not in it"
    elif True in of_tape_servers:
        sentence += "; stages of CTA count only from the tape server's buffer to disk"
    return Finding(sentence, late_s >= SLOW_S)


def _find_quantile(rows: Rows, ratio: float) -> float:
    """The least time of the bin with the stage that `ratio` of all stages do not exceed."""
    needed, passed = ratio * sum(row["stage_count"] for row in rows), 0
    for row in sorted(rows, key=lambda row: row["least_s"]):
        passed += row["stage_count"]
        if passed >= needed:
            return float(row["least_s"])
    raise AssertionError("a ratio is at most 1")


def _count(rows: Rows) -> dict[int, int]:
    """The stages of all interfaces by bin."""
    counts: dict[int, int] = {}
    for row in rows:
        counts[row["bin"]] = counts.get(row["bin"], 0) + row["stage_count"]
    return counts


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for each interface, with a colour for each group of times and lines between them."""
    import altair as alt

    from tapewise.report import charts

    boundaries_s = find_valleys(_count(facts["stage_times"]))
    names = _name_groups(boundaries_s)
    colours = [charts.BLUE, charts.GREEN, charts.VERMILLION, charts.PURPLE]
    colour: Any = alt.value(charts.BLUE)
    if boundaries_s:
        colour = alt.Color("group:N", title=None, scale=alt.Scale(domain=names, range=colours[: len(names)]))
    bars = _make_bars(facts["stage_times"], boundaries_s, names)
    edges_s = [edge_s for bar in bars for edge_s in (bar["from_s"], bar["to_s"])]
    lines = (
        alt.Chart(alt.InlineData(values=[{"at_s": at_s} for at_s in boundaries_s]))
        .mark_rule(color=charts.INK, strokeDash=[4, 3])
        .encode(x="at_s:Q")
    )
    return [
        alt.layer(
            charts.plot("stage_times", f"stages, {interface}")
            .properties(data=alt.InlineData(values=[bar for bar in bars if bar["interface"] == interface]))
            .mark_bar()
            .encode(
                x=charts.times(alt.X, "from_s", "time to stage", edges_s),
                x2="to_s:Q",
                y2=alt.datum(0),
                y=charts.counts("stage_count", ""),
                color=colour,
            ),
            lines,
        )
        for interface in sorted({bar["interface"] for bar in bars})
    ]


def _make_bars(rows: Rows, boundaries_s: list[float], names: list[str]) -> list[dict[str, Any]]:
    """Add up the stages of each bar. A bar that contains a boundary is cut there."""
    bars: dict[tuple[str, float, int], dict[str, Any]] = {}
    for row in rows:
        group = bisect_right(boundaries_s, row["least_s"])
        bar = bars.setdefault(
            (row["interface"], row["bar_from_s"], group),
            {
                "interface": row["interface"],
                # A logarithmic axis has no zero.
                "from_s": max(row["bar_from_s"], 0.5, *boundaries_s[group - 1 : group]),
                "to_s": min(row["bar_to_s"], *boundaries_s[group : group + 1], 1e9),
                "group": names[group],
                "stage_count": 0,
            },
        )
        bar["stage_count"] += row["stage_count"]
    return list(bars.values())


def _name_groups(boundaries_s: list[float]) -> list[str]:
    """Name the groups that boundaries make: `below 20 s`, `20 s to 3 min`, `from 3 min`."""
    if not boundaries_s:
        return ["all"]
    edges = [say_time(boundary_s) for boundary_s in boundaries_s]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *between, f"from {edges[-1]}"]


SECTION = Section(
    name="stage_times",
    question="How long does tape take?",
    heading="Times to stage files from tape",
    query="""
    WITH edges AS (
        SELECT array_agg((step * 10 ^ decade)::double precision ORDER BY decade, step) AS edges_s
        FROM generate_series(0::numeric, 8) AS decades (decade)
        CROSS JOIN unnest(ARRAY[1, 1.5, 2, 3, 5, 7]) AS steps (step)
    ),
    times AS (
        SELECT interface, mart.time_bin_edge(time_bin) AS time_s, stage_count
        FROM mart.selected_stages(archive => %(archive)s, since => %(since)s, until => %(until)s) AS cells
        CROSS JOIN unnest(cells.time_bins, cells.stage_counts) AS bins (time_bin, stage_count)
        WHERE stage_count > 0
    ),
    -- Fifty bins per factor of ten; times below half a second share one. Each bar consists of whole bins.
    placed AS (
        SELECT *, round(50 * log(greatest(time_s, 0.5)))::integer AS bin, width_bucket(time_s, edges_s) AS bar
        FROM times
        CROSS JOIN edges
    )
    SELECT interface, bin, min(time_s) AS least_s, coalesce(edges_s[bar], 0) AS bar_from_s,
        edges_s[bar + 1] AS bar_to_s, sum(stage_count)::bigint AS stage_count
    FROM placed
    GROUP BY interface, bin, bar, edges_s
    ORDER BY interface, least_s
    """,
    needs=("stages",),
    silence="No stage that succeeded has a known time.",
    find=find,
    draw=draw,
    caption=(
        "Stages that succeeded, by the time from their start until the file was on disk. With most logs this"
        " includes the wait for a drive; with those of tape servers (CTA) it is only the copying from their"
        " buffer to disk, and recalls have the wait. Bars begin at 1, 1.5, 2, 3, 5 and 7 times each power of"
        " ten; times below 1 s are in the first. Where the times of all interfaces together divide, each"
        " group has a colour, and a dashed line separates them, which cuts its bar. The dip there is deeper"
        " than chance (three standard errors), with a fiftieth of the stages on each side; one narrower than"
        " a factor of 1.2 may be missed. Percentiles are within 5 %."
    ),
)
