"""Runs the services of docker-compose.yml without Docker, in the order of its `depends_on`."""

import json
import secrets
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.compose.stack import CODE, TREE, Stack, build_tool, read_variables, start_order

# All services are started, or none.
pytestmark = pytest.mark.study(*CODE, "migrations", together=True)
EXAMPLE = read_variables(TREE / "docker" / "env.example")


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """A stack in which PostgreSQL is running and `migrate` has finished, as all other services expect."""
    folder = Path(tempfile.mkdtemp(prefix="tapewise-compose-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    schedule = folder / "crontab"
    schedule.write_text("* * * * * * * tapewise ingest\n")  # every second
    build_tool("supercronic")
    made = Stack(folder, EXAMPLE | {"TAPEWISE_CRONTAB": str(schedule)})
    try:
        made.initialise_postgres()
        assert made.check_health("postgres").returncode != 0, "not ready while its script runs"
        made.open_postgres()
        assert made.check_health("postgres").returncode == 0
        said = made.complete("migrate")
        assert "Passwords are set: tapewise_loader, tapewise_query, tapewise_superset, superset" in said
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


def query(url: str, statement: str) -> list[tuple]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def test_services_start_after_what_they_depend_on(stack: Stack) -> None:
    order = start_order(stack.services)
    assert order[:2] == ["postgres", "migrate"]
    assert order.index("superset-init") < order.index("superset")
    conditions = {
        (name, needed): how["condition"]
        for name, service in stack.services.items()
        for needed, how in service.get("depends_on", {}).items()
    }
    assert conditions == {
        ("migrate", "postgres"): "service_healthy",
        ("superset-init", "migrate"): "service_completed_successfully",
        ("superset", "superset-init"): "service_completed_successfully",
        ("ingest", "migrate"): "service_completed_successfully",
    }


def test_logins_need_their_password_and_reach_only_their_own_database(stack: Stack) -> None:
    urls = {
        name: stack.secret(f"{name}_url") for name in ("owner", "loader", "reader", "dashboards", "superset")
    }
    for name, url in urls.items():
        assert query(url, "SELECT 1") == [(1,)], name
        wrong = url.replace(psycopg.conninfo.conninfo_to_dict(url)["password"], "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            query(wrong, "SELECT 1")
    for name, database in [("superset", "tapewise"), ("reader", "superset"), ("loader", "superset"),
                           ("reader", "postgres"), ("loader", "postgres"), ("reader", "template1"),
                           ("dashboards", "superset"), ("dashboards", "postgres")]:  # fmt: skip
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            query(urls[name].rpartition("/")[0] + f"/{database}", "SELECT 1")
    for name in ("reader", "dashboards"):
        assert query(urls[name], "SELECT count(*) FROM mart.transfers")
        assert query(urls[name], "SELECT current_setting('temp_file_limit')") == [("20GB",)]
    for name, statement in [
        ("reader", "SELECT FROM core.transfers"),
        ("reader", "SELECT lo_from_bytea(0, 'x')"),
        ("dashboards", "SELECT pg_advisory_lock(1)"),
        ("loader", "DELETE FROM core.transfers"),
    ]:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            query(urls[name], statement)
    assert query(urls["owner"], "SELECT rolname FROM pg_roles WHERE rolsuper") == [("postgres",)]


def test_doctor_finds_nothing_that_readers_could_do_without_limit(stack: Stack) -> None:
    """databases.sql has revoked from PUBLIC the rights that only a superuser can revoke."""
    shown = stack.run("ingest", ["tapewise", "doctor"]).stdout
    assert [line.split()[0] for line in shown.splitlines() if " access " in line] == ["ok"], shown


def test_migrating_again_applies_a_changed_secret(stack: Stack) -> None:
    old = stack.secret("reader_url")
    new = old.replace(psycopg.conninfo.conninfo_to_dict(old)["password"], secrets.token_hex(12))
    stack.change_secret("reader_url", new)
    stack.complete("migrate")
    assert query(new, "SELECT 1") == [(1,)]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        query(old, "SELECT 1")


def test_a_secret_from_before_logins_becomes_a_login_of_its_own(stack: Stack) -> None:
    """Before 0.1.0, all readers logged in as one shared role. The password stays the same."""
    good = stack.secret("reader_url")
    stack.change_secret("reader_url", good.replace("tapewise_query", "tapewise_reader"))
    subprocess.run([TREE / "docker" / "make-secrets", stack.folder / "secrets"], check=True)
    (stack.folder / "secrets").chmod(0o755)
    assert stack.secret("reader_url") == good


def test_a_secret_that_is_not_a_url_is_reported_without_showing_it(stack: Stack) -> None:
    good = stack.secret("reader_url")
    try:
        stack.change_secret("reader_url", "hush-hush")
        done = stack.run("migrate", stack.services["migrate"]["command"])
    finally:
        stack.change_secret("reader_url", good)
    assert done.returncode == 1
    assert "reader_url: not a URL with user and password" in done.stdout and "hush" not in done.stdout


def test_the_nightly_job_catches_up_and_then_keeps_its_schedule(stack: Stack) -> None:
    stack.start("ingest")
    stack.wait_until("ingest", lambda: stack.log("ingest").count("job succeeded") >= 2)
    caught_up, _, scheduled = stack.log("ingest").partition("read crontab")
    assert "example/nft: 1 file read, 0 untouched; 13,974 lines = 12,881 loaded" in caught_up
    assert "example/unitree-jobs: 14 files read" in caught_up
    assert "example/nft: " in scheduled and "loaded" not in scheduled.replace("0 loaded", "")
    assert "failed" not in scheduled
    assert "example.report.html written" in caught_up
    # The pages of Superset read the same folder.
    (report,) = (stack.root("superset") / "var/lib/tapewise/reports").iterdir()
    assert report.name == "example.report.html"
    # The example's logs are from 1998, so the health check finds their sources silent, and no other fault.
    health = stack.check_health("ingest")
    wrong = [line.split()[1] for line in health.stdout.splitlines() if line.startswith("WRONG")]
    assert (health.returncode, set(wrong)) == (1, {"sources"}), health.stdout


def test_the_shipped_schedule_is_at_night() -> None:
    crontab = TREE / "docker" / "images" / "tapewise" / "crontab"
    subprocess.run([build_tool("supercronic"), "-test", crontab], check=True, capture_output=True)
    assert [line for line in crontab.read_text().splitlines() if not line.startswith("#")] == [
        "0 1 * * * tapewise ingest; status=$?; tapewise report --for-dashboards || status=$?; exit $status"
    ]


def ask(stack: Stack, path: str, *, body: dict[str, object] | None = None, token: str = "") -> dict:
    request = urllib.request.Request(
        f"http://127.0.0.1:{stack.pages_port}{path}",
        data=json.dumps(body).encode() if body else None,
        headers={"Content-Type": "application/json"}
        | ({"Authorization": f"Bearer {token}"} if token else {}),
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


# It starts a second Superset, besides that of tests/dashboards.
@pytest.mark.study("docker", "docker-compose.yml", "dashboards", "tests/compose")
def test_superset_is_provisioned_and_healthy_and_its_users_can_log_in(stack: Stack) -> None:
    assert "dashboards are in place" in stack.complete("superset-init")
    stack.start("superset")
    stack.wait_until("superset", lambda: stack.check_health("superset").returncode == 0)
    login = {"username": "viewer", "password": stack.secret("superset_viewer_password"), "provider": "db"}
    token = ask(stack, "/api/v1/security/login", body=login)["access_token"]
    assert ask(stack, "/api/v1/dashboard/", token=token)["count"] > 0
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(stack, "/api/v1/security/login", body=login | {"password": "wrong"})
    with refused.value:
        assert refused.value.code == 401


def test_no_secret_is_in_a_variable_or_a_command(stack: Stack) -> None:
    contents = [path.read_text().strip() for path in (stack.folder / "secrets").iterdir()]
    contents += [psycopg.conninfo.conninfo_to_dict(url)["password"] for url in contents if "://" in url]
    for name, service in stack.services.items():
        shown = str(stack.environment(name)) + str(service)
        assert not [content for content in contents if content in shown], name
