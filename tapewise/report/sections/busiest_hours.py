"""The five busiest hours of the day."""

from tapewise.report.section import Section

SECTION = Section(
    name="busiest_hours",
    question="At which hours of the day are transfers made?",
    heading="The five hours of the day in which the most transfers ended",
    heads=("hour", "transfers", "of all", "bytes"),
    query="""
    SELECT to_char(hour, 'FM00') || ':00' AS hour, sum(transfer_count)::bigint AS transfer_count,
        sum(transfer_count) / sum(sum(transfer_count)) OVER () AS transfer_ratio,
        sum(size_bytes) AS size_bytes
    FROM mart.hour_profiles(archive => %(archive)s, since => %(since)s, until => %(until)s)
    GROUP BY hour
    HAVING sum(transfer_count) > 0
    ORDER BY transfer_count DESC, hour
    LIMIT 5
    """,
    needs=("activity",),
    silence="No transfer has a known hour.",
)
