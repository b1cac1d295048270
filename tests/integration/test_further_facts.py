"""Lines with several facts: each line counts once in the balance, and its facts stay together."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.records.format import (
    BEFORE_RETENTION,
    NAME_TOO_LONG,
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    SIZE_OUT_OF_RANGE,
    LineSettings,
)
from tapewise.ingest.records.further_facts import LATER_THAN_LINE
from tapewise.ingest.sources.sources import SourceRequest, make_source
from tapewise.ingest.upkeep.explanations import explain_line, explain_row
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import FormatError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.session_format import SESSIONS

Load = Callable[..., FileResult]

pytestmark = pytest.mark.usefixtures("sessions")


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the format in the warehouse."""
    monkeypatch.setitem(FORMATS, "sessions", SESSIONS)


def session(hour: int, vsn: str = "A00001", day: str = "2019-03-02") -> str:
    begun = f"requested={hour:02}:00:00 positioned={hour:02}:00:40"
    return f"{day}T{hour:02}:05:00 {vsn} drive1 kim {begun} bytes=1000\n"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(lines))
    return path


def read_events(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        return connection.execute(
            "SELECT to_char(happened_at, 'MM-DD HH24:MI:SS'), kind, ordinal, line_number, occurrence, name"
            " FROM core.tape_events LEFT JOIN core.users ON users.id = user_id"
            " ORDER BY line_number, ordinal"
        ).fetchall()


EVENTS = [
    ("03-02 10:05:00", "dismounted", 0, 1, 0, "kim"),
    ("03-02 10:00:00", "mount requested", 1, 1, 0, "kim"),
    ("03-02 10:00:40", "positioned", 2, 1, 0, "kim"),
]


def test_a_line_that_gives_three_facts_counts_once(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "log", session(10), "\n", "broken\n", session(11))
    result = load(path, "sessions")
    assert (result.tally.line_count, result.tally.loaded_count, result.tally.held_count) == (4, 2, 0)
    assert result.tally.first_event_at == datetime(2019, 3, 2, 10, tzinfo=UTC)
    assert read_events(warehouse)[:3] == EVENTS
    assert len(read_events(warehouse)) == 6
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute(
            "SELECT fact_table, month, row_count FROM ledger.loaded_rows"
        ).fetchall() == [("tape_events", date(2019, 3, 1), 6)]
    check_warehouse(warehouse)


def test_facts_of_a_line_are_new_or_held_together(
    load: Load, warehouse: Warehouse, tmp_path: Path, short_segments: None
) -> None:
    lines = [session(hour) for hour in range(24)]
    load(write(tmp_path / "a", *lines[:15]), "sessions")
    result = load(write(tmp_path / "b", *lines[5:]), "sessions")
    assert (result.tally.loaded_count, result.tally.held_count) == (9, 10)
    facts = read_facts(warehouse)
    assert facts["tape_events"].total() == 72
    check_warehouse(warehouse)
    # Load the same file again after it has grown, and then under another name.
    result = load(write(tmp_path / "b", *lines[5:], session(0, day="2019-03-03")), "sessions")
    assert (result.tally.loaded_count, result.tally.held_count) == (1, 19)
    result = load(write(tmp_path / "c", *lines), "sessions")
    assert (result.tally.loaded_count, result.tally.held_count) == (0, 24)
    assert read_facts(warehouse)["tape_events"].total() == 75
    check_warehouse(warehouse)


def test_equal_lines_keep_their_own_facts(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "log", session(10), session(10)), "sessions")
    assert [event[2:5] for event in read_events(warehouse)] == [
        (ordinal, line, line - 1) for line in (1, 2) for ordinal in range(3)
    ]
    check_warehouse(warehouse)


def test_a_dry_run_counts_lines(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "a", session(10)), "sessions")
    request = SourceRequest("test", "synthetic", SESSIONS, "UTC", "sessions")
    result = preview_file(
        warehouse, register(warehouse, request), write(tmp_path / "b", session(10), session(11)), now=NOW
    )
    assert (result.tally.loaded_count, result.tally.held_count) == (1, 1)


@pytest.mark.parametrize("requested, reason", [("10:05:01", LATER_THAN_LINE), ("25:00:00", NO_SUCH_TIME)])
def test_a_line_with_impossible_further_facts_is_rejected(
    load: Load, warehouse: Warehouse, tmp_path: Path, requested: str, reason: str
) -> None:
    wrong = session(10).replace("requested=10:00:00", f"requested={requested}")
    result = load(write(tmp_path / "log", wrong, session(11)), "sessions")
    assert dict(result.tally.rejected) == {reason: 1}
    assert {event[3] for event in read_events(warehouse)} == {2}
    check_warehouse(warehouse)


def test_forgetting_removes_facts_before_the_day_and_counts_lines(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    midnight = "2019-03-02T00:02:00 A00001 drive1 kim requested=00:00:00 positioned=00:00:00 bytes=1\n"
    path = write(tmp_path / "log", session(23, day="2019-03-01"), midnight, session(10))
    load(path, "sessions", timezone="America/New_York")
    forgotten = forget_detail(warehouse, "test", date(2019, 3, 2), NOW)
    assert forgotten.fact_counts["tape_events"] == 3
    check_warehouse(warehouse)
    balance = read_balance(warehouse)
    assert load(path, "sessions", timezone="America/New_York").tally.ignored[BEFORE_RETENTION] == 1
    assert read_balance(warehouse) == balance
    assert len(read_events(warehouse)) == 6


def test_a_forgotten_fact_does_not_come_back_with_a_later_line(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """The session spans midnight: it began on a forgotten day and ended on the next day, which is kept."""
    load(write(tmp_path / "a", session(10, day="2019-03-01")), "sessions", timezone="Asia/Kathmandu")
    forget_detail(warehouse, "test", date(2019, 3, 2), NOW)
    over = "2019-03-02T00:05:00 A00002 drive1 kim requested=00:00:00 positioned=00:00:40 bytes=1000\n"
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("UPDATE core.archives SET retained_since = retained_since + interval '30 s'")
    result = load(write(tmp_path / "b", over), "sessions", timezone="Asia/Kathmandu")
    assert result.tally.loaded_count == 1
    assert [event[1] for event in read_events(warehouse)] == ["dismounted", "positioned"]
    check_warehouse(warehouse)


def test_a_line_and_its_rows_are_explained(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "log", session(10), session(11))
    load(path, "sessions")
    with warehouse.connect(Role.OWNER) as connection:
        fates = explain_line(connection, path, 2, NOW)
        assert [(fate.fate, fate.table, (fate.row or {})["kind"]) for fate in fates] == [
            ("loaded", "tape_events", "dismounted"),
            ("loaded", "tape_events", "mount requested"),
            ("loaded", "tape_events", "positioned"),
        ]
        assert {fate.text for fate in fates} == {session(11).strip()}
        row_id = (fates[1].row or {})["id"]
        assert explain_row(connection, "tape_events", row_id).line_number == 2


def test_names_are_hidden_in_all_facts(warehouse: Warehouse, tmp_path: Path) -> None:
    key = PseudonymKey("a key of thirty-two characters ..")
    with warehouse.connect() as connection:
        source = make_source(
            connection, SourceRequest("test", "synthetic", SESSIONS, "UTC", "sessions", key=key)
        )
    load_file(warehouse, source, write(tmp_path / "log", session(10)), now=NOW)
    names = {event[5] for event in read_events(warehouse)}
    assert len(names) == 1
    assert names != {"kim"}


def test_dropping_the_source_leaves_nothing(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "log", session(10)), "sessions")
    assert drop_source(warehouse, "test", "sessions").fact_count == 3
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT count(*) FROM ledger.loaded_rows").fetchone() == (0,)
    check_warehouse(warehouse)


def test_facts_of_a_line_in_a_second_pass_move_together(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    def line(clock: str, vsn: str) -> str:
        return f"2019-11-03T{clock} {vsn} drive1 kim requested=01:01:00 positioned=01:02:00 bytes=1\n"

    first = [line(f"01:{minute:02}:00", f"A{minute:05}") for minute in range(3, 59, 5)]
    second = [line(f"01:{minute:02}:00", f"B{minute:05}") for minute in range(3, 59, 5)]
    load(write(tmp_path / "log", *first, *second), "sessions", timezone="America/New_York")
    events = read_events(warehouse)
    hours = {(event[3] > len(first), event[0][6:8]) for event in events}
    assert hours == {(False, "05"), (True, "06")}
    check_warehouse(warehouse)


def test_a_session_that_was_open_when_clocks_went_back(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """The session began at 1:50 in the first pass, so the 1:10 in its line can only be in the second."""
    line = "2019-11-03T01:10:00 A00001 drive1 kim requested=01:50:00 positioned=01:05:00 bytes=1\n"
    result = load(write(tmp_path / "log", line), "sessions", timezone="America/New_York")
    assert result.tally.loaded_count == 1
    assert [event[:2] for event in read_events(warehouse)] == [
        ("11-03 06:10:00", "dismounted"),
        ("11-03 05:50:00", "mount requested"),
        ("11-03 06:05:00", "positioned"),
    ]
    check_warehouse(warehouse)


def test_each_load_records_the_number_of_its_first_row(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    path = write(tmp_path / "log", session(10))
    load(path, "sessions")
    load(write(tmp_path / "other", session(10)), "sessions", archive="another")
    load(write(path, session(10), session(11)), "sessions")
    with warehouse.connect(Role.OWNER) as connection:
        first_ids = connection.execute(
            "SELECT log_file_id, min(id), count(*) FROM core.tape_events"
            " GROUP BY log_file_id, line_number ORDER BY 2"
        ).fetchall()
        assert len(first_ids) == 3
        noted = connection.execute(
            "SELECT log_file_id, load_id, row_count FROM ledger.loaded_rows ORDER BY load_id"
        ).fetchall()
        assert noted == first_ids
    # The forgotten time ends within a month that has three loads of one file.
    load(write(path, session(10), session(11), session(12, day="2019-03-05")), "sessions")
    forget_detail(warehouse, "test", date(2019, 3, 3), NOW)
    check_warehouse(warehouse)
    with warehouse.connect(Role.OWNER) as connection:
        rows = connection.execute("SELECT row_count FROM ledger.loaded_rows ORDER BY load_id").fetchall()
    assert rows == [(3,), (3,)]  # for the other archive and the last load


def change_further(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    """Give the format's further facts these values."""

    def parse_further(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
        assert SESSIONS.parse_further is not None
        found = SESSIONS.parse_further(lines, settings)
        return found.with_columns(**{name: pl.lit(value) for name, value in values.items()})

    monkeypatch.setitem(FORMATS, "sessions", replace(SESSIONS, parse_further=parse_further))


@pytest.mark.parametrize("change", [{"table": "mounts"}, {"table": None}, {"ordinal": 0}])
def test_further_facts_without_a_table_or_place_are_refused(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    change_further(monkeypatch, **change)
    with pytest.raises(FormatError, match="further facts of"):
        load(write(tmp_path / "log", session(10)), "sessions")


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"user": "k" * 1025}, NAME_TOO_LONG),
        ({"size_bytes": -1}, SIZE_OUT_OF_RANGE),
        ({"duration_s": 1e9}, NUMBER_OUT_OF_RANGE),
    ],
)
def test_further_facts_have_the_same_limits_as_records(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], reason: str
) -> None:
    change_further(monkeypatch, **change)
    assert dict(load(write(tmp_path / "log", session(10)), "sessions").tally.rejected) == {reason: 1}


def test_transfers_as_further_facts_are_in_the_rollup(
    load: Load, warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_further(monkeypatch, table="transfers", direction="get", size_bytes=7, duration_s=1.0)
    assert load(write(tmp_path / "log", session(10)), "sessions").tally.loaded_count == 1
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute(
            "SELECT sum(transfer_count)::int, sum(size_bytes)::int FROM core.activity_cells"
        ).fetchone() == (2, 14)
