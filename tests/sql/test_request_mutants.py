"""Breaks each rule that derives requests, mounts and so on from facts, and checks that a case fails."""

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

import psycopg
import pytest

from tapewise.ingest.requests import mounts, stage_starts
from tapewise.ingest.requests import rebuild as requests
from tapewise.schema.database import Role
from tapewise.schema.tables.mart import make_mart, read_mart
from tests.conftest import Site
from tests.sql import test_mutants as mutants_of_mart
from tests.sql.cases import (
    CASES_FOLDER,
    DERIVED,
    Case,
    find_cases,
    insert_rows,
    make_partitions,
    restart_numbers,
)
from tests.sql.mutants import Mutant, find_needed, is_failing, read_mutants

# The derived tables. Each is shown by the view of the same name.
STATEMENTS = DERIVED
CASES = {name: [case for case in find_cases() if case.object_name == name] for name in STATEMENTS}
OBJECTS = find_needed(read_mart(), chain.from_iterable(CASES.values()))
MUTANTS = [
    mutant for name in STATEMENTS for mutant in read_mutants(CASES_FOLDER / name / "putting_together.yaml")
]


# For each derived table, its queries: the dictionary that contains each, and the key.
QUERIES = {
    "requests": [(held, name) for held in (requests.LINES, requests.STEPS) for name in held],
    **{name: [(held, name)] for held in (mounts._STATEMENTS, stage_starts._STATEMENTS) for name in held},
}

# Tried as in test_mutants.py, but a larger share of the mutants.
ONE_IN = min(4, mutants_of_mart.ONE_IN)
TURN = zlib.crc32(repr(QUERIES).encode()) % ONE_IN


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        connection.prepare_threshold = None
        connection.execute("SET statement_timeout = '10s'")
        make_partitions(connection, chain.from_iterable(CASES.values()))
        connection.commit()
        yield connection


def find_failing_case(connection: psycopg.Connection, cases: Iterable[Case]) -> Case | None:
    """Return the first of `cases` that fails or None, and roll back."""
    with connection.transaction(force_rollback=True):
        make_mart(connection, OBJECTS)
        for case in cases:
            with connection.transaction(force_rollback=True):
                restart_numbers(connection)
                insert_rows(connection, case.given)
                if is_failing(connection, case):
                    return case
    return None


@pytest.mark.study("ingest/requests")
@pytest.mark.parametrize(
    "mutant", MUTANTS[TURN::ONE_IN], ids=lambda mutant: f"{mutant.object_name}: {mutant.change}"
)
def test_a_case_notices(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, mutant: Mutant
) -> None:
    name = mutant.object_name
    count = 0
    for held, each in QUERIES[name]:
        count += held[each].count(mutant.old)
        monkeypatch.setitem(held, each, held[each].replace(mutant.old, mutant.new))
    assert count == 1, f"not exactly once in the SQL: {mutant.old}"
    found = find_failing_case(connection, CASES[name])
    assert found is not None, f"no case of {name} fails although {mutant.change}"


@pytest.mark.study("ingest/requests")
@pytest.mark.parametrize("name", STATEMENTS)
def test_no_case_fails_without_a_mutant(connection: psycopg.Connection, name: str) -> None:
    assert find_failing_case(connection, CASES[name]) is None
