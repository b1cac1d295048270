"""Starts, awaits, kills and restarts the commands and the server of the kill study."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tapewise.schema.database import DATABASE, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tests.integration.kill_commands import Command

TEMPLATE, QUIET = "study_template", "quiet"
TIMEOUT_S = 120
NOTICED_S = 10  # if a session survives this long, the server has not lost a process
HERE = "datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
# Finds a session whose transaction has begun a COPY. A COPY locks its table until the transaction ends.
COPIES = (
    "SELECT pid, application_name FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE relation IN"
    " ('core.transfers'::regclass, 'core.opens'::regclass, 'core.namespace_events'::regclass)"
    f" AND mode = 'RowExclusiveLock' AND {HERE} LIMIT 1"
)
SESSIONS = f"SELECT pid FROM pg_stat_activity WHERE {HERE}"


@dataclass(frozen=True)
class Bench:
    """The study's own server."""

    server: EmbeddedServer

    def warehouse(self, database: str) -> Warehouse:
        return Warehouse(Settings(home=self.server.home), self.server, database)

    def connect(self, database: str) -> psycopg.Connection:
        """Connect as superuser, waiting for a crashed server to recover or restarting a dead one."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            # Acquire the server on every attempt: a just-killed postmaster may still have appeared ready.
            self.server.release()
            self.server.acquire()
            try:
                return psycopg.connect(**self.server.conninfo(database), autocommit=True)
            except psycopg.OperationalError:
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def make_databases(self) -> None:
        with self.connect("postgres") as connection:
            for name in (DATABASE, QUIET):
                connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
                connection.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")

    def wait_until_quiet(self) -> None:
        """Wait until all sessions left behind by a killed server or a killed command's workers have ended."""
        deadline = time.monotonic() + TIMEOUT_S
        with self.connect(DATABASE) as connection:
            while connection.execute(SESSIONS).fetchall():
                assert time.monotonic() < deadline
                time.sleep(0.02)


@dataclass
class Study:
    """The kills of one seed. `hits` counts them by what was killed and whether a COPY had begun."""

    bench: Bench
    draw: random.Random
    commands: list[Command]
    plans: list[tuple[str, bool]]
    """The remaining kills, the next one last: what to kill, and whether to wait for a COPY to begin."""
    hits: Counter[tuple[str, bool]] = field(default_factory=Counter)
    killed: set[int] = field(default_factory=set)
    """The pids of commands that were killed."""
    lost: set[int] = field(default_factory=set)
    """The pids of commands that may report the loss of the server or of a worker."""

    def run_wave(self, quiet_s: float) -> None:
        """Start all commands, kill processes as planned, and rerun failed commands until all finish."""
        for command in self.commands:
            command.start()
        watcher = self.bench.connect(DATABASE)
        try:
            while self.plans:
                kind, is_copying = self.plans[-1]
                # Wait for a fraction of a quiet run's time, so that several kills fit into a wave.
                wait_s = self.draw.uniform(0, 0.05 if is_copying else quiet_s)
                if not self._wait(watcher, wait_s, is_copying=is_copying):
                    return
                if self._kill(watcher, kind, is_copying=is_copying):
                    self.plans.pop()
                    if kind != "client":
                        self._run_again()
                        watcher.close()
                        watcher = self.bench.connect(DATABASE)
                        # Commands that started before the server was up again may have lost it, too.
                        self.lost |= {command.pids[-1] for command in self.commands}
            assert not self._wait(watcher, TIMEOUT_S, is_copying=False)
        finally:
            watcher.close()

    def _wait(self, watcher: psycopg.Connection, wait_s: float, *, is_copying: bool) -> bool:
        """Wait `wait_s` (with `is_copying`, after a COPY begins); return False if all commands end first."""
        deadline = time.monotonic() + TIMEOUT_S
        if not is_copying:
            deadline = time.monotonic() + wait_s
        while self._run_again():
            if is_copying and watcher.execute(COPIES).fetchone() is not None:
                time.sleep(wait_s)
                return True
            if time.monotonic() > deadline:
                assert not is_copying, "no COPY begins, and no command ends"
                return True
            time.sleep(0.003)
        return False

    def _run_again(self) -> bool:
        """Restart commands that were killed or lost the server or a worker; return whether any is running."""
        is_any_running = False
        for command in self.commands:
            pid, status = command.pids[-1], command.status
            if status == 0:
                continue
            is_any_running = True
            if status is None:
                continue
            said = command.said.read_text()
            if pid in self.killed:
                assert status == -signal.SIGKILL, said
            else:
                assert (status, pid in self.lost) == (1, True), said
                assert "tapewise: " in said and "Traceback" not in said, said
            command.start()
        return is_any_running

    def _kill(self, watcher: psycopg.Connection, kind: str, *, is_copying: bool) -> bool:
        """Kill a process of this kind (with `is_copying`, only during a COPY); return whether it was hit."""
        running = [command for command in self.commands if command.status is None]
        copying = watcher.execute(COPIES).fetchone()
        if not running or (is_copying and copying is None):
            return False
        if kind == "client":
            return self._kill_client(running, copying, is_copying=is_copying)
        if kind == "backend":
            sessions = [pid for (pid,) in watcher.execute(SESSIONS)]
            target = copying[0] if copying else self.draw.choice(sessions) if sessions else None
        else:
            target = self.bench.server.status().pid
        if target is None:
            return False
        self.lost |= {command.pids[-1] for command in running}
        with suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL)
        if not self._is_lost(watcher):  # the process had already ended
            return False
        self.hits[kind, copying is not None] += 1
        return True

    def _is_lost(self, watcher: psycopg.Connection) -> bool:
        """Wait for the server to notice the kill. Until then, it accepts sessions that it soon ends."""
        deadline = time.monotonic() + NOTICED_S
        while time.monotonic() < deadline:
            try:
                watcher.execute("SELECT 1")
            except psycopg.OperationalError:
                return True
            time.sleep(0.003)
        return False

    def _kill_client(
        self, running: list[Command], copying: tuple[Any, ...] | None, *, is_copying: bool
    ) -> bool:
        if is_copying:
            running = [command for command in running if copying and command.session_name == copying[1]]
        if not running:  # the session that runs the COPY was left behind by a dead command
            return False
        command = self.draw.choice(running)
        has_copied = copying is not None and command.session_name == copying[1]
        workers = command.find_workers()
        pid = command.pids[-1]
        if workers and self.draw.random() < 0.5:
            self.lost.add(pid)
            with suppress(ProcessLookupError):
                os.kill(self.draw.choice(workers), signal.SIGKILL)
                self.hits["worker", False] += 1
                return True
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while command.status is None:
            time.sleep(0.001)
        if command.status != -signal.SIGKILL:  # the command had already ended
            return False
        self.killed.add(pid)
        self.hits["client", has_copied] += 1
        return True
