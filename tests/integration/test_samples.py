"""Real log lines, read from a folder next to the checkout: all are accounted for and give the right facts."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.pipeline import read_records
from tapewise.ingest.records.format import LineSettings
from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.schema.database import Role
from tests.conftest import NOW


def fetch(warehouse, query):
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(query).fetchall()


def count_newlines(path):
    return path.read_bytes().count(b"\n")


def test_hsi_log(load, warehouse, sample_logs):
    path = sample_logs / "hpss-nersc" / "hsilog.txt"
    tally = load(path, "hsi", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 62
    assert tally.loaded == {"transfers": 42, "namespace_events": 20}
    assert not tally.ignored and not tally.rejected
    assert fetch(
        warehouse, "SELECT interface, is_failed, count(*) FROM core.transfers GROUP BY 1, 2 ORDER BY 1, 2"
    ) == [
        ("hsi", False, 6),
        ("hsi", True, 35),
        ("htar", False, 1),
    ]
    assert fetch(warehouse, "SELECT kind, count(*) FROM core.namespace_events GROUP BY 1 ORDER BY 1") == [
        ("delete", 10),
        ("rename", 10),
    ]


def test_hsi_log_values(load, warehouse, sample_logs):
    load(sample_logs / "hpss-nersc" / "hsilog.txt", "hsi", timezone="America/Los_Angeles")
    ((rate, duration, size),) = fetch(
        warehouse,
        "SELECT rate_bytes_per_s, duration_s, size_bytes FROM core.transfers WHERE interface = 'htar'",
    )
    assert (rate, duration, size) == (146_472_000.0, 397.20, 58_178_668_032)
    # The local side comes first in both directions. The same file was put from and retrieved into a pipe.
    moved = fetch(
        warehouse,
        "SELECT direction, client_path, archive_path, ended_at, duration_s, file_key FROM core.transfers"
        " WHERE size_bytes = 3665510098 ORDER BY ended_at",
    )
    assert [row[:2] for row in moved] == [("put", "<stdin>"), ("get", "<stdout>")]
    assert moved[0][2] == moved[1][2]
    assert moved[0][2].endswith("Copph2.08092019.tar.gz")
    assert moved[0][5] == moved[1][5]
    assert moved[0][3] == datetime(2019, 8, 10, 7, 11, 35, tzinfo=UTC)  # 00:11:35 in summer time
    assert [row[4] for row in moved] == pytest.approx([71.8, 53.4], abs=0.05)


def test_a_wrong_weekday_does_not_reject_a_line(load, warehouse, sample_logs):
    load(sample_logs / "hpss-nersc" / "hsilog.txt", "hsi", timezone="America/Los_Angeles")
    # "Sat Aug  9" was a Friday in 2019.
    assert fetch(
        warehouse, "SELECT line_number FROM core.transfers WHERE ended_at < '2019-08-10 00:00-07'"
    ) == [(1,)]


def test_pftp_log(load, warehouse, sample_logs):
    path = sample_logs / "hpss-nersc" / "hpssftplog.txt"
    tally = load(path, "pftp", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 6
    assert tally.loaded == {"transfers": 5, "opens": 1}
    assert not tally.ignored and not tally.rejected
    assert fetch(warehouse, "SELECT size_bytes, operation FROM core.transfers WHERE is_size_saturated") == [
        (2_147_483_647, "PSTO_Cmd")
    ]
    assert fetch(warehouse, "SELECT operation, direction, open_s FROM core.opens") == [
        ("POPN_Cmd", "get", None)
    ]


def test_nft_log(load, warehouse, sample_logs):
    path = sample_logs / "llnl-unitree" / "nft-971001.log"
    tally = load(path, "nft", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 10
    assert tally.loaded == {"transfers": 10}
    rows = fetch(
        warehouse,
        "SELECT started_at, ended_at, duration_s, size_bytes FROM core.transfers ORDER BY line_number",
    )
    # The first ended at 00:01:41 in summer time and took 0.425 s.
    assert rows[0] == (
        datetime(1997, 10, 1, 7, 1, 40, 575_000, tzinfo=UTC),
        datetime(1997, 10, 1, 7, 1, 41, tzinfo=UTC),
        0.425,
        7700,
    )
    assert all(ended - started == timedelta(seconds=duration) for started, ended, duration, _ in rows)


def test_cond_log(load, warehouse, sample_logs):
    path = sample_logs / "llnl-unitree" / "cond.980505"
    tally = load(path, "cond", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 1
    assert tally.loaded == {"unitree_jobs": 1}
    assert fetch(
        warehouse,
        "SELECT users.name, persona, session_number, job_number, direction, started_at, ended_at, duration_s,"
        " is_start_after_end, log_date FROM core.unitree_jobs JOIN core.users ON users.id = user_id"
        " JOIN ledger.log_files ON log_files.id = log_file_id",
    ) == [
        (
            *("005641", 2360, 3, 35, "put"),
            datetime(1998, 5, 5, 7, 20, 29, tzinfo=UTC),
            datetime(1998, 5, 5, 7, 20, 56, tzinfo=UTC),
            *(27.0, False, date(1998, 5, 5)),
        )
    ]


def test_stat_log(load, warehouse, sample_logs):
    path = sample_logs / "llnl-unitree" / "stat.980505"
    tally = load(path, "stat", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 3
    assert tally.loaded == {"transfers": 2, "stages": 1}
    assert not tally.ignored and not tally.rejected
    moved, failed = fetch(
        warehouse,
        "SELECT persona, direction, hosts.name, size_bytes, duration_s, is_failed, status_text, ended_at"
        " FROM core.transfers JOIN core.hosts ON hosts.id = host_id ORDER BY ended_at",
    )
    assert moved[:-1] == (2360, "put", "j", 34_713_600, 25.115, False, None)
    assert moved[-1] == datetime(1998, 5, 5, 7, 20, 56, 383_000, tzinfo=UTC)
    assert failed[1:-1] == ("put", "j", 1307, 0.731, True, "-192 (Ftp 1000)")
    ((persona, duration, staged_at),) = fetch(
        warehouse, "SELECT persona, duration_s, staged_at FROM core.stages"
    )
    assert (persona, duration) == (3298, 180.0)
    assert staged_at == datetime(1998, 5, 5, 15, 35, 1, 60_000, tzinfo=UTC)


def test_the_real_job_and_its_transfer_share_persona_and_second(load, warehouse, sample_logs):
    for name in ("cond", "stat"):
        load(sample_logs / "llnl-unitree" / f"{name}.980505", name, timezone="America/Los_Angeles")
    assert fetch(
        warehouse,
        "SELECT job.persona, transfers.ended_at - job.ended_at, job.duration_s > transfers.duration_s"
        " FROM core.unitree_jobs AS job JOIN core.transfers USING (archive_id, persona)",
    ) == [(2360, timedelta(milliseconds=383), True)]


def test_gridftp_log(load, warehouse, sample_logs):
    path = sample_logs / "hpss-nersc" / "globuslogs.txt"
    tally = load(path, "gridftp", timezone="America/Los_Angeles").tally
    assert tally.line_count == count_newlines(path) == 11
    assert tally.loaded == {"transfers": 11}
    assert not tally.ignored and not tally.rejected
    moved = fetch(
        warehouse,
        "SELECT direction, operation, is_failed, count(*) FROM core.transfers GROUP BY 1, 2, 3 ORDER BY 2",
    )
    assert moved == [("get", "RETR", False, 6), ("put", "STOR", False, 5)]
    first = fetch(
        warehouse,
        "SELECT ended_at, started_at, duration_s, size_bytes, status_code, archive_path, hosts.name"
        " FROM core.transfers JOIN core.hosts ON hosts.id = host_id WHERE line_number = 1",
    )
    # The times are in UTC, whatever the zone of the source.
    assert first == [
        (
            datetime(2019, 7, 31, 7, 30, 44, 992375, tzinfo=UTC),
            datetime(2019, 7, 31, 7, 30, 30, 432241, tzinfo=UTC),
            14.560134,
            2_753_284_040,
            226,
            "/home/c/glock/pic/constance/forecast/Global/complete/wrf2019051000/wrfout_d01_2019-05-10_00:00:00",
            "192.101.102.150",
        )
    ]
    assert fetch(warehouse, "SELECT count(*) FROM core.transfers WHERE duration_s <= 0") == [(0,)]


@pytest.mark.study("ingest")
def test_other_real_files_match_none_of_our_formats(sample_logs):
    ours = {"cond.980505": "cond", "stat.980505": "stat", "nft-971001.log": "nft"}
    ours |= {
        "hpssftplog.txt": "pftp",
        "hsilog.txt": "hsi",
        "globuslogs.txt": "gridftp",
        "hpss_daily.txt": "hpss-daily",
        "dcache-billing.real.log": "dcache",
        "eos-report-5.constructed.log": "eos",
        "eos-report-doc.real.log": "eos",
        "gridftp.real.log": "gridftp",
        "cta-taped-json-5.11.20.constructed.log": "cta",
        "cta-taped-json-5.11.9.constructed.log": "cta",
        "cta-taped-json.real-cut.log": "cta",
        "cta-frontend-kv.real.log": "cta-text",
        "cta-taped-kv.constructed.log": "cta-text",
        "cta-taped-kv.real.log": "cta-syslog",
        "dcache-billing-json.constructed.log": "dcache-json",
        "hpss-connector.constructed.log": "hpss-connector",
        "hpss-connector.real.log": "hpss-connector",
        "acsls-stats.real.log": "acsls",
        "samqfs-archiver.real.log": "samqfs",
        "samqfs-stager.real.log": "samqfs",
        "xrdpfc-gstream.real.log": "xrdpfc",
    }
    paths = sorted(path for path in sample_logs.glob("*/*") if path.is_file())
    assert set(ours) <= {path.name for path in paths}
    for path in paths:
        for log_format in FORMATS.values():
            if ours.get(path.name) == log_format.name:
                continue
            settings = LineSettings(
                "UTC", log_format.clock_resolution_s, EARLIEST_AT, NOW, log_date=date(1998, 5, 5)
            )
            tally = Tally()
            with open_log(path, is_complete=True) as reader:
                records = list(read_records(reader, log_format, settings, tally))
            case = (path.name, log_format.name)
            assert all(frame["table"].null_count() == frame.height for frame in records), case
            assert tally.rejected.total() > 0, case
