"""Runs `tapewise` without spending a second on its imports.

Hundreds of tests run a command. A server process imports `tapewise` once and forks for each command. A fork
is a separate process that shares only the imported modules; its arguments, folder, environment, streams and
exit status are those that a shell would give it. Its new homes start from a prepared cluster. The README's
examples, and tests that depend on a shell or on how Python starts, run the command as typed.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tapewise.cli import COMMANDS
from tests.prepared import prepare_cluster, use_prepared_cluster

PROJECT = Path(__file__).parents[1]
FORKS = multiprocessing.get_context("forkserver")
# Modules that commands import only when needed. Importing them here saves each fork some seconds.
LATE = [
    "alembic.context",
    "numpy.ma",
    "prometheus_client",
    "pyarrow.compute",
    "tapewise.clustering.fits",
    "tapewise.report.rendering",
    "tapewise.simulator.plans",
]
FORKS.set_forkserver_preload(
    ["tests.forks", *sorted({place.split(":")[0] for place in COMMANDS.values()}), *LATE]
)
# Variables that `ingest/__init__.py` sets on import, for libraries that read them later
_SAID_BY_IMPORT = ("POLARS_MAX_THREADS", "_RJEM_MALLOC_CONF")


class Fork:
    """A running command that is used like a `subprocess.Popen`, but has an empty stdin.

    With `is_merged`, stderr goes to stdout, as on a terminal.
    """

    def __init__(
        self,
        arguments: Sequence[object],
        folder: Path,
        environment: Mapping[str, str],
        *,
        is_merged: bool = False,
    ) -> None:
        prepare_cluster()
        self.args = ["tapewise", *map(str, arguments)]
        self._streams = tempfile.TemporaryDirectory()
        self._names = ("stdout", "stdout" if is_merged else "stderr")
        given = (self.args, folder, dict(environment), self._streams.name, self._names)
        self._process = FORKS.Process(target=_be_command, args=given)
        self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.join()
        self._streams.cleanup()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the command to end; return its stdout and stderr. Call this only once."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        output, errors = ((Path(self._streams.name) / name).read_text() for name in self._names)
        self._streams.cleanup()
        return output, "" if self._names[0] == self._names[1] else errors


def run_forked(
    arguments: Sequence[object], folder: Path, environment: Mapping[str, str], *, is_merged: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; return its exit status, stdout and stderr. `is_merged` works as in Fork."""
    with Fork(arguments, folder, environment, is_merged=is_merged) as fork:
        output, errors = fork.communicate()
        assert fork.returncode is not None  # it has ended
        return subprocess.CompletedProcess(fork.args, fork.returncode, output, errors)


def _be_command(
    arguments: list[str], folder: Path, environment: dict[str, str], streams: str, names: tuple[str, str]
) -> None:
    from tapewise.cli import main  # noqa: PLC0415  # only the fork needs it

    environment = {name: os.environ[name] for name in _SAID_BY_IMPORT if name in os.environ} | environment
    os.environ.clear()
    os.environ |= environment
    use_prepared_cluster()
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for name, number in zip(names, (1, 2), strict=True):
        os.dup2(os.open(Path(streams) / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    # multiprocessing has closed sys.stdin, but a command may ask whether stdin is a terminal.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # stays open until the process ends
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115  # as above
    sys.argv = arguments
    main(arguments[1:])
