"""Month partitions: created once, by whichever session loads, alongside readers and running loads."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime

import polars as pl
import psycopg
import pytest

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns, transfers
from tapewise.schema.writing.facts import FactWriter
from tapewise.schema.writing.loader import copy_encoded, copy_frame, encode_frame, frame_schema

MAKE = "SELECT core.make_partitions(%s, %s)"
JULY, AUGUST = date(2004, 7, 1), date(2004, 8, 1)
Connect = Callable[..., psycopg.Connection]


@pytest.fixture
def connect(warehouse: Warehouse) -> Iterator[Connect]:
    """Return a function that connects; its connections give up quickly instead of waiting for a lock."""
    made = []

    def connect(role: Role = Role.LOADER, *, timezone: str = "UTC") -> psycopg.Connection:
        connection = warehouse.connect(role, autocommit=True)
        made.append(connection)
        if role is Role.LOADER:  # on a site's own server the loader may log in as a role with more rights
            connection.execute("SET ROLE tapewise_loader")
        connection.execute("SELECT set_config('lock_timeout', '5s', false)")
        connection.execute("SELECT set_config('timezone', %s, false)", [timezone])
        return connection

    yield connect
    for connection in made:
        connection.close()


def make(connection: psycopg.Connection, *months: date, table: str = "transfers") -> int:
    row = connection.execute(MAKE, [table, list(months)]).fetchone()
    assert row is not None
    return int(row[0])


def partitions(connection: psycopg.Connection, table: str = "transfers") -> dict[str, str]:
    """The partitions of a table of facts, with their bounds as PostgreSQL shows them."""
    return dict(
        connection.execute(
            "SELECT relname, pg_get_expr(relpartbound, pg_class.oid) FROM pg_inherits"
            " JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = %s::regclass ORDER BY relname",
            [f"core.{table}"],
        ).fetchall()
    )


def make_rows(*times: datetime) -> pl.DataFrame:
    flags = {name: False for name, dtype in frame_schema(transfers).items() if dtype == pl.Boolean()}
    row = {
        "archive_id": 1,
        "source_id": 1,
        "log_file_id": 1,
        "line_number": 1,
        "line_hash": 1,
        "occurrence": 0,
        "ordinal": 0,
    }
    row |= {"interface": "nft", "operation": "ks", "direction": "put"} | flags
    return pl.DataFrame(
        [row | {"id": index, "ended_at": at} for index, at in enumerate(times)],
        schema=frame_schema(transfers),
    )


def copy(connection: psycopg.Connection, *times: datetime) -> int:
    return copy_frame(connection, transfers, make_rows(*times))


def test_each_missing_month_gets_one_partition_whatever_the_day(connect: Connect) -> None:
    connection = connect()
    assert make(connection, date(2004, 8, 31), date(2004, 7, 15), date(2004, 8, 1), date(2004, 12, 25)) == 3
    assert partitions(connection) == {
        "transfers_2004_07": "FOR VALUES FROM ('2004-07-01 00:00:00+00') TO ('2004-08-01 00:00:00+00')",
        "transfers_2004_08": "FOR VALUES FROM ('2004-08-01 00:00:00+00') TO ('2004-09-01 00:00:00+00')",
        "transfers_2004_12": "FOR VALUES FROM ('2004-12-01 00:00:00+00') TO ('2005-01-01 00:00:00+00')",
    }
    assert make(connection, date(2004, 8, 2), date(2004, 7, 31)) == 0
    assert make(connection, date(2004, 7, 1), date(2004, 9, 30)) == 1
    assert len(partitions(connection)) == 4


def test_no_months_create_no_partitions(connect: Connect) -> None:
    connection = connect()
    assert make(connection) == 0
    assert partitions(connection) == {}


@pytest.mark.parametrize("table", [table.name for table in FACT_TABLES])
def test_every_table_of_facts_has_its_own_partitions(connect: Connect, table: str) -> None:
    connection = connect()
    assert make(connection, JULY, table=table) == 1
    for other in FACT_TABLES:
        assert list(partitions(connection, other.name)) == (
            [f"{table}_2004_07"] if other.name == table else []
        )
    # Each has the parent's columns, constraints and index.
    (row,) = connection.execute(
        "SELECT array_agg(indexdef) FROM pg_indexes WHERE schemaname = 'core' AND tablename = %s",
        [f"{table}_2004_07"],
    ).fetchall()
    assert len(row[0]) == 1
    # Silences are searched for by the start of a transfer, too.
    started = ", started_at" if table == "transfers" else ""
    columns = f"{event_time_columns[table]}, id, log_file_id{started}"
    assert f"USING brin ({columns}) WITH (pages_per_range='32')" in row[0][0]


@pytest.mark.parametrize("timezone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_months_are_in_utc_whatever_the_zone_of_the_session(connect: Connect, timezone: str) -> None:
    connection = connect(timezone=timezone)
    assert make(connection, JULY) == 1
    first, last = datetime(2004, 7, 1, tzinfo=UTC), datetime(2004, 7, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert copy(connection, first, last) == 2
    for outside in (datetime(2004, 6, 30, 23, 59, 59, 999999, tzinfo=UTC), datetime(2004, 8, 1, tzinfo=UTC)):
        with pytest.raises(psycopg.errors.CheckViolation, match="no partition"):
            copy(connection, outside)


@pytest.mark.parametrize(
    "table",
    ["archives", "activity_cells", "core.transfers", "transfers; DROP TABLE core.users", "Transfers", ""],
)
def test_other_tables_are_refused(connect: Connect, table: str) -> None:
    connection = connect()
    with pytest.raises(psycopg.errors.RaiseException, match="is not cut into months"):
        make(connection, JULY, table=table)
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT core.make_partitions(NULL, %s)", [[JULY]])
    found = connection.execute(
        r"SELECT count(*) FROM pg_tables WHERE tablename LIKE '%\_2004\_07'"
    ).fetchone()
    assert found == (0,)


def test_a_null_month_is_refused_and_leaves_nothing(connect: Connect) -> None:
    connection = connect()
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT core.make_partitions('transfers', ARRAY['2004-07-01'::date, NULL])")
    assert partitions(connection) == {}


def test_the_loader_may_create_partitions_but_not_tables_and_the_reader_neither(connect: Connect) -> None:
    loader, reader = connect(), connect(Role.READER)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        loader.execute("CREATE TABLE core.mine (id integer)")
    assert make(loader, JULY) == 1
    assert copy(loader, datetime(2004, 7, 4, tzinfo=UTC)) == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        make(reader, AUGUST)
    assert list(partitions(loader)) == ["transfers_2004_07"]


def test_simultaneous_connections_create_each_partition_once(connect: Connect) -> None:
    months = [date(2004, month, 1) for month in range(1, 13)]
    connections = [connect() for _ in range(4)]
    barrier = threading.Barrier(len(connections))

    def work(connection: psycopg.Connection) -> int:
        barrier.wait()
        return make(connection, *months)

    with ThreadPoolExecutor(len(connections)) as pool:
        made = list(pool.map(work, connections))
    assert sorted(made) == [0, 0, 0, 12]
    assert len(partitions(connections[0])) == 12


def test_a_second_creator_waits_for_the_first_and_finds_its_partitions(connect: Connect) -> None:
    first, second, watcher = connect(), connect(), connect()
    with ThreadPoolExecutor(1) as pool:
        with first.transaction():
            assert make(first, JULY) == 1
            waiting = pool.submit(make, second, JULY, AUGUST)
            while not watcher.execute(
                "SELECT FROM pg_locks WHERE NOT granted AND relation = 'core.transfers'::regclass"
                " AND pid = %s",
                [second.info.backend_pid],
            ).fetchall():
                assert not waiting.done()
        assert waiting.result(timeout=30) == 1
    assert list(partitions(first)) == ["transfers_2004_07", "transfers_2004_08"]


def test_readers_and_the_creator_of_partitions_do_not_wait_for_each_other(connect: Connect) -> None:
    reader, maker = connect(Role.OWNER), connect()
    make(maker, JULY)
    copy(maker, datetime(2004, 7, 4, tzinfo=UTC))
    count = "SELECT count(*) FROM core.transfers"
    with reader.transaction():
        assert reader.execute(count).fetchone() == (1,)  # holds its lock until the transaction ends
        with maker.transaction():
            assert make(maker, AUGUST) == 1
            assert reader.execute(count).fetchone() == (1,)
            with closing(connect(Role.OWNER)) as newcomer:
                assert newcomer.execute(count).fetchone() == (1,)
        copy(maker, datetime(2004, 8, 4, tzinfo=UTC))
        assert reader.execute(count).fetchone() == (2,)


def test_a_copying_load_and_the_creator_of_partitions_do_not_wait_for_each_other(connect: Connect) -> None:
    loading, maker = connect(), connect()
    make(maker, JULY)
    columns, encoded = encode_frame(make_rows(*[datetime(2004, 7, 4, tzinfo=UTC)] * 50_000), transfers)
    pieces = list(encoded)
    assert len(pieces) > 3
    with loading.transaction():

        def send() -> Iterator[bytes]:
            yield from pieces[:-2]
            waiting = "SELECT tuples_processed > 0 FROM pg_stat_progress_copy WHERE pid = %s"
            while maker.execute(waiting, [loading.info.backend_pid]).fetchone() != (True,):
                pass
            assert make(maker, AUGUST) == 1  # in the middle of the COPY
            yield from pieces[-2:]

        assert copy_encoded(loading, transfers, columns, send()) == 50_000
        # The same transaction may copy into a partition that did not exist when it began.
        assert copy(loading, datetime(2004, 8, 31, 23, 59, 59, tzinfo=UTC)) == 1
    found = maker.execute(
        "SELECT tableoid::regclass::text, count(*) FROM core.transfers GROUP BY 1 ORDER BY 1"
    )
    assert found.fetchall() == [("core.transfers_2004_07", 50_000), ("core.transfers_2004_08", 1)]


def test_a_load_writes_to_months_that_were_made_after_it_began(connect: Connect) -> None:
    settling, connection = connect(), connect()
    writer = FactWriter(settling, source_id=1)
    facts = make_rows(*(datetime(2004, month, 1, tzinfo=UTC) for month in range(1, 13))).drop("id")
    with connection.transaction():
        # Each part continues the month of the part before, so that it may need no lock for its first row.
        for part in range(11):
            writer.write(connection, writer.encode(transfers, facts[part : part + 2]))
    assert connection.execute("SELECT count(*) FROM core.transfers").fetchone() == (22,)
