"""Bulk loading: polars frames into tables by binary COPY.

pgpq encodes Arrow batches into PostgreSQL's binary format, and psycopg sends them. Encoding holds the
interpreter lock, and sending releases it, so a producer thread encodes small batches while the main thread
sends. pgpq silently writes an Int64 into a float8 column as 5e-324, and a time without a zone as UTC,
so `check_frame` runs before anything is encoded.
"""

import io
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, LiteralString, NamedTuple

import polars as pl
import psycopg
import sqlalchemy as sa
from pgpq import ArrowToPostgresBinaryEncoder
from psycopg import sql
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from tapewise.schema.errors import SchemaMismatchError
from tapewise.schema.tables.facts import ROW_ID_BLOCK

BATCH_ROWS = 10_000

# When a connection is lost, psycopg raises an error, and also logs that it could not end the COPY and the
# transaction. Without a handler, Python would print this before our own message.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_POLARS_TYPES: tuple[tuple[type[Any], pl.DataType], ...] = (
    (sa.BigInteger, pl.Int64()),
    (sa.SmallInteger, pl.Int16()),
    (sa.Integer, pl.Int32()),
    (DOUBLE_PRECISION, pl.Float64()),
    (sa.Boolean, pl.Boolean()),
    (sa.Date, pl.Date()),
    (sa.DateTime, pl.Datetime("us", "UTC")),
    (sa.Text, pl.String()),
)


def frame_schema(table: sa.Table) -> dict[str, pl.DataType]:
    """The columns of `table`, in order, with the polars type that a frame for it must have."""
    return {
        column.name: next(dtype for kind, dtype in _POLARS_TYPES if isinstance(column.type, kind))
        for column in table.columns
    }


def check_frame(frame: pl.DataFrame, table: sa.Table) -> None:
    """Raise SchemaMismatchError unless `frame` has exactly the columns of `table`, in order and type."""
    expected = frame_schema(table)
    if dict(frame.schema) == expected and frame.columns == list(expected):
        return
    wrong = [
        f"{name} is {frame.schema.get(name, 'missing')}, should be {expected.get(name, 'absent')}"
        for name in expected | dict(frame.schema)
        if frame.schema.get(name) != expected.get(name)
    ]
    if not wrong:
        number, (name, wanted) = next(
            (number, pair)
            for number, pair in enumerate(zip(frame.columns, expected, strict=True), start=1)
            if pair[0] != pair[1]
        )
        wrong = [f"column {number} is {name}, should be {wanted}"]
    raise SchemaMismatchError(f"a frame does not fit {table.fullname}: {'; '.join(wrong)}")


class Encoded(NamedTuple):
    """Rows in PostgreSQL's binary COPY format: the columns that are sent, and the pieces, none empty."""

    columns: tuple[str, ...]
    pieces: Iterator[bytes]


def encode_frame(frame: pl.DataFrame, table: sa.Table) -> Encoded:
    """Encode `frame` for `copy_encoded`, without the columns in which every row has the table's default.

    Most of the omitted columns contain only nulls, which would make up a sixth of the bytes sent for an NFT
    log. Raises SchemaMismatchError if the frame does not fit `table`.
    """
    check_frame(frame, table)
    needed = [column.name for column in table.columns if not _is_default(frame[column.name], column)]
    columns = tuple(needed) or (frame.columns[0],)  # COPY needs at least one column
    return Encoded(columns, _encode(frame.select(columns)))


def _is_default(values: pl.Series, column: sa.Column[Any]) -> bool:
    """Whether all of `values` are the table's default; the only defaults known here are `false` and `0`."""
    if not isinstance(column.server_default, sa.DefaultClause):
        return column.server_default is None and values.null_count() == len(values)
    default = str(column.server_default.arg)
    return default in ("false", "0") and values.null_count() == 0 and not values.cast(pl.Boolean).any()


def _encode(frame: pl.DataFrame) -> Iterator[bytes]:
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    encoder = ArrowToPostgresBinaryEncoder(arrow.schema)
    yield bytes(encoder.write_header())
    for batch in arrow.to_batches(max_chunksize=BATCH_ROWS):
        # The encoder returns nothing until its own buffer is full.
        if piece := bytes(encoder.write_batch(batch)):
            yield piece
    yield bytes(encoder.finish())


def copy_encoded(
    connection: psycopg.Connection, table: sa.Table, columns: Sequence[str], pieces: Iterable[bytes]
) -> int:
    """COPY the output of `encode_frame` into `table`, in the caller's transaction; return the row count."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(table.schema or "public", table.name),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
    )
    with connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            for piece in pieces:
                copy.write(memoryview(piece))  # psycopg slices it; slices of bytes would be copies
        return cursor.rowcount


def copy_frame(connection: psycopg.Connection, table: sa.Table, frame: pl.DataFrame) -> int:
    """Encode and COPY `frame` into `table`, in the caller's transaction; return the row count."""
    return copy_encoded(connection, table, *encode_frame(frame, table))


def read_frame(
    connection: psycopg.Connection,
    query: LiteralString | sql.Composed,
    parameters: Any,
    schema: Mapping[str, pl.DataType | type[pl.DataType]],
) -> pl.DataFrame:
    """Return the result of `query` as a frame. Uses COPY, so as not to make an object for each value.

    `parameters` are as in psycopg. `schema` names the query's columns in order, with the types they get. Rows
    stay in the query's order.
    """
    return next(read_frames(connection, query, parameters, schema), pl.DataFrame(schema=schema))


def read_frames(
    connection: psycopg.Connection,
    query: LiteralString | sql.Composed,
    parameters: Any,
    schema: Mapping[str, pl.DataType | type[pl.DataType]],
    piece_bytes: int | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield the result of `query` as `read_frame` does, in frames of about `piece_bytes` of CSV.

    No frame is empty. Without `piece_bytes` there is at most one.
    """
    # The types in COPY's output. Times are sent as numbers, which are exact.
    written = {
        name: pl.Int64 if dtype == pl.Datetime else pl.String if dtype == pl.Boolean else dtype
        for name, dtype in schema.items()
    }
    statement = sql.SQL("COPY (SELECT {} FROM ({}) AS found ({})) TO STDOUT (FORMAT csv)").format(
        sql.SQL(", ").join(
            sql.SQL("(extract(epoch FROM {}) * 1000000)::bigint" if dtype == pl.Datetime else "{}").format(
                sql.Identifier(name)
            )
            for name, dtype in schema.items()
        ),
        query if isinstance(query, sql.Composed) else sql.SQL(query),
        sql.SQL(", ").join(map(sql.Identifier, schema)),
    )
    for piece in _read_pieces(connection, statement, parameters, piece_bytes):
        yield pl.read_csv(piece, has_header=False, schema=written).with_columns(
            pl.col(name) == "t" if dtype == pl.Boolean else pl.col(name).cast(dtype)
            for name, dtype in schema.items()
            if written[name] != dtype
        )


def _read_pieces(
    connection: psycopg.Connection, statement: sql.Composed, parameters: Any, piece_bytes: int | None
) -> Iterator[io.BytesIO]:
    """Yield what COPY sends, in pieces of whole rows, none of them empty."""
    buffer = io.BytesIO()
    with connection.cursor() as cursor, cursor.copy(statement, parameters) as copy:
        # PostgreSQL sends each row as a message of its own, and psycopg delivers whole messages.
        for row in copy:
            buffer.write(row)
            if piece_bytes is not None and buffer.tell() >= piece_bytes:
                buffer.seek(0)
                yield buffer
                buffer = io.BytesIO()
    if buffer.tell():
        buffer.seek(0)
        yield buffer


def take_row_ids(settling: psycopg.Connection, count: int) -> list[int]:
    """Take as many blocks of row numbers as `count` rows need, and return the first number of each."""
    blocks = -(-count // ROW_ID_BLOCK)
    rows = settling.execute("SELECT nextval('core.row_ids') FROM generate_series(1, %s)", [blocks]).fetchall()
    return [row[0] for row in rows]


def number_rows(facts: pl.DataFrame, first_ids: list[int]) -> pl.DataFrame:
    """Prepend an `id` column to `facts`, taken from the blocks of numbers that begin with `first_ids`."""
    ids = pl.Series(first_ids, dtype=pl.Int64)
    row = pl.int_range(facts.height, dtype=pl.Int64, eager=True)
    return facts.select(ids.gather(row // ROW_ID_BLOCK).alias("id") + row % ROW_ID_BLOCK, pl.all())
