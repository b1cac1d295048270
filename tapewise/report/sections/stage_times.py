"""How long it took to bring files from tape to disk."""

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Rows, Section
from tapewise.report.valleys import EDGES_S, find_valleys

if TYPE_CHECKING:
    import altair

# Stages are slow if one in twenty takes this long.
SLOW_S = 600
FEWEST_STAGES = 100


def find(facts: Facts) -> Finding | None:
    """Say between which edges the median is, and how long the slowest twentieth took at least."""
    stage_count = sum(row["stage_count"] for row in facts["stage_times"])
    if stage_count < FEWEST_STAGES:
        return Finding(
            f"Too few stages ({stage_count}, not {FEWEST_STAGES}) to say how long they take", False
        )
    middle, late = (_find_lower_edge(facts["stage_times"], ratio) for ratio in (0.5, 0.95))
    above = next((edge_s for edge_s in EDGES_S if edge_s > middle), None)
    range_ = f"{say_time(middle)} or longer" if above is None else f"{say_time(middle)} to {say_time(above)}"
    sentence = f"The median stage took {range_}, and the slowest twentieth {say_time(late)} or longer"
    return Finding(sentence, late >= SLOW_S)


def _find_lower_edge(rows: Rows, ratio: float) -> float:
    """The lower edge of the bin with the stage that `ratio` of all stages do not exceed."""
    counts = _count(rows)
    needed, passed = ratio * sum(counts.values()), 0
    for from_s in sorted(counts):
        passed += counts[from_s]
        if passed >= needed:
            return float(from_s)
    raise AssertionError("a ratio is at most 1")


def _count(rows: Rows) -> dict[float, int]:
    """The stages of all interfaces by the lower edge of their bin."""
    counts: dict[float, int] = {}
    for row in rows:
        counts[row["stage_from_s"]] = counts.get(row["stage_from_s"], 0) + row["stage_count"]
    return counts


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for each interface, with a colour for each group of times and lines between them."""
    import altair as alt

    from tapewise.report import charts

    interfaces = sorted({row["interface"] for row in facts["stage_times"]})
    edges_s = [max(row["stage_from_s"], 0.5) for row in facts["stage_times"]]
    edges_s += [row["stage_to_s"] for row in facts["stage_times"] if row["stage_to_s"] is not None]
    boundaries_s = find_valleys(_count(facts["stage_times"]))
    colours = [charts.BLUE, charts.GREEN, charts.VERMILLION, charts.PURPLE]
    colour: Any = alt.value(charts.BLUE)
    if boundaries_s:
        names = _name_groups(boundaries_s)
        # The number of boundaries below a bar is that of its group.
        below = " + ".join(f"(datum.stage_from_s >= {at_s!r} ? 1 : 0)" for at_s in boundaries_s)
        colour = alt.Color("group:N", title=None, scale=alt.Scale(domain=names, range=colours[: len(names)]))
    panels: list[altair.TopLevelMixin] = []
    for interface in interfaces:
        bars = (
            charts.plot("stage_times", f"stages, {interface}")
            .mark_bar()
            .encode(
                x=charts.times(alt.X, "from_s", "time to stage", edges_s),
                x2="stage_to_s:Q",
                y2=alt.datum(0),
                y=charts.counts("stage_count", ""),
                color=colour,
            )
            .transform_filter(alt.FieldEqualPredicate(field="interface", equal=interface))
            .transform_calculate(from_s="max(datum.stage_from_s, 0.5)")
        )
        if not boundaries_s:
            panels.append(bars)
            continue
        lines = (
            alt.Chart(alt.InlineData(values=[{"at_s": at_s} for at_s in boundaries_s]))
            .mark_rule(color=charts.INK, strokeDash=[4, 3])
            .encode(x="at_s:Q")
        )
        panels.append(alt.layer(bars.transform_calculate(group=f"{json.dumps(names)}[{below}]"), lines))
    return panels


def _name_groups(boundaries_s: list[float]) -> list[str]:
    """Name the groups that boundaries make: `below 20 s`, `20 s to 3 min`, `from 3 min`."""
    edges = [say_time(boundary_s) for boundary_s in boundaries_s]
    between = [f"{low} to {high}" for low, high in pairwise(edges)]
    return [f"below {edges[0]}", *between, f"from {edges[-1]}"]


SECTION = Section(
    name="stage_times",
    question="How long does tape take?",
    heading="Times to stage files from tape",
    query="""
    SELECT interface, stage_from_s, stage_to_s, stage_count, failed_count
    FROM mart.stage_times(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ORDER BY interface, stage_from_s
    """,
    silence="These logs report no stages from tape.",
    find=find,
    draw=draw,
    caption=(
        "Stages that succeeded, by the time from their start until the file was on disk, which includes the"
        " wait for a drive and the copying. Where the stages of all interfaces together form groups, each has"
        " a colour, with dashed lines between them. A dip within a bar is not seen. A dip must be deeper"
        " than chance (three standard deviations), with a fiftieth of the stages on each side. Edges of the"
        " bars are 1, 1.5, 2, 3, 5 and 7 times each power of ten; times below 1 s are in the first."
    ),
)
