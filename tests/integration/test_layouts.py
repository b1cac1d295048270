"""A site's own layout: reading it from its path, keeping it in the warehouse, and the effects of edits."""

from contextlib import closing
from datetime import timedelta

import pytest

from tapewise.ingest.detection.choosing import find_held_format
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.loading.workers import FileTask, read_files
from tapewise.ingest.nightly.sources import plan_round
from tapewise.ingest.sources.sources import SourceRequest, find_source, get_source
from tapewise.ingest.upkeep.explanations import explain_line
from tapewise.ingest.upkeep.rejects import RejectFilter, find_files, retry_file
from tapewise.schema.database import Role
from tapewise.schema.errors import ConfigError, SourceError
from tapewise.schema.settings import read_settings
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.unit.layouts.made_up import DELETE, SITE

LINES = """\
2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7
gone 2024-03-05 09:20:00 rm /home/k/a 7
2024-03-05 09:15:40 get lee n9 0.5 7 /home/k/b
nonsense
"""


@pytest.fixture
def layout(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(SITE)
    return path


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "site.log"
    path.write_text(LINES)
    return path


def request(layout, name="site"):
    return SourceRequest("test", "synthetic", find_format(str(layout)), "UTC", name)


def read(warehouse, layout, log, now=NOW):
    return load_file(warehouse, register(warehouse, request(layout)), log, now=now).tally


def test_a_log_is_loaded_and_its_layout_kept(warehouse, layout, log):
    tally = read(warehouse, layout, log)
    assert (tally.loaded, tally.rejected.total()) == ({"transfers": 2}, 2)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        assert connection.execute("SELECT format, layout_text FROM ledger.sources").fetchall() == [
            ("site", SITE)
        ]
        assert connection.execute("SELECT DISTINCT format FROM mart.log_files").fetchall() == [("site",)]
        held = find_held_format(connection, "test", "site")
    assert held == find_format(str(layout))
    check_warehouse(warehouse)


def test_the_layout_file_may_be_gone_afterwards(warehouse, layout, log):
    read(warehouse, layout, log)
    facts = read_facts(warehouse)
    layout.unlink()
    with closing(warehouse.connect(Role.LOADER)) as connection:
        (loaded,) = explain_line(connection, log, 1, NOW)
        (rejected,) = explain_line(connection, log, 4, NOW)
        (file,) = find_files(connection, RejectFilter())
    assert (loaded.fate, rejected.fate) == ("loaded", "rejected: not a line of this format")
    again = retry_file(warehouse, file, NOW)
    assert again.error is None and again.result is not None and again.result.tally.rejected.total() == 2
    assert read_facts(warehouse) == facts


def test_added_patterns_are_adopted_and_nothing_counts_twice(warehouse, layout, log):
    read(warehouse, layout, log)
    before = read_facts(warehouse)
    layout.write_text(SITE.replace("made-up", "real") + DELETE)
    tally = read(warehouse, layout, log, NOW + timedelta(hours=1))
    assert (tally.loaded_count, tally.held_count, tally.rejected.total()) == (1, 2, 1)
    after = read_facts(warehouse)
    assert after["transfers"] == before["transfers"]
    assert after["namespace_events"].total() == 1
    check_warehouse(warehouse)
    read(warehouse, layout, log)
    assert read_facts(warehouse) == after
    with closing(warehouse.connect(Role.OWNER)) as connection:
        assert connection.execute("SELECT layout_text FROM ledger.sources").fetchall() == [
            (layout.read_text(),)
        ]
    # The old layout does not describe some of the lines loaded since then.
    layout.write_text(SITE)
    with pytest.raises(SourceError, match="was read with a layout other than the one in"):
        read(warehouse, layout, log)


@pytest.mark.parametrize("text", [SITE.replace("KiB", "KB"), SITE.replace('"%Y-%m-%d %H', '"%Y-%d-%m %H')])
def test_any_other_edit_is_refused_and_changes_nothing(warehouse, layout, log, text):
    read(warehouse, layout, log)
    facts = read_facts(warehouse)
    layout.write_text(text)
    with pytest.raises(SourceError) as raised:
        read(warehouse, layout, log)
    assert raised.value.message == (
        "source 'site' of archive 'test' was read with a layout other than the one in site.toml now"
    )
    assert read_facts(warehouse) == facts
    with closing(warehouse.connect(Role.OWNER)) as connection:
        assert connection.execute("SELECT layout_text FROM ledger.sources").fetchall() == [(SITE,)]
    # A new source may use the edited layout, because it has no facts yet.
    assert register(warehouse, request(layout, "new")).format == find_format(str(layout))


def test_any_edit_is_adopted_as_long_as_nothing_is_loaded(warehouse, layout, log):
    layout.write_text(
        SITE.replace("[a-z]+", "[a-z]+X").replace(":22 put", ":22 putX").replace("put = ", "putX = ")
    )
    assert read(warehouse, layout, log).loaded_count == 0
    layout.write_text(SITE)
    assert read(warehouse, layout, log).loaded_count == 2
    check_warehouse(warehouse)


def test_several_processes_read_with_a_layout(warehouse, layout, tmp_path):
    source = register(warehouse, request(layout))
    tasks = []
    for day in range(1, 5):
        path = tmp_path / f"{day}.log"
        path.write_text(LINES.replace("2024-03-05", f"2024-03-0{day}"))
        tasks.append(FileTask(source, path))
    results = list(read_files(warehouse, tasks, now=NOW, jobs=2))
    assert [result.tally.loaded_count for result in results] == [2] * 4
    check_warehouse(warehouse)


def write_config(folder, layout):
    config = folder / "tapewise.toml"
    config.write_text(
        '[[archives]]\nname = "test"\ntimezone = "UTC"\nkind = "synthetic"\n'
        f'[[archives.sources]]\nformat = "{layout}"\npaths = ["*.log"]\n'
    )
    return read_settings(config=config)


def test_a_configured_layout_is_relative_to_the_configuration_file(tmp_path, log, monkeypatch):
    (tmp_path / "layouts").mkdir()
    (tmp_path / "layouts" / "site.toml").write_text(SITE)
    monkeypatch.chdir("/")
    (plan,) = plan_round(write_config(tmp_path, "layouts/site.toml"))
    assert (plan.request.name, plan.request.format.name, plan.request.format.layout_text) == (
        "site",
        "site",
        SITE,
    )
    with pytest.raises(ConfigError) as raised:
        plan_round(write_config(tmp_path, "layouts/gone.toml"))
    assert "sources[gone].format: " in raised.value.message
    assert "gone.toml: the layout cannot be read: No such file or directory" in raised.value.message


def test_an_existing_source_is_found_with_its_layout(warehouse, layout, log):
    read(warehouse, layout, log)
    with closing(warehouse.connect(Role.LOADER)) as connection:
        found = find_source(connection, request(layout))
        assert found is not None and get_source(connection, found.id) == found
