"""The zone in which `tapewise sql` reads dates and shows times."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tapewise.schema.database import Role, Warehouse
from tests.forks import run_forked
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("ingest", "schema")

PACIFIC = "America/Los_Angeles"
COUNT = (
    "SELECT count(*) AS opens, min(opened_at) AS first FROM mart.opens"
    " WHERE opened_at >= '1998-05-05' AND opened_at < '1998-05-06'"
)
NOTE = f"Times are in {PACIFIC}, the zone of the archives (--timezone).\n"

Query = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def query(warehouse: Warehouse, tmp_path: Path) -> Query:
    """Return a function that runs `tapewise sql` on the test's warehouse."""
    urls = ["--database-url", warehouse.url(Role.OWNER), "--reader-url", warehouse.url(Role.READER)]

    def query(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_forked([*urls, "sql", *arguments], tmp_path, dict(os.environ))

    return query


def add_archive(database: psycopg.Connection, name: str, timezone: str) -> None:
    database.execute(
        "INSERT INTO core.archives (name, kind, timezone) VALUES (%s, 'synthetic', %s)", [name, timezone]
    )
    database.commit()


@pytest.fixture
def opens(database: psycopg.Connection) -> None:
    """A Californian archive with one open before 5 May 1998 by its clock, four on that day and two after."""
    times = ["04 23:59", "05 00:00", "05 12:00", "05 18:00", "05 23:59", "06 00:00", "06 10:00"]
    insert_rows(
        database,
        {
            "archives": [{"name": "west", "timezone": PACIFIC}],
            "opens": [{"archive": "west", "opened_at": f"1998-05-{time}:00-07"} for time in times],
        },
    )
    database.commit()


def test_a_date_follows_the_clock_of_the_archive_and_stderr_says_so(query: Query, opens: None) -> None:
    done = query("--json", COUNT)
    assert json.loads(done.stdout) == [{"opens": 4, "first": "1998-05-05T00:00:00-07:00"}]
    assert done.stderr == NOTE
    assert query("--csv", COUNT).stdout == "opens,first\n4,1998-05-05 00:00:00-07\n"


def test_another_zone_can_be_chosen(query: Query, opens: None) -> None:
    done = query("--json", "--timezone", "UTC", COUNT)
    assert json.loads(done.stdout) == [{"opens": 3, "first": "1998-05-05T06:59:00+00:00"}]
    assert done.stderr == ""
    done = query("--timezone", "PST8PDT", COUNT)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no time zone is called 'PST8PDT'" in done.stderr


def test_archives_in_several_zones_are_queried_in_utc(
    query: Query, opens: None, database: psycopg.Connection
) -> None:
    add_archive(database, "here", PACIFIC)
    assert query("--json", COUNT).stderr == NOTE
    add_archive(database, "there", "Europe/Berlin")
    done = query("--json", COUNT)
    assert json.loads(done.stdout)[0]["opens"] == 3
    assert done.stderr == "Times are in UTC, because the archives have several zones (--timezone).\n"


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("SELECT count(*) FROM mart.opens", False),
        ("SELECT count(*) AS open_time_s FROM mart.open_time_bins()", False),
        ("SELECT opened_at FROM mart.opens", True),
        ("SELECT array_agg(opened_at) FROM mart.opens", True),
        ("SELECT opened_at FROM mart.opens WHERE FALSE", True),
        ("SELECT count(*) FROM mart.opens WHERE opened_at::DATE < current_date", True),
        ("SELECT count(*) FROM mart.open_time_bins(since => '1998-05-05')", True),
    ],
)
def test_the_zone_is_mentioned_where_it_matters(query: Query, opens: None, text: str, is_said: bool) -> None:
    done = query(text)
    assert (done.returncode, done.stderr) == (0, NOTE if is_said else "")


def test_no_zone_is_mentioned_if_all_is_in_utc(query: Query, database: psycopg.Connection) -> None:
    assert query(COUNT).stderr == "The warehouse holds no archive yet.\n"
    add_archive(database, "plain", "UTC")
    assert query(COUNT).stderr == ""
    done = query("--json", "SELECT timestamptz '1998-05-05' AS t")
    assert (done.stderr, json.loads(done.stdout)) == ("", [{"t": "1998-05-05T00:00:00+00:00"}])
