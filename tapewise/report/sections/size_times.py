"""How fast files of each size were moved, next to the lower envelope of their interface."""

from typing import TYPE_CHECKING

from tapewise.report.section import Facts, Section
from tapewise.report.sections.envelopes import FEWEST_POINTS

if TYPE_CHECKING:
    import altair

# The routes with the most transfers are drawn.
MOST_PANELS = 6


def draw(facts: Facts) -> "list[altair.TopLevelMixin]":
    """A panel for each interface and direction: medians, the middle 80 %, and the line of the envelope."""
    import altair as alt

    from tapewise.report import charts

    counts: dict[tuple[str, str], int] = {}
    for row in facts["size_times"]:
        route = (row["interface"], row["direction"])
        counts[route] = counts.get(route, 0) + row["transfer_count"]
    panels: list[altair.TopLevelMixin] = []
    for interface, direction in sorted(sorted(counts, key=lambda route: -counts[route])[:MOST_PANELS]):
        base = charts.plot("size_times", f"{interface}, {direction}").transform_filter(
            alt.FieldEqualPredicate(field="interface", equal=interface)
        )
        base = base.transform_filter(f"datum.direction == '{direction}' && datum.mean_size_bytes > 0")
        base = base.transform_filter("datum.p10_duration_s > 0")
        base = base.transform_calculate(
            rate="datum.mean_size_bytes / datum.p50_duration_s",
            fast="datum.mean_size_bytes / datum.p10_duration_s",
            slow="datum.mean_size_bytes / datum.p90_duration_s",
        )
        rows = [
            row
            for row in facts["size_times"]
            if (row["interface"], row["direction"]) == (interface, direction)
            and row["mean_size_bytes"] > 0
            and row["p10_duration_s"] > 0
        ]
        if not rows:
            continue
        rates = [
            row["mean_size_bytes"] / row[column]
            for row in rows
            for column in ("p10_duration_s", "p90_duration_s")
        ]
        bounds = _find_bounds(facts, interface, direction, [row["mean_size_bytes"] for row in rows])
        x = charts.sizes(
            alt.X, "mean_size_bytes", "size of the file", [row["mean_size_bytes"] for row in rows]
        )
        rates += [bound["rate"] for bound in bounds]
        y = charts.sizes(alt.Y, "slow", None, rates, "/s")
        colour = charts.DIRECTIONS[direction]
        panels.append(
            alt.layer(
                base.mark_rule(color=colour, opacity=1, strokeWidth=1).encode(x=x, y=y, y2="fast:Q"),
                base.mark_point(color=colour, filled=True, size=30, opacity=1).encode(x=x, y="rate:Q"),
                alt.Chart(alt.InlineData(values=bounds))
                .mark_line(color=charts.INK, strokeDash=[4, 3])
                .encode(x="mean_size_bytes:Q", y="rate:Q"),
            )
        )
    return panels


def _find_bounds(
    facts: Facts, interface: str, direction: str, sizes_bytes: list[float]
) -> list[dict[str, float]]:
    """The rate that the lower envelope allows for files of each size, as far as it has a line."""
    for row in facts.get("envelopes", []):
        if (row["interface"], row["direction"]) != (interface, direction):
            continue
        if row["rate_bytes_per_s"] and row["stratum_count"] >= FEWEST_POINTS:
            latency_s, rate_bytes_per_s = row["latency_s"], row["rate_bytes_per_s"]
            times = [(float(size), latency_s + float(size) / rate_bytes_per_s) for size in sizes_bytes]
            return [{"mean_size_bytes": size, "rate": size / time_s} for size, time_s in times if time_s > 0]
    return []


SECTION = Section(
    name="size_times",
    question="How fast are files of each size moved, and how fast could they be?",
    heading="Rate by size of the file",
    query="""
    SELECT interface, direction, size_from_bytes, size_to_bytes, transfer_count, mean_size_bytes,
        p10_duration_s, p50_duration_s, p90_duration_s
    FROM mart.size_times(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ORDER BY interface, direction, size_from_bytes
    """,
    needs=("transfers", "sizes", "durations"),
    silence="No transfer of a known size and time succeeded.",
    draw=draw,
    caption=(
        "A dot is the mean size of a range of sizes, over the median time of its transfers; its bar covers"
        " the middle 80 % of the times. The dashed line is the rate of the lower envelope (its own section):"
        " a line fitted to the fastest transfers of three strata or more, so that some are faster still."
        " Successful transfers with a known duration; those that a coarse clock cannot time are left out. The"
        " interfaces and directions with the most transfers are drawn, up to six."
    ),
)
