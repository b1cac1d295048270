"""Settings of archives and sources may change until something is loaded with them, but not after that."""

import pytest
from psycopg.errors import InsufficientPrivilege

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role
from tapewise.schema.errors import SourceError
from tests.conftest import NOW, register
from tests.integration.evidence import count_for_the_planner

LINE = "005041 97/10/01 00:01:41 js 7700 0.425\n"


def request(timezone: str, kind: str = "synthetic") -> SourceRequest:
    return SourceRequest("test", kind, find_format("nft"), timezone, "nft")


def test_a_load_refuses_settings_that_another_command_has_changed_meanwhile(warehouse, tmp_path):
    (tmp_path / "a.log").write_text(LINE)
    early = register(warehouse, request("UTC"))
    late = register(warehouse, request("Asia/Tokyo", "measured"))
    with pytest.raises(SourceError, match="were changed in the meantime"):
        load_file(warehouse, early, tmp_path / "a.log", now=NOW)
    assert load_file(warehouse, late, tmp_path / "a.log", now=NOW).tally.loaded_count == 1
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT kind, timezone FROM core.archives").fetchall() == [
            ("measured", "Asia/Tokyo")
        ]


@pytest.mark.parametrize("given", [request("Asia/Tokyo"), request("UTC", "measured")])
def test_settings_are_fixed_once_something_was_loaded_with_them(warehouse, tmp_path, given):
    (tmp_path / "a.log").write_text(LINE)
    load_file(warehouse, register(warehouse, request("UTC")), tmp_path / "a.log", now=NOW)
    with pytest.raises(SourceError):
        register(warehouse, given)


def test_a_line_dated_in_the_future_is_read_again_once_its_date_has_passed(warehouse, tmp_path):
    (tmp_path / "a.log").write_text(LINE + LINE.replace("97/", "27/"))
    source = register(warehouse, request("UTC"))
    assert load_file(warehouse, source, tmp_path / "a.log", now=NOW).tally.rejected.total() == 1
    later = load_file(warehouse, source, tmp_path / "a.log", now=NOW.replace(year=2028))
    assert (later.tally.loaded_count, later.tally.held_count) == (1, 1)


def test_the_planner_knows_a_new_archive_at_once(warehouse):
    register(warehouse, request("UTC"))
    assert count_for_the_planner(warehouse) == 1
    register(warehouse, SourceRequest("other", "synthetic", find_format("nft"), "UTC", "nft"))
    assert count_for_the_planner(warehouse) == 2
    with warehouse.connect(Role.READER) as reader, pytest.raises(InsufficientPrivilege):
        reader.execute("SELECT core.analyze_archives()")
