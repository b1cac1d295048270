"""The month partitions that a load's facts go into: created before the facts, summarised after them."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import date

import psycopg

# About twenty megabytes of pages, which are still in the server's memory when they are read again.
SUMMARY_ROWS = 100_000


def make_partitions(settling: psycopg.Connection, table: str, days: Iterable[date]) -> list[date]:
    """Create the missing month partitions of `table` for `days` (UTC), and return the months.

    `settling` is in autocommit mode, because partitions created within a load's transaction would lock
    readers out until its end.
    """
    months = sorted({day.replace(day=1) for day in days})
    if months:
        settling.execute("SELECT core.make_partitions(%s, %s)", [table, months])
    return months


def make_months(
    connection: psycopg.Connection, settling: psycopg.Connection, table: str, days: Iterable[date]
) -> None:
    """Create month partitions as `make_partitions` does, for `connection` to write to next.

    `connection` is in a transaction.
    """
    notice_partitions(connection, table, make_partitions(settling, table, days))


def notice_partitions(connection: psycopg.Connection, table: str, months: Iterable[date]) -> None:
    """Let the transaction of `connection` know the partitions of `months`, which another connection has made.

    Call it before the transaction first writes to these months. Otherwise PostgreSQL may not find them.
    """
    # A transaction that has all its locks learns of other connections' partitions only when it looks up a
    # name that is new to it. A prepared statement looks up nothing, and psycopg prepares repeated statements.
    names = [f"core.{table}_{month:%Y_%m}" for month in months]
    connection.execute("SELECT to_regclass(name) FROM unnest(%s::text[]) AS name", [names])


def report_changes(connection: psycopg.Connection) -> None:
    """Have the server count the rows that this transaction changes as soon as it ends.

    The server may otherwise wait for ten seconds. Then `analyze_partitions` would not see the changes, and
    they would look as if they had come after it.
    """
    connection.execute("SELECT pg_stat_force_next_flush()")


def analyze_partitions(settling: psycopg.Connection) -> None:
    """Update the planner's statistics of partitioned tables that have grown or shrunk by a tenth.

    Autovacuum never analyzes a partitioned table, and an embedded server stops before it has analyzed the
    months. `settling` is in autocommit mode; what a load wrote must be committed. A table takes less than a
    tenth of a second, however large it is, because only a sample is read. (Before PostgreSQL 18, each of its
    months takes that long.)
    """
    # What was loaded stays loaded, and `doctor` notes statistics that are stale.
    with suppress(psycopg.Error):
        settling.execute("SELECT core.analyze_partitions()")


class Partitions:
    """Creates the partitions of a load's facts, and keeps their BRIN indexes up to date.

    PostgreSQL leaves new pages out of a BRIN index until they are vacuumed, minutes later; until then a query
    for one hour reads the whole month. `settling` is in autocommit mode. It sees the pages of a load that is
    running in another connection, and has time to spare, because the other connection does the writing.
    """

    def __init__(self, settling: psycopg.Connection) -> None:
        self._settling = settling
        self._months: defaultdict[str, set[date]] = defaultdict(set)
        # The months that rows were sent to since the last summary.
        self._behind: defaultdict[str, set[date]] = defaultdict(set)
        self._rows_behind = 0

    def make(self, table: str, days: Iterable[date]) -> None:
        """Create the missing partitions of the table for facts of `days` (UTC)."""
        touched = {day.replace(day=1) for day in days}
        make_partitions(self._settling, table, touched - self._months[table])
        self._months[table] |= touched
        self._behind[table] |= touched

    def follow(self, row_count: int) -> None:
        """Record `row_count` rows as queued; summarise the indexes every SUMMARY_ROWS rows."""
        self._rows_behind += row_count
        if self._rows_behind >= SUMMARY_ROWS:
            self._summarize(self._behind)
            self._behind.clear()
            self._rows_behind = 0

    def end(self) -> None:
        """Summarise the rest after all rows are written."""
        # Covers all months, because rows that were only queued at an earlier summary may be in any month.
        self._summarize(self._months)

    def _summarize(self, months: dict[str, set[date]]) -> None:
        for table, touched in months.items():
            self._settling.execute("SELECT core.summarize_partitions(%s, %s)", [table, sorted(touched)])
