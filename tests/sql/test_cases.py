"""Runs every case below this folder; `cases.py` describes the format."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

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


def find_usual_months(cases: list[Case]) -> set[str]:
    """Return the months that at least one case in 25 needs."""
    counts = Counter(month for case in cases for month in case.months)
    return {month for month, count in counts.items() if count * 25 >= len(cases)}


# Planning a query takes longer the more partitions there are, and most cases need those of the same months.
# These cases have a warehouse with no others, and take half as long.
USUAL_MONTHS = find_usual_months(CASES)
USUAL, OTHERS = (
    [case for case in CASES if (case.months <= USUAL_MONTHS) is is_usual] for is_usual in (True, False)
)


@pytest.fixture(scope="module")
def usual(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to the warehouse of the usual months, which every case leaves empty."""
    with open_warehouse(site, USUAL) as connection:
        yield connection


@pytest.fixture(scope="module")
def others(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to the warehouse of all other cases, which every case leaves empty."""
    with open_warehouse(site, OTHERS) as connection:
        yield connection


@contextmanager
def open_warehouse(site: Site, cases: list[Case]) -> Iterator[psycopg.Connection]:
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        make_partitions(connection, cases)
        connection.commit()
        yield connection


@pytest.mark.parametrize("case", USUAL, ids=lambda case: case.name)
def test_case(usual: psycopg.Connection, case: Case) -> None:
    check_case(usual, case)


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_case_of_further_months(others: psycopg.Connection, case: Case) -> None:
    check_case(others, case)


def check_case(connection: psycopg.Connection, case: Case) -> None:
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
