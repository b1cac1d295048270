"""Breaks each rule by which requests are put together once, and sees that a case of mart.requests fails."""

from collections.abc import Iterator

import psycopg
import pytest
import yaml

from ingest import requests
from schema.database import Role
from schema.mart import read_mart
from tests.conftest import Site
from tests.sql.cases import CASES_FOLDER, find_cases, make_partitions
from tests.sql.mutants import Mutant, find_failing_case

FOLDER = CASES_FOLDER / "requests"
OBJECTS = [each for each in read_mart() if each.name == "requests"]
CASES = [case for case in find_cases() if case.folder.parent == FOLDER]
MUTANTS = [
    Mutant("ingest/requests.sql", *entry.values())
    for entry in yaml.safe_load((FOLDER / "putting_together.yaml").read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        connection.prepare_threshold = None
        connection.execute("SET statement_timeout = '10s'")
        make_partitions(connection, CASES)
        connection.commit()
        yield connection


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.change)
def test_a_case_notices(
    connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch, mutant: Mutant
) -> None:
    assert requests._STATEMENT.count(mutant.old) == 1, f"not exactly once in the SQL: {mutant.old}"
    monkeypatch.setattr(requests, "_STATEMENT", requests._STATEMENT.replace(mutant.old, mutant.new))
    found = find_failing_case(connection, OBJECTS, CASES)
    assert found is not None, f"no case of requests fails although {mutant.change}"


def test_no_case_fails_without_a_mutant(connection: psycopg.Connection) -> None:
    assert find_failing_case(connection, OBJECTS, CASES) is None
