"""Breaks each rule of `mart` once and checks that a case fails.

`mutants.py` describes handwritten mutants, `derived_mutants.py` those derived from the SQL.
"""

import os
import zlib
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from tapewise.schema.database import Role
from tapewise.schema.tables.mart import MartObject, read_mart
from tests.conftest import Site
from tests.sql.cases import Case, find_cases, make_partitions
from tests.sql.derived_mutants import DerivedMutant, derive_mutants, read_equivalent
from tests.sql.mutants import Mutant, find_failing_case, find_mutants, find_needed
from tests.sql.touched import find_touched

OBJECTS = read_mart()
WRITTEN = find_mutants()
DERIVED = [mutant for each in OBJECTS for mutant in derive_mutants(each)]
KNOWN = {(each.name, change) for each in OBJECTS for change in read_equivalent(each.name)}
EQUIVALENT = [mutant for mutant in DERIVED if (mutant.object_name, mutant.change) in KNOWN]
MUTANTS: list[Mutant | DerivedMutant] = [
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
TRIED = [each for each in OBJECTS if each.name in {mutant.object_name for mutant in CHOSEN}]
# How many mutants each case has noticed so far. The best cases run first for the next mutant.
NOTICED: Counter[str] = Counter()


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


def cases_of(name: str) -> list[Case]:
    """Return an object's cases. Those that noticed the most mutants come first, and slow ones last."""
    found = [case for case in CASES if case.object_name == name]
    return sorted(found, key=lambda case: (-NOTICED[case.name], case.path.stem == "each_argument"))


@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda mutant: f"{mutant.object_name}: {mutant.change}")
def test_a_case_notices(connection: psycopg.Connection, mutant: Mutant | DerivedMutant) -> None:
    cases = cases_of(mutant.object_name)
    found = find_failing_case(connection, mutant.mutate(find_needed(OBJECTS, cases)), cases)
    assert found is not None, f"no case of {mutant.object_name} fails although {mutant.change}"
    NOTICED[found.name] += 1


# `test_cases.py` checks that no case fails. This test checks that trying mutants makes none fail either.
@pytest.mark.parametrize("each", TRIED if ONE_IN == 1 else TRIED[::4], ids=lambda each: each.name)
def test_no_case_fails_without_a_mutant(connection: psycopg.Connection, each: MartObject) -> None:
    cases = cases_of(each.name)
    assert find_failing_case(connection, find_needed(OBJECTS, cases), cases) is None


@pytest.mark.parametrize(
    "mutant", EQUIVALENT if ONE_IN == 1 else [], ids=lambda mutant: f"{mutant.object_name}: {mutant.change}"
)
def test_no_case_notices_an_equivalent(connection: psycopg.Connection, mutant: DerivedMutant) -> None:
    cases = cases_of(mutant.object_name)
    assert find_failing_case(connection, mutant.mutate(find_needed(OBJECTS, cases)), cases) is None


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
