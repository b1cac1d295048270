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
        archive => %(archive)s, since => %(since)s, until => %(until)s, is_exact => %(is_exact)s
    )
    WHERE quantity = 'size'
    GROUP BY direction, request_count
    ORDER BY direction DESC
    """,
    note=(
        "Of over 200,000 transfers, or of days without detail, percentiles come from histograms and are"
        " within 1 %."
    ),
    needs=("transfers", "sizes"),
    silence="No request of a known size succeeded.",
)
