"""Breaks each rule of `mart` once and checks that a case fails.

`mutants.py` describes handwritten mutants, `derived_mutants.py` those derived from the SQL.
"""

import functools
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from tapewise.schema.database import Role
from tapewise.schema.tables.mart import MartObject, read_mart
from tests.conftest import Site
from tests.sql.cases import Case, find_cases
from tests.sql.derived_mutants import derive_mutants, read_equivalent
from tests.sql.mutants import AnyMutant, find_mutants, find_needed, try_mutants
from tests.sql.touched import find_touched

OBJECTS = read_mart()
BY_NAME = {each.name: each for each in OBJECTS}
WRITTEN = find_mutants()
CASES = find_cases()
# Trying all mutants takes half as long as all other tests, so only `make mutants` does. If a branch touches
# objects, only their mutants are tried. Otherwise, at most MOST of each object in ONE_IN are; the choice
# changes with sql/.
ONE_IN = int(os.environ.get("TAPEWISE_TEST_MUTANTS_ONE_IN", "20"))
MOST = 20
TURN = zlib.crc32("".join(each.text for each in OBJECTS).encode()) % ONE_IN
TOUCHED = (find_touched() or set()) if ONE_IN > 1 else set()
# What one object adds up, or selects, another shows, whose cases check the rules of both.
SHOWN_BY = {"requests_and_transfers": "requests", "compared_blocks": "compared_means"}
TRIED = [name for name in BY_NAME if name in TOUCHED] or list(BY_NAME)[TURN::ONE_IN]


@dataclass(frozen=True)
class Mutants:
    """The mutants of an object that a case must notice, and the derived ones that none can notice."""

    noticeable: list[AnyMutant]
    equivalent: list[AnyMutant]
    known: set[str]  # the changes that equivalent.yaml lists


# Only on demand, because to parse the SQL of all objects takes seconds.
@functools.cache
def find_mutants_of(name: str) -> Mutants:
    known = read_equivalent(name)
    derived = derive_mutants(BY_NAME[name])
    written = [mutant for mutant in WRITTEN if mutant.object_name == name]
    return Mutants(
        [*written, *(mutant for mutant in derived if mutant.change not in known)],
        [mutant for mutant in derived if mutant.change in known],
        known,
    )


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        # A plan cached for another mart would fail even without a mutant.
        connection.prepare_threshold = None
        # A mutant's query may never end; a timeout counts as noticed.
        connection.execute("SET statement_timeout = '10s'")
        yield connection


@pytest.mark.parametrize("name", TRIED)
def test_every_mutant_is_noticed(connection: psycopg.Connection, name: str) -> None:
    mutants = find_mutants_of(name).noticeable
    if ONE_IN > 1 and name not in TOUCHED:
        step = -(-len(mutants) // MOST)
        mutants = mutants[TURN % step :: step]
    assert [each.change for each in try_mutants(connection, *find_cases_of(name), mutants)] == []


@pytest.mark.parametrize("name", [name for name in BY_NAME if read_equivalent(name)] if ONE_IN == 1 else [])
def test_no_case_notices_an_equivalent(connection: psycopg.Connection, name: str) -> None:
    mutants = find_mutants_of(name).equivalent
    assert try_mutants(connection, *find_cases_of(name), mutants) == mutants


def find_cases_of(name: str) -> tuple[list[MartObject], list[Case]]:
    """Return an object's cases, slow ones last, and the objects that they need."""
    cases = [case for case in CASES if case.object_name in (name, SHOWN_BY.get(name))]
    cases.sort(key=lambda case: (case.path.stem == "each_argument", -len(case.expect["rows"])))
    return find_needed(OBJECTS, cases), cases


def test_the_text_of_every_mutant_is_once_in_the_sql() -> None:
    texts = {each.name: each.text for each in OBJECTS}
    assert [each for each in WRITTEN if texts[each.object_name].count(each.old) != 1] == []


def test_every_equivalent_is_derived() -> None:
    for name in BY_NAME:
        found = find_mutants_of(name)
        assert {mutant.change for mutant in found.equivalent} == found.known, name


def test_every_object_of_mart_has_a_mutant() -> None:
    assert [name for name in BY_NAME if not find_mutants_of(name).noticeable] == []
    assert {mutant.object_name for mutant in WRITTEN} <= BY_NAME.keys()


def test_no_two_mutants_are_the_same() -> None:
    for name in BY_NAME:
        changes = [mutant.change for mutant in find_mutants_of(name).noticeable]
        assert len(set(changes)) == len(changes), name
    assert len({(mutant.object_name, mutant.old, mutant.new) for mutant in WRITTEN}) == len(WRITTEN)
