"""The month partitions that a load's facts go into: made before them, and summarised behind them."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date

import psycopg

# Some twenty megabytes of pages, which are still in the server's memory when they are read again.
SUMMARY_ROWS = 100_000


def make_partitions(settling: psycopg.Connection, table: str, days: Iterable[date]) -> list[date]:
    """Make the month partitions of `table` that `days` (UTC) are of, as far as they are missing.

    `settling` commits by itself: made within a load's transaction, they would keep readers out until its end.
    Gives the months.
    """
    months = sorted({day.replace(day=1) for day in days})
    if months:
        settling.execute("SELECT core.make_partitions(%s, %s)", [table, months])
    return months


def make_months(
    connection: psycopg.Connection, settling: psycopg.Connection, table: str, days: Iterable[date]
) -> None:
    """Make month partitions as `make_partitions` does, for `connection` to write to next.

    It is in a transaction.
    """
    months = make_partitions(settling, table, days)
    # A statement that is prepared, as one that comes again and again, looks up nothing; and a transaction
    # that has all its locks hears of other connections' partitions when it looks up a name that is new to it.
    names = [f"core.{table}_{month:%Y_%m}" for month in months]
    connection.execute("SELECT to_regclass(name) FROM unnest(%s::text[]) AS name", [names])


class Partitions:
    """Makes the partitions of a load's facts, and keeps their BRIN indexes up with what is written.

    PostgreSQL leaves new pages out of a BRIN index until they are vacuumed, minutes later; until then
    whoever asks for an hour reads the month. `settling` commits by itself. It sees the pages of a load that
    goes on in another connection, and has the time, as that one does the writing.
    """

    def __init__(self, settling: psycopg.Connection) -> None:
        self._settling = settling
        self._months: defaultdict[str, set[date]] = defaultdict(set)
        # Those that rows were sent to since the last summary.
        self._behind: defaultdict[str, set[date]] = defaultdict(set)
        self._rows_behind = 0

    def make(self, table: str, days: Iterable[date]) -> None:
        """Make what is missing for facts of `days` (UTC) of the table."""
        touched = {day.replace(day=1) for day in days}
        make_partitions(self._settling, table, touched - self._months[table])
        self._months[table] |= touched
        self._behind[table] |= touched

    def follow(self, row_count: int) -> None:
        """So many rows more are on their way: summarise, now and then, what was written of the last ones."""
        self._rows_behind += row_count
        if self._rows_behind >= SUMMARY_ROWS:
            self._summarize(self._behind)
            self._behind.clear()
            self._rows_behind = 0

    def end(self) -> None:
        """All rows are written: summarise the rest."""
        # Of all months: rows that were only on their way at a summary may be of any.
        self._summarize(self._months)

    def _summarize(self, months: dict[str, set[date]]) -> None:
        for table, touched in months.items():
            self._settling.execute("SELECT core.summarize_partitions(%s, %s)", [table, sorted(touched)])
