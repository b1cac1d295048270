"""The check of `doctor` that compares the rollups with each other."""

from collections.abc import Iterator

import psycopg

from tapewise.checks import Finding

# Days that are forgotten may be missing from the cells of days.
_COUNTS = """
    SELECT archives.name, coalesce(days.transfer_count, 0), coalesce(ten_minutes.transfer_count, 0)
    FROM core.archives
    LEFT JOIN (
        SELECT archive_id, sum(transfer_count)::bigint AS transfer_count
        FROM core.activity_cells JOIN core.archives ON archives.id = archive_id
        WHERE cell_at >= coalesce(retained_since, '-infinity')
        GROUP BY archive_id
    ) AS ten_minutes ON ten_minutes.archive_id = archives.id
    LEFT JOIN (
        SELECT archive_id, sum(transfer_count)::bigint AS transfer_count
        FROM core.day_cells JOIN core.routes ON routes.id = route_id
        JOIN ledger.sources ON sources.id = source_id JOIN core.archives ON archives.id = archive_id
        WHERE client_id IS NULL
            AND day >= coalesce((retained_since AT TIME ZONE archives.timezone)::date, '-infinity')
        GROUP BY archive_id
    ) AS days ON days.archive_id = archives.id
    ORDER BY archives.name
"""


def check_rollups(connection: psycopg.Connection) -> Iterator[Finding]:
    """Check that the cells of days count as many transfers as those of ten minutes. Needs a loader."""
    is_wrong = False
    for archive, by_day, by_ten_minutes in connection.execute(_COUNTS).fetchall():
        if by_day != by_ten_minutes:
            is_wrong = True
            yield Finding(
                "rollups",
                "wrong",
                f"Archive '{archive}' has {by_day:,} transfers by day, but {by_ten_minutes:,} by ten minutes:"
                " an older program may have loaded some. `tapewise sources replace` counts a source again.",
            )
    if not is_wrong:
        yield Finding("rollups", "ok", "Transfers by day and by ten minutes are equally many.")
