"""Hit ratios by interface, with their intervals."""

from tapewise.report.section import Section

SECTION = Section(
    name="cache_hits",
    question="How often was the file on disk?",
    heading="Gets that found their file on disk",
    heads=("interface", "gets", "on disk", "on tape", "unknown", "hit ratio", "95 % from", "to"),
    query="""
    SELECT interface, get_count, cached_count, uncached_count, unknown_count,
        hit_ratio, hit_ratio_low, hit_ratio_high
    FROM (
        SELECT *, max(hit_ratio) OVER () AS highest_ratio
        FROM mart.cache_hits(
            archive => %(archive)s, since => %(since)s, until => %(until)s, grouped_by => 'interface'
        )
    ) AS hits
    WHERE highest_ratio IS NOT NULL ORDER BY interface
    """,
    needs=("transfers", "open_times or stages or hits"),
    silence="Of no get that succeeded is it known where its file was.",
)
