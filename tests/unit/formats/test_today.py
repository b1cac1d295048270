"""Logs of today's sites: CTA, dCache's JSON, XRootD's cache and SAM-QFS."""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.records.format import START_AFTER_END, UNRECOGNISED
from tests.unit.formats.test_every_format import parse, settings_of
from tests.unit.formats.test_families import record

TODAY = "today"


def read_sample(sample_logs: Path, name: str, format_name: str):
    lines = (sample_logs / TODAY / name).read_text().splitlines()
    return parse(FORMATS[format_name], lines).to_dicts()


# dCache's JSON


def change(number: int, **changes: object) -> str:
    return json.dumps(json.loads(FORMATS["dcache-json"].examples[number]) | changes)


TEXTS = {
    0: "03.05 08:14:22 [pool:pool7:transfer] [0000FA09235CA0974697AB93F00FFEA61621,524288]"
    " [/data/w/index.dat] cms:web@osm 524288 310 false"
    " {Http-1.1:192.0.2.9:0:WebDAV-web2:web2Domain:/data/w/index.dat}"
    ' [door:WebDAV-web2@web2Domain:AAWPWeyoBWg:1709626462000000] {0:""}',
    1: "03.05 08:15:03 [pool:pool4:transfer] [0000FA09235CA0974697AB93F00FFEA61700,881569198] [Unknown]"
    " cms:run7@osm 0 9584 true {DCap-3.0,n7.example.org:24045} [door:DCap-n7@dcapDomain:12987]"
    ' {10001:"No such file or directory"}',
    2: "03.05 08:16:44 [pool:pool4:transfer] [0000FA09235CA0974697AB93F00FFEA61700,881569198] [Unknown]"
    " cms:run7@osm 881569198 9584 true {Http-1.1:192.0.2.20:0:x} [pool:pool7@pool7Domain:1]"
    ' {0:""}',
    3: "03.05 08:19:30 [pool:pool7:hit] [0000FA09235CA0974697AB93F00FFEA61621,524288] [/data/w/index.dat]"
    " cms:web@cta false {Http-1.1:192.0.2.9:0:WebDAV-web2:web2Domain:/data/w/index.dat}"
    ' {0:""}',
    4: "03.05 08:20:48 [pool:pool7@pool7Domain:restore] [0000FA09235CA0974697AB93F00FFEA61621,524288]"
    ' [/data/w/index.dat] cms:web@cta 71900 5120 {0:""}',
    5: "03.05 08:30:12 [pool:pool4@pool4Domain:store] [0000FA09235CA0974697AB93F00FFEA61620,1073741824]"
    ' [Unknown] cms:run7@cta 41250 903118 {0:""}',
}


@pytest.mark.parametrize("number", TEXTS)
def test_an_object_says_what_the_text_of_the_same_event_says(number: int):
    found = record("dcache-json", FORMATS["dcache-json"].examples[number])
    settings = settings_of(FORMATS["dcache"], "UTC", datetime(2024, 3, 5).date())
    (text,) = parse(FORMATS["dcache"], [TEXTS[number]], settings).to_dicts()
    if number == 1:  # the text of an unknown size is 0
        assert text.pop("size_bytes") == 0
        assert found.pop("size_bytes") is None
    if found["event_at"]:
        assert found["event_at"].replace(microsecond=0) == text.pop("event_at")
        del found["event_at"]
    assert {name: found[name] for name in found if found[name] != text[name]} == {}


def test_a_door_removes_a_file_and_a_pool_a_copy():
    removed, freed, asked = (
        record("dcache-json", FORMATS["dcache-json"].examples[number]) for number in (6, 7, 8)
    )
    assert (removed["table"], removed["kind"], removed["archive_path"]) == (
        *("namespace_events", "delete"),
        "/data/w/index.dat",
    )
    assert {freed["ignored"], asked["ignored"]} == {"another message of a door or pool"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": {"code": -1, "msg": "x"}}, {"is_failed": True, "status_code": -1, "status_text": "x"}),
        ({"status": {"code": 0, "msg": ""}}, {"is_failed": False, "status_code": 0, "status_text": None}),
        ({"billingPath": "Unknown"}, {"archive_path": "0000FA09235CA0974697AB93F00FFEA61621"}),
        (
            {"protocolInfo": {"protocol": "NFS4", "host": "2001:db8::1"}},
            {"interface": "nfs", "host": "2001:db8::1"},
        ),
        ({"protocolInfo": {"protocol": "RemoteHttpDataTransfer"}}, {"interface": "dcache", "host": None}),
        ({"protocolInfo": None}, {"interface": "dcache", "host": None}),
        ({"transferSize": 0}, {"size_bytes": 0}),
        ({"date": "2024-07-05T09:14:22Z"}, {"event_at": datetime(2024, 7, 5, 9, 14, 22, tzinfo=UTC)}),
        ({"isWrite": "neither"}, {"rejected": "not a line of this format"}),
    ],
)
def test_values_of_an_object(changes: dict[str, object], expected: dict[str, object]):
    found = record("dcache-json", change(0, **changes))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("protocol", "interface", "host"),
    [
        ("GFtp-2.0 192.0.2.7 60893", "gridftp", "192.0.2.7"),
        ("DCap-3.0,n7.example.org:24045", "dcap", "n7.example.org"),
        ("Http-1.1:0:0:0:0:0:0:0:1:0:WebDAV-d:dDomain:/a", "http", "0:0:0:0:0:0:0:1"),
        ("RemoteHttpDataTransfer-1.1:192.0.2.7:0", "dcache", "192.0.2.7"),
        ("null", "dcache", None),
    ],
)
def test_the_protocol_of_a_hit_names_the_client(protocol: str, interface: str, host: str | None):
    found = record("dcache-json", change(3, protocol=protocol, cached=True))
    assert (found["table"], found["interface"], found["host"]) == ("opens", interface, host)
    assert found["is_cached"] is True


def test_the_sample_of_dcache_is_read(sample_logs: Path):
    found = read_sample(sample_logs, "dcache-billing-json.constructed.log", "dcache-json")
    assert [each["table"] for each in found] == ["transfers", "stages", "opens"]


# XRootD's cache


def test_a_cached_file_was_read_from_its_open_to_its_close(sample_logs: Path):
    head, found = read_sample(sample_logs, "xrdpfc-gstream.real.log", "xrdpfc")
    assert head["ignored"] == "a datagram's head"
    assert (found["table"], found["direction"]) == ("transfers", "get")
    assert found["size_bytes"] == 362_827_532 + 5_699_773
    assert found["duration_s"] == 1_618_638_245 - 1_618_638_031
    assert found["event_at"] == datetime.fromtimestamp(1_618_638_245, UTC)
    assert found["archive_path"].endswith("EVNT.18541195._000368.pool.root.1")


def test_a_read_through_xrootds_cache_has_three_kinds_of_bytes(sample_logs: Path):
    lines = (sample_logs / TODAY / "xrdpfc-gstream.real.log").read_text().splitlines()
    format_ = FORMATS["xrdpfc"]
    (found,) = format_.parse_further(pl.Series(lines), settings_of(format_, "UTC")).to_dicts()
    assert found["table"] == "cache_reads"
    assert [found[name] for name in ("hit_bytes", "missed_bytes", "bypassed_bytes")] == [
        362_827_532,
        5_699_773,
        0,
    ]
    assert found["event_at"] == datetime.fromtimestamp(1_618_638_245, UTC)
    assert found["archive_path"].endswith("EVNT.18541195._000368.pool.root.1")


def test_an_object_of_xrootd_may_end_with_nul():
    line = FORMATS["xrdpfc"].examples[1]
    assert record("xrdpfc", f"{line}\x00") == record("xrdpfc", line)


# SAM-QFS


def test_each_copy_of_a_file_is_a_migration(sample_logs: Path):
    found = read_sample(sample_logs, "samqfs-archiver.real.log", "samqfs")
    assert [each["table"] for each in found].count("migrations") == 10
    assert [each["archive_path"] for each in found[5:9]] == ["myfile", "seg/aa/1", "seg/aa/2", "seg/aa/3"]
    assert found[9]["size_bytes"] == 1_136_048
    assert {each["ignored"] for each in found[:5]} == {
        "a directory, a link, a removable-media file or an index"
    }


@pytest.mark.parametrize(
    ("path", "ending"),
    [("a b", " f 0 51"), ("a f 1 2", " f 0 51"), ("a d 0 1", " S 3 0"), ("a", ""), ("a b c 1", "")],
)
def test_a_path_of_the_archiver_may_contain_blanks(path: str, ending: str):
    line = f"A 2003/10/23 13:30:24 lt E00012 set.1 810d8.1 qfs2 119571.301 7 {path}{ending}"
    assert record("samqfs", line)["archive_path"] == path


def test_a_stage_of_the_stager_finished_or_failed(sample_logs: Path):
    failed, finished, began = read_sample(sample_logs, "samqfs-stager.real.log", "samqfs")
    assert (failed["is_failed"], finished["is_failed"]) == (True, False)
    assert (finished["archive_path"], finished["size_bytes"], finished["user"]) == (
        "/sam9/rdump",
        15_703,
        "root",
    )
    assert (began["table"], began["kind"]) == ("stage_events", "started")
    assert (began["archive_path"], began["size_bytes"], began["copy_number"]) == (
        "/sam1/testdir0/fileez",
        1_428_718,
        1,
    )
    assert (began["vsn"], began["drive"]) == ("disk01", None)
    line = "F 2004/02/03 14:37:41 lt CFX598 5410.23 15339.5 15703 /sam9/a 1 b 2 1 kim other lee 42 V"
    assert (record("samqfs", line)["archive_path"], record("samqfs", line)["user"]) == (
        "/sam9/a 1 b 2",
        "lee",
    )


# CTA

NO_TOTALS = "totals of a session without a status, or of one that reads and writes no files"
# What `Tape session finished` of the samples says, but for the sum of its waits.
TOTALS = {
    **{"mount_key": "4711", "task": "stage", "requester": None, "vsn": "L00001", "tape_type": "LTO9"},
    **{"drive": "LIB1-LTO9-F01C1R1", "location": "LIB1", "is_mounted": True, "is_failed": False},
    **{"file_count": 1, "size_bytes": 5 * 10**9, "duration_s": 161.8, "mount_s": 44.8, "position_s": 36.1},
    **{"transfer_s": 14.2, "flush_s": 0.0, "unload_s": 40.1, "dismount_s": 22.0},
}


@pytest.mark.parametrize("version", ["5.11.9", "5.11.20"])
def test_a_session_of_cta_is_read_in_whatever_order_its_parameters_are(sample_logs: Path, version: str):
    found = read_sample(sample_logs, f"cta-taped-json-{version}.constructed.log", "cta")
    facts = {each["kind"] or each["table"]: each for each in found if each["table"]}
    read, staged = facts["transferred"], facts["stages"]
    assert (read["vsn"], read["drive"], read["block_offset"]) == ("L00001", "LIB1-LTO9-F01C1R1", 129_340)
    assert (read["size_bytes"], read["capability"], read["requester"]) == (5 * 10**9, "4526908306", "client")
    assert read["event_at"] == datetime(2025, 8, 17, 6, 21, 59, 250_000, tzinfo=UTC)
    assert (staged["duration_s"], staged["size_bytes"], staged["archive_path"]) == (
        14.36,
        5 * 10**9,
        "4526908306",
    )
    assert staged["is_failed"] is False
    assert (staged["vsn"], staged["drive"]) == ("L00001", "LIB1-LTO9-F01C1R1")
    totals = facts["mount_summaries"]
    assert {name: totals[name] for name in TOTALS} == TOTALS
    assert totals["wait_s"] == pytest.approx(0.45, abs=1e-9)
    assert {each["ignored"] for each in found} <= {None, "another message"}


@pytest.mark.study("ingest")
@pytest.mark.parametrize("old_vid", ["vid", "TPVID"])
def test_older_names_of_cta_say_the_same(old_vid: str):
    """CTA 4.x called the cartridge and the drive otherwise, and wrote no function before some messages."""
    renamed = {"tapeVid": old_vid, "tapeDrive": "unitName"}
    for line in FORMATS["cta"].examples:
        at = datetime.fromtimestamp(json.loads(line)["epoch_time"], UTC)
        own = write_text(line, f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00")
        older = own
        for name, old in renamed.items():
            older = older.replace(f" {name}=", f" {old}=")
        for function in ("In Scheduler::queueRetrieve(): ", "In Scheduler::getNextMount(): "):
            older = older.replace(function, "")
        assert older != own or "tapeVid" not in own
        assert record("cta-syslog", older) == record("cta-syslog", own)


def test_real_lines_of_cta_are_no_facts_yet(sample_logs: Path):
    found = read_sample(sample_logs, "cta-taped-json.real-cut.log", "cta")
    assert [each["ignored"] for each in found] == ["another message"] * 2


@pytest.mark.parametrize(
    ("number", "changes", "expected"),
    [
        (3, {"isRepack": True}, {"requester": "repacker"}),
        (3, {"isRepack": "1"}, {"requester": "repacker"}),
        (3, {"isRepack": "0"}, {"requester": "client"}),
        (
            3,
            {"message": "Error reading a file in TapeReadFileTask"},
            {"is_failed": True, "kind": "transferred"},
        ),
        (4, {"message": "File writing to disk failed"}, {"is_failed": True, "table": "stages"}),
        (4, {"message": "File successfully verified"}, {"ignored": "another message"}),
        (6, {"message": "Cleaner dismounted tape"}, {"kind": "dismounted"}),
        (9, {}, {"kind": "mounted", "vsn": "L00001", "drive": "LIB1-LTO9-F01C1R1"}),
        (9, {"message": "Tape mounted for read/write access"}, {"kind": "mounted"}),
        (9, {"message": "Tape mounted and drive ready"}, {"ignored": "another message"}),
        (10, {}, {"table": "mount_summaries", "task": "migration", "requester": "client", "flush_s": 2.4}),
        (10, {"mountType": "ArchiveForRepack"}, {"task": "migration", "requester": "repacker"}),
        (10, {"mountType": "Label"}, {"ignored": NO_TOTALS}),
        (10, {"status": "in_progress"}, {"ignored": NO_TOTALS}),
        (10, {"status": None}, {"ignored": NO_TOTALS}),
        (10, {"status": "failure", "wasTapeMounted": "0"}, {"is_failed": True, "is_mounted": False}),
        (10, {"wasTapeMounted": None}, {"is_mounted": None, "is_failed": False}),
        (10, {"wasTapeMounted": "1"}, {"is_mounted": True}),
        (10, {"waitDataTime": None, "waitReportingTime": "0.5"}, {"wait_s": 1.4}),
        (
            6,
            {"epoch_time": "1755411782.5"},
            {"event_at": datetime(2025, 8, 17, 6, 23, 2, 500_000, tzinfo=UTC)},
        ),
        (4, {"totalTime": 1e-06}, {"duration_s": 1e-06}),
    ],
)
def test_values_of_cta(number: int, changes: dict[str, object], expected: dict[str, object]):
    line = json.dumps(json.loads(FORMATS["cta"].examples[number]) | changes)
    found = record("cta", line)
    assert {name: found[name] for name in expected} == expected


def write_text(line: str, time: str) -> str:
    """Write an object of CTA as pairs: without what only objects have, and with 0 and 1 as flags."""
    said = json.loads(line)
    names = {"log_level": "LVL", "pid": "PID", "tid": "TID", "message": "MSG"}
    only_of_objects = {
        *("epoch_time", "local_time", "hostname", "program", "drive_name", "instance", "sched_backend"),
        *("cta_version", "log_schema_version", "source_location"),
    }
    values = {key: int(each) if isinstance(each, bool) else each for key, each in said.items()}
    pairs = [f'{names.get(key, key)}="{each}"' for key, each in values.items() if key not in only_of_objects]
    return f"{time} {said['hostname']} {said['program']}: {' '.join(pairs)} "


@pytest.mark.study("ingest")
@pytest.mark.parametrize("number", range(len(FORMATS["cta"].examples)))
def test_pairs_of_cta_say_what_its_objects_say(number: int):
    line = FORMATS["cta"].examples[number]
    at = datetime.fromtimestamp(json.loads(line)["epoch_time"], UTC)
    expected = record("cta", line)
    assert record("cta-syslog", write_text(line, f"{at:%Y-%m-%dT%H:%M:%S.%f}+00:00")) == expected
    own = write_text(line, f"{at:%b %d %H:%M:%S.%f}")
    text = FORMATS["cta-text"]
    settings = settings_of(text, "UTC", at.date())
    for each in (own, f"[{at.timestamp():.9f}] {own}", own.replace(f"{at:.%f}", f"{at:.%f}999", 1)):
        assert parse(text, [each], settings).to_dicts() == [expected], each


def test_real_pairs_of_cta_are_known(sample_logs: Path):
    """Real lines of CERN's frontend and of RAL's tape servers say nothing of files on tape."""
    text, syslog = FORMATS["cta-text"], FORMATS["cta-syslog"]
    for name, other_count in (("cta-frontend-kv.real.log", 0), ("cta-taped-kv.real.log", 3)):
        lines = (sample_logs / TODAY / name).read_text().splitlines()
        settings = settings_of(text, "UTC", datetime(2024, 3, 13).date())
        found = parse(text, lines, settings).to_dicts()
        assert [each["ignored"] for each in found].count("another message") == len(lines) - other_count
        found = parse(syslog, lines).to_dicts()
        assert [each["ignored"] or each["table"] for each in found].count(None) == len(lines) - other_count


def test_constructed_pairs_of_cta_become_steps_of_a_mount(sample_logs: Path):
    lines = (sample_logs / TODAY / "cta-taped-kv.constructed.log").read_text().splitlines()
    settings = settings_of(FORMATS["cta-text"], "Europe/Zurich", datetime(2025, 8, 17).date())
    found = parse(FORMATS["cta-text"], lines, settings).to_dicts()
    assert [(each["table"], each["operation"], each["ignored"]) for each in found] == [
        ("tape_events", "read from tape", None),
        ("stages", "write to disk", None),
        ("tape_events", "unmount", None),
        ("mount_summaries", "session", None),
    ]
    assert {name: found[3][name] for name in TOTALS} == TOTALS
    assert found[0]["event_at"].astimezone(UTC) == datetime(2025, 8, 17, 6, 21, 59, 250_000, tzinfo=UTC)
    assert (found[1]["size_bytes"], found[1]["duration_s"]) == (5_000_000_000, 14.36)


def test_actions_of_the_hpss_connector_become_name_space_events(sample_logs: Path):
    found = read_sample(sample_logs, "hpss-connector.real.log", "hpss-connector")
    assert [each["ignored"] for each in found] == ["an error message"] * len(found)
    *others, deleted = read_sample(sample_logs, "hpss-connector.constructed.log", "hpss-connector")
    assert [each["ignored"] for each in others] == [
        "a recall whose end is not logged",
        *["the beginning of a transfer, whose end GridFTP's own log has"] * 2,
    ]
    assert (deleted["kind"], deleted["user"], deleted["archive_path"]) == ("delete", "kim", "/home/kim/f2")
    delete, _, at_noon, renamed, *_ = FORMATS["hpss-connector"].examples
    zone = settings_of(FORMATS["hpss-connector"], "UTC")
    times = {
        delete: datetime(2020, 9, 2, 11, 31, 40, tzinfo=UTC),
        at_noon: datetime(2020, 9, 2, 12, 17, 31, tzinfo=UTC),
        at_noon.replace("12:17:31 PM", "12:17:31 AM"): datetime(2020, 9, 2, 0, 17, 31, tzinfo=UTC),
        at_noon.replace("12:17:31 PM", "11:17:31 PM"): datetime(2020, 9, 2, 23, 17, 31, tzinfo=UTC),
    }
    read = parse(FORMATS["hpss-connector"], list(times), zone)["event_at"].to_list()
    assert [each.astimezone(UTC) for each in read] == list(times.values())
    (record_,) = parse(
        FORMATS["hpss-connector"], [renamed.replace("/home/kim/f4", "/a to b/c d")], zone
    ).to_dicts()
    assert (record_["archive_path"], record_["new_archive_path"]) == ("/a to b/c d", "/home/kim/f5")


# listings of catalogues


@pytest.mark.parametrize(
    ("name", "number", "changes", "expected"),
    [
        (
            *("cta-listing", 0, {}),
            {
                **{"kind": "volume", "vsn": "L00001", "tape_type": "LTO9", "class_of_service": "vo1_raw"},
                **{"is_full": True, "is_up": None, "file_count": 3598, "size_bytes": 17_654_321_000_000},
                **{"capacity_bytes": 18 * 10**12, "state": "ACTIVE", "location": "LIB1", "drive": None},
                "event_at": datetime(2025, 8, 17, 6, tzinfo=UTC),
            },
        ),
        ("cta-listing", 0, {"full": False, "occupancy": 0}, {"is_full": False, "size_bytes": 0}),
        (
            *("cta-listing", 1, {}),
            {
                "kind": "drive",
                "drive": "LIB1-LTO9-F01C1R1",
                "is_up": True,
                "task": "stage",
                "host": "tpsrv001",
            },
        ),
        ("cta-listing", 2, {}, {"is_up": False, "task": None, "vsn": None, "class_of_service": None}),
        ("cta-listing", 2, {"driveStatus": "SHUTDOWN"}, {"is_up": False}),
        ("cta-listing", 2, {"driveStatus": "UP"}, {"is_up": True}),
        ("cta-listing", 2, {"driveStatus": "UNMOUNTING"}, {"is_up": True, "state": "UNMOUNTING"}),
        ("cta-listing", 2, {"driveStatus": "UNKNOWN_DRIVE_STATUS"}, {"is_up": None}),
        ("cta-listing", 2, {"driveStatus": None}, {"is_up": None, "state": None}),
        (
            *("cta-listing", 3, {}),
            {"kind": "queue", "task": "migration", "vsn": None, "file_count": 120, "size_bytes": 6 * 10**11},
        ),
        ("cta-listing", 3, {}, {"started_at": datetime(2025, 8, 17, 5, tzinfo=UTC), "duration_s": None}),
        ("cta-listing", 3, {"oldestAge": None}, {"started_at": None, "file_count": 120, "rejected": None}),
        ("cta-listing", 3, {"oldestAge": 0}, {"started_at": datetime(2025, 8, 17, 6, tzinfo=UTC)}),
        ("cta-listing", 3, {"oldestAge": "soon"}, {"rejected": UNRECOGNISED}),
        ("cta-listing", 2, {}, {"started_at": datetime(2025, 8, 16, 6, tzinfo=UTC)}),
        # Four years, which is longer than any duration may be; and a time that the catalogue does not have.
        (
            *("cta-listing", 2, {"driveStatusSince": 1461 * 86400}),
            {"started_at": datetime(2021, 8, 17, 6, tzinfo=UTC), "rejected": None},
        ),
        ("cta-listing", 2, {"driveStatusSince": 1_755_410_400}, {"started_at": None, "rejected": None}),
        ("cta-listing", 2, {"driveStatusSince": "9" * 30}, {"started_at": None, "rejected": None}),
        ("cta-listing", 2, {"driveStatusSince": -5}, {"started_at": None, "rejected": None}),
        ("cta-listing", 3, {"mountType": "RETRIEVE"}, {"task": "stage"}),
        ("cta-listing", 3, {"mountType": "ARCHIVE_FOR_REPACK"}, {"task": "migration"}),
        ("snapshot", 0, {}, {"kind": "volume", "interface": "hpss", "is_full": True, "file_count": 81_240}),
        ("snapshot", 0, {"system": None}, {"interface": "catalogue"}),
        ("snapshot", 0, {"kind": "shelf"}, {"rejected": UNRECOGNISED}),
        ("snapshot", 0, {"task": "repack"}, {"rejected": UNRECOGNISED}),
        (
            *("snapshot", 1, {}),
            {"is_up": False, "started_at": datetime(2025, 8, 16, 20, 14, tzinfo=UTC), "state": "LOCKED"},
        ),
        ("snapshot", 1, {"since": "2025-08-18T00:00:00Z"}, {"rejected": START_AFTER_END}),
        (
            *("snapshot", 2, {}),
            {
                "archive_path": "/home/k/run7/out.tar",
                "user": "kim",
                "account": "climate",
                "size_bytes": 2**30,
            },
        ),
        ("snapshot", 3, {"files": None}, {"file_count": None, "size_bytes": 812_345_678_901_234}),
    ],
)
def test_items_of_listings(name: str, number: int, changes: dict[str, object], expected: dict[str, object]):
    said = json.loads(FORMATS[name].examples[number])
    found = record(name, json.dumps(said | changes))
    assert {each: found[each] for each in expected} == expected


@pytest.mark.parametrize("number", range(4))
def test_a_listing_is_the_same_as_json_and_as_csv(number: int):
    said = json.loads(FORMATS["snapshot"].examples[number])
    names = next(csv.reader([FORMATS["snapshot-csv"].examples[0]]))
    assert said.keys() <= set(names)
    texts = {key: {True: "true", False: "false"}.get(value, value) for key, value in said.items()}
    row = io.StringIO()
    csv.DictWriter(row, names, lineterminator="", quoting=csv.QUOTE_MINIMAL).writerow(texts)
    ours = FORMATS["snapshot-csv"].examples[number + 1]
    assert row.getvalue() == ours.replace('"', "").replace("7/out,1.tar", "7/out.tar")
    assert record("snapshot-csv", row.getvalue()) == record("snapshot", json.dumps(said))
    shorter = row.getvalue().rpartition(",")[0]
    assert record("snapshot-csv", shorter)["rejected"] == UNRECOGNISED


# IBM's TS4500


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("_L00001L9", "L00001L9", {"vsn": "L00001L9"}),
        ("_L00001L9", "", {"vsn": None}),
        (",41250,0,98731,", ",41250,0,,", {"size_bytes": 0}),
        ("09:14.22", "09:14.60", {"rejected": "no such date or time"}),
        (
            ",98731,12,",
            ",98731,,",
            {"duration_s": None, "event_at": datetime(2024, 3, 5, 9, 14, 22, tzinfo=UTC)},
        ),
        (",98731,12,,231,0,0,2,0", ",98731,12,", {"duration_s": 720.0}),
        (",98731,12,,231,0,0,2,0", ",98731,12", {"rejected": "not a line of this format"}),
        (",1,3,LIB1", ',1,3,"LIB, 1"', {"location": "LIB, 1"}),
    ],
)
def test_cells_of_a_mount_history(old: str, new: str, expected: dict[str, object]):
    line = FORMATS["ts4500"].examples[0]
    assert old in line
    (found,) = parse(
        FORMATS["ts4500"], [line.replace(old, new)], settings_of(FORMATS["ts4500"], "UTC")
    ).to_dicts()
    assert {name: found[name] for name in expected} == expected


def test_a_mount_whose_minutes_are_not_reported_has_no_dismount():
    format_ = FORMATS["ts4500"]
    line = format_.examples[0].replace(",98731,12,", ",98731,,")
    further = format_.parse_further(pl.Series([line]), settings_of(format_, "UTC"))
    assert further["kind"].to_list() == ["mounted"]


# ACSLS


def test_the_first_line_of_an_entry_says_when_and_what(sample_logs: Path):
    lines = pl.Series((sample_logs / TODAY / "acsls-stats.real.log").read_text().splitlines())
    format_ = FORMATS["acsls"]
    unfolded = format_.make_unfold()(lines).to_list()
    assert unfolded == [
        "2016-09-13 04:46:52 MOUNT",
        "2016-09-13 04:46:52 MOUNT 101240 Home 0,3,33,4,1 Drive 0,3,1,0 Client Host Id 198.51.100.11",
        "",
        "2016-09-13 04:47:00 DISMOUNT",
        "2016-09-13 04:47:00 DISMOUNT 103868 Home 0,3,46,15,0 Drive 0,3,1,1 Client Host Id 198.51.100.11",
        "",
    ]
    # However the lines are cut into blocks, and if they are unfolded already.
    for length in range(1, len(lines)):
        unfold = format_.make_unfold()
        assert [*unfold(lines[:length]), *unfold(lines[length:])] == unfolded
    assert format_.make_unfold()(pl.Series(unfolded)).to_list() == unfolded
    found = parse(format_, unfolded, settings_of(format_, "UTC")).to_dicts()
    assert [(each["kind"], each["vsn"], each["drive"]) for each in found if each["table"]] == [
        ("mounted", "101240", "0,3,1,0"),
        ("dismounted", "103868", "0,3,1,1"),
    ]


def test_a_line_that_has_lost_its_first_line_is_rejected():
    first, second = "2016-09-13 04:46:52 ENTER", "101240 Home 0,3,33,4,1 Cap 0,3,0 Client Host Id n7"
    mount = second.replace("Cap 0,3,0", "Drive 0,3,1,0")
    lines = [mount, first, second, second, "", mount, first + " ", "nonsense"]
    unfolded = FORMATS["acsls"].make_unfold()(pl.Series(lines))
    found = parse(FORMATS["acsls"], unfolded.to_list()).to_dicts()
    assert [each["rejected"] is not None for each in found] == [
        *(True, False, False, False),
        *(False, True, False, False),
    ]
    assert all(each["table"] is None for each in found)


# NcFTPd


@pytest.mark.parametrize(
    ("number", "old", "new", "expected"),
    [
        (0, "10:16:08 #u4     |", "10:16:08.250 (main) |", {"user": "kim", "direction": "get"}),
        (0, ",OK,I,Po,1294215368,TSQoxwAEEbkA,41,0,", ",OK,", {"is_failed": False, "size_bytes": 41}),
        (0, ",OK,", ",INCOMPLETE,", {"is_failed": True, "status_text": "INCOMPLETE"}),
        (0, ",OK,", ",FINE,", {"rejected": "not a line of this format"}),
        (0, ",41,0.007,", ",many,0.007,", {"rejected": "not a line of this format"}),
        (0, "2011-02-06", "11/02/06", {"rejected": "not a line of this format"}),
        (3, "/.cshrc", "/a,b c.txt", {"archive_path": "/home/kim/a,b c.txt", "kind": "delete"}),
        (3, ",kim,,", ",ftp,a@b,", {"user": "ftp", "host": "192.0.2.99"}),
        (4, "2011 b.xml", "b,,c", {"new_archive_path": "/Users/ftp/docs/b", "user": "c"}),
        (4, ",ftp,kim@n7.example.org,", ",ftp,,", {"user": "ftp", "host": "localhost"}),
    ],
)
def test_fields_of_ncftpd(number: int, old: str, new: str, expected: dict[str, object]):
    line = FORMATS["ncftpd"].examples[number]
    assert old in line
    found = record("ncftpd", line.replace(old, new))
    assert {name: found[name] for name in expected} == expected


# ProFTPD's default, and HPSS's files


@pytest.mark.parametrize(
    ("name", "number", "old", "new", "expected"),
    [
        (
            *("proftpd-default", 0, "+0000", "+0200"),
            {
                **{"direction": "put", "size_bytes": 2**30, "archive_path": "/run 7/out.tar"},
                **{"host": "::ffff:192.0.2.7", "user": "kim", "is_failed": False, "duration_s": None},
                **{"event_at": datetime(2012, 11, 29, 10, 14, 40, tzinfo=UTC), "status_code": 226},
            },
        ),
        ("proftpd-default", 0, '"STOR /run 7/out.tar"', '"STOU"', {"archive_path": None, "direction": "put"}),
        ("proftpd-default", 0, "STOR", "APPE", {"direction": "put"}),
        # A name that has quotation marks, and a path that is relative.
        ("proftpd-default", 0, "/run 7/", '/a" 226 5/', {"archive_path": '/a" 226 5/out.tar'}),
        ("proftpd-default", 1, "UNKNOWN ftp", "kim kim", {"archive_path": None, "direction": "get"}),
        ("proftpd-default", 1, " ftp ", " UNKNOWN ", {"user": None}),
        ("proftpd-default", 1, "226", "426", {"is_failed": True, "status_code": 426}),
        ("proftpd-default", 2, "RETR", "RETR", {"is_failed": True, "size_bytes": None}),
        ("proftpd-default", 3, "DELE", "DELE", {"kind": "delete", "archive_path": "/run 7/old.tar"}),
        # Clients may send commands in lower case.
        ("proftpd-default", 0, "STOR", "stor", {"direction": "put", "size_bytes": 2**30}),
        ("proftpd-default", 1, "RETR", "retr", {"direction": "get", "size_bytes": 2**19}),
        ("proftpd-default", 3, "DELE", "Dele", {"kind": "delete"}),
        ("proftpd-default", 4, "CWD", "cwd", {"ignored": "another command"}),
        ("proftpd", 0, "STOR", "appe", {"direction": "put", "size_bytes": 2**30}),
        ("proftpd", 1, "RETR", "Retr", {"direction": "get"}),
        ("proftpd", 3, "DELE", "dele", {"kind": "delete"}),
        ("proftpd", 4, "RNTO", "rnto", {"ignored": "another command"}),
        # What moves or deletes files is never taken for another command.
        *(
            ("proftpd-default", 0, '"STOR /run 7/out.tar" 226', f'"{word} /a" 2', {"rejected": UNRECOGNISED})
            for word in ("STOR", "STOU", "APPE", "RETR", "DELE", "dele")
        ),
        *(
            ("proftpd-default", 4, "CWD", word, {"ignored": "another command"})
            for word in ("RNFR", "RNTO", "REST", "REIN", "RMD", "STAT", "STRU", "SITE", "ABOR", "DIRS", "-")
        ),
        (
            *("hpss-listing", 0, "06:00:00Z", "08:00:00+02:00"),
            {
                **{"kind": "file", "archive_path": "/home/k/run 7/out.tar", "size_bytes": 2**30},
                **{"vsn": "JE1001", "event_at": datetime(2025, 8, 17, 6, tzinfo=UTC), "interface": "hpss"},
            },
        ),
        ("hpss-listing", 0, "\tJE100100\t12\t0\t1", "\tJE1001", {"vsn": "JE1001"}),
        ("hpss-listing", 0, "JE100100", "", {"vsn": None, "size_bytes": 2**30}),
        ("hpss-listing", 1, "notes", "notes", {"vsn": None, "size_bytes": 5120}),
        ("hpss-listing", 1, "\t5120\t5120", "\tmany\t5120", {"rejected": UNRECOGNISED}),
        ("hpss-listing", 2, "/home/k", "/home/k/a b", {"ignored": "a folder"}),
    ],
)
def test_fields_of_listed_commands_and_files(
    name: str, number: int, old: str, new: str, expected: dict[str, object]
):
    line = FORMATS[name].examples[number]
    assert old in line
    found = record(name, line.replace(old, new))
    assert {each: found[each] for each in expected} == expected


@pytest.mark.study("ingest")
@pytest.mark.parametrize(
    "name",
    [
        *("cta", "cta-text", "cta-syslog", "dcache-json", "xrdpfc", "samqfs", "hpss-connector"),
        *("cta-listing", "snapshot", "snapshot-csv", "ts4500", "acsls", "ncftpd"),
        *("proftpd-default", "hpss-listing"),
    ],
)
def test_no_line_of_another_sample_is_a_fact(sample_logs: Path, name: str):
    own = {
        "dcache-json": ("dcache-billing-json",),
        "cta": ("cta-taped-json",),
        "cta-text": ("cta-taped-kv", "cta-frontend-kv"),
        "cta-syslog": ("cta-taped-kv",),
    }.get(name, (name,))
    for path in sorted((sample_logs / TODAY).glob("*.log")):
        if not path.name.startswith(own):
            settings = settings_of(FORMATS[name], "UTC", datetime(2024, 3, 13).date())
            found = parse(FORMATS[name], path.read_text().splitlines(), settings)
            assert found["table"].null_count() == found.height, path
