"""Provokes each error in the table of exit statuses in docs/reference/commands.md and checks its row.

Errors that need a full disk, or a killed or stopped process, are in `test_full_disks.py`,
`tests/integration/test_gone_databases.py` and `tests/unit/test_occurrences.py`.
"""

import gzip
import io
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tapewise.schema.errors import TapewiseError
from tests.acceptance.conftest import TAPEWISE, TREE

NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n"
NAMED = ["ingest", "--archive", "statuses", "--kind", "synthetic", "--timezone", "UTC"]
INGEST = [*NAMED, "--format", "nft"]
ELSEWHERE = {
    "Another run over the sources is under way": "tests/acceptance/test_nightly.py",
    "Permission denied": "tests/acceptance/test_exit_statuses.py",
    "of the same archive holds lines of this file": "tests/acceptance/test_commands.py",
    "the database refuses the connection": "tests/unit/test_refused_connections.py",
    "the database aborted the load": "tests/integration/test_gone_databases.py",
    "no whole line yet": "tests/acceptance/test_detect.py",
    "was rewritten while it was read": "tests/integration/test_rewritten_files.py",
    "the upgrade has waited": "tests/migrations/test_lockouts.py",
    "did not start": "tests/integration/test_server.py",
    "temporary data about its lines could not be written to": "tests/unit/test_occurrences.py",
    "the metrics could not be written": "tests/acceptance/test_full_disks.py",
    "a process that read log files was killed": "tests/integration/test_gone_databases.py",
    "do not say which files": "tests/acceptance/test_simulate_cache.py",
    "there is no such file": "tests/acceptance/test_remote.py",
    "access is denied": "tests/acceptance/test_remote.py",
    "the transfer broke off": "tests/acceptance/test_remote.py",
    "reading it needs the Python package": "tests/unit/test_remote_files.py",
    "needs the Python package": "tests/acceptance/test_simulate_cache.py",
    "requests never end": "tests/acceptance/test_simulate.py",
    "stopped; unfinished work was discarded": "tests/integration/test_gone_databases.py",
}


def make_files(folder: Path) -> None:
    (folder / "good.log").write_text(NFT)
    (folder / "noise.log").write_text("broken\n" * 10)
    (folder / "cr.log").write_text(NFT.replace("\n", "\r") * 5)
    (folder / "long.log").write_bytes(NFT.encode() + b"x" * 17_000_000 + b"\n")
    packed = gzip.compress(NFT.encode() * 1000)
    (folder / "cut.gz").write_bytes(packed[:60])
    (folder / "damaged.gz").write_bytes(packed[:-8] + bytes(4) + packed[-4:])  # a wrong checksum
    os.mkfifo(folder / "pipe")
    for name, members in {"logs": ["a.log"], "twice.tar": ["a.log"] * 2, "none.tgz": [".hidden"]}.items():
        with tarfile.open(folder / name, "w:gz") as archive:
            for member in members:
                entry = tarfile.TarInfo(member)
                entry.size = len(NFT)
                archive.addfile(entry, io.BytesIO(NFT.encode()))
    (folder / "cut.tar.gz").write_bytes((folder / "twice.tar").read_bytes()[:-9])
    (folder / "wrong.toml").write_text('[[archives]]\nname = "a"\ntimezone = "UTC"\ncolour = "red"\n')


CASES = {
    "No such file or directory": (1, [*INGEST, "absent.log", "good.log"]),
    "is a folder": (1, [*INGEST, ".", "good.log"]),
    "is not a regular file": (1, [*INGEST, "pipe", "good.log"]),
    "is not a log but a tar archive of files": (1, [*INGEST, "logs", "good.log"]),
    "cannot be read: it ends early": (1, [*INGEST, "cut.tar.gz", "good.log"]),
    "there are no files in this archive": (1, [*INGEST, "none.tgz", "good.log"]),
    "has two files called": (1, [*INGEST, "twice.tar", "good.log"]),
    "the server refuses the connection": (1, [*INGEST, "http://127.0.0.1:1/a.log", "good.log"]),
    "its lines end with CR alone": (1, [*INGEST, "cr.log", "good.log"]),
    "the compressed file ends early": (1, [*INGEST, "cut.gz", "good.log"]),
    "cannot be read beyond line": (1, [*INGEST, "damaged.gz", "good.log"]),
    "is longer than 16,777,216 bytes": (1, [*INGEST, "long.log", "good.log"]),
    "no format detected": (1, [*NAMED, "noise.log", "good.log"]),
    "no line of it is in format": (1, [*INGEST, "noise.log", "good.log"]),
    "has timezone UTC, not": (1, [*INGEST, "--timezone", "Asia/Kathmandu", "good.log"]),
    "the database cannot be reached": (1, ["--database-url", "postgresql://x@127.0.0.1:1/y", *INGEST, "a"]),
    "Missing argument": (2, ["detect"]),
    "no such key": (2, ["--config", "wrong.toml", "ingest"]),
}


def read_table() -> dict[str, int]:
    """Read the status of each message from the table."""
    text = (TREE / "docs" / "reference" / "commands.md").read_text()
    return {
        message: int(status) for status, message in re.findall(r"^\| (\d+) \| .* \| `(.+)` \|$", text, re.M)
    }


@pytest.mark.study("ingest", "schema", "tapewise")
@pytest.mark.parametrize("message", CASES)
def test_an_error_is_reported_as_the_table_says(message, tapewise, tmp_path):
    status, arguments = CASES[message]
    make_files(tmp_path)
    assert tapewise(*INGEST, "good.log").returncode == 0
    done = tapewise(*arguments)
    assert (done.returncode, read_table()[message]) == (status, status)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if "good.log" in arguments and message != "has timezone UTC, not":
        assert "good.log: 1 line = 0 loaded + 1 held" in done.stdout


def list_statuses(error: type[TapewiseError]) -> set[int]:
    return {error.exit_status}.union(*map(list_statuses, error.__subclasses__()))


def test_the_table_is_complete():
    assert list_statuses(TapewiseError) <= set(read_table().values())
    assert set(read_table()) == CASES.keys() | ELSEWHERE.keys()
    for message, module in ELSEWHERE.items():
        assert message in (TREE / module).read_text(), module


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_file_without_read_permission(tmp_path):
    (tmp_path / "secret.log").write_text(NFT)
    done = run_without(tmp_path, "secret.log", "detect", "secret.log")
    assert done.returncode == 1
    assert done.stderr.startswith("tapewise: secret.log: Permission denied\n")


@pytest.mark.study("ingest", "schema", "tapewise")
def test_a_folder_without_read_permission_does_not_stop_the_others(tmp_path):
    (tmp_path / "logs" / "secret").mkdir(parents=True)
    (tmp_path / "logs" / "secret" / "a.log").write_text(NFT)
    (tmp_path / "logs" / "good.log").write_text(NFT)
    done = run_without(tmp_path, "logs/secret", "detect", "-r", "logs")
    assert done.returncode == 1
    assert "logs/good.log: nft" in done.stdout
    assert "tapewise: logs/secret: Permission denied\n" in done.stderr
    assert "1 of 2 files not examined" in done.stderr
    assert "give -r" not in done.stderr


def run_without(folder: Path, place: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in `folder` that may not read what is at `place`."""
    (folder / place).chmod(0)
    command = [*TAPEWISE, *arguments]
    if os.geteuid() == 0:  # root may read everything unless `setpriv` removes that right
        if shutil.which("setpriv") is None:
            pytest.skip("root may read everything, and there is no setpriv to take that away")
        os.chown(folder / place, 65534, 65534)
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    environment = os.environ | {"PYTHONPATH": str(TREE)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    (folder / place).chmod(0o700)  # or the folder could not be removed
    return done
