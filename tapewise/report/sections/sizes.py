"""Sizes of files, as percentiles."""

from tapewise.report.section import Section

SECTION = Section(
    name="sizes",
    question="How large are the files?",
    heading="File sizes by percentile",
    heads=("direction", "requests", "5 %", "25 %", "50 %", "75 %", "95 %", "99 %"),
    query="""
    SELECT direction, request_count,
        max(value) FILTER (WHERE percent = 5) AS p5_bytes,
        max(value) FILTER (WHERE percent = 25) AS p25_bytes,
        max(value) FILTER (WHERE percent = 50) AS p50_bytes,
        max(value) FILTER (WHERE percent = 75) AS p75_bytes,
        max(value) FILTER (WHERE percent = 95) AS p95_bytes,
        max(value) FILTER (WHERE percent = 99) AS p99_bytes
    FROM mart.request_quantiles(
        archive => %(archive)s, since => %(since)s, until => %(until)s
    )
    WHERE quantity = 'size'
    GROUP BY direction, request_count
    ORDER BY direction DESC
    """,
    silence="These logs contain no successful transfers whose size is known.",
)
