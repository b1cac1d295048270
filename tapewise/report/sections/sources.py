"""The balance of lines of each source."""

from tapewise.report.section import Section

SECTION = Section(
    name="sources",
    question="Which logs were read?",
    heading="Lines of each source, of all time: each is loaded, already held, ignored or rejected",
    heads=(
        "source",
        "format",
        "files",
        "lines",
        "loaded",
        "held",
        "ignored",
        "rejected",
        "first event",
        "last event",
    ),
    query="""
    SELECT source || CASE WHEN is_counted THEN '' ELSE ' (not counted: another source has its transfers)' END
            AS source,
        format, file_count, line_count, loaded_count, held_count, ignored_count, rejected_count,
        (first_event_at AT TIME ZONE archive_timezone)::date::text AS first_on,
        (last_event_at AT TIME ZONE archive_timezone)::date::text AS last_on
    FROM mart.source_states
    WHERE archive = %(archive)s
    ORDER BY source
    """,
    silence="No log was read.",
)
