"""How long it took to bring files from tape to disk."""

from typing import TYPE_CHECKING, Any

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Rows, Section

if TYPE_CHECKING:
    import altair

# Stages are slow if one in twenty takes this long.
SLOW_S = 600
FEWEST_STAGES = 100


def find(facts: Facts) -> Finding | None:
    """Say how long half of the stages, and one in twenty, took at least."""
    stage_count = sum(row["stage_count"] for row in facts["stage_times"])
    if stage_count < FEWEST_STAGES:
        return Finding(
            f"Too few stages ({stage_count}, not {FEWEST_STAGES}) to say how long they take", False
        )
    middle, late = (_find_lower_edge(facts["stage_times"], ratio) for ratio in (0.5, 0.95))
    sentence = f"Half of the stages took {say_time(middle)} or longer, and one in twenty {say_time(late)}"
    return Finding(sentence, late >= SLOW_S)


def _find_lower_edge(rows: Rows, ratio: float) -> float:
    """The lower edge of the bin with the stage that `ratio` of all stages do not exceed."""
    counts: dict[Any, int] = {}
    for row in rows:
        counts[row["stage_from_s"]] = counts.get(row["stage_from_s"], 0) + row["stage_count"]
    needed, passed = ratio * sum(counts.values()), 0
    for from_s in sorted(counts):
        passed += counts[from_s]
        if passed >= needed:
            return float(from_s)
    raise AssertionError("a ratio is at most 1")


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for each interface."""
    import altair as alt

    from tapewise.report import charts

    interfaces = sorted({row["interface"] for row in facts["stage_times"]})
    edges_s = [max(row["stage_from_s"], 0.5) for row in facts["stage_times"]]
    edges_s += [row["stage_to_s"] for row in facts["stage_times"] if row["stage_to_s"] is not None]
    return [
        charts.plot("stage_times", f"stages, {interface}")
        .mark_bar(color=charts.BLUE)
        .encode(
            x=charts.times(alt.X, "from_s", "time to stage", edges_s),
            x2="stage_to_s:Q",
            y2=alt.datum(0),
            y=charts.counts("stage_count", ""),
        )
        .transform_filter(alt.FieldEqualPredicate(field="interface", equal=interface))
        .transform_calculate(from_s="max(datum.stage_from_s, 0.5)")
        for interface in interfaces
    ]


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
        " wait for a drive and the copying. Edges of the bars are 1, 1.5, 2, 3, 5 and 7 times each power of"
        " ten; times below 1 s are in the first."
    ),
)
