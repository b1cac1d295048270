"""Requests that must be refused. If only viewers are refused, the administrator must succeed."""

import json
import secrets
import urllib.request
from typing import Any

import pytest

from tapewise.dashboards.service import Service
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS, Choice
from tests.dashboards.test_charts import dataset_id


def run_sql(api: Api, sql: str) -> Any:
    query = {
        "database_id": 1,
        "sql": sql,
        "schema": "mart",
        "client_id": secrets.token_hex(5),
        "runAsync": False,
    }
    return api.post("api/v1/sqllab/execute/", query)


def test_a_viewer_has_no_sql_lab(viewer: Api, admin: Api) -> None:
    query = "SELECT count(*) AS n FROM mart.archives"
    reply = run_sql(admin, query)
    assert reply.status == 200 and reply.json["data"] == [{"n": 3}], reply
    refused = run_sql(viewer, query)
    assert refused.status == 403 and "CSRF" not in refused.text


@pytest.mark.parametrize(
    "table", ["core.users", "core.transfers", "ledger.log_files", "studies.workload_models"]
)
def test_nobody_reads_beyond_mart(admin: Api, table: str) -> None:
    reply = run_sql(admin, f"SELECT * FROM {table} LIMIT 1")
    assert reply.status >= 400 and "permission denied" in reply.text, reply


@pytest.mark.parametrize("table", ["mart.user_names", "mart.transfer_names", "mart.unitree_job_names"])
def test_nobody_reads_names(admin: Api, table: str) -> None:
    reply = run_sql(admin, f"SELECT * FROM {table} LIMIT 1")
    assert reply.status >= 400 and "permission denied" in reply.text, reply


def test_nobody_writes(admin: Api) -> None:
    writable = "SET default_transaction_read_only = off; "
    for query in (
        "CREATE TABLE public.t (i int)",
        "DELETE FROM mart.archives",
        f"{writable}DELETE FROM mart.archives",
        f"{writable}SELECT lo_from_bytea(0, 'x')",
        f"{writable}ALTER ROLE tapewise_query SET statement_timeout = 0",
        f"{writable}ALTER ROLE tapewise_reader PASSWORD 'mine'",
    ):
        assert run_sql(admin, query).status >= 400, query


@pytest.mark.parametrize(
    "path",
    ["api/v1/security/users/", "api/v1/security/roles/", "api/v1/database/", "api/v1/query/", "api/v1/log/"],
)
def test_a_viewer_sees_no_users_or_databases(viewer: Api, admin: Api, path: str) -> None:
    assert admin.get(path).status == 200
    assert viewer.get(path).status in (403, 404)


def test_a_viewer_can_change_nothing(viewer: Api, admin: Api) -> None:
    chart = {
        "slice_name": "mine",
        "viz_type": "table",
        "datasource_id": 1,
        "datasource_type": "table",
        "params": "{}",
    }
    refused = viewer.post("api/v1/chart/", chart)
    assert refused.status == 403 and "CSRF" not in refused.text
    made = admin.post("api/v1/chart/", chart)
    assert made.status == 201
    number = made.json["id"]
    for method, content in (("PUT", {"slice_name": "yours"}), ("DELETE", None)):
        assert viewer.post(f"api/v1/chart/{number}", content, method=method).status in (403, 404)
    assert admin.post(f"api/v1/chart/{number}", None, method="DELETE").status == 200
    for path, content in (
        ("api/v1/dashboard/", {"dashboard_title": "mine"}),
        ("api/v1/dataset/", {"database": 1, "schema": "core", "table_name": "users"}),
        ("api/v1/database/", {"database_name": "mine", "sqlalchemy_uri": "sqlite://"}),
    ):
        refused = viewer.post(path, content)
        assert refused.status in (403, 404) and "CSRF" not in refused.text, (path, refused)


def ask_for(viewer: Api, **changed: Any) -> Any:
    """Ask a chart's question with the given changes; return the status of the answer."""
    question = Choice().apply(json.loads(CHARTS["lines_by_fate"]["query_context"]))
    uuid = CHARTS["lines_by_fate"]["dataset_uuid"]
    question["datasource"] = {"id": dataset_id(viewer, uuid), "type": "table"}
    question["queries"][0] |= {"orderby": []} | changed
    return viewer.post("api/v1/chart/data", question).status


def expression(sql: str) -> dict[str, Any]:
    return {"expressionType": "SQL", "sqlExpression": sql, "label": "n"}


OWN = "max(version())"
CHANGES = {
    "a metric": {"metrics": [expression(OWN)]},
    "a column": {"columns": [expression("source || version()")], "series_columns": []},
    "an order": {"orderby": [[expression(OWN), True]]},
    "a filter": {"filters": [{"col": expression("version()"), "op": "==", "val": "x"}]},
    "a condition": {"extras": {"where": "version() IS NOT NULL"}},
    "a condition on groups": {"extras": {"having": "max(version()) IS NOT NULL"}},
    "a limit of series": {"series_limit_metric": expression(OWN), "series_limit": 1},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_viewer_cannot_run_custom_sql(viewer: Api, admin: Api, change: str) -> None:
    assert ask_for(viewer) == 200
    assert ask_for(viewer, **CHANGES[change]) == 403
    assert ask_for(admin, **CHANGES[change]) == 200


@pytest.mark.parametrize(
    "smuggled",
    [
        "(SELECT count(*) FROM core.users)",
        "(SELECT max(name) FROM core.users)",
        "count(*) FROM core.users --",
        "max(pg_sleep(1)::text)",
        "{{ self.__init__.__globals__ }}",
    ],
)
def test_a_chart_does_not_circumvent_the_limits(viewer: Api, smuggled: str) -> None:
    assert ask_for(viewer, metrics=[expression(smuggled)]) == 403


def test_no_query_keeps_the_server_busy_for_long(admin: Api) -> None:
    assert run_sql(admin, "SHOW statement_timeout").json["data"] == [{"statement_timeout": "1min"}]


def test_without_a_login_nothing_is_shown(service: Service) -> None:
    nobody = Api.without_login(service.address)
    assert nobody.get("health").status == 200
    for path in ("superset/dashboard/tapewise-overview/", "superset/welcome/", "sqllab/", "users/list/"):
        assert nobody.get(path).status in (302, 308, 401, 403), path
    for path in ("api/v1/chart/", "api/v1/dashboard/", "api/v1/dataset/"):
        assert nobody.get(path).status in (401, 403) or nobody.get(path).json["count"] == 0, path
    assert nobody.post("api/v1/chart/data", {}).status in (400, 401, 403)


def test_a_session_without_the_csrf_token_can_change_nothing(service: Service, admin: Api) -> None:
    bare = Api(service.address, {}, admin.opener)
    refused = bare.post("api/v1/chart/", {"slice_name": "forged"})
    assert refused.status in (400, 401)


def test_pages_contact_no_third_party(service: Service) -> None:
    with urllib.request.urlopen(f"{service.address}login/") as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "https:" not in policy and "default-src 'self'" in policy
