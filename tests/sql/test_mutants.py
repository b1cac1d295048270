"""Breaks each rule of `mart` once and sees that a case fails; `mutants.py` says how a mutant is written."""

from collections.abc import Iterator

import psycopg
import pytest

from schema.database import Role
from schema.mart import MartObject, read_mart
from tests.conftest import Site
from tests.sql.cases import Case, find_cases, make_partitions
from tests.sql.mutants import Mutant, find_failing_case, find_mutants, find_needed

OBJECTS = read_mart()
MUTANTS = find_mutants()
CASES = find_cases()


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        # A plan kept from another mart would fail by itself.
        connection.prepare_threshold = None
        # A mutant may never end: that is noticed too.
        connection.execute("SET statement_timeout = '10s'")
        make_partitions(connection, CASES)
        connection.commit()
        yield connection


def cases_of(name: str) -> list[Case]:
    """Its cases, the quick ones first: what is left of them is rarely run."""
    found = [case for case in CASES if case.folder.parent.name == name]
    return sorted(found, key=lambda case: case.folder.name == "each_argument")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.object_name}: {mutant.change}")
def test_a_case_notices(connection: psycopg.Connection, mutant: Mutant) -> None:
    text = next(each.text for each in OBJECTS if each.name == mutant.object_name)
    assert text.count(mutant.old) == 1, f"not exactly once in the SQL: {mutant.old}"
    cases = cases_of(mutant.object_name)
    found = find_failing_case(connection, mutant.mutate(find_needed(OBJECTS, cases)), cases)
    assert found is not None, f"no case of {mutant.object_name} fails although {mutant.change}"


@pytest.mark.parametrize("each", OBJECTS, ids=lambda each: each.name)
def test_no_case_fails_without_a_mutant(connection: psycopg.Connection, each: MartObject) -> None:
    cases = cases_of(each.name)
    assert find_failing_case(connection, find_needed(OBJECTS, cases), cases) is None


def test_every_object_of_mart_has_a_mutant() -> None:
    assert {mutant.object_name for mutant in MUTANTS} == {each.name for each in OBJECTS}


def test_no_two_mutants_are_the_same() -> None:
    assert len({(mutant.object_name, mutant.change) for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.object_name, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
