"""What lines tell together is put together anew for the days whose facts have changed."""

from collections.abc import Collection, Iterable
from datetime import date

import psycopg

from tapewise.ingest.requests.at_load import LinesAtLoad
from tapewise.ingest.requests.mounts import rebuild_mounts
from tapewise.ingest.requests.ranges import LONGEST_RANGE, REACH, find_stale_days
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.derived import requests
from tapewise.schema.writing.loader import copy_encoded
from tapewise.schema.writing.partitions import make_months


class Derivations:
    """What must be put together anew in an archive while its facts change, and what has been.

    In the transaction of `connection`, which holds the archive's lock and changes the facts; `settling`
    commits by itself: it makes the months that are missing. `at_load` puts requests together of the lines
    that a load sends; without it the database does.
    """

    def __init__(
        self,
        connection: psycopg.Connection,
        settling: psycopg.Connection,
        archive_id: int,
        at_load: LinesAtLoad | None = None,
    ) -> None:
        self._connection = connection
        self._settling = settling
        self._archive_id = archive_id
        self._at_load = at_load
        self._days: set[date] = set()
        self._stale_days: set[date] = set()
        self._early_days: set[date] = set()

    def add(self, days: set[date]) -> None:
        """Facts of `days` (UTC) have been sent, and were given to `at_load`."""
        self._days |= days
        self._stale_days |= find_stale_days(days)

    def touch(self, days: Iterable[date]) -> None:
        """Facts of `days` (UTC) have changed in the database."""
        changed = set(days)
        self.add(changed)
        if self._at_load is not None:
            self._at_load.leave(changed)

    def rebuild_settled(self) -> None:
        """Put the requests together of days that a log in the order of its times has left behind.

        A server that waits for lines has the time now, and not when all are there. Each day once at most:
        what comes late for it waits for `rebuild`, or a log in no order would have all put together at each
        step.
        """
        if not self._days:
            return
        self._send_told(is_waiting=False)
        frontier = max(self._days) - REACH
        settled = {day for day in self._stale_days if day < frontier} - self._early_days
        settled -= self._find_told(settled)
        if len(settled) >= LONGEST_RANGE.days:
            # What is told of these days already must be there to be replaced.
            self._send_told(is_waiting=True)
            rebuild_requests(self._connection, self._settling, self._archive_id, settled)
            self._early_days |= settled
            self._stale_days -= settled

    def rebuild(self) -> None:
        """Put together the requests that are left, mounts and tape operations."""
        self._send_told(is_waiting=True)
        left = self._stale_days - self._find_told(self._stale_days)
        rebuild_requests(self._connection, self._settling, self._archive_id, left)
        rebuild_mounts(self._connection, self._settling, self._archive_id, self._days)
        self._days, self._stale_days = set(), set()

    def _find_told(self, days: set[date]) -> set[date]:
        return set() if self._at_load is None else self._at_load.find_days(days)

    def _send_told(self, *, is_waiting: bool) -> None:
        if self._at_load is not None:
            for told in self._at_load.take(is_waiting=is_waiting):
                told.replaced.delete(self._connection)
                # Those of them that are left are put together anew, as are those that are near new facts.
                self._stale_days |= told.replaced.days
                make_months(self._connection, self._settling, "requests", told.days)
                written = copy_encoded(self._connection, requests, told.columns, told.pieces)
                if written != told.row_count:
                    raise DatabaseError(
                        f"{told.row_count} rows were sent to core.requests, {written} arrived"
                    )


def rebuild_derived(
    connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, days: Collection[date]
) -> None:
    """Put requests, mounts and tape operations together anew where facts of `days` (UTC) may change them.

    As `Derivations`, whose parameters are the same.
    """
    derivations = Derivations(connection, settling, archive_id)
    derivations.touch(days)
    derivations.rebuild()
