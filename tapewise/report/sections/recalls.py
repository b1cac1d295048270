"""How long recalls from tape took."""

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Section

# Recalls are slow if one in twenty takes this long.
SLOW_S = 600
FEWEST_RECALLS = 100


def find(facts: Facts) -> Finding | None:
    """Say how long the median recall took, and how long the slowest twentieth, of the kind with the most."""
    row = max(facts["recalls"], key=lambda row: row["timed_count"])
    if row["timed_count"] < FEWEST_RECALLS:
        return Finding(
            f"Too few recalls ({row['timed_count']}, not {FEWEST_RECALLS}) with known times to say how long"
            " they take",
            False,
        )
    # A quantile among recalls that did not end is not known.
    if row["p50_s"] is None:
        return Finding("Half of the recalls or more did not end", True)
    sentence = f"The median recall took {say_time(row['p50_s'])}"
    if row["p95_s"] is None:
        return Finding(f"{sentence}; more than one in twenty did not end", True)
    return Finding(
        f"{sentence}, and the slowest twentieth {say_time(row['p95_s'])} or longer", row["p95_s"] >= SLOW_S
    )


SECTION = Section(
    name="recalls",
    question="How long do recalls take?",
    heading="Recalls from tape",
    heads=("counted per", "evidence", "recalls", "timed", "unfinished", "failed", "median", "95 %", "99 %"),
    query="""
    SELECT counted_per, evidence, recall_count, timed_count, unfinished_count, failed_count, p50_s, p95_s,
        p99_s
    FROM mart.recall_latencies(
        archive => %(archive)s, since => coalesce(%(recent_since)s, %(since)s::timestamptz),
        until => %(until)s, grouped_by => '{evidence}'
    )
    ORDER BY counted_per DESC, evidence
    """,
    needs=("tape_events or stages or hits or open_times",),
    note=(
        "A recall counts once per stage (each file brought from tape) and, in other rows, once per request"
        " that waited for one. Those with the evidence 'open time' are inferred: the open took 8 s or longer."
    ),
    silence="No file was recalled.",
    needs_detail=True,
    find=find,
)
