"""Provisioning a second time changes nothing, and leaves exactly what assets/ contains."""

import re
import socket
import sqlite3
import stat
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from tapewise.dashboards.service import FOLDER, PROGRAMS, Service
from tapewise.schema.errors import ServerError
from tapewise.schema.settings import Settings
from tests.dashboards.api import Api

# Columns that are not compared, because they change with each login or write.
PASSING = {
    "changed_on",
    "created_on",
    "last_login",
    "login_count",
    "last_saved_at",
    "fail_login_count",
    "dttm",
}
NUMBERS = {"dashboard_slices": {"id"}, "ab_permission_view_role": {"id"}}  # renumbered each time
TABLES = [
    "dbs", "tables", "table_columns", "sql_metrics", "slices", "dashboards", "dashboard_slices", "ab_role",
    "ab_permission_view_role", "ab_user", "ab_user_role",
]  # fmt: skip


def read_state(service: Service) -> dict[str, list[Any]]:
    with sqlite3.connect(service.folder / "superset.db") as database:
        database.row_factory = sqlite3.Row
        state = {}
        for table in TABLES:
            rows = [dict(row) for row in database.execute(f"SELECT * FROM {table}")]
            state[table] = sorted(
                repr(
                    {
                        name: value
                        for name, value in row.items()
                        if name not in PASSING | NUMBERS.get(table, set())
                    }
                )
                for row in rows
            )
    database.close()
    return state


def test_superset_reads_with_its_own_login(service: Service) -> None:
    with sqlite3.connect(service.folder / "superset.db") as database:
        [(uri,)] = database.execute("SELECT sqlalchemy_uri FROM dbs").fetchall()
    database.close()
    assert uri.startswith("postgresql+psycopg2://tapewise_superset@/tapewise?")


def provision(service: Service) -> None:
    environment = service._environment(service._start_warehouse())
    service._run("the provisioning", "python", str(FOLDER / "provisioning.py"), environment=environment)


@pytest.mark.study("dashboards")
def test_the_second_time_only_what_does_not_belong_is_removed(service: Service, admin: Api) -> None:
    before = read_state(service)
    assert all(before.values())
    for name, is_managed in (("a site's own", False), ("no longer in assets", True)):
        chart = {
            "slice_name": name, "viz_type": "table", "datasource_id": 1, "datasource_type": "table",
            "is_managed_externally": is_managed, "uuid": str(uuid.uuid4()), "params": "{}",
        }  # fmt: skip
        assert admin.post("api/v1/chart/", chart).status == 201
    assert len(read_state(service)["slices"]) == len(before["slices"]) + 2
    provision(service)
    after = read_state(service)
    (own,) = set(after.pop("slices")) - set(before["slices"])
    assert "a site's own" in own
    charts = admin.get("api/v1/chart/?q=(page_size:100,columns:!(id,slice_name))").json["result"]
    (number,) = [chart["id"] for chart in charts if chart["slice_name"] == "a site's own"]
    assert admin.post(f"api/v1/chart/{number}", None, method="DELETE").status == 200
    assert read_state(service) == before
    before.pop("slices")
    assert after == before


@pytest.mark.study("dashboards")
def test_an_edited_chart_is_restored(service: Service, admin: Api) -> None:
    before = read_state(service)
    with sqlite3.connect(service.folder / "superset.db") as database:
        database.execute("UPDATE slices SET params = '{}', query_context = NULL")
    database.close()
    assert read_state(service) != before
    provision(service)
    assert read_state(service) == before


def test_only_the_owner_can_read_the_secrets(service: Service) -> None:
    assert stat.S_IMODE(service.folder.stat().st_mode) == 0o700
    secret = (
        "login",
        "superset_secret_key",
        "superset_admin_password",
        "superset_viewer_password",
        "superset.log",
    )
    for name in secret:
        assert stat.S_IMODE((service.folder / name).stat().st_mode) == 0o600, name
    log = service.log_file.read_text()
    for name in secret[1:4]:
        assert (service.folder / name).read_text() not in log
    processes = subprocess.run(
        ["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True
    ).stdout
    assert (service.folder / "superset_admin_password").read_text() not in processes


@pytest.mark.study("dashboards")
@pytest.mark.parametrize(
    "missing", ["SUPERSET_SECRET_KEY", "SUPERSET_METADATA_URL", "SUPERSET_STATE_FOLDER", "a long key"]
)
def test_it_refuses_to_start_without_a_secret(tmp_path: Path, missing: str) -> None:
    given = {
        "SUPERSET_SECRET_KEY": "x" * 40,
        "SUPERSET_METADATA_URL": "sqlite://",
        "SUPERSET_STATE_FOLDER": str(tmp_path),
    }
    if missing == "a long key":
        given["SUPERSET_SECRET_KEY"] = "short"
    else:
        del given[missing]
    command = [PROGRAMS / "python", "-c", "import superset_config"]
    done = subprocess.run(command, cwd=FOLDER, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(missing if missing in done.stderr else "SUPERSET_SECRET_KEY must have", done.stderr)


def test_it_listens_only_on_this_machine(service: Service) -> None:
    listening = Path("/proc/net/tcp").read_text().splitlines()[1:]
    addresses = {line.split()[1] for line in listening if line.split()[3] == "0A"}
    port = f"{service.port:04X}"
    assert {address for address in addresses if address.endswith(f":{port}")} == {f"0100007F:{port}"}


def test_a_port_in_use_is_refused(service: Service) -> None:
    other = Service(service.settings, service.port)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        other.port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {other.port} cannot be used"):
            other._check_port()


def test_a_home_without_a_warehouse_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="holds no warehouse"):
        Service(Settings(home=tmp_path), 8088).start()
    assert list(tmp_path.iterdir()) == []
