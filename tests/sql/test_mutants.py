"""Breaks each rule of `mart` once and checks that a case fails.

`mutants.py` describes handwritten mutants, `derived_mutants.py` those derived from the SQL.
"""

import os
import zlib
from collections.abc import Iterator

import psycopg
import pytest

from tapewise.schema.database import Role
from tapewise.schema.tables.mart import MartObject, read_mart
from tests.conftest import Site
from tests.sql.cases import Case, find_cases, make_partitions
from tests.sql.derived_mutants import derive_mutants, read_equivalent
from tests.sql.mutants import AnyMutant, find_mutants, find_needed, try_mutants
from tests.sql.touched import find_touched

OBJECTS = read_mart()
WRITTEN = find_mutants()
DERIVED = [mutant for each in OBJECTS for mutant in derive_mutants(each)]
KNOWN = {(each.name, change) for each in OBJECTS for change in read_equivalent(each.name)}
EQUIVALENT = [mutant for mutant in DERIVED if (mutant.object_name, mutant.change) in KNOWN]
MUTANTS: list[AnyMutant] = [
    *WRITTEN,
    *(mutant for mutant in DERIVED if (mutant.object_name, mutant.change) not in KNOWN),
]
CASES = find_cases()
# Trying all mutants takes half as long as all other tests, so only `make mutants` does. If a branch touches
# objects, only their mutants are tried. Otherwise, one in ONE_IN is tried; the choice changes with sql/.
ONE_IN = int(os.environ.get("TAPEWISE_TEST_MUTANTS_ONE_IN", "40"))
TURN = zlib.crc32("".join(each.text for each in OBJECTS).encode()) % ONE_IN
TOUCHED = (find_touched() or set()) if ONE_IN > 1 else set()
CHOSEN = [mutant for mutant in MUTANTS if mutant.object_name in TOUCHED] or MUTANTS[TURN::ONE_IN]
# The objects whose mutants are tried.
TRIED = [each.name for each in OBJECTS if each.name in {mutant.object_name for mutant in CHOSEN}]


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        # A plan cached for another mart would fail even without a mutant.
        connection.prepare_threshold = None
        # A mutant's query may never end; a timeout counts as noticed.
        connection.execute("SET statement_timeout = '10s'")
        make_partitions(connection, CASES)
        connection.commit()
        yield connection


@pytest.mark.parametrize("name", TRIED)
def test_every_mutant_is_noticed(connection: psycopg.Connection, name: str) -> None:
    mutants = [each for each in CHOSEN if each.object_name == name]
    assert [each.change for each in try_mutants(connection, *find_cases_of(name), mutants)] == []


@pytest.mark.parametrize("name", sorted({each.object_name for each in EQUIVALENT}) if ONE_IN == 1 else [])
def test_no_case_notices_an_equivalent(connection: psycopg.Connection, name: str) -> None:
    mutants = [each for each in EQUIVALENT if each.object_name == name]
    assert try_mutants(connection, *find_cases_of(name), mutants) == mutants


def find_cases_of(name: str) -> tuple[list[MartObject], list[Case]]:
    """Return an object's cases, slow ones last, and the objects that they need."""
    cases = [case for case in CASES if case.object_name == name]
    cases.sort(key=lambda case: (case.path.stem == "each_argument", -len(case.expect["rows"])))
    return find_needed(OBJECTS, cases), cases


def test_the_text_of_every_mutant_is_once_in_the_sql() -> None:
    texts = {each.name: each.text for each in OBJECTS}
    assert [each for each in WRITTEN if texts[each.object_name].count(each.old) != 1] == []


def test_every_equivalent_is_derived() -> None:
    assert {(mutant.object_name, mutant.change) for mutant in EQUIVALENT} == KNOWN


def test_every_object_of_mart_has_a_mutant() -> None:
    assert {mutant.object_name for mutant in MUTANTS} == {each.name for each in OBJECTS}


def test_no_two_mutants_are_the_same() -> None:
    assert len({(mutant.object_name, mutant.change) for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.object_name, mutant.old, mutant.new) for mutant in WRITTEN}) == len(WRITTEN)
