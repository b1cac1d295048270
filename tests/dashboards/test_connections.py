"""Superset keeps its connections to the warehouse, and they are as if they were new."""

from typing import Any

import psycopg
import pytest

from tapewise.schema.database import Role, Warehouse
from tests.dashboards.api import Api
from tests.dashboards.assets import DATASETS
from tests.dashboards.test_charts import dataset_id
from tests.dashboards.test_refusals import run_sql

SESSIONS = """
    SELECT pid, application_name FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'tapewise_superset'
"""


@pytest.fixture
def owner(warehouse: Warehouse) -> Any:
    with warehouse.connect(Role.OWNER, autocommit=True) as connection:
        yield connection


def read_sessions(owner: psycopg.Connection) -> dict[int, str]:
    return dict(owner.execute(SESSIONS).fetchall())


def ask(api: Api, sql: str) -> Any:
    """Ask for the value of an SQL expression over the list of archives."""
    column = {"expressionType": "SQL", "label": "value", "sqlExpression": sql}
    question = {
        "datasource": {"id": dataset_id(api, DATASETS["archives"]["uuid"]), "type": "table"},
        "force": True,
        "queries": [{"columns": [column], "metrics": [], "filters": [], "orderby": [], "row_limit": 1}],
        "result_format": "json",
        "result_type": "full",
    }
    reply = api.post("api/v1/chart/data", question)
    assert reply.status == 200, reply.text
    return reply.json["result"][0]["data"][0]["value"]


def test_connections_are_used_again(admin: Api, owner: psycopg.Connection) -> None:
    ask(admin, "pg_backend_pid()")
    kept = set(read_sessions(owner))
    assert {ask(admin, "pg_backend_pid()") for _ in range(5)} <= kept
    assert set(read_sessions(owner)) == kept


def test_a_connection_that_the_server_has_ended_is_replaced(admin: Api, owner: psycopg.Connection) -> None:
    before = ask(admin, "pg_backend_pid()")
    owner.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM ({SESSIONS}) AS sessions")
    assert ask(admin, "pg_backend_pid()") != before


def test_what_a_query_sets_is_gone_afterwards(admin: Api, owner: psycopg.Connection) -> None:
    assert ask(admin, "set_config('application_name', 'left behind', FALSE)") == "left behind"
    assert ask(admin, "set_config('statement_timeout', '1h', FALSE)") == "1h"
    assert "left behind" not in read_sessions(owner).values()
    assert {ask(admin, "current_setting('statement_timeout')") for _ in range(5)} == {"1min"}
    assert ask(admin, "current_setting('transaction_read_only')") == "on"


def test_sql_lab_has_connections_of_its_own(admin: Api, owner: psycopg.Connection) -> None:
    ask(admin, "pg_backend_pid()")
    kept = set(read_sessions(owner))
    answer = run_sql(admin, "SELECT pg_backend_pid() AS pid")
    assert answer.status == 200, answer.text
    pid = answer.json["data"][0]["pid"]
    assert pid not in kept and pid not in read_sessions(owner)
