"""`tapewise refresh` keeps answers, which equal those that are computed, until anything changes."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.site_events import CONFIG_CHANGES, OUTAGES, add_event, remove_event
from tapewise.ingest.upkeep import kept_answers
from tapewise.ingest.upkeep.client_counts import count_clients
from tapewise.ingest.upkeep.kept_answers import Call, find_left_out, find_stale_calls, keep_answers
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.mart_answers import name_computed
from tests.conftest import NOW
from tests.integration.test_preparations import write_log
from tests.integration.test_second_passes import LINES
from tests.sql.cases import insert_rows

KEPT = {each.name: each for each in read_mart() if each.metadata.kept}
WITH_NAMES = {name for name, each in KEPT.items() if each.metadata.has_names}
WITH_NAMES |= {name_computed(name) for name in WITH_NAMES}


def refresh(warehouse: Warehouse, calls: list[Call]) -> int:
    return sum(each.is_kept for each in keep_answers(warehouse, calls, deadline=time.monotonic() + 600))


def ask(warehouse: Warehouse, function: str, given: str, *, zone: str = "UTC") -> Counter[str]:
    with closing(warehouse.connect_reader(sees_names=function in WITH_NAMES)) as reader:
        reader.execute("SELECT set_config('TimeZone', %s, false)", [zone])
        rows = reader.execute(f"SELECT t::text FROM mart.{function}({given}) AS t".encode()).fetchall()
    return Counter(row for (row,) in rows)


def change_answers(warehouse: Warehouse) -> None:
    """Make kept answers recognisable: each has no rows."""
    with warehouse.connect(Role.OWNER) as owner:
        owner.execute("UPDATE studies.kept_answers SET answer = '[]'")


@pytest.fixture
def held(warehouse: Warehouse, load: Any, tmp_path: Path) -> Warehouse:
    load(write_log(tmp_path / "a.log", datetime(1997, 11, 20, tzinfo=UTC), 300), "nft")
    return warehouse


def test_kept_rows_are_those_that_are_computed(held: Warehouse) -> None:
    calls = find_stale_calls(held, None, least_rows=300)
    assert len(calls) == sum(len(each.metadata.kept) for each in KEPT.values())
    computed = {
        call: ask(
            held, name_computed(call.function), ", ".join(f"{name} => {sql}" for name, sql in call.given)
        )
        for call in calls
    }
    assert refresh(held, calls) == len(calls)
    assert find_stale_calls(held, "test", least_rows=300) == []
    for call, rows in computed.items():
        given = ", ".join(f"{name} => {sql}" for name, sql in call.given)
        assert ask(held, call.function, given) == rows
        assert ask(held, call.function, f"archive => 'test'{', ' * bool(given)}{given}") == rows
    change_answers(held)
    assert all(not ask(held, call.function, ", ".join(map(" => ".join, call.given))) for call in calls)
    # Other arguments are computed.
    assert ask(held, "concurrency", "interface => 'nft'") == computed[Call("test", "concurrency")]
    with held.connect(Role.READER) as reader:
        plan = reader.execute("EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM mart.transfer_rates()").fetchall()
    lines = [line for (line,) in plan if "transfers_1997" in line]
    assert lines
    assert all("never executed" in line for line in lines)


def test_few_rows_are_not_kept(held: Warehouse) -> None:
    assert find_stale_calls(held, None, least_rows=301) == []


def test_any_change_ends_what_is_kept(held: Warehouse, load: Any, tmp_path: Path) -> None:
    call = Call("test", "concurrency")

    def has_changed() -> bool:
        """Whether the answer is computed. It is kept again for the next change."""
        is_computed = bool(ask(held, "concurrency", ""))
        assert refresh(held, [call]) == 1
        change_answers(held)
        assert not ask(held, "concurrency", "")
        return is_computed

    assert has_changed()
    assert not has_changed()
    load(write_log(tmp_path / "b.log", datetime(1997, 12, 20, tzinfo=UTC), 2), "nft")
    assert has_changed()
    with held.connect(Role.OWNER) as owner:
        for table in (OUTAGES, CONFIG_CHANGES):
            event = add_event(
                owner, table, archive="test", kind=table.kinds[0], note="x",
                since=datetime(1997, 11, 20, 1), until=datetime(1997, 11, 20, 2),
            )  # fmt: skip
            owner.commit()
            assert has_changed()
            remove_event(owner, table, event.id)
            owner.commit()
            assert has_changed()
    count_clients(held, "test")
    assert has_changed()
    forget_detail(held, "test", date(1997, 12, 1), now=datetime(2026, 1, 1, tzinfo=UTC))
    assert bool(ask(held, "concurrency", ""))
    with held.connect(Role.OWNER) as owner:
        drop_archive(owner, "test")
        owner.commit()
        assert owner.execute("SELECT count(*) FROM studies.kept_answers").fetchone() == (0,)


def test_names_are_kept_for_those_who_see_names(
    warehouse: Warehouse, load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/home/canary/x"
    line = f"Mon Nov 03 10:00:00 1997 a1.example.org hsi 1 7\tLH\t0\t0.10\t5\t5.0\t4\tx\t{path}\tproject9\n"
    (tmp_path / "log").write_text(line)
    load(tmp_path / "log", "hsi")

    # The login of a site's own server may not see names.
    def refuse(self: Warehouse, *, sees_names: bool, autocommit: bool = False) -> psycopg.Connection:
        assert sees_names
        raise DatabaseError("login 'x' may not see the names of users and files")

    with monkeypatch.context() as patch:
        patch.setattr(Warehouse, "connect_reader", refuse)
        left = {call.function for call in find_stale_calls(warehouse, None, least_rows=1)}
        assert left == KEPT.keys() - WITH_NAMES
        # They are named, but not of an archive of few rows.
        assert find_left_out(warehouse, "test", least_rows=1) == sorted(WITH_NAMES & KEPT.keys())
        assert find_left_out(warehouse, "test") == []
    assert find_left_out(warehouse, None, least_rows=1) == []

    calls = [call for call in find_stale_calls(warehouse, None, least_rows=1) if call.function in WITH_NAMES]
    assert len(calls) == sum(len(KEPT[name].metadata.kept) for name in WITH_NAMES & KEPT.keys())
    computed = ask(warehouse, "computed_project_shares", "shared_by => 'path'")
    assert refresh(warehouse, calls) == len(calls)
    assert "canary" in next(iter(computed))
    assert ask(warehouse, "project_shares", "shared_by => 'path'") == computed
    with warehouse.connect(Role.OWNER) as owner:
        owner.execute(
            "UPDATE studies.kept_answers SET answer = replace(answer::text, 'canary', 'kept')::jsonb"
        )
    assert "kept" in next(iter(ask(warehouse, "project_shares", "shared_by => 'path'")))

    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        for view in ("answers", "kept_answers"):
            rows = reader.execute(f"SELECT answer, t::text FROM mart.{view} AS t".encode()).fetchall()
            assert [answer for answer, _ in rows] == [None] * len(calls)
            assert not any("kept/" in text or "project9" in text for _, text in rows)
        for name in ("mart.kept_names", "mart.project_shares()", "mart.computed_project_shares()"):
            with pytest.raises(errors.InsufficientPrivilege):
                reader.execute(f"SELECT * FROM {name}".encode())

    # What is forgotten is not kept either.
    forget_detail(warehouse, "test", date(1998, 1, 1), now=datetime(2026, 1, 1, tzinfo=UTC))
    with warehouse.connect(Role.OWNER) as owner:
        assert owner.execute("SELECT count(*) FROM studies.kept_answers").fetchone() == (0,)


def test_an_answer_of_too_many_rows_is_not_kept(held: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "MOST_ROWS", 3)
    deadline = time.monotonic() + 600
    calls = [Call("test", "concurrency"), Call("test", "load_over_time")]
    found = {each.call.function: each for each in keep_answers(held, calls, deadline=deadline)}
    assert found["load_over_time"].row_count == 4
    assert not found["load_over_time"].is_kept
    assert found["concurrency"].row_count == len(ask(held, "computed_concurrency", "")) <= 3
    with held.connect(Role.OWNER) as owner:
        rows = owner.execute("SELECT function_name FROM studies.kept_answers").fetchall()
    assert rows == [("concurrency",)]


@pytest.mark.study("ingest", "schema", "sql")
def test_what_is_dropped_read_again_or_moved_ends_what_is_kept(
    warehouse: Warehouse, load: Any, tmp_path: Path
) -> None:
    """All calls give what is computed after each change, in sessions of any time zone."""

    def changes(change: Callable[[], object]) -> int:
        """Keep all answers, change something, and return how many calls have other rows than before."""
        calls = find_stale_calls(warehouse, None, least_rows=1)
        assert refresh(warehouse, calls) == len(calls)
        assert find_stale_calls(warehouse, None, least_rows=1) == []
        for call in before:
            computed = ask(warehouse, name_computed(call.function), write(call), zone="Asia/Tokyo")
            assert ask(warehouse, call.function, write(call), zone="Asia/Tokyo") == computed
        change()
        now = {call: ask(warehouse, call.function, write(call)) for call in before}
        assert now == {call: ask(warehouse, name_computed(call.function), write(call)) for call in before}
        count = sum(now[call] != before[call] for call in before)
        before.update(now)
        return count

    def write(call: Call) -> str:
        return ", ".join(f"{name} => {sql}" for name, sql in call.given)

    us = "America/Los_Angeles"
    load(write_log(tmp_path / "a.log", datetime(1997, 11, 20, tzinfo=UTC), 60), "nft", timezone=us)
    (tmp_path / "part").write_text("".join(LINES[62:]))
    load(tmp_path / "part", "nft", timezone=us)
    other = write_log(tmp_path / "b.log", datetime(1997, 12, 20, tzinfo=UTC), 30)
    load(other, "nft", timezone=us, source="other")
    before = {
        call: ask(warehouse, call.function, write(call))
        for call in find_stale_calls(warehouse, None, least_rows=1)
    }
    assert changes(lambda: drop_source(warehouse, "test", "other")) > 0
    # The first half of the night shows that the other half's hour is the second one: its lines move.
    (tmp_path / "log").write_text("".join(LINES))
    assert changes(lambda: load(tmp_path / "log", "nft", timezone=us)) > 0
    values: dict[str, Any] = {"log_format": None, "timezone": "UTC", "now": NOW}
    assert changes(lambda: replace_source(warehouse, "test", "nft", **values)) > 0


def test_comparisons_are_made_of_what_is_kept(warehouse: Warehouse, load: Any, tmp_path: Path) -> None:
    """Of two archives in different zones, with the same rows as before."""
    load(write_log(tmp_path / "a.log", datetime(1997, 11, 20, tzinfo=UTC), 300), "nft", archive="one")
    load(
        write_log(tmp_path / "b.log", datetime(1997, 11, 20, 5, tzinfo=UTC), 200),
        "nft", archive="two", timezone="Europe/Berlin",
    )  # fmt: skip
    pairs = [(a, b) for a in ("one", "two") for b in ("one", "two")]
    questions = [
        f"mart.{function}('{a}', '{b}')"
        for function in ("compare_archives", "compare_mixes")
        for a, b in pairs
    ]

    def ask_all(zone: str) -> list[Counter[str]]:
        asked = [question.removeprefix("mart.").rstrip(")").split("(") for question in questions]
        return [ask(warehouse, function, given, zone=zone) for function, given in asked]

    def find_read() -> set[bool]:
        """Whether the transfers are read, for each question."""
        with warehouse.connect(Role.READER) as reader:
            plans = [
                "\n".join(
                    line
                    for (line,) in reader.execute(
                        f"EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM {question}".encode()
                    ).fetchall()
                    if "on transfers_1997" in line
                )
                for question in questions
            ]
        assert all(plans)
        return {any("never executed" not in line for line in plan.splitlines()) for plan in plans}

    computed = ask_all("UTC")
    assert all(computed)
    assert find_read() == {True}
    stale = find_stale_calls(warehouse, None, least_rows=1)
    calls = [each for each in stale if each.function.startswith("comparison")]
    assert {(each.archive, each.given) for each in calls} == {
        ("one", ()), ("one", (("timezone", "'Europe/Berlin'"),)),
        ("two", ()), ("two", (("timezone", "'UTC'"),)),
    }  # fmt: skip
    assert refresh(warehouse, calls) == len(calls) == 8
    assert find_read() == {False}
    assert ask_all("UTC") == computed
    assert list(map(Counter.total, ask_all("Asia/Kolkata"))) == list(map(Counter.total, computed))


def test_a_simulated_archive_is_compared_from_when_it_was_steady(warehouse: Warehouse) -> None:
    given = {
        "archives": [
            {"name": "real"},
            {"name": "run", "kind": "simulated", "timezone": "Europe/Berlin"},
            {"name": "never", "kind": "simulated"},
            {"name": "small"},
        ],
        "simulation_runs": [
            {"archive": "run", "demand_archive": "real", "steady_at": "2000-01-15T12:00:00Z"},
            {"archive": "never", "demand_archive": "real", "steady_at": None},
        ],
    }
    with warehouse.connect(Role.OWNER) as owner:
        insert_rows(owner, given)
        calls = kept_answers._find_compared(owner, ["real", "run", "never"])
        owner.rollback()
    steady, berlin = ("asked_from", "'2000-01-15 12:00:00Z'"), ("timezone", "'Europe/Berlin'")
    utc = ("timezone", "'UTC'")
    assert {*calls} == {
        Call("real", "comparison_figures", (steady,)),
        Call("real", "comparison_figures", (berlin, steady)),
        Call("run", "comparison_figures", (utc,)),
        Call("run", "comparison_kinds", (utc,)),
    }
