"""How many client machines there were."""

from tapewise.report.section import Section

SECTION = Section(
    name="clients",
    question="From how many machines is the archive used?",
    heading="Client machines",
    heads=("interface", "direction", "clients"),
    # All transfers have to be read for this, so it is not asked of more than a million. mart.selected_days
    # counts them in milliseconds.
    query="""
    SELECT interface, direction, count(client) AS client_count
    FROM (
        SELECT DISTINCT interface, direction, client
        FROM mart.selected_transfers(archive => %(archive)s, since => %(since)s, until => %(until)s)
        WHERE (
            SELECT sum(transfer_count) <= 1000000
            FROM mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)
        )
    ) AS clients
    WHERE client IS NOT NULL
    GROUP BY interface, direction
    ORDER BY interface, direction DESC
    """,
    silence=(
        "These logs do not name client machines, or they have over a million transfers, too many to read for"
        " this."
    ),
    needs_detail=True,
)
