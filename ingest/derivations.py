"""What lines tell together is put together anew for the days whose facts have changed."""

from collections.abc import Collection, Iterable
from datetime import date

import psycopg

from ingest.mounts import rebuild_mounts
from ingest.requests import LONGEST_RANGE, REACH, find_stale_days, rebuild_requests


class Derivations:
    """What must be put together anew in an archive while its facts change, and what has been.

    In the transaction of `connection`, which holds the archive's lock and changes the facts; `settling`
    commits by itself: it makes the months that are missing.
    """

    def __init__(self, connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int) -> None:
        self._connection = connection
        self._settling = settling
        self._archive_id = archive_id
        self._days: set[date] = set()
        self._stale_days: set[date] = set()
        self._early_days: set[date] = set()

    def touch(self, days: Iterable[date]) -> None:
        """Facts of `days` (UTC) have changed."""
        changed = set(days)
        self._days |= changed
        self._stale_days |= find_stale_days(changed)

    def rebuild_settled(self) -> None:
        """Put the requests together of days that a log in the order of its times has left behind.

        A server that waits for lines has the time now, and not when all are there. Each day once at most:
        what comes late for it waits for `rebuild`, or a log in no order would have all put together at each
        step.
        """
        if not self._days:
            return
        frontier = max(self._days) - REACH
        settled = {day for day in self._stale_days if day < frontier} - self._early_days
        if len(settled) >= LONGEST_RANGE.days:
            rebuild_requests(self._connection, self._settling, self._archive_id, settled)
            self._early_days |= settled
            self._stale_days -= settled

    def rebuild(self) -> None:
        """Put together the requests that are left, mounts and tape operations."""
        rebuild_requests(self._connection, self._settling, self._archive_id, self._stale_days)
        rebuild_mounts(self._connection, self._settling, self._archive_id, self._days)
        self._days, self._stale_days = set(), set()


def rebuild_derived(
    connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, days: Collection[date]
) -> None:
    """Put requests, mounts and tape operations together anew where facts of `days` (UTC) may change them.

    As `Derivations`, whose parameters are the same.
    """
    derivations = Derivations(connection, settling, archive_id)
    derivations.touch(days)
    derivations.rebuild()
