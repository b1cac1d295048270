"""What the hardware takes when nobody waits: latency and rate of each interface."""

from tapewise.clustering.names import format_bytes
from tapewise.report.section import Facts, Finding, Section

# A line is only spoken of if it explains this share of the variance, and has this many points.
LEAST_R_SQUARED = 0.9
FEWEST_STRATA = 10
# Two points always fit a line, which says nothing.
FEWEST_POINTS = 3


def find(facts: Facts) -> Finding | None:
    """Look for an interface most of whose transfers take longer to begin than to move their data."""
    lines = [
        row
        for row in facts["envelopes"]
        if row["rate_bytes_per_s"] is not None
        and row["latency_s"] > 0
        and row["stratum_count"] >= FEWEST_STRATA
        and row["r_squared"] is not None
        and row["r_squared"] >= LEAST_R_SQUARED
    ]
    if not lines:
        return Finding(
            f"No interface has a clear lower envelope (R² of {LEAST_R_SQUARED} over {FEWEST_STRATA} strata)",
            False,
        )
    bounded = []
    for line in lines:
        break_even_bytes = line["latency_s"] * line["rate_bytes_per_s"]
        bins = [
            row
            for row in facts.get("size_times", [])
            if (row["interface"], row["direction"]) == (line["interface"], line["direction"])
        ]
        transfer_count = sum(row["transfer_count"] for row in bins)
        # Only bins that are wholly below are counted, so the share is a lower bound.
        small_count = sum(row["transfer_count"] for row in bins if row["size_to_bytes"] <= break_even_bytes)
        if transfer_count and small_count > transfer_count / 2:
            bounded.append((small_count / transfer_count, break_even_bytes, line))
    if not bounded:
        return Finding("On no interface does latency dominate most transfers", False)
    _, break_even_bytes, line = max(bounded, key=lambda found: found[0])
    return Finding(
        f"More than half of the {line['direction']}s by {line['interface']} are so small (below"
        f" {format_bytes(break_even_bytes)}) that latency takes longer than moving their data",
        True,
    )


SECTION = Section(
    name="envelopes",
    question="What does the hardware take when nobody waits?",
    heading="Latency and rate of the hardware: a line through the fastest transfers (lower envelope)",
    heads=(
        *("interface", "direction", "transfers", "strata", "latency", "95 % from", "to"),
        *("rate", "95 % from", "to", "R²"),
    ),
    query="""
    WITH asked_for AS MATERIALIZED (
        SELECT * FROM mart.lower_envelopes(archive => %(archive)s, since => %(since)s, until => %(until)s)
    ),
    -- Of more transfers than are computed while somebody waits, without prepared lines: the latest.
    answers AS (
        SELECT asked_for.*, NULL::timestamptz AS recent_since FROM asked_for
        UNION ALL
        SELECT latest.*, %(recent_since)s::timestamptz
        FROM mart.lower_envelopes(
            archive => %(archive)s, since => %(recent_since)s, until => %(until)s, is_fresh => true
        ) AS latest
        WHERE %(recent_since)s::timestamptz IS NOT NULL AND NOT EXISTS (SELECT FROM asked_for)
    )
    SELECT interface, direction, transfer_count, stratum_count, latency_s, latency_low_s, latency_high_s,
        rate_bytes_per_s, rate_low_bytes_per_s, rate_high_bytes_per_s,
        CASE WHEN stratum_count >= 3 /* FEWEST_POINTS */ THEN round(r_squared::numeric, 3) END AS r_squared,
        recent_since AT TIME ZONE timezone AS counted_since
    FROM answers
    JOIN mart.archives USING (archive)
    ORDER BY interface, direction DESC
    """,
    note=(
        "Transfers of unknown size or time are left out, and those that a coarse clock cannot time (below 10"
        " s, if it counts whole seconds). A stratum has 100 puts or 25 gets of similar size, of which the"
        " fastest is a point. A line takes two points of different size. Its 95 % intervals, and R², the"
        " share of the variance that it explains, take three. Where the latency, or the lower end of its"
        " interval, is below 0, these points do not show what it is."
    ),
    needs=("transfers", "sizes", "durations"),
    silence="No transfer of a known size and time succeeded among those that are read for this.",
    needs_detail=True,
    find=find,
)
