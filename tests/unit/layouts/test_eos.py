"""EOS's report log: lines of each version, files written through fuse, deletions and requests to tape."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.records.format import UNRECOGNISED
from tests.unit.layouts.made_up import read

EOS = FORMATS["eos"]
PUT, GET, FAILED_PUT, FUSE, APPENDED, RM, RM_WITH_PATH, DELETION, STAGE, EVICTION = EOS.examples


def record(line: str) -> dict[str, Any]:
    (found,) = read(EOS, line)
    return found


def test_lines_of_current_versions_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "today" / "eos-report-5.constructed.log").read_text().splitlines()
    found = read(EOS, *lines)
    assert [each.get("table", each.get("ignored", each.get("rejected"))) for each in found] == [
        "transfers",
        "namespace_events",
        "namespace_events",
        "a request to the tape archive that moves nothing, or that another line reports",
        "opens",
        *["a request to the tape archive that moves nothing, or that another line reports"] * 3,
    ]
    put, rm, rm_with_path, _, stage, *_ = found
    assert (put["direction"], put["size_bytes"], put["archive_path"]) == ("put", 2202, "/eos/testfile")
    assert "archive_path" not in rm and rm["size_bytes"] == 2202
    # The deletion's line encodes the path of the put as `%2Feos%2Ftestfile`.
    assert rm_with_path["archive_path"] == put["archive_path"]
    assert rm["event_at"] == rm_with_path["event_at"] == datetime(2018, 5, 4, 9, 23, 39, tzinfo=UTC)
    assert (stage["direction"], stage.get("is_cached"), stage["user"]) == ("get", None, "kim")


def test_lines_of_the_documentation_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "today" / "eos-report-doc.real.log").read_text().splitlines()
    put, *others = read(EOS, *lines)
    assert (put["direction"], put["size_bytes"], put["user"]) == ("put", 2202, "daemon")
    assert [each["ignored"] for each in others] == ["a replica's deletion, or one without its time"] * 3


def test_a_path_on_the_disk_server_changes_nothing() -> None:
    for line in (PUT, GET, FUSE):
        bare = line.replace("&fstpath=/data01/00000000/00101f5d", "")
        with_it = bare.replace("&ruid=", "&fstpath=/data08/0001f4da/4c6c8f0b&ruid=", 1)
        assert record(with_it) == record(bare)


@pytest.mark.parametrize(
    ("osize", "csize", "size_bytes"),
    [(0, 49834, 49834), (0, 0, 0), (20000, 49834, None), (49834, 49834, None)],
)
def test_writes_counted_only_in_calls_are_a_put(osize: int, csize: int, size_bytes: int | None) -> None:
    found = record(FUSE.replace("osize=0", f"osize={osize}").replace("csize=31744", f"csize={csize}"))
    assert found["direction"] == "put"
    # The number of bytes moved is known only if the file was empty before.
    assert found.get("size_bytes") == size_bytes


def test_counts_of_calls_may_follow_the_bytes() -> None:
    # Before 2018, the counts of calls followed the bytes.
    calls = "nrc=0&nwc=3&"
    old = FUSE.replace(calls, "").replace("&rt=0.00", f"&{calls}nfwds=0&rt=0.00")
    assert record(old) == record(FUSE)
    assert record(old.replace("nwc=3", "nwc=0"))["direction"] == "get"


@pytest.mark.parametrize(
    ("errors", "is_failed"), [("0&iow_err=0", None), ("1&iow_err=0", True), ("0&iow_err=1", True)]
)
def test_a_read_or_write_error_is_a_failure(errors: str, is_failed: bool | None) -> None:
    assert record(FAILED_PUT.replace("0&iow_err=1", errors)).get("is_failed") is is_failed
    # Older versions do not report errors.
    assert "is_failed" not in record(FAILED_PUT.replace("&ior_err=0&iow_err=1", ""))


@pytest.mark.parametrize(
    ("written", "path"),
    [("%2Feos%2Frun%207%2F%C3%A9.log", "/eos/run 7/é.log"), ("%2Fa%25", "/a%"), ("N/A", None), ("", None)],
)
def test_the_path_of_a_removed_file_is_decoded(written: str, path: str | None) -> None:
    found = record(RM_WITH_PATH.replace("%2Feos%2Frun%207%2Fapp.log", written))
    assert (found["kind"], found.get("archive_path")) == ("delete", path)


def test_a_removal_in_an_unknown_form_is_not_ignored() -> None:
    assert record(RM.replace("&ruid=507", "&new=1&ruid=507"))["rejected"] == UNRECOGNISED


def test_a_stage_says_whether_the_file_was_on_disk() -> None:
    found = record(STAGE.replace("ondisk=false", "ondisk=true"))
    assert (found["table"], found["is_cached"], found["host"]) == ("opens", True, "n7")
    failed = record(STAGE.replace("&error=&", "&error=no such file & no tape&"))
    assert failed["is_failed"] is True and "is_failed" not in found
    assert record(STAGE.replace("event=stage", "event=abort"))["ignored"] == record(EVICTION)["ignored"]
