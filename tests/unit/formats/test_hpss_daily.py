"""The lines of HPSS's daily report are unfolded and become records."""

import json
from datetime import UTC, date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.formats import hpss_report
from tapewise.ingest.formats.hpss_daily import NO_FIGURES, TABLE_HEADING
from tapewise.ingest.formats.hpss_report import make_unfold
from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.reading.line_context import unfold_lines
from tapewise.ingest.records.format import (
    BLANK,
    NAME_TOO_LONG,
    NUMBER_OUT_OF_RANGE,
    UNRECOGNISED,
    LineSettings,
)

DAILY = FORMATS["hpss-daily"]
SETTINGS = LineSettings(
    "America/Los_Angeles", 1.0, datetime(1985, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
)
# A made-up report in the grammar of the real one.
REPORT = """\
HPSS Report for Date 2019-03-05

Archive : IO Totals by Client Application
Client           Users      IO_GB       Ops   Write_GB     W_Ops    Read_GB     R_Ops    Copy_GB     C_Ops
===============  =====  =========  ========  =========  ========  =========  ========  =========  ========
hsi                  3     1250.5        40     1000.5        30      250.0        10        0.0         0
Total                3     1250.5        40     1000.5        30      250.0        10        0.0         0

Hpss    : Largest Users
User              App      IO_GB       Ops   Write_GB     W_Ops    Read_GB     R_Ops    Copy_GB     C_Ops
===============  ====  =========  ========  =========  ========  =========  ========  =========  ========
Total             hsi     1000.5        30     1000.5        30        0.0         0        0.0         0

Archive: Tape Drive Report
DriveTyp  Count  Cleans  Locks   Mounts       AvailTime        Locktime Lock%       MountTime  Mnt%
========  =====  ======  =====  =======  ==============  ============== =====  ============== =====
    LTO8     19       0      1      702     19-00:00:00      1-00:00:00   5.3     10-09:34:44  54.7
"""


def unfold(text: str) -> list[str]:
    return make_unfold()(pl.Series("text", text.splitlines())).to_list()


def parse(*lines: str) -> pl.DataFrame:
    return DAILY.parse(pl.Series("text", lines), SETTINGS)


def read(text: str) -> list[dict[str, object]]:
    return parse(*unfold(text)).to_dicts()


def test_a_table_gives_its_system_and_day():
    hsi, total = (row for row in read(REPORT) if row["operation"] == "io_by_application")
    assert (hsi["reported_on"], hsi["system"], hsi["item"]) == (date(2019, 3, 5), "Archive", "hsi")
    assert hsi["event_at"] == datetime(2019, 3, 5, 20, tzinfo=UTC)  # noon in California
    assert json.loads(str(hsi["figures"])) == {
        "user_count": 3,
        "io_gb": 1250.5,
        "operation_count": 40,
        "put_gb": 1000.5,
        "put_count": 30,
        "get_gb": 250.0,
        "get_count": 10,
        "copy_gb": 0.0,
        "copy_count": 0,
    }
    assert (hsi["is_total"], total["is_total"], total["item"]) == (False, True, None)


def test_times_and_percents_become_seconds_and_ratios():
    (drives,) = (row for row in read(REPORT) if row["operation"] == "tape_drives")
    figures = json.loads(str(drives["figures"]))
    assert figures["mounted_s"] == 10 * 86400 + 9 * 3600 + 34 * 60 + 44
    assert (figures["locked_ratio"], figures["mount_count"]) == (0.053, 702)


def test_a_user_may_be_called_total():
    (user,) = (row for row in read(REPORT) if row["operation"] == "io_by_user")
    assert (user["user"], user["part"], user["is_total"], user["system"]) == ("Total", "hsi", False, "Hpss")


def test_the_same_row_under_another_heading_is_another_line():
    other = REPORT.replace("2019-03-05", "2019-03-06")
    rows = {line for line in unfold(REPORT) if "hsi" in line}
    assert rows.isdisjoint(unfold(other))
    wider = REPORT.replace("Client           Users", "Client         Users  ")
    assert wider != REPORT


def test_a_file_may_contain_several_reports():
    days = {row["reported_on"] for row in read(REPORT + REPORT.replace("03-05", "03-06"))} - {None}
    assert days == {date(2019, 3, 5), date(2019, 3, 6)}


def test_unfolding_continues_across_the_end_of_a_block():
    lines = REPORT.splitlines()
    for cut in range(len(lines)):
        going = make_unfold()
        pieces = [going(pl.Series("text", part, dtype=pl.String)) for part in (lines[:cut], lines[cut:])]
        assert pl.concat(pieces).to_list() == unfold(REPORT)


def test_unfolding_twice_changes_nothing():
    assert unfold("\n".join(unfold(REPORT))) == unfold(REPORT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  1250.5        40", "  1250.5        4x"),  # not a number
        ("hsi                  3 ", "a client with a long name 3 "),  # extends beyond its column
        ("  W_Ops  ", "  New_Ops"),  # an unknown heading
        ("Client Application", "Client Colour"),  # an unknown table
    ],
)
def test_unrecognised_lines_are_rejected_and_not_guessed(old, new):
    assert old in REPORT
    changed = [row for row in read(REPORT.replace(old, new, 1)) if row["rejected"] is not None]
    assert changed
    assert {row["rejected"] for row in changed} == {UNRECOGNISED}


def test_rows_outside_a_report_are_not_lines_of_this_format():
    rows = read(REPORT.partition("\n")[2])
    assert {row["rejected"] for row in rows if row["ignored"] != BLANK} == {UNRECOGNISED}


def test_numbers_and_names_have_limits():
    assert (
        parse("2019-03-05\tArchive\tHPSS Accounting\tTotal=100000001")["rejected"][0] == NUMBER_OUT_OF_RANGE
    )
    long = f"2019-03-05\tArchive\tLargest Users\tUser={'k' * 2000}\tApp=hsi\tOps=1"
    assert parse(long)["rejected"][0] == NAME_TOO_LONG


def test_every_line_of_the_real_report_has_its_fate(sample_logs):
    lines = pl.Series("text", (sample_logs / "hpss-nersc" / "hpss_daily.txt").read_text().splitlines())
    records = DAILY.parse(unfold_lines(lines, DAILY), SETTINGS)
    assert records["rejected"].null_count() == records.height == 256
    assert dict(records.group_by("ignored").len().drop_nulls().iter_rows()) == {
        BLANK: 20,
        TABLE_HEADING: 58,
        NO_FIGURES: 6,  # no configuration changes (twice), and LSMs that no cartridge has left
    }
    facts = records.filter(table="daily_reports")
    assert dict(facts.group_by("operation").len().iter_rows()) == {
        "io_by_gateway": 5,
        "accounting": 2,
        "io_by_client": 15,
        "io_by_application": 11,
        "io_by_user": 57,
        "migration": 12,
        "tape_drives": 6,
        "free_slots": 4,
        "library_drives": 15,
        "cartridge_moves": 12,
        "volumes": 33,
    }
    # The tables' own totals are the sums of their rows.
    for operation, figure in (("io_by_application", "operation_count"), ("migration", "migrated_count")):
        section = facts.filter(operation=operation)
        for system in ("Archive", "Hpss"):
            own = [
                (row["is_total"], json.loads(row["figures"])[figure])
                for row in section.filter(system=system).to_dicts()
            ]
            assert sum(n for is_total, n in own if not is_total) == sum(n for is_total, n in own if is_total)


def test_cartridges_are_counted_from_the_row_to_the_column(sample_logs):
    lines = pl.Series("text", (sample_logs / "hpss-nersc" / "hpss_daily.txt").read_text().splitlines())
    records = DAILY.parse(unfold_lines(lines, DAILY), SETTINGS)
    (moves,) = records.filter(operation="cartridge_moves", item="1,3")["figures"].to_list()
    assert json.loads(moves) == {"1,2/moved_count": 1, "1,11/moved_count": 3}


@given(st.lists(st.sampled_from(REPORT.splitlines()) | st.text(max_size=40), max_size=20))
def test_any_text_is_unfolded_and_never_raises(lines):
    texts = make_unfold()(pl.Series("text", lines, dtype=pl.String))
    assert texts.len() == len(lines)
    assert DAILY.parse(texts, SETTINGS).height == len(lines)


@given(
    name=st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,14}\Z"),
    figures=st.lists(st.integers(0, 99999), min_size=9, max_size=9),
)
def test_any_row_is_read_back(name, figures):
    widths = (5, 9, 8, 9, 8, 9, 8, 9, 8)
    row = f"{name:<15}" + "".join(
        f"  {figure:>{width}}" for figure, width in zip(figures, widths, strict=True)
    )
    lines = REPORT.splitlines()[:5]
    (record,) = read("\n".join([*lines, row]))[5:]
    if name in ("Total", "TOTAL", "total"):
        assert record["is_total"]
    else:
        assert record["item"] == name
    assert list(json.loads(record["figures"]).values()) == figures
    assert hpss_report.SEPARATOR not in row


def test_free_slots_are_read_for_every_lsm(sample_logs):
    lines = pl.Series("text", (sample_logs / "hpss-nersc" / "hpss_daily.txt").read_text().splitlines())
    records = DAILY.parse(unfold_lines(lines, DAILY), SETTINGS)
    figures = {}
    for row in records.filter(operation="free_slots")["figures"]:
        figures |= json.loads(row)
    assert len(figures) == 2 * 16
    assert (figures["1,9/free_count"], figures["1,9/slot_count"]) == (6, 2522)
