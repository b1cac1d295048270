"""The lines of HSI and HTAR clients, SDSC's records, SRB sessions and dCache's billing."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.layouts.files import make_format
from tapewise.ingest.records.format import BLANK, NUMBER_OUT_OF_RANGE, UNRECOGNISED
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import parse, settings_of

DAY = date(2019, 3, 5)


def record(name: str, line: str) -> dict[str, Any]:
    """Return the record of one line, read in UTC. `DAY` supplies a date or year that the line lacks."""
    return parse(FORMATS[name], [line], settings_of(FORMATS[name], "UTC", DAY)).row(0, named=True)


# HSI and HTAR


PUT = "put  'test' : '/home/u/test' ( 1024000000 bytes, 250138.1 KBS (cos=11))"
GET = "get  '/tmp/f' : '/home/u/f' (2011/10/04 16:28:50 1024000000 bytes, 325844.9 KBS )"


def test_a_clients_line_is_dated_by_its_file_with_an_unknown_time_of_day():
    for line in (PUT, GET):
        found = record("hsi-client", line)
        assert found["event_at"] == datetime(2019, 3, 5, 12, tzinfo=UTC)
        assert found["is_time_of_day_unknown"] is True
        # Clock changes do not make noon ambiguous.
        assert found["is_time_ambiguous"] is False
        assert found["started_at"] is None


def test_noon_is_by_the_sources_clock():
    settings = settings_of(FORMATS["hsi-client"], "America/Los_Angeles", DAY)
    (at,) = parse(FORMATS["hsi-client"], [PUT], settings)["event_at"]
    assert at == datetime(2019, 3, 5, 20, tzinfo=UTC)


def test_the_stamp_of_a_get_is_the_files_and_not_the_time_of_the_event():
    stamped, other = (
        record("hsi-client", GET.replace("2011/10/04 16:28:50", stamp))
        for stamp in ("2011/10/04 16:28:50", "2018/12/31 23:59:59")
    )
    assert stamped == other
    # The stamp need not be a valid time.
    assert record("hsi-client", GET.replace("2011/10/04", "2011/13/44")) == stamped


def test_an_hsi_line_names_both_files_and_its_duration_is_bytes_divided_by_rate():
    put, got = record("hsi-client", PUT), record("hsi-client", GET)
    assert (put["direction"], put["client_path"], put["archive_path"]) == ("put", "test", "/home/u/test")
    assert (got["direction"], got["client_path"], got["archive_path"]) == ("get", "/tmp/f", "/home/u/f")
    assert (put["class_of_service"], got["class_of_service"]) == ("11", None)
    assert put["size_bytes"] == got["size_bytes"] == 1_024_000_000
    assert put["duration_s"] == pytest.approx(1_024_000_000 / 250_138_100)
    assert put["is_failed"] is False and put["user"] is None and put["host"] is None


def test_names_may_contain_quotes_colons_and_blanks():
    found = record(
        "hsi-client", PUT.replace("'test'", "'it's : 'a'").replace("/u/test", "/u/it's (1) bytes, x")
    )
    assert found["client_path"] == "it's : 'a"
    assert found["archive_path"] == "/home/u/it's (1) bytes, x"


@pytest.mark.parametrize("colon", ["", ":"])
@pytest.mark.parametrize("tail", ["", " wallclock/user/sys: 0.281 0.012 0.007 seconds"])
@pytest.mark.parametrize("commas", [True, False])
def test_htars_lines_with_and_without_optional_parts(colon: str, tail: str, commas: bool):
    create = (
        f"HTAR{colon} Create complete for nova.tar. 28,396,544 bytes written for 4 member files,"
        f" max threads: 4 Transfer time: 0.420 seconds (67.534 MB/s){tail}"
    )
    extract = (
        f"HTAR{colon} Extract complete for data.tar, 5 files. total bytes read: 5,120,004,608 in 18.841"
        f" seconds (271.749 MB/s ){tail}"
    )
    put, got = (
        record(
            "hsi-client",
            line
            if commas
            else line.replace(",1", "1")
            .replace(",3", "3")
            .replace(",5", "5")
            .replace(",0", "0")
            .replace(",6", "6"),
        )
        for line in (create, extract)
    )
    assert (put["direction"], put["archive_path"], put["size_bytes"]) == ("put", "nova.tar", 28_396_544)
    assert (got["direction"], got["archive_path"], got["size_bytes"]) == ("get", "data.tar", 5_120_004_608)
    assert (put["duration_s"], got["duration_s"]) == (0.42, 18.841)
    assert (put["rate_bytes_per_s"], got["rate_bytes_per_s"]) == (67_534_000, 271_749_000)
    assert put["interface"] == got["interface"] == "htar"


@pytest.mark.parametrize(
    "line",
    [
        "HTAR: a   nova/sn1987a",
        "HTAR: x ./gfs.20190927/00/gfs.t00z.sfcanl.nemsio, 1170221688 bytes, 2285591 media blocks",
        "HTAR: HTAR SUCCESSFUL",
        "Username: kim  UID: 12345  Acct: 12345(12345) Copies: 1 [hsi.3.5.8 Wed Sep 21 17:31:14 EDT 2011]",
        "[Fortress HSI]/home/kim->put data1.fits",
    ],
)
def test_the_clients_other_output_is_ignored(line: str):
    assert record("hsi-client", line)["ignored"] is not None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("put: Error -5 on transfer. /home/k/a 1", ("put", -5, "Error -5 on transfer", "/home/k/a 1")),
        ("cget: Error -28 on transfer", ("get", -28, "Error -28 on transfer", None)),
        (
            "*** get: No such file or directory [-2: HPSS_ENOENT]",
            ("get", -2, "No such file or directory [-2: HPSS_ENOENT]", None),
        ),
        (
            "A:/home/k-> *** cput: Permission denied [-13: HPSS_EACCES]",
            ("put", -13, "Permission denied [-13: HPSS_EACCES]", None),
        ),
        ("*** put: local file is gone", ("put", None, "local file is gone", None)),
        ("HTAR: HTAR FAILED (put) no room left", ("put", None, "no room left", None)),
        ("HTAR: HTAR FAILED (get)", ("get", None, None, None)),
        ("      72 = /usr/hpss/bin/htar -Hcrc -P -cvf /k/a.tar b c", ("put", 72, None, "/k/a.tar")),
        ("72 = htar xf k.tar", ("get", 72, None, "k.tar")),
        ("72 = htar -vx -L list -f k.tar", ("get", 72, None, "k.tar")),
    ],
)
def test_a_clients_error_line_is_a_failed_transfer(line: str, expected: tuple[Any, ...]):
    found = record("hsi-client", line)
    assert (found["table"], found["is_failed"], found["is_time_of_day_unknown"]) == ("transfers", True, True)
    values = found["direction"], found["status_code"], found["status_text"], found["archive_path"]
    assert values == expected


def test_a_failure_in_an_unknown_direction_is_a_failed_open():
    for line in ("HTAR: HTAR FAILED", "HTAR HTAR FAILED ", "HTAR: HTAR FAILED (unknown) No such file: a.idx"):
        found = record("hsi-client", line)
        assert (found["table"], found["is_failed"], found["direction"]) == ("opens", True, None)


@pytest.mark.parametrize(
    "line",
    [
        "*** ls: No such file or directory [-2: HPSS_ENOENT]",
        "    /home/k/none",
        "ERROR: hpss_WriteList error -27, file offset 3298534883328 - aborting",
        "###WARNING  htar returned non-zero exit status.",
        "HTAR: HTAR FAILED (listing) No such file: a.tar.idx",
        "   72 = /usr/bin/htar -cvf /k/a.tar b (after the result)",
        "   72 = /usr/bin/htar -tvf /k/a.tar",
    ],
)
def test_the_other_lines_around_a_failure_are_not_counted(line: str):
    assert record("hsi-client", line)["ignored"] is not None


def test_unknown_client_lines_are_rejected_and_not_ignored():
    for line in ("HPSS Unavailable", "*** hpss_Open: No such file or directory [-2: HPSS_ENOENT]"):
        assert record("hsi-client", line)["rejected"] == UNRECOGNISED


JOB = """\
+ archive.sh[265]: htar -P -Hcrc -cvf /k/a.tar run
HTAR: HTAR FAILED
###WARNING  htar returned non-zero exit status.
            72 = /usr/bin/htar -P -Hcrc -cvf /k/a.tar run
HTAR: x out/1, 10 bytes, 1 media blocks
ERROR: tape gone
HTAR: HTAR FAILED
ERROR: no such file
HTAR: HTAR FAILED
HTAR: -rwx------  k/k    9331200 2010-09-24 14:24  a
HTAR: HTAR FAILED
n7$ htar -tf /k/a.tar
HTAR: HTAR FAILED
ERROR: 1 oversize member files found - please correct and retry
HTAR: HTAR FAILED
HTAR: a run/1
HTAR: HTAR SUCCESSFUL
            72 = htar -cf /k/b.tar run
ERROR (main) unable to open remote gateway server connection
            72 = htar -xf /k/c.tar
"""
ENDS = [
    (2, "HTAR: HTAR FAILED (put)"),
    (4, "            72 = /usr/bin/htar -P -Hcrc -cvf /k/a.tar run (after the result)"),
    (7, "HTAR: HTAR FAILED (get) tape gone"),
    (9, "HTAR: HTAR FAILED (unknown) no such file"),
    (11, "HTAR: HTAR FAILED (listing)"),
    (13, "HTAR: HTAR FAILED (listing)"),
    (15, "HTAR: HTAR FAILED (put) 1 oversize member files found - please correct and retry"),
    (18, "            72 = htar -cf /k/b.tar run (after the result)"),
]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_the_end_of_a_run_is_completed_from_the_lines_before_it(size: int):
    make_unfold = FORMATS["hsi-client"].make_unfold
    assert make_unfold is not None
    unfold, lines = make_unfold(), JOB.splitlines()
    found = [text for at in range(0, len(lines), size) for text in unfold(pl.Series(lines[at : at + size]))]
    pairs = enumerate(zip(lines, found, strict=True), 1)
    assert [(number, new) for number, (old, new) in pairs if old != new] == ENDS
    # Lines that are already unfolded stay as they are.
    assert make_unfold()(pl.Series(found)).to_list() == found


DAY_ONLY = """
title = "a made-up layout"
examples = ["get a"]
[columns]
interface = "made-up"
event_at = { day_of_file = true }
[[lines]]
name = "line"
table = "TABLE"
pattern = '(?<operation>get) (?<PATH>.*)'
"""


def test_a_layout_may_omit_the_time_of_day_only_where_its_table_allows_it():
    stages = DAY_ONLY.replace("TABLE", "stages").replace("PATH", "archive_path")
    made = make_format("made-up", stages, "made-up.toml", is_own=True)
    (is_unknown,) = parse(made, ["get a"], settings_of(made, "UTC", DAY))["is_time_of_day_unknown"]
    assert is_unknown is True
    jobs = DAY_ONLY.replace("TABLE", "unitree_jobs").replace("PATH", "description")
    jobs += "columns = { persona = 1, session_number = 1, job_number = 1 }\n"
    with pytest.raises(LayoutError, match="unitree_jobs need the time of day"):
        make_format("made-up", jobs, "made-up.toml", is_own=True)


def test_a_column_can_take_the_first_group_that_is_present():
    text = DAY_ONLY.replace("TABLE", "stages").replace("(?<PATH>.*)", "(?<a>x.*)?(?<b>y.*)?(?<c>z.*)?")
    text += 'columns = { archive_path = { groups = ["a", "b", "c"], first = true } }\n'
    made = make_format("made-up", text.replace("get a", "get x"), "made-up.toml", is_own=True)
    lines = ["get x1y2", "get y2", "get y1z2", "get z3", "get "]
    paths = parse(made, lines, settings_of(made, "UTC", DAY))["archive_path"]
    assert paths.to_list() == ["x1y2", "y2", "y1z2", "z3", None]


# SDSC


def test_an_open_has_its_open_time_and_a_transfer_its_duration():
    opened, got = (record("sdsc", line) for line in FORMATS["sdsc"].examples[:2])
    assert (opened["table"], opened["open_s"], opened["duration_s"]) == ("opens", 71.902, None)
    assert (got["table"], got["open_s"], got["duration_s"]) == ("transfers", None, 12.48)
    shared = ("user", "host", "archive_path", "direction", "class_of_service", "interface")
    assert [opened[name] for name in shared] == [got[name] for name in shared]
    assert got["rate_bytes_per_s"] == 8_402_100
    assert (opened["server"], got["server"]) == ("hpss07", "hpss07")
    for nameless in ("-", ""):
        line = FORMATS["sdsc"].examples[0].replace("hpss07", nameless)
        assert record("sdsc", line) == {**opened, "server": None}


@pytest.mark.parametrize(
    ("kind", "direction", "expected"),
    [
        ("ftpopen", "read", ("opens", "ftp", "get")),
        ("ftpopen", "write", ("opens", "ftp", "put")),
        ("ftpget", "read", ("transfers", "ftp", "get")),
        ("ftpput", "write", ("transfers", "ftp", "put")),
        ("ftpstor", "write", ("transfers", "ftp", "put")),
        ("hsiopen", "read", ("opens", "hsi", "get")),
        ("hsiget", "read", ("transfers", "hsi", "get")),
        ("hsiput", "write", ("transfers", "hsi", "put")),
    ],
)
def test_each_type_of_the_papers(kind: str, direction: str, expected: tuple[str, str, str]):
    line = f"1998-04-21 09:14:09\t1.5\tt3e\t7\t/a\tkim\t{direction}\t{kind}\t-\t-\thpss07"
    found = record("sdsc", line)
    assert (found["table"], found["interface"], found["direction"]) == expected
    assert found["operation"] == kind
    assert found["class_of_service"] is None


# SRB


def test_a_session_is_not_a_transfer_and_has_no_duration():
    found = record("srb", FORMATS["srb"].examples[0])
    assert found["table"] == "srb_sessions"
    assert (found["session_s"], found["duration_s"], found["size_bytes"]) == (318.25, None, None)
    calls = ("read_count", "read_bytes", "write_count", "written_bytes", "seek_count")
    assert [found[name] for name in calls] == [12, 12_582_912, 0, 0, 11]
    assert (found["storage_type"], found["open_type"], found["open_s"]) == ("HPSS", "open", 0.412)
    # The log does not say whether the session failed.
    assert found["is_failed"] is None


def test_an_impossible_count_is_out_of_range():
    line = FORMATS["srb"].examples[0].replace("\t12\t", f"\t{2**53 + 1}\t")
    assert record("srb", line)["rejected"] == NUMBER_OUT_OF_RANGE


# dCache


def mover(protocol: str = "{GFtp-2.0 192.0.2.7 60893}", path: str = "/a", ending: str = '{0:""}') -> str:
    return (
        f"08.05 07:47:49 [pool:pool1:transfer] [0000FA09,964544] [{path}] <Unknown>:<Unknown>@osm 964544 323"
        f" true {protocol} [door:WebDAV-dcache@dCacheDomain:AAWPWeyoBWg:1564991268926000] {ending}"
    )


@pytest.mark.parametrize(
    ("protocol", "interface", "host"),
    [
        ("{GFtp-2.0 192.0.2.7 60893}", "gridftp", "192.0.2.7"),
        ("{GFtp-1.0 n7.example.org 37592}", "gridftp", "n7.example.org"),
        ("{DCap-3.0,192.0.2.7:24045}", "dcap", "192.0.2.7"),
        ("{Xrootd-2.7,n7.example.org:35011}", "xrootd", "n7.example.org"),
        ("{Http-1.1:0:0:0:0:0:0:0:1:0:WebDAV-d:dDomain:/a} [b}", "http", "0:0:0:0:0:0:0:1"),
        ("{NFS4-4.1:192.0.2.7:1023}", "nfs", "192.0.2.7"),
        ("{RemoteHttpDataTransfer-1.1:192.0.2.7:0}", "dcache", "192.0.2.7"),
        ("{null}", "dcache", None),
    ],
)
def test_the_protocol_determines_the_interface_and_the_client(
    protocol: str, interface: str, host: str | None
):
    found = record("dcache", mover(protocol))
    assert (found["table"], found["interface"], found["host"]) == ("transfers", interface, host)
    assert (found["direction"], found["duration_s"], found["size_bytes"]) == ("put", 0.323, 964_544)
    assert found["class_of_service"] is None


def test_the_year_comes_from_the_file():
    assert record("dcache", mover())["event_at"] == datetime(2019, 8, 5, 7, 47, 49, tzinfo=UTC)
    settings = settings_of(FORMATS["dcache"], "UTC", date(2020, 1, 1))
    (at,) = parse(FORMATS["dcache"], [mover().replace("08.05", "12.31")], settings)["event_at"]
    assert at == datetime(2019, 12, 31, 7, 47, 49, tzinfo=UTC)


def test_paths_may_contain_brackets_and_the_pnfs_id_replaces_an_unknown_path():
    assert record("dcache", mover(path="/a] [b"))["archive_path"] == "/a] [b"
    assert record("dcache", mover(path="Unknown"))["archive_path"] == "0000FA09"


def test_a_code_other_than_0_is_a_failure_with_its_message():
    found = record("dcache", mover(ending='{10001:"No such file: {0:"a"}"}'))
    assert (found["is_failed"], found["status_code"]) == (True, 10001)
    assert found["status_text"] == 'No such file: {0:"a"}'
    assert record("dcache", mover())["is_failed"] is False


@pytest.mark.parametrize("initiator", ["[pool:pool7@pool7Domain:1]", "[<undefined>]"])
def test_a_copy_between_pools_is_not_a_transfer(initiator: str):
    line = mover().replace("[door:WebDAV-dcache@dCacheDomain:AAWPWeyoBWg:1564991268926000]", initiator)
    assert record("dcache", line)["ignored"] == "a copy between pools"


def test_flush_and_fetch_have_their_duration_and_their_time_in_the_queue():
    examples = FORMATS["dcache"].examples
    fetched, flushed = (record("dcache", examples[number]) for number in (2, 5))
    assert (fetched["table"], fetched["duration_s"], fetched["queue_s"]) == ("stages", 71.9, 5.12)
    assert (flushed["table"], flushed["duration_s"], flushed["queue_s"]) == ("migrations", 41.25, 903.118)


@pytest.mark.parametrize(("text", "is_cached"), [("true", True), ("false", False)])
def test_a_hit_says_whether_the_file_was_on_disk(text: str, is_cached: bool):
    line = f'04.15 11:16:20 [pool:p1:hit] [000051E6,0] [Unknown] <unknown> {text} {{null}} {{0:""}}'
    found = record("dcache", line)
    assert (found["table"], found["direction"], found["is_cached"]) == ("opens", "get", is_cached)
    assert (found["host"], found["archive_path"]) == (None, "000051E6")


def test_other_logs_do_not_say_whether_it_was_on_disk():
    assert record("pftp", FORMATS["pftp"].examples[0])["is_cached"] is None
    assert record("sdsc", FORMATS["sdsc"].examples[0])["is_cached"] is None


@pytest.mark.parametrize(
    "line",
    [
        '08.05 07:47:49 [door:W@d:request] ["kim":10:10:0:0:0:0:0:0:0:1] [00FA,9] [/a] <Unknown> 6 0 {0:""}',
        '08.05 07:48:38 [pool:pool1@d:remove] [00FA,9] [Unknown] <Unknown>:<Unknown>@osm {0:"cleaner [x]"}',
        "## pool-hit-info-message $date$ [$cellType$:$cellName.cell$:$type$] [$pnfsid$,$filesize$]",
    ],
)
def test_lines_of_doors_removed_copies_and_comments_are_ignored(line: str):
    assert record("dcache", line)["ignored"] is not None


def test_a_door_that_removes_a_file_deletes_it():
    line = (
        '08.05 07:48:19 [door:W@d:remove] ["tester":1000:1000:unknown] [0000FA09,9] [/a] <Unknown> 0 0 {0:""}'
    )
    found = record("dcache", line)
    assert (found["table"], found["kind"], found["archive_path"]) == ("namespace_events", "delete", "/a")
    assert (found["user"], found["host"]) == ("tester", None)


@pytest.mark.parametrize("name", ["hsi-client", "sdsc", "srb", "dcache"])
def test_no_real_line_of_another_log_is_accepted(sample_logs: Path, name: str):
    format_ = FORMATS[name]
    for path in sorted(sample_logs.rglob("*")):
        if path.name.startswith(name):
            continue
        lines = path.read_bytes().decode("latin-1").splitlines() if path.is_file() else []
        for line, found in zip(lines, parse(format_, lines).to_dicts(), strict=True):
            assert found["rejected"] == UNRECOGNISED or found["ignored"] == BLANK, (path, line)
