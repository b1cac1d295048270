"""The nightly job as cron runs it: what it prints and where, and its exit status."""

import json
import os

import pytest

from tapewise.ingest.nightly.run import hold_round
from tapewise.schema.database import open_warehouse
from tapewise.schema.settings import Settings

pytestmark = pytest.mark.study("ingest", "tapewise")

CONFIG = """
[[archives]]
name = "nightly"
timezone = "UTC"
kind = "synthetic"
  [[archives.sources]]
  format = "nft"
  paths = ["logs/nft*"]
  [[archives.sources]]
  format = "hsi"
  paths = ["logs/hsi*"]
"""
NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n"
HSI = (
    "Sat Aug 10 00:12:40 2019 dtn1.example.gov hsi 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/secret-name.tar.gz\t6004\n"
)


@pytest.fixture
def folder(tmp_path, tapewise):
    site = tmp_path / "site"
    (site / "logs").mkdir(parents=True)
    (site / "logs" / "nft.log").write_text(NFT)
    (site / "logs" / "hsi.log").write_text(HSI)
    (site / "tapewise.toml").write_text(CONFIG)
    yield site
    tapewise("archives", "drop", "nightly", "--yes")


def test_it_runs_from_any_folder_with_metrics_and_a_status(tapewise, folder, tmp_path, home):
    environment = {"TAPEWISE_CONFIG": str(folder / "tapewise.toml")}
    done = tapewise("ingest", "--prometheus", "tapewise.prom", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "nightly/nft: 1 file read, 0 untouched; 1 line = 1 loaded + 0 held + 0 ignored + 0 rejected",
        "nightly/hsi: 1 file read, 0 untouched; 1 line = 1 loaded + 0 held + 0 ignored + 0 rejected",
    ]
    assert "tapewise_last_run_exit_status 0.0" in (tmp_path / "tapewise.prom").read_text()

    # The run has counted the archive's files, so there is nothing left to count.
    refreshed = tapewise("refresh", "--archive", "nightly")
    assert (refreshed.returncode, refreshed.stderr) == (0, "")
    assert refreshed.stdout == "Nothing to prepare: everything is up to date or is computed on demand.\n"
    assert tapewise("refresh", "--archive", "absent").returncode == 1

    (folder / "logs" / "hsi.log").unlink()
    with (folder / "logs" / "nft.log").open("a") as log:
        log.write("nonsense\n")
    done = tapewise("ingest", "--json", "--prometheus", "tapewise.prom", env=environment)
    assert done.returncode == 1
    second, first = map(json.loads, done.stdout.splitlines())  # a missing log is reported first
    assert (first["archive"], first["source"], first["held_count"]) == ("nightly", "nft", 1)
    assert second == {
        "archive": "nightly",
        "source": "hsi",
        "error": "nightly/hsi: no files found",
    }
    assert "sources[hsi].paths: nothing matches 'logs/hsi*'" in done.stderr
    assert "1 of 2 sources could not be read completely" in done.stderr
    metrics = (tmp_path / "tapewise.prom").read_text()
    assert "tapewise_last_run_exit_status 1.0" in metrics
    assert 'tapewise_last_run_failures{archive="nightly",source="hsi"} 1.0' in metrics

    # While another run is under way, a run does nothing, not even write metrics.
    with open_warehouse(Settings(home=home)) as warehouse, hold_round(warehouse):
        (tmp_path / "tapewise.prom").unlink()
        done = tapewise("ingest", "--prometheus", "tapewise.prom", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Another run over the sources is under way; this one leaves everything to it.\n"
    assert not (tmp_path / "tapewise.prom").exists()

    shown = tapewise("status", "--archive", "nightly", "--days", "1", "--now", "1997-10-01T02:01:41Z")
    assert "  last line   1997-10-01 00:01:41 +0000, 2 h 0 min ago" in shown.stdout.splitlines()
    assert tapewise("status", "--archive", "absent").returncode == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--archive", "other"], "no archive is called 'other'"),
        (["--kind", "synthetic"], "Option '--kind' is for files: name them as PATHS."),
        (["--prometheus", "x", "a", "--archive", "x", "--format", "nft", "--timezone", "UTC"], "without"),
        (["a.log", "--format", "nft", "--timezone", "UTC"], "Missing option '--archive'"),
        (["a.log", "--format", "nft"], "Missing options '--archive' and '--timezone'"),
    ],
)  # fmt: skip
def test_usage_errors(tapewise, folder, options, message):
    done = tapewise("--config", str(folder / "tapewise.toml"), "ingest", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_file_name_with_a_line_break_breaks_no_line_of_the_output(tapewise, folder):
    os.mkfifo(folder / "logs" / "nft\n\x1b[2J")
    done = tapewise("--config", str(folder / "tapewise.toml"), "ingest")
    assert done.returncode == 1
    assert "logs/nft\\x0a\\x1b[2J: is not a regular file\n" in done.stderr
    named = ["--archive", "nightly", "--format", "nft", "--timezone", "UTC", "--kind", "synthetic"]
    done = tapewise("ingest", *named, str(folder / "logs" / "nft\n\x1b[2J"))
    assert done.returncode == 1
    assert "logs/nft\\x0a\\x1b[2J: is not a regular file\n" in done.stderr


def test_unwritable_metrics_stop_the_run_before_it_begins(tapewise, folder, tmp_path):
    run = ["--config", str(folder / "tapewise.toml"), "ingest", "--prometheus"]
    os.mkfifo(tmp_path / "fifo")
    for target, message in (("fifo", "fifo: is not a regular file"), ("nowhere/x", "no such folder")):
        done = tapewise(*run, target)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
    assert (tmp_path / "fifo").is_fifo()
    assert tapewise(*run, "tapewise.prom").stdout.count(" 1 loaded ") == 2


def test_a_wrong_configuration_file_is_reported_by_every_command(tapewise, folder):
    (folder / "tapewise.toml").write_text(CONFIG.replace("paths", "path", 1))
    done = tapewise("formats", cwd=folder)
    assert done.returncode == 2
    assert (
        "tapewise.toml: archives[nightly].sources[nft].path: no such key; did you mean 'paths'?"
        in done.stderr
    )


def test_an_unreachable_database_shows_in_the_metrics(tapewise, folder, tmp_path):
    done = tapewise(
        "--config", str(folder / "tapewise.toml"), "--database-url", "postgresql://x@127.0.0.1:1/y",
        "ingest", "--prometheus", "tapewise.prom",
    )  # fmt: skip
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr
    metrics = (tmp_path / "tapewise.prom").read_text()
    assert "tapewise_last_run_exit_status 1.0" in metrics
    assert "tapewise_lines_total{" not in metrics
