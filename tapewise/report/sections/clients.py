"""How many client machines there were."""

from tapewise.report.section import Facts, Section

# All transfers have to be read for this, so it is not asked of more.
MOST_TRANSFERS = 1_000_000


def explain(facts: Facts) -> str:
    """Say why no client machines are counted."""
    if sum(row["transfer_count"] for row in facts.get("transfers", [])) > MOST_TRANSFERS:
        return f"Not counted, because there are over {MOST_TRANSFERS:,} transfers, too many to read for this."
    return "No transfer is of a known client machine."


SECTION = Section(
    name="clients",
    question="From how many machines is the archive used?",
    heading="Client machines",
    heads=("interface", "direction", "clients"),
    # mart.selected_days counts transfers in milliseconds.
    query="""
    SELECT interface, direction, count(client) AS client_count
    FROM (
        SELECT DISTINCT interface, direction, client
        FROM mart.selected_transfers(archive => %(archive)s, since => %(since)s, until => %(until)s)
        WHERE (
            SELECT sum(transfer_count) <= 1000000  -- MOST_TRANSFERS
            FROM mart.selected_days(archive => %(archive)s, since => %(since)s, until => %(until)s)
        )
    ) AS clients
    WHERE client IS NOT NULL
    GROUP BY interface, direction
    ORDER BY interface, direction DESC
    """,
    needs=("transfers", "clients"),
    silence=explain,
    needs_detail=True,
)
