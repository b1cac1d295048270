"""Facts are append-only: the loader may add them and move those of a repeated hour, but nothing else."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import psycopg
import pytest
import sqlalchemy as sa

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.schema.writing.loader import copy_frame, frame_schema

TABLES = {table.name: table for table in FACT_TABLES}
# Clocks in America/Los_Angeles went back that night. They showed 1:30 twice (FIRST, SECOND) and 3:30 once.
FIRST, SECOND = datetime(1997, 10, 26, 8, 30, tzinfo=UTC), datetime(1997, 10, 26, 9, 30, tzinfo=UTC)
ONCE = datetime(1997, 10, 26, 11, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
WORDS = {"direction": "put", "kind": "delete", "task": "stage", "requester": "client", "open_type": "open"}
MOVE = (
    "SELECT * FROM core.move_second_passes(%s, %s, %s::timestamptz[], %s::timestamptz[], %s::bigint[],"
    " %s::integer[])"
)


@pytest.fixture
def loader(warehouse: Warehouse) -> Iterator[psycopg.Connection]:
    """The loader's connection to a warehouse with two sources."""
    with warehouse.connect(Role.LOADER, autocommit=True) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        # On a site's own server, the loader may log in as a role with more privileges.
        connection.execute("SET ROLE tapewise_loader")
        connection.execute(
            "INSERT INTO core.archives (name, kind, timezone)"
            " VALUES ('a', 'synthetic', 'America/Los_Angeles')"
        )
        connection.execute(
            "INSERT INTO ledger.sources"
            " (archive_id, name, format, timezone, clock_resolution_s, is_counted, earliest_at)"
            " VALUES (1, 'la', 'nft', 'America/Los_Angeles', 1, true, '1985-01-01Z'),"
            " (1, 'utc', 'nft', 'UTC', 1, true, '1985-01-01Z')"
        )
        for table in FACT_TABLES:
            connection.execute("SELECT core.make_partitions(%s, %s)", [table.name, [FIRST.date()]])
        yield connection


# Kinds of facts that are not those of name-space events.
KINDS = {"tape_events": "received", "snapshots": "volume", "stage_events": "started"}


def add_fact(connection: psycopg.Connection, table: sa.Table, **given: object) -> dict[str, Any]:
    """Add a fact with a value in every column, and return the row as stored."""
    values: dict[Any, object] = {
        pl.Int64(): 7,
        pl.Int32(): 7,
        pl.Int16(): 0,
        pl.Float64(): 60.0,
        pl.Boolean(): False,
        pl.Date(): date(1997, 10, 26),
        pl.Datetime("us", "UTC"): FIRST - timedelta(minutes=1),
        pl.String(): "x",
    }
    schema = frame_schema(table)
    row = {name: values[dtype] for name, dtype in schema.items()}
    row |= {name: word for name, word in WORDS.items() if name in row}
    if table.name in KINDS:
        row["kind"] = KINDS[table.name]
    row |= {"archive_id": 1, "source_id": 1, "occurrence": 0, event_time_columns[table.name]: FIRST} | given
    copy_frame(connection, table, pl.DataFrame([row], schema=schema))
    (stored,) = read_facts(connection, table.name)
    return stored


def read_facts(connection: psycopg.Connection, table: str) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        return cursor.execute(f"SELECT * FROM core.{table}").fetchall()  # one of our tables


def move(
    connection: psycopg.Connection,
    table: str = "transfers",
    source_id: int | None = 1,
    first: datetime | None = FIRST,
    second: datetime | None = SECOND,
    line_hash: int = 7,
    occurrence: int = 0,
) -> list[tuple[Any, ...]]:
    return connection.execute(
        MOVE, [table, source_id, [first], [second], [line_hash], [occurrence]]
    ).fetchall()


def test_the_loader_may_only_read_and_add_facts(loader: psycopg.Connection) -> None:
    privileges = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    if loader.info.server_version >= 170000:
        privileges.append("MAINTAIN")
    of_columns = ["INSERT", "REFERENCES", "SELECT", "UPDATE"]
    for table in TABLES:
        for name, allowed in ((table, ["INSERT", "SELECT"]), (f"{table}_1997_10", [])):
            granted = loader.execute(
                "SELECT array(SELECT p FROM unnest(%(table)s::text[]) AS p"
                "   WHERE has_table_privilege('tapewise_loader', %(name)s, p) ORDER BY p),"
                " array(SELECT p FROM unnest(%(columns)s::text[]) AS p"
                "   WHERE has_any_column_privilege('tapewise_loader', %(name)s, p) ORDER BY p)",
                {"table": privileges, "columns": of_columns, "name": f"core.{name}"},
            ).fetchone()
            assert (name, granted) == (name, (allowed, allowed))
    # The loader has no privileges through another role either.
    assert (
        loader.execute("SELECT FROM pg_auth_members WHERE member = 'tapewise_loader'::regrole").fetchall()
        == []
    )


@pytest.mark.parametrize("table", TABLES)
def test_the_loader_can_neither_change_nor_delete_a_fact(loader: psycopg.Connection, table: str) -> None:
    before = add_fact(loader, TABLES[table])
    for column in TABLES[table].columns:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            loader.execute(f"UPDATE core.{table} SET {column.name} = {column.name}")  # one of our tables
    for statement in (f"DELETE FROM core.{table}", f"TRUNCATE core.{table}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            loader.execute(statement)
    assert read_facts(loader, table) == [before]


@pytest.mark.parametrize("table", TABLES)
def test_a_moved_fact_keeps_its_id_and_everything_but_its_times(
    loader: psycopg.Connection, table: str
) -> None:
    before = add_fact(loader, TABLES[table])
    (moved,) = move(loader, table)
    (after,) = read_facts(loader, table)
    moved_times = {event_time_columns[table]} | ({"started_at"} & set(before))
    assert after == before | {name: before[name] + HOUR for name in moved_times}
    sums = ("x", "put", False, False, 7, 60.0) if table == "transfers" else (None,) * 6
    assert moved == (FIRST, SECOND, *sums, before["log_file_id"], before["id"])
    # The fact has already moved, so nothing is left to move.
    assert move(loader, table) == []
    assert read_facts(loader, table) == [after]


@pytest.mark.parametrize(
    ("started_at", "expected"),
    [
        # The clock showed the start twice. The start is before the end, so it moves too.
        (FIRST - timedelta(minutes=5), (SECOND - timedelta(minutes=5), 300.0, False)),
        # The clock showed the start once, so only the end moves, and the job took an hour longer.
        (FIRST - HOUR, (FIRST - HOUR, 7200.0, False)),
        # The start is after the first of the end's two possible times, and before the second.
        (FIRST + timedelta(minutes=20), (FIRST + timedelta(minutes=20), 2400.0, False)),
        # The start is after both possible times of the end.
        (ONCE, (ONCE, None, True)),
        (None, (None, None, False)),
    ],
)
def test_the_start_of_a_moved_job(
    loader: psycopg.Connection,
    started_at: datetime | None,
    expected: tuple[datetime | None, float | None, bool],
) -> None:
    add_fact(
        loader, TABLES["unitree_jobs"], started_at=started_at, is_start_after_end=bool(started_at == ONCE)
    )
    assert len(move(loader, "unitree_jobs")) == 1
    (job,) = read_facts(loader, "unitree_jobs")
    assert (job["started_at"], job["duration_s"], job["is_start_after_end"]) == expected


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"source_id": 2}, "clocks of UTC do not show"),
        ({"source_id": 3}, "there is no source 3"),
        ({"source_id": None}, "there is no source"),
        ({"first": SECOND, "second": FIRST}, "do not show"),  # backwards
        ({"second": FIRST}, "do not show"),
        ({"second": SECOND + timedelta(microseconds=1)}, "do not show"),
        ({"second": FIRST + timedelta(days=1)}, "do not show"),
        ({"first": ONCE, "second": ONCE + HOUR}, "do not show"),
        ({"first": None}, "do not show"),
        ({"second": None}, "do not show"),
        ({"table": "requests"}, "no table of facts"),
        ({"table": "archives"}, "no table of facts"),
        ({"table": "transfers_1997_10"}, "no table of facts"),
        ({"table": "transfers; DROP TABLE core.opens"}, "no table of facts"),
    ],
)
def test_only_a_second_pass_is_moved(
    loader: psycopg.Connection, arguments: dict[str, Any], reason: str
) -> None:
    before = add_fact(loader, TABLES["transfers"])
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=reason):
        move(loader, **arguments)
    assert read_facts(loader, "transfers") == [before]


@pytest.mark.parametrize(
    "other", [{"line_hash": 8}, {"occurrence": 1}, {"first": FIRST + HOUR / 4, "second": SECOND + HOUR / 4}]
)
def test_only_the_fact_with_that_identity_is_moved(loader: psycopg.Connection, other: dict[str, Any]) -> None:
    before = add_fact(loader, TABLES["transfers"])
    assert move(loader, **other) == []
    assert read_facts(loader, "transfers") == [before]


def test_a_wrong_or_missing_time_moves_nothing(loader: psycopg.Connection) -> None:
    before = add_fact(loader, TABLES["transfers"])
    for firsts, seconds in (([FIRST, ONCE], [SECOND, ONCE]), ([FIRST, FIRST], [SECOND])):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            loader.execute(MOVE, ["transfers", 1, firsts, seconds, [7, 7], [0, 0]])
    assert read_facts(loader, "transfers") == [before]


def test_a_fact_of_another_source_is_not_moved(loader: psycopg.Connection) -> None:
    before = add_fact(loader, TABLES["transfers"], source_id=2)
    assert move(loader) == []
    assert read_facts(loader, "transfers") == [before]


def test_a_reader_can_move_nothing(warehouse: Warehouse) -> None:
    with (
        warehouse.connect(Role.READER, autocommit=True) as reader,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        move(reader)
