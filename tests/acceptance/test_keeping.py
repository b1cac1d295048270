"""Output, messages and exit status of commands that show rejects, undo a source or forget old detail."""

import json

import pytest

from tests.acceptance.test_commands import NFT, ingest

pytestmark = pytest.mark.study("ingest", "schema", "tapewise")


def test_rejected_lines_are_shown_escaped(tapewise, tmp_path):
    (tmp_path / "a\x1blog").write_bytes(NFT.encode() + b"red \x1b[31m\nplain\n")
    ingest(tapewise, "a\x1blog", archive="rejected")
    shown = tapewise("rejects", "--archive", "rejected")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "rejected/nft: 2 lines of 1 file: not a line of this format",
        "",
        f"{tmp_path}/a\\x1blog (rejected/nft)",
        "  line 3: not a line of this format: red \\x1b[31m",
        "  line 4: not a line of this format: plain",
    ]
    first = tapewise("rejects", "--archive", "rejected", "--limit", "1")
    assert first.stdout.splitlines()[-1].startswith("1 more:")
    assert [
        json.loads(line)["text"]
        for line in tapewise("rejects", "--file", "a\x1blog", "--json").stdout.splitlines()
    ] == ["red \x1b[31m", "plain"]
    none = tapewise("rejects", "--archive", "rejected", "--reason", "nothing")
    assert (none.returncode, none.stdout) == (0, "No line is rejected.\n")


def test_retry_reports_what_changed_and_what_is_gone(tapewise, tmp_path):
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(NFT + "nonsense\n")
        ingest(tapewise, name, archive="retried")
    (tmp_path / "a.log").write_text(NFT + "1 97/10/01 00:01:43 js 7700 0.425\n")
    (tmp_path / "b.log").unlink()
    again = tapewise("rejects", "--archive", "retried", "--retry")
    assert again.returncode == 1
    assert again.stdout.splitlines() == [
        f"{tmp_path}/a.log: is now a different file, and was read as such: 1 loaded, 0 rejected",
        "  the 1 rejected lines of the file that was there before stay in the ledger",
    ]
    assert again.stderr.splitlines()[:2] == [
        f"tapewise: {tmp_path}/b.log: is gone",
        "tapewise: 1 of 2 files could not be read again.",
    ]
    (tmp_path / "b.log").write_text(NFT + "nonsense\n")
    retried = tapewise("rejects", "--archive", "retried", "--retry")
    assert (retried.returncode, retried.stderr) == (0, "")
    assert retried.stdout.splitlines() == [
        f"{tmp_path}/b.log: 1 rejected -> 1; 0 loaded",
        "1 more had names under which another file has been read since: they cannot be read again, and stay"
        " in the ledger.",
    ]
    result = json.loads(tapewise("rejects", "--archive", "retried", "--retry", "--json").stdout)
    assert (result["rejected_before_count"], result["held_count"], result["is_another"]) == (1, 2, False)
    assert tapewise("rejects", "--retry", "--limit", "1").returncode == 2


def test_a_source_is_dropped_after_confirmation(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT)
    ingest(tapewise, "a.log", archive="undone", zone="Asia/Kathmandu")
    kept = tapewise("sources", "drop", "undone", "nft", input="n\n")
    assert kept.returncode == 1
    assert "undone/nft (nft, Asia/Kathmandu, counted): 2 rows" in tapewise("sources", "list").stdout
    gone = tapewise("sources", "drop", "undone", "nft", input="y\n")
    assert gone.returncode == 0
    assert gone.stdout.splitlines()[-1].endswith(
        "Source 'nft' of archive 'undone' is dropped: 2 rows of 1 file, 3 names of users and hosts."
    )
    listed = [json.loads(line) for line in tapewise("sources", "list", "--json").stdout.splitlines()]
    assert all(each["archive"] != "undone" for each in listed)
    assert "undone (synthetic, Asia/Kathmandu): 0 rows" in tapewise("archives", "list").stdout
    again = tapewise("sources", "drop", "undone", "nft", "--yes")
    assert (again.returncode, again.stderr.splitlines()[0]) == (
        1,
        "tapewise: archive 'undone' has no source 'nft'.",
    )


def test_forgetting_asks_first_and_reports_what_was_removed(tapewise, tmp_path):
    (tmp_path / "a.log").write_text(NFT + "1 97/10/02 00:00:00 js 7700 0.425\n")
    ingest(tapewise, "a.log", archive="forgetful")
    words = ("forget", "--archive", "forgetful", "--before", "1997-10-02")
    assert tapewise(*words, "--dry-run").stdout.splitlines() == [
        "Archive 'forgetful' would forget what is before 1997-10-02: 2 transfers, and 0 requests derived"
        " from them.",
        "A dry run: nothing was written.",
    ]
    kept = tapewise(*words, input="n\n")
    assert kept.returncode == 1
    assert "Forget 2 rows of archive 'forgetful' from before 1997-10-02, for good?" in kept.stdout
    done = json.loads(tapewise(*words, "--yes", "--json").stdout)
    assert done["fact_counts"]["transfers"] == 2
    assert (done["name_count"], done["is_dry_run"]) == (2, False)
    again = tapewise(*words, "--yes")
    assert (again.returncode, again.stdout.split(":")[1].strip()[:7]) == (0, "no rows")
    back = tapewise("forget", "--archive", "forgetful", "--before", "1997-10-01", "--yes")
    assert (back.returncode, "give a later day" in back.stderr) == (1, True)
    assert tapewise("forget", "--archive", "forgetful", "--before", "tomorrow").returncode == 2
    asked = tapewise("sql", "--csv", "SELECT retained_since FROM mart.archives WHERE archive = 'forgetful'")
    assert "1997-10-02" in asked.stdout
