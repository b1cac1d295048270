"""Only the lines of a log determine which views it feeds."""

import pytest

from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.sources.coverage_facts import SIGNS, Feed, judge_views
from tapewise.schema.tables.mart_metadata import LOG_FACTS
from tapewise.schema.tables.models import FACT_TABLES


def feeds(**found: set[str]) -> dict[str, Feed]:
    return {each.view: each for each in judge_views(found)}


def test_every_fact_that_views_may_need_has_an_indicator():
    assert tuple(SIGNS) == LOG_FACTS
    tables = {table.name for table in FACT_TABLES}
    for signs in SIGNS.values():
        for table, column in signs:
            assert table in tables | {"*"}
            assert column is None or column in RECORD_SCHEMA


def test_a_log_without_facts_feeds_nothing():
    assert {each.state for each in judge_views({})} == {"not"}


def test_facts_needed_for_a_whole_view_come_first():
    judged = feeds(transfers={"size_bytes", "duration_s"})
    assert judged["size_times"].state == "fed"
    assert judged["reconciliation"].why == "not in this log: daily reports, migrations, tape events"
    assert judged["cache_hits"] == Feed(
        "cache_hits", "not", "not in this log: open times or stages or hits, classes of service"
    )


def test_a_log_of_parts_of_files_feeds_no_view_of_files():
    found = {"transfers": {"size_bytes", "archive_path"}}
    whole = {each.view: each for each in judge_views(found)}
    parts = {each.view: each for each in judge_views(found, is_of_parts=True)}
    changed = {name for name in whole if whole[name] != parts[name]}
    assert changed >= {"file_versions", "file_accesses", "file_histories", "file_events", "net_growth"}
    assert {parts[name].state for name in changed} == {"not"}
    assert parts["file_accesses"].why == "not in this log: whole files, deletes, renames"


@pytest.mark.parametrize(
    ("table", "column"),
    [("opens", "open_s"), ("opens", "is_cached"), ("transfer_starts", "is_cached"), ("stages", None)],
)
def test_one_kind_of_evidence_is_enough_for_cache_hits(table: str, column: str | None):
    found = {"transfers": {"class_of_service"}, table: {column} if column else set()}
    assert {each.view: each.state for each in judge_views(found)}["cache_hits"] == "fed"


def test_a_view_is_partly_fed_if_facts_for_a_part_of_it_are_missing():
    assert feeds(stages=set())["stage_times"] == Feed("stage_times", "partly", "not in this log: transfers")
