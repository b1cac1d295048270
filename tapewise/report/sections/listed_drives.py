"""How often drives were up, according to listings of a catalogue."""

from tapewise.report.phrases import say_share
from tapewise.report.section import Facts, Finding, Section

# A drive is seldom up if it is so in less than this share of the listings.
LOW_RATIO = 0.9
FEWEST_LISTINGS = 10


def find(facts: Facts) -> Finding | None:
    """Say how many drives were seldom up."""
    rows = [row for row in facts["listed_drives"] if row["up_ratio"] is not None]
    often = [row for row in rows if row["listing_count"] >= FEWEST_LISTINGS]
    if not often:
        return Finding(
            f"Too few listings of drives (fewer than {FEWEST_LISTINGS} of each) to say how often they are up",
            False,
        )
    seldom = sum(row["up_ratio"] < LOW_RATIO for row in often)
    return Finding(
        f"Of {len(often)} drives, {seldom} were up in less than {say_share(LOW_RATIO)} of the listings",
        seldom > 0,
    )


SECTION = Section(
    name="listed_drives",
    question="How often are drives up?",
    heading="Drives, by the share of listings in which they were up",
    heads=("drive", "library", "listings", "up", "last state", "last listed at"),
    query="""
    SELECT drive, location, count(*) AS listing_count, avg(is_up::integer)::double precision AS up_ratio,
        (array_agg(state ORDER BY listed_at DESC))[1] AS state,
        to_char(max(listed_at) AT TIME ZONE min(timezone), 'YYYY-MM-DD HH24:MI') AS listed_local
    FROM mart.snapshots
    WHERE archive = %(archive)s AND item_kind = 'drive'
        AND listed_at >= coalesce(%(since)s::timestamptz, '-infinity')
        AND listed_at < coalesce(%(until)s::timestamptz, 'infinity')
    GROUP BY drive, location
    ORDER BY up_ratio, drive, location
    """,
    needs=("snapshots",),
    note=(
        "A drive is up if it is in use or could be. Listings that do not know it do not count in the share,"
        " and neither do listings that lack the drive."
    ),
    silence="No listing has drives.",
    needs_detail=True,
    find=find,
)
