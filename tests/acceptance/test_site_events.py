"""`tapewise outages` and `tapewise config-changes` from end to end; refusals are in tests/integration/."""

import json

import pytest

pytestmark = pytest.mark.study("ingest", "tapewise")

IN_UTC = ("sql", "--timezone", "UTC", "--json")
NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n"


@pytest.fixture
def archive(tapewise, tmp_path):
    """An archive in Los Angeles, created for this test."""
    (tmp_path / "a.log").write_text(NFT)
    result = tapewise(
        "ingest", "--archive", "west", "--kind", "synthetic", "--format", "nft",
        "--timezone", "America/Los_Angeles", "a.log",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    yield "west"
    assert tapewise("archives", "drop", "west", "--yes").returncode == 0


def test_outages_are_added_listed_and_removed(tapewise, archive):
    assert tapewise("outages", "list").stdout == "No outage is recorded: `tapewise outages add --help`.\n"
    add = ["outages", "add", "--archive", archive, "--kind", "scheduled", "--note", "\x1b[1mno\nlines"]
    added = tapewise(*add, "--since", "1998-10-19T08:00", "--until", "1998-10-19 12:00:30-06:00")
    shown = json.loads(tapewise("outages", "list", "--json").stdout)
    assert (shown["started_at"], shown["ended_at"]) == (
        "1998-10-19T15:00:00+00:00",
        "1998-10-19T18:00:30+00:00",
    )
    # The view shows the same names and values, and the archive's kind.
    (seen,) = json.loads(tapewise(*IN_UTC, "SELECT * FROM mart.outages").stdout)
    assert seen == shown | {"kind": "synthetic"}
    # Times follow the archive's clock, and control characters do not reach the terminal.
    number = shown["outage_id"]
    line = (
        f"outage {number} of west: 1998-10-19T08:00-07:00 to 1998-10-19T11:00:30-07:00, scheduled:"
        r" \x1b[1mno\x0alines"
    )
    assert (added.returncode, added.stdout, added.stderr) == (0, f"Recorded: {line}\n", "")
    assert tapewise("outages", "list", "--archive", "west").stdout == f"{line}\n"
    removed = tapewise("outages", "remove", str(number))
    assert (removed.returncode, removed.stdout, removed.stderr) == (0, f"Removed: {line}\n", "")
    again = tapewise("outages", "remove", str(number))
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == f"tapewise: no outage has number {number}.\n`tapewise outages list` shows them.\n"
    refused = tapewise(*add, "--since", "1998-10-25T01:30")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "tapewise: 1998-10-25 01:30:00 occurs twice in America/Los_Angeles: clocks are put back then.\n"
        "Give the time with its offset: 1998-10-25T01:30:00-07:00 or 1998-10-25T01:30:00-08:00.\n"
    )


def test_config_changes_are_added_listed_and_removed(tapewise, archive):
    add = ["config-changes", "add", "--archive", archive, "--note", "a note"]
    added = tapewise(*add, "--kind", "tape-only", "--class-of-service", "4")
    shown = json.loads(tapewise("config-changes", "list", "--archive", archive, "--json").stdout)
    (seen,) = json.loads(tapewise(*IN_UTC, "SELECT * FROM mart.config_changes").stdout)
    assert seen == shown | {"kind": "synthetic"}
    number = shown["config_change_id"]
    line = f"configuration change {number} of west: always, tape only, class of service 4: a note"
    assert (added.returncode, added.stdout, added.stderr) == (0, f"Recorded: {line}\n", "")
    assert tapewise("config-changes", "list").stdout == f"{line}\n"
    assert tapewise("config-changes", "remove", str(number)).stdout == f"Removed: {line}\n"
    assert tapewise("config-changes", "list").stdout == (
        "No configuration change is recorded: `tapewise config-changes add --help`.\n"
    )


def test_an_unknown_archive_is_refused_with_a_hint_to_the_archives_command(tapewise):
    result = tapewise(
        "outages",
        "add",
        "--archive",
        "nothing",
        "--since",
        "1998-10-19",
        "--kind",
        "scheduled",
        "--note",
        "x",
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "tapewise: no archive is called 'nothing'.\n`tapewise archives list` shows them.\n"
    )


def test_compute_power_is_added_listed_and_removed(tapewise, archive):
    nothing = "No compute power is recorded: `tapewise compute-power add --help`.\n"
    assert tapewise("compute-power", "list").stdout == nothing
    add = ["compute-power", "add", "--archive", archive, "--since", "1998-10-25", "--note", "\x1b[1mnew"]
    added = tapewise(*add, "--flop-per-s", "9e9")
    shown = json.loads(tapewise("compute-power", "list", "--json").stdout)
    (seen,) = json.loads(tapewise(*IN_UTC, "SELECT * FROM mart.compute_power").stdout)
    assert seen == shown | {"kind": "synthetic", "ends_on": None}
    number = shown["compute_power_id"]
    line = rf"compute power {number} of west: 9e+09 flop/s from 1998-10-25: \x1b[1mnew"
    assert (added.returncode, added.stdout, added.stderr) == (0, f"Recorded: {line}\n", "")
    assert tapewise("compute-power", "list", "--archive", "west").stdout == f"{line}\n"
    twice = tapewise(*add, "--flop-per-s", "1")
    assert (twice.returncode, twice.stderr) == (
        1,
        "tapewise: a compute power of west from 1998-10-25 is already recorded.\n"
        "Remove it first: `tapewise compute-power list` shows its number.\n",
    )
    endless = tapewise(*add[:4], "--since", "2001-01-01", "--note", "x", "--flop-per-s", "inf")
    assert (endless.returncode, endless.stderr) == (
        1,
        "tapewise: a compute power of inf flop/s is impossible.\n",
    )
    assert tapewise(*add[:4], "--since", "2001-01-01", "--note", "x", "--flop-per-s", "-1").returncode == 2
    assert tapewise("compute-power", "remove", str(number)).stdout == f"Removed: {line}\n"
    again = tapewise("compute-power", "remove", str(number))
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        f"tapewise: no compute power has number {number}.\n`tapewise compute-power list` shows them.\n"
    )
    assert tapewise("compute-power", "list", "--archive", "nowhere").returncode == 1
