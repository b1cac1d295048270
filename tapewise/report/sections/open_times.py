"""Open times by SDSC's groups."""

from tapewise.report.section import Section

SECTION = Section(
    name="open_times",
    question="How long did gets wait for their file to open?",
    heading="Open times of gets in SDSC's groups",
    heads=("SDSC's group", "gets", "of all"),
    query="""
    SELECT group_name, sum(request_count)::bigint AS request_count, sum(request_ratio) AS request_ratio
    FROM mart.open_time_bins(archive => %(archive)s, since => %(since)s, until => %(until)s)
    GROUP BY group_number, group_name
    ORDER BY group_number
    """,
    note=(
        "The groups end at 8, 60 and 130 s. Below these, a file was on SDSC's disk, its cartridge was in a"
        " drive, or the library fetched it."
    ),
    needs=("open_times",),
    silence="No get has a known open time.",
)
