"""The largest, longest and fastest of all, and the busiest day."""

from tapewise.report.section import Section

SECTION = Section(
    name="records",
    question="What were the extremes?",
    heading="Records",
    heads=("record", "value", "", "interface", "direction", "when"),
    query="""
    SELECT record, value::double precision AS value, unit, interface, direction,
        CASE
            WHEN record LIKE '%% in a day%%' THEN happened_on::text
            ELSE coalesce((happened_at AT TIME ZONE timezone)::text, happened_on || ', hour unknown')
        END AS happened_local
    FROM mart.records(archive => %(archive)s, since => %(since)s, until => %(until)s)
    JOIN mart.archives USING (archive)
    ORDER BY record_number
    """,
    needs=("transfers",),
    silence="No transfer succeeded.",
)
