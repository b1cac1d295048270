"""The questions of `benchmarks.reports` give the same numbers in DuckDB as the functions of mart do."""

import math
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchmarks.answers import ARCHIVE, COPIED, copy_rows
from benchmarks.lines import ZONE, write_lines
from benchmarks.questions import LISTINGS, QUESTIONS, TAPE_QUESTIONS, Question
from benchmarks.reports import TAPES_COPIED
from benchmarks.tape_rows import fill_tapes
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.mart import read_mart

pytestmark = pytest.mark.study("sql", "benchmarks")

# More of the logs with paths than in the benchmark, so that some files follow others.
LINES = {"nft": 3_000, "hsi": 6_000, "pftp": 3_000}
WEEKS = 2
FILES, MONTHS = 4_000, 3


def test_every_kept_answer_is_asked_for() -> None:
    asked = {(each.function, each.call.given) for each in (*QUESTIONS, *TAPE_QUESTIONS)}
    kept = {(each.name, tuple(call.items())) for each in read_mart() for call in each.metadata.kept}
    # The page of the morning asks for these, and has a benchmark of its own.
    assert kept - asked == {("morning_attempts", ())}


def test_functions_that_are_only_asked_about_a_day_say_that_they_list_rows() -> None:
    said = {each.name: each.metadata.summary for each in read_mart()}
    for question in LISTINGS:
        assert "not meant for all time" in said[question.function] or question.function == "idle_intervals"


def test_transfers(warehouse: Warehouse, load: Any, tmp_path: Path) -> None:
    for name, count in LINES.items():
        log = tmp_path / f"{name}.log"
        write_lines(log, count, name, weeks=WEEKS)
        # Nothing in DuckDB follows files that are renamed.
        log.write_text(
            "".join(line for line in log.read_text().splitlines(keepends=True) if "\tFR\t" not in line)
        )
        load(log, name, archive=ARCHIVE, timezone=ZONE)
    compare(warehouse, COPIED, QUESTIONS)


def test_tapes(warehouse: Warehouse) -> None:
    fill_tapes(warehouse, ARCHIVE, FILES, month_count=MONTHS)
    compare(warehouse, TAPES_COPIED, TAPE_QUESTIONS)


def compare(warehouse: Warehouse, copied: dict[str, Any], questions: Sequence[Question]) -> None:
    """Ask both for each question that DuckDB answers, and compare all rows."""
    with duckdb.connect() as duck:
        with warehouse.connect(Role.OWNER) as owner:
            for name, query in copied.items():
                copy_rows(owner, query, duck, name)
        with closing(warehouse.connect_reader(sees_names=True, autocommit=True)) as reader:
            for question in questions:
                if question.peer is None:
                    continue
                given = ", ".join(map(" => ".join, question.call.given))
                query = question.same.format(f"mart.{question.call.function}({given})")
                ours = arrange(reader.execute(query.encode()).fetchall())
                theirs = arrange(duck.execute(question.peer).fetchall())
                assert ours, question.call.describe()
                assert len(ours) == len(theirs), question.call.describe()
                for one, other in zip(ours, theirs, strict=True):
                    assert len(one) == len(other), question.call.describe()
                    assert all(map(is_same, one, other)), f"{question.call.describe()}: {one} {other}"


def arrange(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Sort rows, with values of the same types from both."""
    return sorted(
        ([as_plain(value) for value in row] for row in rows), key=lambda row: list(map(as_key, row))
    )


def as_plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    return value


def as_key(value: Any) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 1, float(f"{value:.7g}"), ""
    return (0, 0, "") if value is None else (2, 0, value)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal, or differ as sums of floats in another order do."""
    if isinstance(one, float) or isinstance(other, float):
        return None not in (one, other) and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
    return bool(one == other)
