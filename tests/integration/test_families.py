"""Client lines, SDSC's records, SRB sessions and dCache's billing, from their files to the views."""

import itertools
import json
import random
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.commands.output import describe_result, result_to_json
from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.upkeep.explanations import explain_line, explain_row
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.report.section import Scope, ask
from tapewise.report.sections import failures
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tests.conftest import NOW
from tests.integration.evidence import check_warehouse, read_facts

pytestmark = pytest.mark.study("examples", "ingest", "schema", "sql")

Load = Callable[..., FileResult]

FAMILIES = (
    "hsi-client",
    "sdsc",
    "srb",
    "dcache",
    "dcache-json",
    "xrdpfc",
    "samqfs",
    "cta",
    "cta-text",
    "cta-syslog",
    "hpss-connector",
    "cta-listing",
    "snapshot",
    "snapshot-csv",
    "ts4500",
    "acsls",
    "ncftpd",
    "proftpd-default",
    "hpss-listing",
)
# File names for formats whose lines lack the day or the year.
NAMES = {"hsi-client": "hsi.2019-03-05.log", "dcache": "billing-2019.03.05", "cta-text": "cta-taped-20250817"}


def write(folder: Path, name: str, lines: list[str] | tuple[str, ...], file: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / (file or NAMES.get(name, f"{name}.log"))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def write_examples(folder: Path, name: str) -> Path:
    return write(folder, name, FORMATS[name].examples)


def fetch(warehouse: Warehouse, query: str, role: Role = Role.OWNER) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(role)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("name", FAMILIES)
def test_each_example_is_accounted_for_once_and_its_row_leads_to_its_line(
    warehouse: Warehouse, load: Load, tmp_path: Path, name: str
) -> None:
    examples = FORMATS[name].examples
    path = write_examples(tmp_path, name)
    tally = load(path, name).tally
    assert tally.line_count == len(examples)
    assert not tally.rejected
    copy = write_examples(tmp_path / "copy", name)
    assert load(copy, name).tally.loaded_count == 0
    check_warehouse(warehouse)
    found = set()
    for table in tally.loaded:
        for row_id, number in fetch(warehouse, f"SELECT id, line_number FROM core.{table}"):
            with closing(warehouse.connect(Role.LOADER)) as connection:
                fate = explain_row(connection, table, row_id)
                (held,) = explain_line(connection, copy, number, NOW)
            assert (fate.path, fate.line_number, fate.text) == (str(path), number, examples[number - 1])
            assert held.fate == f"held: loaded from {path}, line {number}"
            found.add(number)
    assert len(found) == tally.loaded_count > 0


def test_all_families_can_be_forgotten_and_dropped_completely(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    for name in FAMILIES:
        load(write_examples(tmp_path, name), name)
    tables = {table for table, rows in read_facts(warehouse).items() if rows}
    assert {"transfers", "opens", "namespace_events", "stages", "migrations", "srb_sessions"} <= tables
    forgotten = forget_detail(warehouse, "test", date(2019, 1, 1), NOW)
    assert forgotten.fact_counts["srb_sessions"] == 2 and forgotten.fact_counts["opens"] == 1
    check_warehouse(warehouse)
    for name in FAMILIES:
        drop_source(warehouse, "test", name)
    for table in FACT_TABLES:
        assert fetch(warehouse, f"SELECT count(*) FROM core.{table.name}") == [(0,)]
    assert fetch(warehouse, "SELECT count(*) FROM core.requests") == [(0,)]


# HSI and HTAR


def test_client_lines_get_the_day_of_their_file_or_the_given_one(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    examples = FORMATS["hsi-client"].examples
    load(write(tmp_path, "hsi-client", examples), "hsi-client", timezone="America/Los_Angeles")
    plain = write(tmp_path, "hsi-client", (*examples[1:], examples[0]), "job.out")
    with pytest.raises(LogFileError, match="lines have no dates"):
        load(plain, "hsi-client", timezone="America/Los_Angeles")
    load(plain, "hsi-client", timezone="America/Los_Angeles", log_date=date(2019, 3, 6))
    assert fetch(
        warehouse,
        "SELECT ended_at, count(*), count(started_at), bool_and(is_time_of_day_unknown),"
        " bool_or(is_time_ambiguous) FROM mart.transfers GROUP BY ended_at ORDER BY ended_at",
        Role.READER,
    ) == [(datetime(2019, 3, day, 20, tzinfo=UTC), 8, 0, True, False) for day in (5, 6)]
    check_warehouse(warehouse)
    # These transfers count towards their days, but not towards hours or idle intervals.
    assert fetch(warehouse, "SELECT sum(transfer_count) FROM mart.activity_cells", Role.READER) == [(16,)]
    for view in ("hour_profiles()", "idle_intervals()"):
        assert fetch(warehouse, f"SELECT count(*) FROM mart.{view}", Role.READER) == [(0,)]
    left_out = "SELECT DISTINCT left_out FROM mart.trace_requests() ORDER BY left_out"
    assert fetch(warehouse, left_out, Role.READER) == [("failed",), ("unknown time",)]


def test_the_day_of_a_file_is_shown_with_its_origin(load: Load, tmp_path: Path) -> None:
    lines = FORMATS["hsi-client"].examples[:2]
    named = write(tmp_path, "hsi-client", lines, "slurm-140916.2019-03-05.out")
    numbered = write(tmp_path, "hsi-client", lines[:1], "slurm-140916.out")
    said = {"log_date": "2019-03-05", "log_date_from": "name"}
    for _ in ("first reading", "unchanged"):
        result = load(named, "hsi-client")
        assert describe_result(result)[1] == "  as of 2019-03-05: the date in its name"
        assert result_to_json(result).items() >= said.items()
    with pytest.raises(LogFileError, match="the lines have no dates, and the name has no date") as raised:
        load(numbered, "hsi-client")
    assert "--date 1998-05-05" in (raised.value.hint or "")
    result = load(numbered, "hsi-client", log_date=date(2019, 3, 6))
    assert describe_result(result)[1] == "  as of 2019-03-06: given by --date"
    assert result_to_json(result)["log_date_from"] == "--date"
    # Lines with dates of their own need none from the file.
    result = load(write(tmp_path, "srb", FORMATS["srb"].examples, "srb.2019-03-05.log"), "srb")
    assert result.log_date is None and result_to_json(result)["log_date"] is None


def test_a_file_dated_in_the_future_is_not_taken_for_another_format(load: Load, tmp_path: Path) -> None:
    lines = FORMATS["hsi-client"].examples[:2]
    log_format = FORMATS["hsi-client"]
    path = write(tmp_path, "hsi-client", lines, "slurm-20300101.out")
    ahead = load(path, "hsi-client").find_fault(log_format)
    assert ahead is not None and ahead.message.endswith(
        "slurm-20300101.out: all of its lines are rejected, as time outside the source's window, read as of"
        " 2030-01-01: the date in its name"
    )
    assert "--date" in (ahead.hint or "")
    other = load(write(tmp_path, "hsi-client", ["nonsense"]), "hsi-client").find_fault(log_format)
    assert other is not None and other.message.endswith("no line of it is in format hsi-client")
    assert (
        load(write(tmp_path, "hsi-client", lines, "a.2019-03-05"), "hsi-client").find_fault(log_format)
        is None
    )


def test_a_line_that_occurs_twice_in_a_file_counts_twice(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    lines = [FORMATS["hsi-client"].examples[0]] * 2
    assert load(write(tmp_path, "hsi-client", lines), "hsi-client").tally.loaded_count == 2
    # Identical lines in two files of the same day are taken for a copy.
    other = write(tmp_path, "hsi-client", lines, "other.2019-03-05.log")
    assert load(other, "hsi-client").tally.loaded_count == 0
    check_warehouse(warehouse)


def test_failed_runs_are_failures_in_the_report(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    lines = [
        *FORMATS["hsi-client"].examples[:4],
        "HTAR: a   run/1",
        "ERROR: hpss_WriteList error -27 - aborting",
        "HTAR: HTAR FAILED",
        "            72 = /usr/bin/htar -cvf /k/a.tar run",
        "HTAR: HTAR FAILED",
        "*** get: No such file or directory [-2: HPSS_ENOENT]",
    ]
    tally = load(write(tmp_path, "hsi-client", lines), "hsi-client", archive="report").tally
    assert (tally.loaded, tally.rejected.total()) == ({"transfers": 6, "opens": 1}, 0)
    with closing(warehouse.connect(Role.READER)) as connection:
        (answer,) = ask(connection, Scope("report"), [failures.SECTION])
    assert [row[:5] for row in answer.rows] == [
        ("transfer", "hsi", "get", -2, 1),
        ("transfer", "htar", "put", None, 1),
        ("open", "htar", None, None, 1),
    ]
    assert fetch(warehouse, "SELECT count(*) FROM mart.transfers WHERE NOT is_failed") == [(4,)]
    check_warehouse(warehouse)


# SDSC


SDSC = [
    # A get that was opened first and staged for 72 s, and a put without an open.
    "1998-04-21 09:14:09\t71.902\tt3e\t0\t/home/k/in\tkim\tread\tftpopen\t5\t-\thpss07",
    "1998-04-21 09:14:22\t12.480\tt3e\t104857600\t/home/k/in\tkim\tread\tftpget\t-\t8402.1\thpss07",
    "1998-04-21 09:20:51\t0.310\tweb2\t524288\t/home/w/index\twww\twrite\tftpstor\t2\t1691.3\thpss03",
    # Another user's open of the same file, from disk. Then an open and a transfer that do not match, because
    # they name different machines.
    "1998-04-21 09:30:00\t0.200\tt3e\t0\t/home/k/in\tlee\tread\thsiopen\t5\t-\thpss07",
    "1998-04-21 09:30:05\t4.000\tt3e\t104857600\t/home/k/in\tlee\tread\thsiget\t5\t26214.4\thpss07",
    "1998-04-21 09:40:00\t30.000\tt3e\t0\t/home/k/b\tkim\tread\tftpopen\t5\t-\thpss07",
    "1998-04-21 09:41:00\t5.000\tt90\t100\t/home/k/b\tkim\tread\tftpget\t5\t0.02\thpss07",
]
PAIRS = [
    ("open, transfer", "ftp", "get", "5", 71.902, 12.48, False),
    ("transfer", "ftp", "put", "2", None, 0.31, None),
    ("open, transfer", "hsi", "get", "5", 0.2, 4.0, True),
    ("open", "ftp", "get", "5", 30.0, None, False),
    ("transfer", "ftp", "get", "5", None, 5.0, None),
]
REQUESTS = (
    "SELECT reported_by, interface, direction, class_of_service, open_s, duration_s, is_cached"
    " FROM mart.requests ORDER BY ended_at"
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_sdscs_opens_and_transfers_are_paired_whatever_their_order(
    warehouse: Warehouse, load: Load, tmp_path: Path, order: tuple[int, ...]
) -> None:
    files = [write(tmp_path, "sdsc", SDSC[n::3], f"{n}.log") for n in range(3)]
    for number in order:
        load(files[number], "sdsc")
    assert fetch(warehouse, REQUESTS, Role.READER) == PAIRS
    (waited,) = fetch(warehouse, "SELECT waited_s FROM mart.requests ORDER BY ended_at LIMIT 1")
    # Requested at 09:12:57.098, opened at 09:14:09, begun at 09:14:09.52.
    assert waited[0] == pytest.approx(72.422)
    check_warehouse(warehouse)


# SRB


def test_sessions_are_not_traffic(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    load(write_examples(tmp_path, "srb"), "srb")
    assert fetch(
        warehouse, 'SELECT "use", session_s, opened_at FROM mart.srb_sessions ORDER BY closed_at', Role.READER
    ) == [
        ("reads", 318.25, datetime(1998, 8, 11, 10, 25, 48, 750000, UTC)),
        ("writes", 90.118, datetime(1998, 8, 11, 10, 39, 24, 882000, UTC)),
    ]
    for view in ("transfers", "requests", "activity_cells"):
        assert fetch(warehouse, f"SELECT count(*) FROM mart.{view}", Role.READER) == [(0,)]


# dCache


def billing(minute: int, text: str) -> str:
    return f"03.05 09:{minute:02}:00 {text}"


HIT = '[pool:p1:hit] [{}] [{}] c:d@osm {} {{Http-1.1:{}:0:W:d:/}} {{0:""}}'
MOVED = '[pool:p1:transfer] [{}] [{}] c:d@osm 10 500 {} {{Http-1.1:{}:0:W:d:/}} [door:W@d:1] {{0:""}}'
BILLING = [
    billing(0, HIT.format("0A,10", "/a", "true", "192.0.2.1")),
    billing(1, MOVED.format("0A,10", "/a", "false", "192.0.2.1")),
    billing(2, HIT.format("0B,10", "/b", "false", "192.0.2.1")),
    billing(4, '[pool:p1@d:restore] [0B,10] [/b] c:d@osm 60000 5000 {0:""}'),
    billing(5, MOVED.format("0B,10", "/b", "false", "192.0.2.1")),
    billing(6, MOVED.format("0C,10", "/c", "true", "192.0.2.1")),
    billing(7, '[pool:p1@d:store] [0C,10] [Unknown] c:d@osm 9000 900000 {0:""}'),
    # No hit was logged for these.
    billing(8, MOVED.format("0D,10", "/d", "false", "192.0.2.2")),
    billing(10, '[pool:p1@d:restore] [0E,10] [/e] c:d@osm 60000 5000 {0:""}'),
    billing(11, MOVED.format("0E,10", "/e", "false", "192.0.2.2")),
]


def billing_object(minute: int, kind: str, file: str, path: str, **keys: object) -> str:
    """An object of dCache's billing, of an event that BILLING has as text."""
    common = {"msgType": kind, "cellType": "pool", "status": {"code": 0, "msg": ""}, "storageInfo": "c:d@osm"}
    date = f"2019-03-05T09:{minute:02}:00+00:00"
    return json.dumps({"date": date, "pnfsid": file, "billingPath": path} | common | keys)


def moved_object(minute: int, file: str, path: str, host: str, way: str = "read") -> str:
    protocol = {"protocol": "Http", "host": host}
    keys = {"transferSize": 10, "transferTime": 500, "isWrite": way, "isP2p": False, "protocolInfo": protocol}
    return billing_object(minute, "transfer", file, path, **keys)


FIRST, SECOND = "192.0.2.1", "192.0.2.2"
PROTOCOL = f"Http-1.1:{FIRST}:0:W:d:/"
TAKEN = {"transferTime": 60_000, "queuingTime": 5_000, "fileSize": 10}
OBJECTS = [
    billing_object(0, "hit", "0A", "/a", cached=True, protocol=PROTOCOL, filesize=10),
    moved_object(1, "0A", "/a", FIRST),
    billing_object(2, "hit", "0B", "/b", cached=False, protocol=PROTOCOL, filesize=10),
    billing_object(4, "restore", "0B", "/b", **TAKEN),
    moved_object(5, "0B", "/b", FIRST),
    moved_object(6, "0C", "/c", FIRST, "write"),
    billing_object(7, "store", "0C", "Unknown", transferTime=9_000, queuingTime=900_000, fileSize=10),
    moved_object(8, "0D", "/d", SECOND),
    billing_object(10, "restore", "0E", "/e", **TAKEN),
    moved_object(11, "0E", "/e", SECOND),
]


@pytest.mark.parametrize("name", ["dcache", "dcache-json"])
def test_hits_are_the_evidence_for_the_hit_ratio(
    warehouse: Warehouse, load: Load, tmp_path: Path, name: str
) -> None:
    load(write(tmp_path, name, BILLING if name == "dcache" else OBJECTS), name)
    assert fetch(
        warehouse,
        "SELECT reported_by, is_cached, cache_evidence, missing, stage_s, waited_s FROM mart.requests"
        " ORDER BY ended_at",
        Role.READER,
    ) == [
        ("open, transfer", True, "log", None, None, None),
        # Requested at 09:02:00; the transfer began half a second before it ended.
        ("open, stage, transfer", False, "stage", None, 60.0, 179.5),
        ("transfer", None, None, None, None, None),
        ("transfer", None, None, None, None, None),
        # The restore was requested 65 seconds before it ended.
        ("stage, transfer", False, "stage", None, 60.0, 124.5),
    ]
    assert fetch(
        warehouse,
        "SELECT get_count, cached_count, uncached_count, unknown_count, hit_ratio FROM mart.cache_hits()",
        Role.READER,
    ) == [(4, 1, 2, 1, pytest.approx(1 / 3))]
    assert fetch(warehouse, "SELECT duration_s, queue_s FROM mart.stages", Role.READER) == [(60.0, 5.0)] * 2
    assert fetch(
        warehouse,
        "SELECT size_bytes, duration_s, queue_s, started_at, migrated_at FROM mart.migrations",
        Role.READER,
    ) == [
        (10, 9.0, 900.0, datetime(2019, 3, 5, 9, 6, 51, tzinfo=UTC), datetime(2019, 3, 5, 9, 7, tzinfo=UTC))
    ]
    check_warehouse(warehouse)


# XRootD's cache


def test_a_read_of_which_the_cache_had_a_part_is_neither_hit_nor_miss(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    """The log is made up; the expected numbers are counted in its lines."""
    dice = random.Random(5)
    reads = [
        {
            **json.loads(FORMATS["xrdpfc"].examples[1]),
            "attach_t": 1_709_596_800 + 7_000 * number - 30,
            "detach_t": 1_709_596_800 + 7_000 * number,
            **dict(zip(("b_hit", "b_miss", "b_bypass"), dice.sample(parts, 3), strict=True)),
        }
        for number, parts in enumerate(dice.choices([(0, 0, 7), (2**40, 5, 0), (1, 2, 3), (0, 0, 0)], k=40))
    ]
    tally = load(write(tmp_path, "xrdpfc", [json.dumps(read) for read in reads]), "xrdpfc").tally
    assert (tally.loaded_count, tally.loaded) == (40, {"transfers": 40})
    expected: dict[date, list[int]] = {}
    for read in reads:
        day = datetime.fromtimestamp(read["detach_t"], UTC).date()
        hit, rest = read["b_hit"], read["b_miss"] + read["b_bypass"]
        counts = [1, hit > 0 == rest, hit > 0 < rest, hit == 0 < rest, hit, read["b_miss"], read["b_bypass"]]
        expected[day] = [sum(pair) for pair in zip(expected.get(day, [0] * 7), counts, strict=True)]
    assert {sum(counts[number] for counts in expected.values()) > 0 for number in range(7)} == {True}
    rows = fetch(
        warehouse,
        "SELECT starts_on, read_count, hit_count, partial_count, miss_count, hit_bytes, missed_bytes,"
        " bypassed_bytes, byte_hit_ratio FROM mart.cache_read_days",
        Role.READER,
    )
    assert {day: [int(value) for value in counts] for day, *counts, _ in rows} == expected
    for day, *_, ratio in rows:
        assert ratio == pytest.approx(expected[day][4] / sum(expected[day][4:]), rel=1e-12)
    # The bytes of a read are those of its transfer.
    assert fetch(
        warehouse,
        "SELECT count(*) FROM core.transfers JOIN mart.cache_reads USING (ended_at, file_key, size_bytes)",
    ) == [(40,)]
    assert fetch(
        warehouse,
        "SELECT get_count, cached_count, uncached_count, unknown_count, byte_hit_ratio"
        " FROM mart.cache_hits()",
        Role.READER,
    ) == [(40, 0, 0, 40, None)]
    check_warehouse(warehouse)


# CTA


def test_a_session_of_cta_is_a_mount_with_its_files(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    tally = load(write_examples(tmp_path, "cta"), "cta").tally
    # The line of the file that was written gives two facts, and counts once.
    assert (tally.line_count, tally.loaded_count, tally.ignored.total()) == (15, 11, 4)
    assert fetch(
        warehouse,
        "SELECT vsn, drive, tape_type, transfer_count, mount_s, position_s, transfer_s, lazy_wait_s,"
        " dismount_s, stay_s, size_bytes FROM mart.mounts ORDER BY vsn",
        Role.READER,
    ) == [
        ("L00001", "LIB1-LTO9-F01C1R1", "LTO9", 1, 81.0, 30.0, 14.25, 40.75, 22.0, 107.0, 5_000_000_000),
        ("L00002", "LIB1-LTO9-F01C1R2", None, 1, None, None, None, None, None, None, 2_000_000_000),
    ]
    assert fetch(
        warehouse,
        "SELECT mount_key, task, requester, vsn, drive, is_mounted, file_count, size_bytes, duration_s"
        " FROM mart.mount_summaries ORDER BY mount_key",
        Role.READER,
    ) == [
        ("4711", "stage", None, "L00001", "LIB1-LTO9-F01C1R1", True, 1, 5_000_000_000, 161.8),
        ("4712", "migration", "client", "L00002", "LIB1-LTO9-F01C1R2", True, 1, 2_000_000_000, 160.1),
    ]
    assert fetch(
        warehouse,
        "SELECT task, requester, copy_number, waited_s, transfer_s, vsn FROM mart.tape_operations"
        " ORDER BY vsn",
        Role.READER,
    ) == [
        ("stage", "client", None, pytest.approx(114.9), 14.25, "L00001"),
        ("migration", "client", None, None, None, "L00002"),
    ]
    assert fetch(
        warehouse,
        "SELECT size_bytes, duration_s, is_failed, vsn, drive FROM mart.stages"
        " UNION ALL SELECT size_bytes, duration_s, is_failed, vsn, drive FROM mart.migrations",
        Role.READER,
    ) == [
        (5_000_000_000, 14.36, False, "L00001", "LIB1-LTO9-F01C1R1"),
        (2_000_000_000, 5.72, False, "L00002", "LIB1-LTO9-F01C1R2"),
    ]
    check_warehouse(warehouse)


# IBM's libraries


def test_a_row_of_the_mount_history_is_a_mount_and_its_totals(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    tally = load(write_examples(tmp_path, "ts4500"), "ts4500").tally
    assert (tally.line_count, tally.loaded_count, tally.ignored.total()) == (4, 3, 1)
    assert tally.loaded == {"mount_summaries": 3}
    assert fetch(
        warehouse,
        "SELECT vsn, drive, mounted_at, dismounted_at, stay_s FROM mart.mounts ORDER BY mounted_at",
        Role.READER,
    ) == [
        ("L00001L9", "1-3", *at_clocks("09:14:22", "09:26:22"), 720.0),
        ("L00002L9", "2-4", *at_clocks("09:31:07", "10:18:07"), 2820.0),
        ("CLNU01L1", "1-3", *at_clocks("10:02:40", "10:04:40"), 120.0),
    ]
    assert fetch(
        warehouse,
        "SELECT vsn, location, is_mounted, started_at, ended_at, duration_s, size_bytes"
        " FROM mart.mount_summaries ORDER BY started_at",
        Role.READER,
    ) == [
        ("L00001L9", "LIB1", True, *at_clocks("09:14:22", "09:26:22"), 720.0, 98_731_000_000),
        ("L00002L9", "LIB1", True, *at_clocks("09:31:07", "10:18:07"), 2820.0, 250_800_000_000),
        ("CLNU01L1", "LIB1", True, *at_clocks("10:02:40", "10:04:40"), 120.0, 0),
    ]
    check_warehouse(warehouse)


def test_two_lines_of_acsls_are_one_event(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    entry = "2016-09-13 04:{} {}\n101240 Home 0,3,33,4,1 Drive 0,3,1,0 Client Host Id 198.51.100.11\n"
    lines = "\n".join([entry.format("46:52", "MOUNT"), entry.format("59:10", "DISMOUNT")]).splitlines()
    tally = load(write(tmp_path, "acsls", lines), "acsls").tally
    assert (tally.line_count, tally.loaded_count, tally.ignored.total()) == (5, 2, 3)
    stays = fetch(warehouse, "SELECT vsn, drive, stay_s FROM mart.mounts", Role.READER)
    assert stays == [("101240", "0,3,1,0", 738.0)]
    grown = write(tmp_path / "grown", "acsls", [*lines, "", *entry.format("59:30", "MOUNT").splitlines()])
    assert load(grown, "acsls").tally.loaded_count == 1
    with closing(warehouse.connect(Role.LOADER)) as connection:
        (last,) = explain_line(connection, grown, 8, NOW)
    assert (last.fate, last.text) == ("loaded", f"2016-09-13 04:59:30 MOUNT {lines[1]}")
    check_warehouse(warehouse)


def at_clocks(*clocks: str) -> list[datetime]:
    """These times of the examples' day."""
    return [datetime.fromisoformat(f"2024-03-05T{clock}+00:00") for clock in clocks]


# DB2


def test_reads_and_writes_within_containers_are_traffic_but_not_files(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    load(write_examples(tmp_path, "db2-containers"), "db2-containers")
    moved = "SELECT direction, size_bytes, is_of_parts FROM mart.{} ORDER BY ended_at"
    traffic = [("put", 1_048_576, True), ("get", 262_144, True)]
    for view in ("transfers", "requests"):
        assert fetch(warehouse, moved.format(view), Role.READER) == traffic
    assert fetch(warehouse, "SELECT sum(size_bytes) FROM mart.activity_cells", Role.READER) == [(1_310_720,)]
    for view in ("file_events", "file_versions()", "file_accesses()", "file_histories()", "net_growth()"):
        assert fetch(warehouse, f"SELECT count(*) FROM mart.{view}", Role.READER) == [(0,)]
        coverage = f"SELECT state, why FROM mart.coverage WHERE view_name = '{view.rstrip('()')}'"
        [(state, why)] = fetch(warehouse, coverage, Role.READER)
        assert state == "not" and why.startswith("not in this log: whole files")
    times = "SELECT open_s, seek_s FROM mart.transfers ORDER BY ended_at"
    assert fetch(warehouse, times, Role.READER) == [(0.02, 0.031), (68.02, 3.31)]
    left_out = "SELECT DISTINCT left_out FROM mart.trace_requests()"
    assert fetch(warehouse, left_out, Role.READER) == [("part of a file",)]
    # A log of whole files, loaded in addition, fills those views.
    load(write(tmp_path, "sdsc", SDSC[2:3]), "sdsc")
    assert fetch(warehouse, "SELECT size_bytes FROM mart.file_versions()", Role.READER) == [(524_288,)]
    servers = "SELECT server, count(*) FROM mart.transfers GROUP BY server ORDER BY server"
    assert fetch(warehouse, servers, Role.READER) == [("hpss03", 1), (None, 2)]
    check_warehouse(warehouse)


def test_migrations_in_a_repeated_hour_are_moved_with_their_start(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    # Clocks in Berlin went back at 3:00 on 27 October 2019.
    begin = datetime(2019, 10, 27, 1, 30)
    clocks = [begin + timedelta(minutes=10 * n) for n in range(9)] + [
        begin + timedelta(minutes=10 * n) for n in range(3, 12)
    ]
    lines = [
        f'{at:%m.%d %H:%M:%S} [pool:p1@d:store] [{n:04X},10] [Unknown] c:d@osm 9000 0 {{0:""}}'
        for n, at in enumerate(clocks)
    ]
    load(write(tmp_path, "dcache", lines, "billing-2019.10.27"), "dcache", timezone="Europe/Berlin")
    times = fetch(warehouse, "SELECT migrated_at, started_at FROM core.migrations ORDER BY line_number")
    assert [at for at, _ in times] == [
        datetime(2019, 10, 26, 23, 30, tzinfo=UTC) + timedelta(minutes=10 * n) for n in range(18)
    ]
    assert all(at - start == timedelta(seconds=9) for at, start in times)
    assert {table.name for table in FACT_TABLES} == set(event_time_columns)
    check_warehouse(warehouse)
