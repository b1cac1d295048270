"""File keys: a file always has the same key, and nobody can test a guess without the warehouse's secret."""

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.file_keys import FileKeys
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.backups import back_up, restore
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.upgrade import upgrade
from tests.conftest import NOW, Site, register

pytestmark = pytest.mark.study("ingest", "schema")

PATH = "/home/kim/run 7/größe.tar"
CAPABILITY = "4f21.0007"
UNITREE = f"cap={CAPABILITY} uid=2718 gid=310 family=7 copies=1 host=cray net=hippi size=34713600 path={PATH}"
TAPE = f"op=stage by=client cap={CAPABILITY} family=7 location=silo1 copy=1 frag=- vsn=D30117 type=D3"
BEFORE = "0011"  # the revision before the secret
# For each format, two lines that name the same file. Each is loaded as a log of its own.
LOGS = {
    "hsi": (
        f"Sat Aug 10 00:05:01 2019 h hsi 35136 1035\tLH\t0\t0.03\t4096\t100.0\t4\ta\t{PATH}\t35136",
        f"Sat Aug 10 00:06:01 2019 h hsi 35136 1035\tFR\t0\t0.03\t0\t0.0\t4\t{PATH}\t{PATH}.1\t35136",
    ),
    "unitree-client": (
        f"1996-02-14 09:12:03.417 uftpd start op=RETR cache=miss {UNITREE}",
        f"1996-02-14 09:14:59.120 uftpd end op=RETR disk_s=18.101 rc=0 {UNITREE}",
    ),
    "unitree-tape": (
        f"1996-02-14 09:12:03.655 tapesrvr received {TAPE} unit=- block=- size=34713600 rc=-",
        f"1996-02-14 09:14:22.871 tapesrvr positioned {TAPE} unit=d3-04 block=9120 size=34713600 rc=-",
    ),
}
# All keys, each with the text that it is derived from.
KEYS = """
    SELECT archive_path, file_key FROM core.transfers
    UNION ALL SELECT archive_path, file_key FROM core.namespace_events
    UNION ALL SELECT new_archive_path, new_file_key FROM core.namespace_events
    UNION ALL SELECT archive_path, file_key FROM core.transfer_starts
    UNION ALL SELECT capability, capability_key FROM core.transfer_starts
    UNION ALL SELECT capability, capability_key FROM core.tape_events
"""
DERIVED = """
    SELECT DISTINCT file_key, capability_key FROM core.requests WHERE capability_key IS NOT NULL
    UNION ALL SELECT DISTINCT NULL::bigint, capability_key FROM core.tape_operations
    ORDER BY 1 NULLS LAST
"""


@pytest.fixture
def other(site: Site) -> Iterator[Warehouse]:
    """An empty database instead of a clone of the template, because clones share a secret."""
    name = f"tapewise_other_{os.getpid()}"
    site.maintain("CREATE DATABASE {}", name)
    yield site.warehouse(name)
    site.maintain("DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def load_lines(tmp_path: Path) -> Callable[[Warehouse, int], None]:
    """Load the n-th line of each log."""

    def load_lines(warehouse: Warehouse, number: int) -> None:
        for name, lines in LOGS.items():
            path = tmp_path / f"{name}.{number}"
            path.write_text(f"{lines[number]}\n")
            request = SourceRequest("test", "synthetic", find_format(name), "UTC", name)
            tally = load_file(warehouse, register(warehouse, request), path, now=NOW).tally
            assert tally.loaded_count == 1, name

    return load_lines


def fetch(warehouse: Warehouse, query: str) -> list[tuple[object, ...]]:
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(query.encode()).fetchall()


def make_key(secret: str, text: str) -> int:
    """Make the key (an HMAC, RFC 2104) with an independent implementation."""
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def find_secret(warehouse: Warehouse) -> str:
    [(secret,)] = fetch(warehouse, "SELECT secret FROM ledger.secrets WHERE name = 'file keys'")
    return str(secret)


def test_a_key_is_the_hmac_of_the_name_with_the_secret(warehouse: Warehouse, load_lines):
    load_lines(warehouse, 0)
    load_lines(warehouse, 1)
    secret = find_secret(warehouse)
    keys = [(text, key) for text, key in fetch(warehouse, KEYS) if text is not None]
    assert {text for text, _ in keys} == {PATH, f"{PATH}.1", CAPABILITY}
    assert keys == [(text, make_key(secret, text)) for text, _ in keys]
    [(file_key, capability_key), tape] = fetch(warehouse, DERIVED)
    assert (file_key, capability_key) == (make_key(secret, PATH), make_key(secret, CAPABILITY))
    assert tape == (None, capability_key)


def test_each_warehouse_has_its_own_secret(warehouse: Warehouse, other: Warehouse):
    upgrade(lambda: other.connect(Role.OWNER))
    secrets = {find_secret(warehouse), find_secret(other)}
    assert len(secrets) == 2
    assert all(len(secret) == 64 and len(set(secret)) > 8 for secret in secrets)


@pytest.mark.parametrize("role", ["tapewise_reader", "tapewise_names"])
def test_no_reading_role_sees_the_secret(database: psycopg.Connection, role: str):
    assert database.execute(
        "SELECT has_table_privilege(%(role)s, 'ledger.secrets', 'SELECT'),"
        " has_schema_privilege(%(role)s, 'ledger', 'USAGE'),"
        " has_table_privilege('tapewise_loader', 'ledger.secrets', 'INSERT, UPDATE, DELETE, TRUNCATE')",
        {"role": role},
    ).fetchone() == (False, False, False)


def test_a_backup_contains_the_secret(warehouse: Warehouse, other: Warehouse, tmp_path: Path, load_lines):
    load_lines(warehouse, 0)
    back_up(warehouse, tmp_path / "all.dump")
    upgrade(lambda: other.connect(Role.OWNER))  # gives `other` a secret of its own
    restore(other, tmp_path / "all.dump")
    assert find_secret(other) == find_secret(warehouse)


def test_a_warehouse_that_lost_its_secret_makes_no_keys(warehouse: Warehouse, load_lines):
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DELETE FROM ledger.secrets")
    with pytest.raises(DatabaseError, match="has lost the secret") as caught:
        load_lines(warehouse, 0)
    assert "backup" in (caught.value.hint or "")
    assert fetch(warehouse, KEYS) == []


def test_the_secret_is_not_shown(database: psycopg.Connection):
    [(secret,)] = database.execute("SELECT secret FROM ledger.secrets").fetchall()
    keys = FileKeys(database)
    assert secret not in f"{keys!r} {keys}"
