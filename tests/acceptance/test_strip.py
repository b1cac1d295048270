"""`--strip`: logs whose lines follow what syslog writes, each line at most once."""

import json

import pytest

from tests.acceptance.conftest import TREE

pytestmark = pytest.mark.study("ingest", "tapewise")

HSI = TREE / "examples" / "logs" / "hsi.log"
PREFIX = r"[^ ]+ [^ ]+ hsi\[[0-9]+\]: "
ZONE = ("--timezone", "America/Los_Angeles")


@pytest.fixture
def folder(tmp_path, tapewise):
    """The example's HSI log, as it is and behind two prefixes, with lines that are not UTF-8."""
    lines = HSI.read_bytes().splitlines(keepends=True)
    (tmp_path / "plain.log").write_bytes(b"".join(lines))
    for name, time in (("messages", b"2024-03-05T09:14:22+00:00"), ("messages.1", b"2024-03-05T09:14:23Z")):
        kept = [time + b" mover1 hsi[%d]: " % number + line for number, line in enumerate(lines, start=7)]
        (tmp_path / name).write_bytes(b"".join(kept))
    yield tmp_path
    for archive in ("stripped", "plain"):
        tapewise("archives", "drop", archive, "--yes")


def ingest(tapewise, archive, *arguments):
    done = tapewise("ingest", "--archive", archive, *ZONE, "--json", *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def fetch(tapewise, archive):
    query = (
        "SELECT count(*) AS transfer_count, count(*) FILTER (WHERE is_failed) AS failed_count,"
        " sum(size_bytes) AS size_bytes, min(ended_at) AS first_at, max(ended_at) AS last_at"
        f" FROM mart.transfers WHERE archive = '{archive}'"
    )
    return json.loads(tapewise("sql", "--json", query).stdout)


def test_a_line_counts_once_behind_any_prefix_and_without_one(folder, tapewise):
    (found,) = ingest(tapewise, "stripped", "--strip", PREFIX, folder / "messages")
    (plain,) = ingest(tapewise, "plain", folder / "plain.log")
    assert found["format"] == "hsi"
    for key in ("line_count", "loaded_count", "ignored", "rejected"):
        assert found[key] == plain[key], key
    assert fetch(tapewise, "stripped") == fetch(tapewise, "plain")
    for copy in ("messages", "messages.1", "plain.log"):
        # A source keeps its prefix, whether it is given again or not.
        for how in (("--strip", PREFIX), ("--source", "hsi")):
            (again,) = ingest(tapewise, "stripped", *how, folder / copy)
            assert again["loaded_count"] == 0, (copy, how)
    assert fetch(tapewise, "stripped") == fetch(tapewise, "plain")


def test_a_source_has_one_prefix(folder, tapewise):
    ingest(tapewise, "stripped", "--strip", PREFIX, folder / "messages")
    ingest(tapewise, "plain", folder / "plain.log")
    for archive, how, said in (
        ("stripped", ("--format", "hsi"), f"Give --strip '{PREFIX}'"),
        ("stripped", (), f"Give --strip '{PREFIX}'"),
        ("stripped", ("--format", "hsi", "--strip", "x"), "would be counted twice"),
        ("stripped", ("--source", "hsi", "--strip", "x"), "would be counted twice"),
        ("plain", ("--strip", PREFIX), "Leave out --strip"),
        ("plain", ("--source", "hsi", "--strip", PREFIX), "Leave out --strip"),
    ):
        done = tapewise("ingest", "--archive", archive, *ZONE, *how, str(folder / "plain.log"))
        assert done.returncode == 1
        assert said in done.stderr, done.stderr


def test_a_row_leads_to_its_line(folder, tapewise):
    ingest(tapewise, "stripped", "--strip", PREFIX, folder / "messages")
    query = "SELECT min(transfer_id) AS transfer_id FROM mart.transfers WHERE archive = 'stripped'"
    (row,) = json.loads(tapewise("sql", "--json", query).stdout)
    done = tapewise("explain", "row", "transfers", str(row["transfer_id"]))
    assert done.returncode == 0, done.stderr
    assert "messages" in done.stdout
    assert HSI.read_text(errors="replace").split("\t")[0] in done.stdout
    assert "mover1" not in done.stdout


def test_detection_and_reports_remove_the_prefix(folder, tapewise):
    (name, *_) = tapewise("detect", str(folder / "messages")).stdout.splitlines()
    assert name.endswith("no format detected")
    done = tapewise("detect", "--json", "--strip", PREFIX, str(folder / "messages"))
    assert json.loads(done.stdout)["format"] == "hsi"
    reports = [
        json.loads(tapewise("report", "--json", *ZONE, *how, str(folder / path)).stdout)
        for how, path in ((("--strip", PREFIX), "messages"), ((), "plain.log"))
    ]
    assert reports[0]["transfers"] == reports[1]["transfers"] != []
    done = tapewise("report", "--archive", "a", "--strip", "x")
    assert done.returncode == 2


def test_the_nightly_job_and_files_of_formats_remove_it_too(folder, tapewise):
    (folder / "tapewise.toml").write_text(
        f"""
[[archives]]
name = "stripped"
timezone = "America/Los_Angeles"
kind = "synthetic"
  [[archives.sources]]
  format = "hsi"
  strip = '{PREFIX}'
  paths = ["messages"]
"""
    )
    done = tapewise("--config", str(folder / "tapewise.toml"), "ingest")
    assert done.returncode == 0, done.stderr
    (folder / "tapewise.toml").unlink()
    (folder / "hsi-syslog.toml").write_text(f"like = 'hsi'\nprefix = '{PREFIX}'\n")
    how = ("--format", folder / "hsi-syslog.toml")
    (found,) = ingest(tapewise, "plain", *how, folder / "messages")
    assert fetch(tapewise, "stripped") == fetch(tapewise, "plain")
    assert found["format"] == "hsi-syslog"
    (again,) = ingest(tapewise, "plain", *how, folder / "messages.1")
    assert again["loaded_count"] == 0


@pytest.mark.parametrize(
    ("prefix", "said"), [("(", "is not a valid regular expression"), (".*", "matches nothing at all")]
)
def test_what_is_no_prefix_is_refused(tapewise, prefix, said):
    for command in (("detect",), ("report",), ("ingest", "--archive", "a", *ZONE)):
        done = tapewise(*command, "--strip", prefix, str(HSI))
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr
