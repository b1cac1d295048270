"""Open times by SDSC's groups."""

from tapewise.report.section import Section

SECTION = Section(
    name="open_times",
    question="How long did gets wait for their file to open?",
    heading="How long gets waited for their file to open: below 8 s, below 60 s, below 130 s, and longer",
    heads=("SDSC's group", "gets", "of all"),
    query="""
    SELECT group_name, sum(request_count)::bigint AS request_count, sum(request_ratio) AS request_ratio
    FROM mart.open_time_bins(archive => %(archive)s, since => %(since)s, until => %(until)s)
    GROUP BY group_number, group_name
    ORDER BY group_number
    """,
    silence="These logs do not show how long files took to open.",
)
