"""Rebuilds derived rows (requests, mounts, tape operations, starts of stages) where facts have changed."""

from collections.abc import Collection, Iterable
from datetime import date

import psycopg

from tapewise.ingest.requests.at_load import LinesAtLoad
from tapewise.ingest.requests.mounts import rebuild_mounts
from tapewise.ingest.requests.ranges import LONGEST_RANGE, REACH, find_stale_days
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.requests.stage_starts import rebuild_stage_starts
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.derived import requests
from tapewise.schema.writing.loader import copy_encoded
from tapewise.schema.writing.partitions import make_months
from tapewise.schema.writing.request_rollups import RequestSums, add_requests


class Derivations:
    """Keeps track of the days to rebuild while an archive's facts change, and rebuilds them.

    Works in the transaction of `connection`, which holds the archive's lock and changes the facts. `settling`
    is in autocommit mode and creates missing months. `at_load` derives requests from the lines that a load
    sends; without it, the database derives them.
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
        # What the load and its requests change in the rollups of requests.
        self._changes: list[RequestSums] = []

    def add(self, days: set[date]) -> None:
        """Note that facts of `days` (UTC) have been sent and passed to `at_load`."""
        self._days |= days
        self._stale_days |= find_stale_days(days)

    def touch(self, days: Iterable[date]) -> None:
        """Note that facts of `days` (UTC) have changed in the database."""
        changed = set(days)
        self.add(changed)
        if self._at_load is not None:
            self._at_load.leave(changed)

    def change(self, sums: Iterable[RequestSums]) -> None:
        """Note what `rebuild` has to add to the rollups of requests."""
        self._changes += sums

    def rebuild_settled(self) -> None:
        """Derive the requests of days for which a log in chronological order has no more lines.

        The server has time for this while it waits for lines, but not at the end of the load. Each day is
        done at most once, and lines that come too late for their day are left to `rebuild`. Otherwise an
        unordered log would cause every day to be rebuilt at each step.
        """
        if not self._days:
            return
        self._send_derived(is_waiting=False)
        frontier = max(self._days) - REACH
        settled = {day for day in self._stale_days if day < frontier} - self._early_days
        settled -= self._find_derived(settled)
        if len(settled) >= LONGEST_RANGE.days:
            # Rows already derived for these days can only be replaced if they are in the database.
            self._send_derived(is_waiting=True)
            rebuild_requests(self._connection, self._settling, self._archive_id, settled)
            self._early_days |= settled
            self._stale_days -= settled

    def rebuild(self) -> None:
        """Derive the remaining requests, the mounts, the tape operations and the starts of stages."""
        self._send_derived(is_waiting=True)
        add_requests(self._connection, self._changes)
        left = self._stale_days - self._find_derived(self._stale_days)
        rebuild_requests(self._connection, self._settling, self._archive_id, left)
        rebuild_mounts(self._connection, self._settling, self._archive_id, self._days)
        rebuild_stage_starts(self._connection, self._settling, self._archive_id, self._days)
        self._days, self._stale_days, self._changes = set(), set(), []

    def _find_derived(self, days: set[date]) -> set[date]:
        return set() if self._at_load is None else self._at_load.find_days(days)

    def _send_derived(self, *, is_waiting: bool) -> None:
        if self._at_load is not None:
            for derived in self._at_load.take(is_waiting=is_waiting):
                self._changes += derived.replaced.delete(self._connection)
                self._changes += derived.changes
                # Like the days near new facts, these days are rebuilt if they are left to the database.
                self._stale_days |= derived.replaced.days
                make_months(self._connection, self._settling, "requests", derived.days)
                written = copy_encoded(self._connection, requests, derived.columns, derived.pieces)
                if written != derived.row_count:
                    raise DatabaseError(
                        f"{derived.row_count} rows were sent to core.requests, but {written} arrived"
                    )


def rebuild_derived(
    connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, days: Collection[date]
) -> None:
    """Rebuild what is derived (requests, mounts and so on) and may change with facts of `days` (UTC).

    The other parameters are those of `Derivations`.
    """
    derivations = Derivations(connection, settling, archive_id)
    derivations.touch(days)
    derivations.rebuild()
