"""Which sizes of files were recalled from tape."""

from typing import TYPE_CHECKING

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

if TYPE_CHECKING:
    import altair

FEWEST_GETS = 100
UNKNOWN = "unknown"


def find(facts: Facts) -> Finding | None:
    """Compare the hit ratios of the size classes: do the intervals of two of them lie apart?"""
    known = [
        row
        for row in facts["tape_gets"]
        if row["size_class"] != UNKNOWN
        and row["cached_count"] + row["uncached_count"] >= max(FEWEST_GETS, row["unknown_count"])
    ]
    if len(known) < 2:
        return Finding(
            "For fewer than two size classes is it known of most gets, and of at least"
            f" {FEWEST_GETS}, where the file was",
            False,
        )
    best, worst = (pick(known, key=lambda row: row["hit_ratio"]) for pick in (max, min))
    if worst["hit_ratio_high"] >= best["hit_ratio_low"]:
        return Finding("Hit ratios of the size classes do not differ beyond chance", False)
    return Finding(
        f"{say_share(best['hit_ratio'])} of the gets of {best['size_class']} files found them on disk, but"
        f" {say_share(worst['hit_ratio'])} of those of {worst['size_class']} ones",
        True,
    )


def draw(_: Facts) -> "list[altair.TopLevelMixin]":
    """A stacked bar for each size class: gets from disk, from tape, and from where nobody knows."""
    import altair as alt

    from tapewise.report import charts

    names = {"cached_count": "on disk", "uncached_count": "on tape", "unknown_count": "unknown"}
    return [
        charts.plot("tape_gets")
        .mark_bar(stroke=charts.INK, strokeWidth=0.5)
        .encode(
            x=alt.X("gets:Q", title="gets", axis=charts.count_axis()),
            y=alt.Y("size_class:N", title=None, sort=["small", "medium", "large", "huge", UNKNOWN]),
            color=alt.Color(
                "where:N",
                title=None,
                scale=alt.Scale(
                    domain=list(names.values()), range=[charts.BLUE, charts.PURPLE, "transparent"]
                ),
            ),
            order=alt.Order("place:Q"),
        )
        .transform_fold(list(names), as_=["column", "gets"])
        .transform_calculate(where=f"{names}[datum.column]", place=f"indexof({list(names)}, datum.column)")
    ]


SECTION = Section(
    name="tape_gets",
    question="Which sizes are recalled from tape?",
    heading="Where gets found their file, by size",
    heads=("size class", "gets", "on disk", "on tape", "unknown", "hit ratio", "95 % from", "to"),
    query="""
    SELECT coalesce(size_class, 'unknown') AS size_class, get_count, cached_count, uncached_count,
        unknown_count, hit_ratio, hit_ratio_low, hit_ratio_high
    FROM (
        SELECT *, max(hit_ratio) OVER () AS highest_ratio
        FROM mart.cache_hits(
            archive => %(archive)s, since => %(since)s, until => %(until)s, grouped_by => 'size_class'
        )
    ) AS hits
    WHERE highest_ratio IS NOT NULL
    ORDER BY array_position(ARRAY['small', 'medium', 'large', 'huge'], size_class)
    """,
    needs=("transfers", "open_times or stages or hits"),
    silence="Of no get that succeeded is it known where its file was.",
    find=find,
    draw=draw,
    caption=(
        "Successful gets by SDSC's size classes: small (below 2 MB), medium (below 200 MB), large (up to 1"
        " GB) and huge. A get is unknown if the logs show neither that its file was on disk nor that it was"
        " not."
    ),
)
