"""Sessions of drives, from the totals that a log reports at the end of each."""

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

# Drives are poorly used if they read or write for less than this share of the time of their sessions.
LOW_RATIO = 0.5
FEWEST_SESSIONS = 100


def find(facts: Facts) -> Finding | None:
    """Say for which share of the time of their sessions drives read or wrote."""
    known = [row for row in facts["mount_totals"] if row["transfer_ratio"] is not None]
    session_count = sum(row["session_count"] for row in known)
    if session_count < FEWEST_SESSIONS:
        return Finding(
            f"Too few sessions of drives ({session_count}, not {FEWEST_SESSIONS}) with known times to say how"
            " well they are used",
            False,
        )
    duration_s = sum(row["duration_s"] for row in known)
    ratio = sum(row["transfer_ratio"] * row["duration_s"] for row in known) / duration_s
    return Finding(
        f"Drives read or wrote for {say_share(ratio)} of the time from mount to dismount, by the totals of"
        " their sessions",
        ratio < LOW_RATIO,
    )


SECTION = Section(
    name="mount_totals",
    question="What did the sessions of drives read and write?",
    heading="Sessions of drives, from the totals at the end of each",
    heads=("task", "sessions", "without mount", "failed", "files", "bytes", "time", "transferring", "rate"),
    query="""
    SELECT task, count(*) AS session_count,
        sum((NOT is_mounted)::integer) AS mountless_count, sum(is_failed::integer) AS failed_count,
        sum(file_count)::bigint AS file_count, sum(size_bytes) AS size_bytes, sum(duration_s) AS duration_s,
        sum(transfer_s) FILTER (WHERE duration_s IS NOT NULL)
            / nullif(sum(duration_s) FILTER (WHERE transfer_s IS NOT NULL), 0) AS transfer_ratio,
        (sum(size_bytes) FILTER (WHERE transfer_s IS NOT NULL))::double precision
            / nullif(sum(transfer_s) FILTER (WHERE size_bytes IS NOT NULL), 0) AS rate_bytes_per_s
    FROM mart.mount_summaries
    WHERE archive = %(archive)s
        AND ended_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND ended_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY task
    ORDER BY session_count DESC, task
    """,
    needs=("mount_summaries",),
    note=(
        "Of sessions that ended in the period. Time is from the mount to the dismount; transferring is the"
        " share of it in which the drive read or wrote, and rate is of that time alone."
    ),
    silence="No session of a drive ended.",
    needs_detail=True,
    find=find,
)
