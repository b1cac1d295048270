"""Frames written by binary COPY are read back unchanged, and frames that do not fit are refused."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from tapewise.schema.errors import SchemaMismatchError
from tapewise.schema.tables.facts import FACT_TABLES, transfers
from tapewise.schema.tables.ledger import rejected_lines
from tapewise.schema.writing.loader import (
    BATCH_ROWS,
    check_frame,
    copy_frame,
    encode_frame,
    frame_schema,
    read_frame,
)

PROBES = sa.Table(
    "probes",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger),
    sa.Column("small", sa.Integer),
    sa.Column("number", DOUBLE_PRECISION),
    sa.Column("flag", sa.Boolean),
    sa.Column("happened_at", sa.DateTime(timezone=True)),
    sa.Column("words", sa.Text),
    schema="core",
)
NOTHING = (None, None, None, None, None)
AT = datetime(2019, 3, 5, 9, 14, 22, tzinfo=UTC)


def make_frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=frame_schema(PROBES), orient="row")


def one_row() -> pl.DataFrame:
    return make_frame([(1, 2, 0.5, True, AT, "words")])


@pytest.fixture
def probes(database: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """The owner's connection to a warehouse with the empty table `PROBES`."""
    database.execute(
        "CREATE TABLE core.probes (id bigint, small integer, number double precision, flag boolean,"
        " happened_at timestamptz, words text)"
    )
    database.commit()
    return database


def read_back(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM core.probes ORDER BY id").fetchall()


def bits(value: Any) -> Any:
    """Return the value in a form in which NaN equals itself and -0.0 differs from 0.0."""
    return value.hex() if isinstance(value, float) else value


def same(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(bits, row)) for row in rows]


@pytest.mark.parametrize(
    "values",
    [
        NOTHING,
        (0, 0.0, False, datetime(1970, 1, 1, tzinfo=UTC), ""),
        (2**31 - 1, math.inf, True, datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC), " "),
        (-(2**31), -math.inf, False, datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "\t\n\r\\N\\."),
        (-1, math.nan, True, datetime(1985, 1, 1, 0, 0, 0, 1, tzinfo=UTC), "Zürich, 東京, 🗄"),
        (1, -0.0, None, datetime(1, 1, 1, tzinfo=UTC), "e\u0301\u2028\ufeff"),
        (1, 5e-324, None, datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "x" * 300_000),
        (None, 1.7976931348623157e308, None, datetime(1999, 12, 31, 23, 59, 59, 500000, tzinfo=UTC), None),
        (None, 0.1, None, datetime(2000, 1, 1, tzinfo=UTC), "'\"; DROP TABLE"),  # PostgreSQL's own epoch
    ],
)
@pytest.mark.parametrize("number", [0, 2**63 - 1, -(2**63)])
def test_values_are_read_back_as_sent(
    probes: psycopg.Connection, number: int, values: tuple[Any, ...]
) -> None:
    rows = [(number, *values)]
    assert copy_frame(probes, PROBES, make_frame(rows)) == 1
    assert same(read_back(probes)) == same(rows)


VALUES = st.tuples(
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.floats(allow_nan=False) | st.just(math.nan),  # nothing preserves a NaN's payload
    st.none() | st.booleans(),
    st.none() | st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)),
    st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(VALUES, max_size=30), begin=st.integers(0, 10), cut=st.integers(0, 30))
def test_any_values_in_any_part_of_any_frame_are_read_back(
    probes: psycopg.Connection, values: list[tuple[Any, ...]], begin: int, cut: int
) -> None:
    rows = [(number, *row) for number, row in enumerate(values)]
    pieces = pl.concat([make_frame(rows[:cut]), make_frame(rows[cut:])], rechunk=False)
    probes.execute("TRUNCATE core.probes")
    assert copy_frame(probes, PROBES, pieces.slice(begin)) == len(rows[begin:])
    assert same(read_back(probes)) == same(rows[begin:])
    backwards = "SELECT * FROM core.probes ORDER BY id DESC"
    read = read_frame(probes, backwards, None, frame_schema(PROBES))
    assert read.schema == frame_schema(PROBES)
    assert same(read.rows()) == same(rows[begin:][::-1])


def test_an_empty_frame_loads_nothing(probes: psycopg.Connection) -> None:
    assert copy_frame(probes, PROBES, make_frame([])) == 0
    assert read_back(probes) == []


def test_more_than_one_batch_arrives_whole_and_in_order(probes: psycopg.Connection) -> None:
    rows = [
        (
            index,
            None if index % 7 == 0 else index,
            index / 3,
            index % 2 == 0,
            AT + timedelta(microseconds=index),
            f"line {index} " + "é" * (index % 50),
        )
        for index in range(2 * BATCH_ROWS + BATCH_ROWS // 2)
    ]
    frame = make_frame(rows)
    pieces = list(encode_frame(frame, PROBES).pieces)
    assert len(pieces) > 3  # header, several batches, end
    assert all(pieces)
    assert copy_frame(probes, PROBES, frame) == len(rows)
    assert read_back(probes) == rows


def test_columns_of_nulls_are_not_sent() -> None:
    rows: list[tuple[Any, ...]] = [(1, None, None, True, None, None), (2, None, 0.5, None, None, None)]
    assert encode_frame(make_frame(rows), PROBES).columns == ("id", "number", "flag")
    assert encode_frame(make_frame([(None,) * 6]), PROBES).columns == ("id",)


def test_a_null_does_not_become_the_default(probes: psycopg.Connection) -> None:
    probes.execute("ALTER TABLE core.probes ALTER words SET DEFAULT 'nothing said'")
    others = [sa.Column(each.name, each.type) for each in PROBES.columns if each.name != "words"]
    words = sa.Column("words", sa.Text, server_default="nothing said")
    table = sa.Table("probes", sa.MetaData(), *others, words, schema="core")
    assert copy_frame(probes, table, make_frame([(1, *NOTHING)])) == 1
    assert read_back(probes) == [(1, *NOTHING)]


def test_a_frame_with_the_right_columns_is_accepted() -> None:
    check_frame(one_row(), PROBES)
    for table in (*FACT_TABLES, rejected_lines):
        check_frame(pl.DataFrame(schema=frame_schema(table)), table)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (one_row().with_columns(number=pl.lit(1, pl.Int64)), "number is Int64, should be Float64"),
        (one_row().with_columns(number=pl.lit(1, pl.Float32)), "number is Float32, should be Float64"),
        (one_row().with_columns(id=pl.lit(1, pl.Int32)), "id is Int32, should be Int64"),
        (one_row().with_columns(small=pl.lit(1, pl.Int64)), "small is Int64, should be Int32"),
        (one_row().with_columns(flag=pl.lit(1, pl.Int8)), "flag is Int8, should be Boolean"),
        (one_row().with_columns(words=pl.lit(b"x")), "words is Binary, should be String"),
        (one_row().with_columns(words=pl.lit(None)), "words is Null, should be String"),
        (
            one_row().with_columns(pl.col("happened_at").dt.replace_time_zone(None)),
            "happened_at is Datetime(time_unit='us', time_zone=None), should be"
            " Datetime(time_unit='us', time_zone='UTC')",
        ),
        (
            one_row().with_columns(pl.col("happened_at").dt.cast_time_unit("ns")),
            "happened_at is Datetime(time_unit='ns', time_zone='UTC'), should be"
            " Datetime(time_unit='us', time_zone='UTC')",
        ),
        (
            one_row().with_columns(pl.col("happened_at").dt.convert_time_zone("Asia/Kathmandu")),
            "happened_at is Datetime(time_unit='us', time_zone='Asia/Kathmandu'), should be"
            " Datetime(time_unit='us', time_zone='UTC')",
        ),
        (one_row().drop("flag"), "flag is missing, should be Boolean"),
        (one_row().with_columns(extra=pl.lit(1.0)), "extra is Float64, should be absent"),
        (
            one_row().rename({"words": "text"}),
            "words is missing, should be String; text is String, should be absent",
        ),
        (
            one_row().select("id", "number", "small", "flag", "happened_at", "words"),
            "column 2 is number, should be small",
        ),
    ],
)
def test_a_frame_that_does_not_fit_is_refused_with_the_columns_name(
    probes: psycopg.Connection, frame: pl.DataFrame, expected: str
) -> None:
    with pytest.raises(SchemaMismatchError) as refused:
        check_frame(frame, PROBES)
    assert refused.value.message == f"a frame does not fit core.probes: {expected}"
    with pytest.raises(SchemaMismatchError):
        copy_frame(probes, PROBES, frame)
    probes.rollback()
    assert read_back(probes) == []


def test_a_row_that_breaks_a_constraint_leaves_nothing(database: psycopg.Connection) -> None:
    database.execute("SELECT core.make_partitions('transfers', '{2019-03-01}')")
    database.commit()
    flags = {name: False for name, dtype in frame_schema(transfers).items() if dtype == pl.Boolean()}
    whole = {"id": 1, "archive_id": 1, "source_id": 1, "log_file_id": 1, "line_number": 1, "line_hash": 1}
    whole |= {
        "occurrence": 0,
        "ordinal": 0,
        "ended_at": AT,
        "interface": "nft",
        "operation": "ks",
        "direction": "put",
    } | flags
    frame = pl.DataFrame([whole, whole | {"direction": "sideways"}], schema=frame_schema(transfers))
    with pytest.raises(psycopg.errors.CheckViolation):
        copy_frame(database, transfers, frame)
    database.rollback()
    assert database.execute("SELECT count(*) FROM core.transfers").fetchone() == (0,)
    assert copy_frame(database, transfers, frame.head(1)) == 1
