"""A site's daily reports: loading them once, correcting and explaining them, and hiding their names."""

import shutil
from datetime import date

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.records.format import BEFORE_RETENTION
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.explanations import explain_line
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts

REPORT = "hpss-nersc/hpss_daily.txt"
ZONE = "America/Los_Angeles"


def fetch(warehouse, query, role=Role.OWNER):
    with warehouse.connect(role) as connection:
        return connection.execute(query).fetchall()


def test_every_line_of_a_real_report_is_accounted_for(load, warehouse, sample_logs):
    tally = load(sample_logs / REPORT, "hpss-daily", timezone=ZONE).tally
    assert (tally.line_count, tally.loaded) == (256, {"daily_reports": 172})
    assert sum(tally.ignored.values()) == 84
    assert not tally.rejected
    check_warehouse(warehouse)
    assert fetch(
        warehouse,
        "SELECT DISTINCT reported_on::text,"
        " reported_at AT TIME ZONE 'America/Los_Angeles' = reported_on + time '12:00'"
        " FROM core.daily_reports",
    ) == [("2018-08-09", True)]


def test_a_copy_of_a_report_adds_nothing(load, warehouse, sample_logs, tmp_path):
    load(sample_logs / REPORT, "hpss-daily", timezone=ZONE)
    before = read_facts(warehouse)
    copy = shutil.copy(sample_logs / REPORT, tmp_path / "again.txt")
    assert load(copy, "hpss-daily", timezone=ZONE).tally.loaded_count == 0
    assert read_facts(warehouse) == before
    check_warehouse(warehouse)


def test_a_report_is_the_same_in_a_file_with_others(load, warehouse, sample_logs, tmp_path):
    load(sample_logs / REPORT, "hpss-daily", timezone=ZONE)
    text = (sample_logs / REPORT).read_text()
    both = tmp_path / "both.txt"
    both.write_text(text.replace("2018-08-09", "2018-08-08") + text)
    tally = load(both, "hpss-daily", timezone=ZONE).tally
    assert (tally.loaded_count, tally.held_count) == (172, 172)
    check_warehouse(warehouse)


def test_a_growing_file_continues_in_its_table(load, warehouse, sample_logs, tmp_path):
    lines = (sample_logs / REPORT).read_text().splitlines(keepends=True)
    growing = tmp_path / "report.txt"
    for count in (6, 47, 200, len(lines)):
        growing.write_text("".join(lines[:count]))
        load(growing, "hpss-daily", timezone=ZONE)
    assert fetch(warehouse, "SELECT count(*) FROM core.daily_reports") == [(172,)]
    check_warehouse(warehouse)


def test_the_later_version_of_a_corrected_report_counts(load, warehouse, sample_logs, tmp_path):
    text = (sample_logs / REPORT).read_text()
    load(sample_logs / REPORT, "hpss-daily", timezone=ZONE)
    corrected = tmp_path / "corrected.txt"
    old, new = "IBM3592     19       0      1      702", "IBM3592     19       0      1      705"
    assert text.count(old) == 1
    corrected.write_text(text.replace(old, new))
    assert load(corrected, "hpss-daily", timezone=ZONE).tally.loaded_count == 1
    query = (
        "SELECT value FROM mart.daily_figures"
        " WHERE drive_type = 'IBM3592' AND system = 'Archive' AND figure = 'mount_count'"
    )
    assert fetch(warehouse, query, Role.READER) == [(705.0,)]
    check_warehouse(warehouse)


# For each section, the columns that identify a figure other than a total.
NAMES = {
    "io_by_gateway": ["system", "gateway"],
    "io_by_client": ["system", "client"],
    "io_by_application": ["system", "application"],
    "io_by_user": ["system", "user_id", "application"],
    "migration": ["system", "storage_class", "storage_class_number"],
    "tape_drives": ["system", "drive_type"],
    "free_slots": ["library"],
    "library_drives": ["system", "drive_type", "library"],
    "cartridge_moves": ["library", "to_library"],
    "volumes": ["vsn"],
}
NAME_COLUMNS = sorted({name for names in NAMES.values() for name in names})


def test_each_column_of_figures_means_one_thing(load, warehouse, sample_logs):
    load(sample_logs / REPORT, "hpss-daily", timezone=ZONE)
    rows = fetch(
        warehouse,
        "SELECT section, figure, jsonb_strip_nulls(to_jsonb(daily_figures)) FROM mart.daily_figures"
        " WHERE NOT is_total",
        Role.READER,
    )
    assert {section for section, _, _ in rows} == set(NAMES)
    values: dict[str, set[object]] = {name: set() for name in NAME_COLUMNS}
    for section, _, row in rows:
        assert sorted(row.keys() & set(NAME_COLUMNS)) == sorted(NAMES[section])
        for name in NAMES[section]:
            values[name].add(row[name])
    assert values["system"] == {"Archive", "Hpss"}
    assert values["application"] == {"hsi", "htar", "ftp", "pftp", "gftp"}
    assert values["drive_type"] == {"T10KB", "T10KC", "IBM3592", "IBM3592_E08", "9840D"}
    assert values["gateway"] == {"heart", "dtn11", "shire"}
    assert {f"1,{number}" for number in range(16)} == {
        row["library"] for section, _, row in rows if section == "free_slots"
    }
    # These columns and the figure's name together identify a row.
    keys = [(section, figure, *(row.get(name) for name in NAMES[section])) for section, figure, row in rows]
    assert len(set(keys)) == len(keys)


def test_a_line_is_explained_with_its_unfolded_headings(load, warehouse, sample_logs):
    path = sample_logs / REPORT
    load(path, "hpss-daily", timezone=ZONE)
    with warehouse.connect(Role.LOADER) as connection:
        (fate,) = explain_line(connection, path, 44, NOW)
        assert (fate.fate, fate.table, fate.row["item"]) == ("loaded", "daily_reports", "htar")
        assert fate.text.startswith("2018-08-09\tArchive\tIO Totals by Client Application\tClient=htar\t")
        (fate,) = explain_line(connection, path, 43, NOW)
        assert fate.fate == "ignored: heading of a report"


@pytest.mark.parametrize("name", ["user001", "heart"])
def test_pseudonyms_hide_users_and_hosts(warehouse, sample_logs, name):
    key = PseudonymKey("0123456789abcdef" * 4)
    source = register(
        warehouse, SourceRequest("test", "synthetic", find_format("hpss-daily"), ZONE, "report", key=key)
    )
    load_file(warehouse, source, sample_logs / REPORT, now=NOW)
    found = fetch(
        warehouse,
        "SELECT name FROM core.users UNION ALL SELECT name FROM core.hosts"
        " UNION ALL SELECT concat(item, part, figures) FROM core.daily_reports",
    )
    assert len(found) > 200
    assert not [row for row in found if name in row[0]]


def test_a_forgotten_day_stays_forgotten_and_the_other_day_is_kept(load, warehouse, sample_logs, tmp_path):
    text = (sample_logs / REPORT).read_text()
    both = tmp_path / "both.txt"
    both.write_text(text.replace("2018-08-09", "2018-08-08") + text)
    load(both, "hpss-daily", timezone=ZONE)
    forget_detail(warehouse, "test", date(2018, 8, 9), NOW)
    days = "SELECT DISTINCT reported_on::text FROM core.daily_reports"
    assert fetch(warehouse, days) == [("2018-08-09",)]
    tally = load(shutil.copy(both, tmp_path / "copy.txt"), "hpss-daily", timezone=ZONE).tally
    assert (tally.loaded_count, tally.held_count, tally.ignored[BEFORE_RETENTION]) == (0, 172, 172)
    assert fetch(warehouse, days) == [("2018-08-09",)]
    check_warehouse(warehouse)


def test_a_dropped_source_leaves_nothing_and_can_be_read_again(load, warehouse, sample_logs):
    load(sample_logs / REPORT, "hpss-daily", timezone="UTC")
    drop_source(warehouse, "test", "hpss-daily")
    assert fetch(warehouse, "SELECT count(*) FROM core.daily_reports") == [(0,)]
    assert load(sample_logs / REPORT, "hpss-daily", timezone=ZONE).tally.loaded_count == 172
    check_warehouse(warehouse)


def test_a_rejected_line_is_read_again_by_force(warehouse, sample_logs, tmp_path):
    log = tmp_path / "report.txt"
    log.write_text((sample_logs / REPORT).read_text() + "no line of a report\n")
    source = register(warehouse, SourceRequest("test", "synthetic", find_format("hpss-daily"), ZONE, "daily"))
    for is_forced, loaded in ((False, 172), (True, 0)):
        tally = load_file(warehouse, source, log, now=NOW, is_forced=is_forced).tally
        assert (tally.loaded_count, tally.held_count, tally.rejected.total()) == (loaded, 172 - loaded, 1)
    check_warehouse(warehouse)
