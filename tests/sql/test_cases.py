"""Runs every case below this folder; `cases.py` describes the format."""

from collections.abc import Iterator

import psycopg
import pytest

from tapewise.schema.database import Role
from tapewise.schema.tables.mart import read_mart
from tests.conftest import Site
from tests.sql.cases import (
    CASES_FOLDER,
    NO_CASES,
    Case,
    find_cases,
    find_differences,
    insert_rows,
    make_partitions,
    restart_numbers,
    run_case,
)

CASES = find_cases()


@pytest.fixture(scope="module")
def connection(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one warehouse, which every case leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        make_partitions(connection, CASES)
        connection.commit()
        yield connection


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(connection: psycopg.Connection, case: Case) -> None:
    with connection.transaction(force_rollback=True):
        restart_numbers(connection)
        insert_rows(connection, case.given)
        differences = [
            f"in a session of {timezone}: {difference}"
            for timezone in case.timezones
            for difference in find_differences(case.expect, run_case(connection, case, timezone))
        ]
    assert not differences, "\n".join(differences)


def test_every_object_of_mart_has_a_case() -> None:
    missing = {each.name for each in read_mart()} - {case.object_name for case in find_cases()}
    assert not missing


def test_every_file_in_the_folder_of_an_object_is_read() -> None:
    found = {path for path in CASES_FOLDER.glob("[!_]*/*") if path.name not in NO_CASES}
    assert found == {case.path for case in find_cases()}


@pytest.mark.parametrize(
    ("expect", "row"),
    [
        ({"rows": [{"n": 1}]}, {"n": 2}),
        ({"rows": [{"n": 1}]}, {"n": True}),
        ({"rows": [{"n": 1}]}, {"m": 1}),
        ({"rows": [{"n": 1}]}, {"n": None}),
        ({"rows": [{"n": None}]}, {"n": 1.5}),
        ({"rows": [{"x": "1/3"}]}, {"x": 0.3333333}),
        ({"rows": [{"x": 0}]}, {"x": 1e-300}),
        ({"rows": [{"x": 1}], "tolerance": 1}, {"x": 1.0}),
        ({"rows": []}, {"n": 1}),
    ],
)
def test_the_runner_sees_differences(expect: dict[str, object], row: dict[str, object]) -> None:
    assert find_differences(expect, [row])
