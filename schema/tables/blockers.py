"""Finds the sessions whose locks another session waits for."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread

import psycopg
from psycopg.rows import class_row

# Shorter than `lock_timeout`, after which PostgreSQL ends the wait.
LOOK_S = 0.1


@dataclass(frozen=True)
class Blocker:
    """A session that another one waits for, and the age of its transaction. Hidden values are None."""

    pid: int
    login: str | None
    application: str | None
    state: str | None
    age: timedelta | None

    def __str__(self) -> str:
        """Describe the session for a message."""
        if not self.pid:
            return "a prepared transaction (see pg_prepared_xacts)"
        state = self.state or "state and age visible only to its owner or a superuser"
        began = "" if self.age is None else f", its transaction began {_round(self.age)} ago"
        login = self.login or "unknown"
        return f"pid {self.pid} (login {login}, application '{self.application or ''}', {state}{began})"


def _round(age: timedelta) -> timedelta:
    return timedelta(seconds=int(age.total_seconds()))


@contextmanager
def watch_blockers(connect: Callable[[], psycopg.Connection], pid: int) -> Iterator[list[Blocker]]:
    """Yield a list of the last known blockers of session `pid`, which is kept up to date during the block.

    PostgreSQL knows them only during the wait, so a second connection watches.
    """
    found: list[Blocker] = []
    is_over = Event()
    with closing(connect()) as connection:
        connection.autocommit = True
        watcher = Thread(target=_watch, args=(connection, pid, found, is_over), daemon=True)
        watcher.start()
        try:
            yield found
        finally:
            is_over.set()
            watcher.join()


def _watch(connection: psycopg.Connection, pid: int, found: list[Blocker], is_over: Event) -> None:
    try:
        while not is_over.wait(LOOK_S):
            if seen := _find_blockers(connection, pid):
                found[:] = seen
    except psycopg.Error:
        pass  # the connection is lost; the waiting connection will notice too


def _find_blockers(connection: psycopg.Connection, pid: int) -> list[Blocker]:
    with connection.cursor(row_factory=class_row(Blocker)) as cursor:
        return cursor.execute(
            "SELECT DISTINCT pid, usename AS login, application_name AS application, state,"
            " clock_timestamp() - xact_start AS age"
            " FROM unnest(pg_blocking_pids(%s)) AS pid LEFT JOIN pg_stat_activity USING (pid)"
            " ORDER BY age DESC NULLS LAST, pid",
            [pid],
        ).fetchall()
