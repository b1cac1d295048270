"""What the views of mart lack."""

from tapewise.report.section import Section

SECTION = Section(
    name="missing",
    question="What do these logs not report?",
    heading="What these logs do not report",
    heads=("not in the logs", "views of mart without it"),
    query="""
    SELECT fact, count(*) AS view_count
    FROM mart.coverage,
        regexp_split_to_table(substring(why FROM '^not in this log: (.*)$'), ', ') AS fact
    WHERE archive = %(archive)s AND state <> 'fed'
    GROUP BY fact
    ORDER BY view_count DESC, fact
    """,
    silence="Nothing that the views of mart need is missing.",
)
