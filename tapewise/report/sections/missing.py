"""What the views of mart lack."""

from tapewise.ingest.sources.coverage_facts import describe_lacking
from tapewise.report.section import Rows, Section


def summarise(rows: Rows) -> str:
    """List what is not in the logs, without what follows from what is listed."""
    facts = {fact.replace(" ", "_") for row in rows for fact in row["fact"].split(" or ")}
    return ", ".join(describe_lacking(facts))


SECTION = Section(
    name="missing",
    question="What do these logs not report?",
    heading="What these logs do not report",
    query="""
    SELECT fact, count(*) AS view_count
    FROM mart.coverage,
        regexp_split_to_table(substring(why FROM '^not in this log: (.*)$'), ', ') AS fact
    WHERE archive = %(archive)s AND state <> 'fed'
    GROUP BY fact
    ORDER BY view_count DESC, fact
    """,
    silence="Nothing is missing, or nothing was read.",
    summarise=summarise,
)
