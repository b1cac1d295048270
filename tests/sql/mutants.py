"""Handwritten mutants: each breaks one rule of a view or function, which the object's cases must notice.

    tests/sql/transfers/mutants.yaml

    - change: sources that are not counted are shown too
      replace: WHERE is_counted
      with: ""

`change` describes what the mutant does wrong and names the test. `replace` must occur exactly once in
the object's SQL (use a block of lines, `|-`, if a single line is not unique), and `with` replaces it. The
result must be SQL that PostgreSQL accepts, with the columns that the metadata describes: a mutant that
cannot be created proves nothing. At least one case of the same object must then fail.

`derived_mutants.py` already breaks everything that a syntax tree shows: filters, boundaries, arguments, LEFT
JOINs, DISTINCT, NOT, window keys. Write a mutant for every other rule of the object: whatever depends on the
archive's zone or on counted sources, grouping keys, defaults, orders, easily confused columns. If a
mutant survives, either the cases lack a row that shows the difference (add it), or the rule has no effect
(remove it from the SQL).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import psycopg
import yaml

from tapewise.schema.tables.mart import MartObject, make_mart
from tests.sql.cases import (
    CASES_FOLDER,
    Case,
    find_differences,
    insert_rows,
    make_partitions,
    restart_numbers,
    run_query,
)


class AnyMutant(Protocol):
    """A mutant of an object, handwritten or derived."""

    object_name: str
    change: str

    def mutate(self, objects: Sequence[MartObject]) -> list[MartObject]:
        """Return `objects` with this change made to one of them."""


@dataclass(frozen=True)
class Mutant:
    """One entry of a `mutants.yaml`."""

    object_name: str
    change: str
    old: str
    new: str

    def mutate(self, objects: Sequence[MartObject]) -> list[MartObject]:
        """Return `objects` with this change made to the text of one of them."""
        return [
            replace(each, text=each.text.replace(self.old, self.new))
            if each.name == self.object_name
            else each
            for each in objects
        ]


def find_mutants() -> list[Mutant]:
    return [mutant for path in sorted(CASES_FOLDER.glob("*/mutants.yaml")) for mutant in read_mutants(path)]


def read_mutants(path: Path) -> list[Mutant]:
    """Read the mutants of the object whose folder contains the file."""
    found = []
    for entry in yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader):
        assert list(entry) == ["change", "replace", "with"], f"{path}: {entry}"
        assert all(isinstance(value, str) for value in entry.values()), f"{path}: put in quotes: {entry}"
        found.append(Mutant(path.parent.name, *entry.values()))
    return found


def find_needed(objects: Sequence[MartObject], cases: Iterable[Case]) -> list[MartObject]:
    """Return the objects that the queries of `cases` depend on, without the choice of kept answers.

    Building all of mart is far slower. A mutant is one of what `sql/` computes, and no case keeps that.
    """
    by_name = {each.name: each for each in objects}
    needed: set[str] = set()
    waiting = [name for case in cases for name in re.findall(r"mart\.(\w+)", case.query)]
    while waiting:
        found = waiting.pop()
        if found not in needed:
            needed.add(found)
            waiting += by_name[found].metadata.depends_on
    return [
        replace(each, metadata=each.metadata.model_copy(update={"kept": []}))
        for each in objects
        if each.name in needed
    ]


def try_mutants(
    connection: psycopg.Connection,
    objects: Sequence[MartObject],
    cases: Sequence[Case],
    mutants: Sequence[AnyMutant],
) -> list[AnyMutant]:
    """Return those of `mutants` with which none of `cases` fails; they break one of `objects`.

    The rows of a case are inserted once for all mutants, because this takes longer than its query. Raises
    AssertionError if a case fails without a mutant. Everything is rolled back.
    """
    left = list(mutants)
    with connection.transaction(force_rollback=True):
        # With the months of all objects' cases, each query would take longer to plan.
        make_partitions(connection, cases)
        make_mart(connection, objects)
        for case in cases:
            with connection.transaction(force_rollback=True):
                restart_numbers(connection)
                insert_rows(connection, case.given)
                assert not is_failing(connection, case), f"{case.name} fails without a mutant"
                left = [each for each in left if not _is_noticed(connection, objects, case, each)]
            if not left:
                break
    return left


def _is_noticed(
    connection: psycopg.Connection, objects: Sequence[MartObject], case: Case, mutant: AnyMutant
) -> bool:
    with connection.transaction(force_rollback=True):
        broken = mutant.mutate(objects)
        [(sound, changed)] = [
            (old, new) for old, new in zip(objects, broken, strict=True) if old.text != new.text
        ]
        if _read_head(sound) == _read_head(changed):
            connection.execute(changed.text.replace("CREATE ", "CREATE OR REPLACE ", 1).encode())
        else:
            # Another function would be created next to this one.
            make_mart(connection, broken)
        return is_failing(connection, case)


def _read_head(each: MartObject) -> str:
    """Return what precedes the query of a view or function: its name, arguments and columns."""
    return each.text.partition("$function$" if each.metadata.kind == "function" else " AS\n")[0]


def is_failing(connection: psycopg.Connection, case: Case) -> bool:
    """Whether the query of a case, whose rows are there, gives other rows than expected, or an error."""
    try:
        rows = run_query(connection, case.query)
    except psycopg.Error:
        return True
    return bool(find_differences(case.expect, rows))
