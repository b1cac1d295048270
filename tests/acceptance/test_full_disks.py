"""The disk of the database or of the metrics is full."""

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.acceptance.conftest import run_command
from tests.disks import fill_disk, mount_small_disk

pytestmark = pytest.mark.study("ingest", "schema", "tapewise")

INGEST = ["ingest", "--archive", "full", "--kind", "synthetic", "--format", "nft", "--timezone", "UTC"]
CONFIG = """
[[archives]]
name = "full"
timezone = "UTC"
kind = "synthetic"
  [[archives.sources]]
  format = "nft"
  paths = ["*.log"]
"""


def write_log(path: Path, count: int) -> None:
    begin = datetime(1997, 11, 1)
    with path.open("w") as log:
        for index in range(count):
            at = begin + timedelta(seconds=20 * index)
            log.write(f"{index % 97:06} {at:%y/%m/%d %H:%M:%S} ks {index * 977} {index % 9000}.25\n")


@pytest.fixture
def disk() -> Iterator[Path]:
    """A mount point for the disk of a warehouse."""
    with tempfile.TemporaryDirectory(prefix="tapewise-full-") as folder:
        Path(folder).chmod(0o755)  # when run as root, the server's own account must get in
        yield Path(folder) / "disk"


def test_the_database_disk_is_full(tmp_path, disk):
    write_log(tmp_path / "small.log", 100)
    write_log(tmp_path / "large.log", 300_000)
    with mount_small_disk(disk, "250m"):

        def tapewise(*arguments):
            return run_command(["--home", str(disk / "home"), *arguments], cwd=tmp_path)

        try:
            assert tapewise(*INGEST, "small.log").returncode == 0
            tapewise("db", "start")
            filler = fill_disk(disk, left_bytes=20_000_000)
            done = tapewise(*INGEST, "large.log", "small.log")
            assert done.returncode == 1
            assert "Traceback" not in done.stderr
            # Without space for a table, the server reports "No space left on device". Without space for its
            # own log, it crashes.
            first, *rest = done.stderr.splitlines()
            assert first.startswith("tapewise: large.log: the database aborted the load: ")
            assert "Run the same command again when" in "".join(rest)

            tapewise("db", "stop")
            fill_disk(disk)
            done = tapewise(*INGEST, "small.log")
            assert (done.returncode, done.stdout) == (1, "")
            assert "the embedded PostgreSQL in" in done.stderr
            assert "No space left on device" in done.stderr
            assert done.stderr.splitlines()[-1] == (
                "free some space, or choose a home on another disk (--home)"
            )

            filler.unlink()
            done = tapewise(*INGEST, "--json", "large.log")
            assert (done.returncode, done.stderr) == (0, "")
            counts = json.loads(done.stdout)
            # The large log begins with the lines of the small one.
            assert (counts["loaded_count"], counts["held_count"]) == (299_900, 100)
            shown = tapewise("sql", "--json", "SELECT count(*) FROM mart.transfers")
            assert json.loads(shown.stdout) == [{"count": 300_000}]
        finally:
            tapewise("db", "stop")


def test_the_metrics_disk_is_full(tapewise, tmp_path):
    write_log(tmp_path / "nft.log", 10)
    (tmp_path / "tapewise.toml").write_text(CONFIG)
    with mount_small_disk(tmp_path / "disk", "1m") as disk:
        filler = fill_disk(disk)
        done = tapewise("ingest", "--prometheus", "disk/tapewise.prom")
        assert done.returncode == 1
        assert "full/nft: 1 file read, 0 untouched; 10 lines = 10 loaded" in done.stdout
        assert done.stderr.splitlines() == [
            "tapewise: disk/tapewise.prom: the metrics could not be written: No space left on device.",
            "What was read stays loaded. Make room, or name another place, and run the command again.",
        ]
        assert list(disk.iterdir()) == [filler]
        filler.unlink()
        done = tapewise("ingest", "--prometheus", "disk/tapewise.prom")
        assert (done.returncode, done.stderr) == (0, "")
        assert "full/nft: 0 files read, 1 untouched" in done.stdout
        assert "tapewise_last_run_exit_status 0.0" in (disk / "tapewise.prom").read_text()
