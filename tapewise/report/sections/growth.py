"""How much was added and removed."""

from tapewise.report.section import Section

SECTION = Section(
    name="growth",
    question="How does the archive grow?",
    heading="Growth in the last twelve weeks",
    heads=("week from", "to", "files added", "removed", "bytes added", "removed", "held at the end"),
    # Following the files of many transfers takes too long, unless a recount has done it.
    query="""
    WITH weeks AS (
        SELECT growth.*
        FROM mart.growth(archive => %(archive)s, since => %(since)s, until => %(until)s, period => 'week')
            AS growth
        WHERE %(recent_since)s::timestamptz IS NULL
            OR EXISTS (SELECT FROM mart.file_recounts WHERE file_recounts.archive = %(archive)s)
        ORDER BY starts_on DESC
        LIMIT 12
    )
    SELECT to_char(starts_on, 'YYYY-MM-DD') AS from_day, to_char(ends_on, 'YYYY-MM-DD') AS to_day,
        added_count, removed_count, added_bytes, removed_bytes, held_bytes
    FROM weeks
    ORDER BY starts_on
    """,
    needs=("whole_files or deletes",),
    note=(
        "Bytes held are known if a listing was made before the first event. Files from before the log that"
        " are replaced or deleted count as far as their sizes are known."
    ),
    silence=(
        "No file was put, copied, deleted or replaced, or there are too many lines to follow files without"
        " `tapewise refresh`."
    ),
)
