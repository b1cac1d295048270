"""Durations and waits, as percentiles."""

from tapewise.report.phrases import say_time
from tapewise.report.section import Facts, Finding, Section

# Waits are notable if one get in twenty waited this long before its transfer began.
LONG_S = 60
FEWEST_GETS = 100


def find(facts: Facts) -> Finding | None:
    """Say how long one get in twenty waited."""
    waits = [row for row in facts["times"] if (row["quantity"], row["direction"]) == ("wait", "get")]
    if not waits or waits[0]["request_count"] < FEWEST_GETS:
        known = "No get has" if not waits else f"Fewer than {FEWEST_GETS} gets have"
        return Finding(f"{known} a known wait", False)
    late_s, step_s = waits[0]["p95_s"], waits[0]["clock_step_s"] or 0
    gets = f"of the {waits[0]['request_count']:,} gets with a known wait"
    if late_s < LONG_S:
        short = f"{say_time(late_s)} or less" if late_s >= step_s else f"less than {say_time(step_s)}"
        return Finding(f"No long waits: nineteen in twenty {gets} waited {short}", False)
    return Finding(f"One in twenty {gets} waited longer than {say_time(late_s)}", True)


SECTION = Section(
    name="times",
    question="How long did transfers take, and how long did they wait?",
    heading="Times by percentile",
    heads=(
        "time",
        "direction",
        "requests",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        "clock",
        "below it",
        "clocks disagree",
    ),
    query="""
    SELECT quantity, direction, request_count,
        max(value) FILTER (WHERE percent = 5) AS p5_s, max(value) FILTER (WHERE percent = 25) AS p25_s,
        max(value) FILTER (WHERE percent = 50) AS p50_s, max(value) FILTER (WHERE percent = 75) AS p75_s,
        max(value) FILTER (WHERE percent = 95) AS p95_s, max(value) FILTER (WHERE percent = 99) AS p99_s,
        clock_step_s, below_clock_count, negative_count
    FROM mart.request_quantiles(
        archive => %(archive)s, since => %(since)s, until => %(until)s, is_exact => %(is_exact)s
    )
    WHERE unit = 's'
    GROUP BY quantity, direction, request_count, clock_step_s, below_clock_count, negative_count
    ORDER BY quantity, direction DESC
    """,
    note=(
        "A wait is the time from the request until the transfer began. Where it is below its clock's step,"
        " the step is shown. It is unknown where the time of the transfer is, as for empty files in logs of"
        " rates. Of over 200,000 transfers, or of days without detail, percentiles come from"
        " histograms and are within 1 %."
    ),
    needs=("transfers", "durations"),
    silence="No request of a known time succeeded.",
    find=find,
)
