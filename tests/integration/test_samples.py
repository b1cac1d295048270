"""Real log lines, read from beside the checkout: every line accounted for, and what it tells."""

from datetime import UTC, datetime, timedelta

import pytest

from schema.database import Role


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
    # The local side comes first whatever the direction: the same file was put from a pipe and got into one.
    moved = fetch(
        warehouse,
        "SELECT direction, client_path, archive_path, ended_at, duration_s, file_key FROM core.transfers"
        " WHERE size_bytes = 3665510098 ORDER BY ended_at",
    )
    assert [row[:2] for row in moved] == [("put", "<stdin>"), ("get", "<stdout>")]
    assert moved[0][2] == moved[1][2]
    assert moved[0][2].endswith("Copph2.08092019.tar.gz")
    assert moved[0][5] == moved[1][5]
    assert moved[0][3] == datetime(2019, 8, 10, 7, 11, 35, tzinfo=UTC)  # 00:11:35 in summer
    assert [row[4] for row in moved] == pytest.approx([71.8, 53.4], abs=0.05)


def test_a_wrong_weekday_is_no_reason_to_reject(load, warehouse, sample_logs):
    load(sample_logs / "hpss-nersc" / "hsilog.txt", "hsi", timezone="America/Los_Angeles")
    # "Sat Aug  9" of 2019 was a Friday.
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


def test_other_real_files_are_not_taken_for_a_format_of_ours(load, sample_logs):
    for name in ("hpss-nersc/globuslogs.txt", "hpss-nersc/hpss_daily.txt", "llnl-unitree/cond.980505"):
        for format_name in ("nft", "pftp", "hsi"):
            tally = load(sample_logs / name, format_name, archive=f"{name} as {format_name}").tally
            assert tally.loaded_count == 0, (name, format_name)
            assert tally.rejected.total() > 0, (name, format_name)
