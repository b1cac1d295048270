"""The five days with the most bytes."""

from tapewise.report.section import Section

SECTION = Section(
    name="busiest_days",
    question="Which days moved the most?",
    heading="The five days with the most bytes (of transfers that ended on that day)",
    heads=("day", "transfers", "failed", "failures unknown", "bytes"),
    query="""
    SELECT to_char(starts_on, 'Dy YYYY-MM-DD') AS day, sum(transfer_count)::bigint AS transfer_count,
        sum(failed_count)::bigint AS failed_count,
        sum(failures_unknown_count)::bigint AS failures_unknown_count, sum(size_bytes) AS size_bytes
    FROM mart.daily_activity(archive => %(archive)s, since => %(since)s, until => %(until)s)
    GROUP BY starts_on
    ORDER BY sum(size_bytes) DESC NULLS LAST, starts_on
    LIMIT 5
    """,
    needs=("activity",),
    silence="No transfer ended.",
)
