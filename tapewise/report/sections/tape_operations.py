"""How long files wait for tape, and how fast they are read and written."""

from tapewise.report.section import Section

SECTION = Section(
    name="tape_operations",
    question="How fast are files read from tape and written to it?",
    heading="Files read from tape and written to it",
    heads=(
        *("task", "for", "files", "failed", "bytes", "median wait", "95 % wait", "median transfer"),
        *("95 % transfer", "median rate"),
    ),
    query="""
    SELECT task, requester, count(*) AS file_count,
        CASE WHEN count(is_failed) > 0 THEN count(*) FILTER (WHERE is_failed) END AS failed_count,
        sum(size_bytes) FILTER (WHERE is_failed IS NOT TRUE) AS size_bytes,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY waited_s) AS waited_p50_s,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY waited_s) AS waited_p95_s,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY transfer_s) AS transfer_p50_s,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY transfer_s) AS transfer_p95_s,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY size_bytes / nullif(transfer_s, 0))
            FILTER (WHERE is_failed IS NOT TRUE) AS rate_p50_bytes_per_s
    FROM mart.tape_operations
    WHERE archive = %(archive)s
        AND last_event_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND last_event_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY task, requester
    ORDER BY task DESC, requester
    """,
    needs=("tape_events",),
    note=(
        "Wait is the time from the request until the tape is at the file. Files include those that failed;"
        " bytes and rate do not."
    ),
    silence="These logs report mounts, but no file that was read or written.",
    needs_detail=True,
)
