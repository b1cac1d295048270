"""`tapewise refresh` prepares answers, which equal those that are computed, and go when their facts go."""

import shlex
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tapewise.dashboards import choices, notes
from tapewise.dashboards.datasets import Dataset
from tapewise.ingest.upkeep.preparations import Question, find_stale, is_answered_at_once, prepare
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.writing.file_counts import recount_files
from tests.day_cells import add_day_cell

pytestmark = pytest.mark.study("sql", "schema")

ALL = Question("test")
NOVEMBER = Question("test", datetime(1997, 11, 1, tzinfo=UTC), datetime(1997, 12, 1, tzinfo=UTC))
LINES = "lower_envelopes"
BLOCKS = "residual_blocks"
MARKS = "newer_count, is_prepared, computed_at"


def write_log(path: Path, begin: datetime, count: int) -> Path:
    """Made-up puts and gets of nft, of many sizes, one each minute."""
    lines = []
    for number in range(count):
        at = begin + timedelta(minutes=number)
        size = 1000 + 7919 * number % 1_000_003
        lines.append(
            f"005041 {at:%y/%m/%d %H:%M:%S} {'js' if number % 3 else 'sj'} {size}"
            f" {0.2 + size * 2e-6 * (1 + number % 5):.3f}\n"
        )
    path.write_text("".join(lines))
    return path


@pytest.fixture
def large(warehouse: Warehouse, load: Any, tmp_path: Path) -> Warehouse:
    """A warehouse that seems to have too many transfers in November, and some in December."""
    load(write_log(tmp_path / "a.log", datetime(1997, 11, 20, tzinfo=UTC), 3000), "nft")
    load(write_log(tmp_path / "b.log", datetime(1997, 12, 20, tzinfo=UTC), 200), "nft")
    with warehouse.connect(Role.OWNER) as connection:
        add_day_cell(connection, 1, {"day": "1997-11-01", "transfer_count": 400_000})
    return warehouse


def ask(warehouse: Warehouse, function: str, question: Question, **others: Any) -> list[dict[str, Any]]:
    given = {name: value for name, value in (vars(question) | others).items() if value is not None}
    call = ", ".join(f"{name} => %({name})s" for name in given)
    with warehouse.connect(Role.READER) as reader:
        order = "interface, direction, block" if function == BLOCKS else "interface, direction"
        cursor = reader.execute(f"SELECT * FROM mart.{function}({call}) ORDER BY {order}".encode(), given)
        assert cursor.description is not None
        return [dict(zip([each.name for each in cursor.description], row, strict=True)) for row in cursor]


def drop_marks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name not in MARKS.split(", ")} for row in rows]


def refresh(warehouse: Warehouse) -> list[Question]:
    return [done.question for done in prepare(warehouse, find_stale(warehouse, None), time_limit_s=600)]


def test_a_prepared_answer_equals_a_computed_one(large: Warehouse) -> None:
    assert ask(large, LINES, ALL) == ask(large, BLOCKS, ALL) == []
    assert refresh(large) == [ALL, NOVEMBER]
    for function in (LINES, BLOCKS):
        for question in (ALL, NOVEMBER):
            prepared = ask(large, function, question)
            assert {(row["is_prepared"], row["newer_count"]) for row in prepared} == {(True, 0)}
            computed = ask(large, function, question, is_fresh=True)
            assert {row["is_prepared"] for row in computed} == {False}
            assert len(prepared) >= 2
            assert drop_marks(prepared) == drop_marks(computed)
    assert refresh(large) == []


def test_each_residual_uses_the_prepared_line(large: Warehouse) -> None:
    refresh(large)
    with large.connect(Role.READER) as reader:
        plan = reader.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM mart.residuals()")
        scans = [text for (text,) in plan if " on transfers_" in text and "never executed" not in text]
        marks = reader.execute("SELECT is_prepared, count(*) FROM mart.residuals() GROUP BY 1").fetchall()
    assert marks == [(True, sum(row["transfer_count"] for row in ask(large, LINES, ALL)))]
    # November's and December's are read once: for the residuals, and not for the line.
    assert len(scans) == 2, scans


def test_what_was_loaded_later_is_counted_and_leads_to_a_refresh(
    large: Warehouse, load: Any, tmp_path: Path
) -> None:
    refresh(large)
    before = ask(large, LINES, ALL)
    load(write_log(tmp_path / "c.log", datetime(1997, 12, 25, tzinfo=UTC), 10), "nft")
    assert [row | {"newer_count": 0} for row in ask(large, LINES, ALL)] == before
    assert {row["newer_count"] for row in ask(large, LINES, ALL)} == {10}
    assert {row["newer_count"] for row in ask(large, LINES, NOVEMBER)} == {0}
    assert refresh(large) == [ALL]
    assert sum(row["transfer_count"] + row["filtered_count"] for row in ask(large, LINES, ALL)) == 3210


def test_few_transfers_are_never_prepared(warehouse: Warehouse, load: Any, tmp_path: Path) -> None:
    load(write_log(tmp_path / "a.log", datetime(1997, 11, 20, tzinfo=UTC), 300), "nft")
    assert find_stale(warehouse, None) == []
    assert is_answered_at_once(warehouse, ALL)
    assert {row["is_prepared"] for row in ask(warehouse, LINES, ALL)} == {False}


def test_a_client_is_prepared_on_demand_and_then_refreshed(
    large: Warehouse, load: Any, tmp_path: Path
) -> None:
    client = Question("test", client="j")
    assert not is_answered_at_once(large, client)
    refresh(large)
    assert ask(large, LINES, client) == []
    assert [done.transfer_count for done in prepare(large, [client], time_limit_s=600)] == [3200]
    assert drop_marks(ask(large, LINES, client)) == drop_marks(ask(large, LINES, client, is_fresh=True)) != []
    load(write_log(tmp_path / "c.log", datetime(1997, 12, 25, tzinfo=UTC), 10), "nft")
    assert refresh(large) == [ALL, client]


def test_no_time_leaves_the_old_answer(large: Warehouse, load: Any, tmp_path: Path) -> None:
    refresh(large)
    before = ask(large, BLOCKS, ALL)
    load(write_log(tmp_path / "c.log", datetime(1997, 12, 25, tzinfo=UTC), 10), "nft")
    assert list(prepare(large, find_stale(large, None), time_limit_s=0)) == []
    assert [row | {"newer_count": 0} for row in ask(large, BLOCKS, ALL)] == before


def test_answers_go_with_the_facts_that_they_come_from(large: Warehouse) -> None:
    refresh(large)
    forget_detail(large, "test", date(1997, 11, 20), datetime(2000, 1, 1, tzinfo=UTC))
    assert _count(large) == (0, 0, 0)
    # What is left is few transfers, so it is computed on demand.
    assert refresh(large) == []
    with large.connect(Role.OWNER) as connection:
        add_day_cell(connection, 1, {"day": "1997-11-19", "transfer_count": 1})
        add_day_cell(connection, 1, {"day": "1997-11-29", "transfer_count": 400_000})
    assert refresh(large) == [ALL, NOVEMBER]
    drop_source(large, "test", "nft")
    assert _count(large) == (0, 0, 0)


def _count(warehouse: Warehouse) -> Any:
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(
            "SELECT (SELECT count(*) FROM studies.envelope_preparations),"
            " (SELECT count(*) FROM studies.prepared_envelopes),"
            " (SELECT count(*) FROM studies.prepared_blocks)"
        ).fetchone()


def test_pages_say_what_was_prepared_and_how_to_prepare_it(
    large: Warehouse, load: Any, tmp_path: Path
) -> None:
    title = "The lower envelope: how the hardware performs when nobody waits"
    residuals = "Residual blocks of gets: how long they waited, by size"
    said = _read_notes(large)
    assert said[title] == (
        "too many transfers to fit an envelope while you wait; run `tapewise refresh --archive test`"
    )
    refresh(large)
    said = _read_notes(large)
    assert said[title].startswith("the envelope was computed at 20")
    assert said[residuals].startswith("only for nft, which has the most gets;")
    assert "; the envelope was computed at 20" in said[residuals]
    load(write_log(tmp_path / "c.log", datetime(1997, 12, 25, tzinfo=UTC), 10), "nft")
    assert _read_notes(large)[title].endswith(", before 10 more transfers were loaded")


def test_a_shell_reads_a_name_in_a_command_as_it_is(large: Warehouse) -> None:
    names = ["cray", "a1.example.org", "x y", "x; rm -rf ~", "x' ; rm -rf ~ '", "$(date)", "`date`", "a\\"]
    with large.connect(Role.READER) as reader:
        query = f"SELECT {choices.write_word('name')} FROM unnest(%s::text[]) AS given (name)"
        words = [word for (word,) in reader.execute(query.encode(), [names])]
    assert words[:2] == names[:2]
    assert [shlex.split(word) for word in words] == [[name] for name in names]
    # `shlex.split` expands nothing, but a shell would, except within quotes.
    assert words[2:] == [shlex.quote(name) for name in names[2:]]


def test_a_page_follows_no_files_of_a_large_archive(large: Warehouse) -> None:
    title = "Bytes added and removed, by month"
    for name in sorted(notes.OF_FILES):
        with large.connect(Role.READER) as reader:
            query = f"EXPLAIN (ANALYZE, COSTS OFF) {Dataset(name).write_sql(with_filters=False)}".encode()
            plan = [str(row[0]) for row in reader.execute(query)]
        scans = [line for line in plan if " on transfers_" in line]
        assert scans
        assert [line for line in scans if "never executed" not in line] == [], name
    said = "too many files to follow while you wait; run `tapewise refresh --archive test`"
    assert _read_notes(large, "Growth")[title] == said
    with large.connect(Role.OWNER) as connection:
        assert recount_files(connection, connection, "test", datetime.now(UTC)) is not None
    with large.connect(Role.READER) as reader:
        months = reader.execute(Dataset("growth").write_sql(with_filters=False).encode()).fetchall()
    assert len(months) == 2
    assert _read_notes(large, "Growth").get(title) != said


def _read_notes(warehouse: Warehouse, of_page: str = "Transfers") -> dict[str, str]:
    with warehouse.connect(Role.READER) as reader:
        rows = reader.execute(notes.write_notes(with_filters=False).encode()).fetchall()
    return {chart: note for page, _, chart, note in rows if page == of_page}


def test_no_transfer_is_read_for_a_prepared_answer(large: Warehouse) -> None:
    for is_prepared in (False, True):
        for function in (LINES, BLOCKS):
            with large.connect(Role.OWNER) as connection:
                query = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM mart.{function}('test')"
                plan = [str(row[0]) for row in connection.execute(query.encode())]
            scans = [line for line in plan if " on transfers_" in line]
            assert scans, is_prepared
            assert [line for line in scans if "never executed" not in line] == []
        refresh(large)
