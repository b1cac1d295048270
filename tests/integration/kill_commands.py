"""Runs `tapewise ingest` in processes that can be killed, and keeps their output and exit status."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psycopg

from tests.forks import FORKS, PROJECT

SIGNATURE = "tapewise"  # the default name of a command's sessions


def run_forked(arguments: list[str], said: Path, environment: dict[str, str]) -> None:
    """Run the command in this forked process, and name its sessions after the process."""
    from tapewise.cli import main  # noqa: PLC0415  # the tests' own process does not need it

    os.setsid()
    os.environ |= environment
    with said.open("wb") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    connect = psycopg.connect

    def connect_named(*args: object, **options: object) -> object:
        return connect(*args, **options | {"application_name": f"{SIGNATURE} {os.getpid()}"})

    psycopg.connect = connect_named
    main(arguments)


@dataclass
class Command:
    """One of the simultaneous commands, restarted each time it is killed."""

    arguments: list[str]
    said: Path
    environment: dict[str, str]
    is_forked: bool
    pids: list[int] = field(default_factory=list)
    """The pid of each start, which leads its own process group."""

    def start(self) -> None:
        # Use a new file for each start, because joblib's resource tracker outlives a killed command and still
        # writes to that command's file.
        self.said = self.said.with_suffix(f".{len(self.pids)}")
        self.said.touch()  # a command may be killed before it opens the file
        if self.is_forked:
            process = FORKS.Process(target=run_forked, args=(self.arguments, self.said, self.environment))
            process.start()
            assert process.pid is not None
            self.pids.append(process.pid)
            self._end = partial(lambda each: each.exitcode, process)
            return
        with self.said.open("wb") as file:
            command = subprocess.Popen(
                [sys.executable, "-m", "tapewise", *self.arguments],
                cwd=PROJECT,
                env=os.environ | self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pids.append(command.pid)
        self._end = command.poll

    @property
    def status(self) -> int | None:
        """The exit status (the negative signal number if the command was killed), or None while it runs."""
        return self._end()

    def end(self) -> None:
        """Kill the remaining processes of all starts. Orphaned workers would wait minutes for work."""
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        while self.status is None:
            time.sleep(0.003)

    @property
    def session_name(self) -> str:
        """The name of its sessions. Only one of the simultaneous commands uses the default name."""
        return f"{SIGNATURE} {self.pids[-1]}" if self.is_forked else SIGNATURE

    def find_workers(self) -> list[int]:
        """Find the command's processes that load files (with `-j`)."""
        children = Path(f"/proc/{self.pids[-1]}/task/{self.pids[-1]}/children")
        try:
            found = [int(pid) for pid in children.read_text().split()]
            # Leave out joblib's resource tracker, which loads nothing.
            return [pid for pid in found if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        except OSError:  # the command has just ended
            return []


def ingest_arguments(home: Path, paths: Sequence[Path], jobs: int) -> list[str]:
    return [
        *("--home", str(home), "ingest", "--archive", "test", "--kind", "synthetic", "--timezone", "UTC"),
        *("-j", str(jobs), "--json", *map(str, paths)),
    ]
