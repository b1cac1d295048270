"""`tapewise export` as a user types it: what it prints and how it ends."""

import json
import os
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from tests.acceptance.conftest import TREE, Run
from tests.forks import Fork

pytestmark = pytest.mark.study("schema", "sql", "tapewise")

HSI = (
    "Sat Aug 10 00:12:40 2019 dtn1.example.gov hsi 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/secret-name.tar.gz\t6004\n"
)
ARCHIVE = ["--archive", "exported"]


@pytest.fixture
def loaded(tapewise: Run, tmp_path: Path) -> Run:
    (tmp_path / "a.log").write_text(HSI + HSI.replace("Sat Aug 10", "Wed Oct 16"))
    options = [*ARCHIVE, "--kind", "synthetic", "--format", "hsi", "--timezone", "UTC"]
    assert tapewise("ingest", *options, "a.log").returncode == 0
    return tapewise


def test_progress_goes_to_stderr_and_the_result_to_stdout(loaded: Run, tmp_path: Path) -> None:
    done = loaded("export", *ARCHIVE, "--to", "out")
    assert (done.returncode, done.stderr) == (0, "2019-08: 2 rows\n2019-10: 2 rows\n")
    assert done.stdout.splitlines() == [
        "out: 4 rows written",
        "  transfers: 2 rows in 2 files",
        "  requests: 2 rows in 2 files",
    ]
    assert pl.read_parquet(tmp_path / "out/transfers/*.parquet")["size_bytes"].to_list() == [3665510098] * 2
    done = loaded("export", *ARCHIVE, "--to", "out", "--since", "2019-09", "--until", "2019-10")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "out: the selected months have no rows\n"
    assert len(list(tmp_path.glob("out/transfers/*.parquet"))) == 2


def test_names_are_exported_to_those_who_may_see_them(loaded: Run, tmp_path: Path) -> None:
    done = loaded("export", *ARCHIVE, "--to", "named", "--as", "names", "--since", "2019-10")
    assert "  transfer_names: 1 row in 1 file\n  user_names: 1 row in 1 file\n" in done.stdout
    names = pl.read_parquet(tmp_path / "named/transfer_names/*.parquet")
    assert names["archive_path"].to_list() == ["/home/p/secret-name.tar.gz"]
    assert json.loads((tmp_path / "named/export.json").read_bytes())["with_names"] is True


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ([*ARCHIVE, "--to", "full"], 1, "tapewise: full is not empty, and has no export.json"),
        (["--archive", "absent", "--to", "out"], 1, "tapewise: no archive is called 'absent'."),
        ([*ARCHIVE, "--to", "a.log"], 2, "is a file"),
        ([*ARCHIVE, "--to", "out", "--since", "2019-08-10"], 2, "an export has whole months"),
        ([*ARCHIVE, "--to", "out", "--since", "0019-08"], 2, "is not between 1985 and 2199"),
        ([*ARCHIVE, "--to", "out", "--since", "2019-08", "--until", "2019-08"], 2, "must be later"),
        ([*ARCHIVE, "--to", "out", "--as", "root"], 2, "'root' is not one of 'reader', 'names'"),
        (ARCHIVE, 2, "Missing option '--to'"),
    ],
)  # fmt: skip
def test_errors_give_one_message_and_a_status(
    loaded: Run, tmp_path: Path, options: list[str], status: int, message: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("words")
    done = loaded("export", *options)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_export_that_is_ended_leaves_nothing_that_looks_finished(
    tapewise: Run, home: Path, tmp_path: Path, number: int
) -> None:
    archive = f"ended-by-{number}"  # other tests use this warehouse too
    begin = datetime(1997, 1, 1)
    with (tmp_path / "long.log").open("w") as log:
        for index in range(40_000):
            at = begin + timedelta(minutes=20 * index)
            log.write(f"{index % 97:06} {at:%y/%m/%d %H:%M:%S} ks {index * 977} {index % 9000}.25\n")
    options = ["--archive", archive, "--kind", "synthetic", "--format", "nft", "--timezone", "UTC"]
    assert tapewise("ingest", *options, "long.log").returncode == 0
    environment = os.environ | {"PYTHONPATH": str(TREE), "PYTHONSAFEPATH": ""}
    command = ["--home", home, "export", "--archive", archive, "--to", "out"]
    with Fork(command, tmp_path, environment) as fork:
        while fork.poll() is None and not list(tmp_path.glob("out/.unfinished/requests/*.parquet")):
            time.sleep(0.01)
        os.kill(fork.pid, number)
        fork.communicate(30)
    assert fork.returncode == (-number if number == signal.SIGKILL else 128 + number)
    left = [path for path in tmp_path.glob("out/**/*") if path.is_file() and ".unfinished" not in path.parts]
    assert [path.name for path in left] == [".lock"]
    assert (number == signal.SIGKILL) == (tmp_path / "out/.unfinished").exists()
    # The next export writes everything.
    assert tapewise("export", "--archive", archive, "--to", "out").returncode == 0
    assert pl.read_parquet(tmp_path / "out/transfers/*.parquet").height == 40_000
    assert not (tmp_path / "out/.unfinished").exists()
