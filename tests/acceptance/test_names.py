"""Only `--as names` shows the names of users and files; other logins are refused with a reason."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Run

HSI = (
    "Sat Aug 10 00:12:40 2019 dtn1.example.gov hsi 6004 12059\tHL\t0\t61.25\t3665510098\t68638.4\t5"
    "\t<stdout>\t/home/p/secret-name.tar.gz\t6004\n"
)
NAMES = (
    "SELECT archive_path FROM mart.transfers INNER JOIN mart.transfer_names USING (transfer_id, ended_at)"
    " WHERE archive = 'named'"
)


@pytest.mark.study("schema", "tapewise")
def test_the_owner_of_an_embedded_warehouse_sees_names_on_request(tapewise: Run, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(HSI)
    options = ["--archive", "named", "--kind", "synthetic", "--format", "hsi", "--timezone", "UTC"]
    assert tapewise("ingest", *options, "a.log").returncode == 0
    for refused in ([], ["--as", "reader"]):
        for query, object_name in (
            (NAMES, "transfer_names"),
            ("SELECT * FROM mart.account_usage()", "account_usage"),
        ):
            done = tapewise("sql", *refused, query)
            assert (done.returncode, done.stdout) == (1, "")
            assert "permission denied" in done.stderr and object_name in done.stderr
            assert "add `--as names`" in done.stderr and "schema mart only" not in done.stderr
    for _ in range(2):  # the first run creates the login
        done = tapewise("sql", "--as", "names", "--json", NAMES)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == [{"archive_path": "/home/p/secret-name.tar.gz"}]
    # The login is otherwise like any reading login.
    for query, message in (
        ("SELECT * FROM core.users", "has access to the schema mart only"),
        ("DROP SCHEMA mart", "read-only transaction"),
    ):
        done = tapewise("sql", "--as", "names", query)
        assert done.returncode == 1
        assert message in done.stderr
