"""The results of queries as polars frames, whose column types depend only on the types in PostgreSQL."""

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import polars as pl
import psycopg
from psycopg import sql
from psycopg.pq import ExecStatus
from psycopg.types.numeric import FloatLoader
from psycopg.types.string import TextLoader

from tapewise.accepted_words import check_query
from tapewise.queries import explain_error
from tapewise.schema.errors import QueryError
from tapewise.values import name_apart

Parameters = Sequence[Any] | Mapping[str, Any]

# How many rows are held as Python objects at once.
BATCH_ROWS = 50_000
_TYPES = psycopg.adapters.types
# All other types become text, as PostgreSQL writes them.
_DTYPES: dict[str, pl.DataType] = {
    "bool": pl.Boolean(),
    "int2": pl.Int16(),
    "int4": pl.Int32(),
    "int8": pl.Int64(),
    "oid": pl.Int64(),
    "float4": pl.Float32(),
    "float8": pl.Float64(),
    "numeric": pl.Float64(),
    "date": pl.Date(),
    "time": pl.Time(),
    "timestamp": pl.Datetime("us"),
    "interval": pl.Duration("us"),
    "bytea": pl.Binary(),
}
_PLACEHOLDER = re.compile(r"%(%|(?:\((?P<name>[^)]*)\))?[sbt])")


def read_query(
    connection: psycopg.Connection,
    query: str | sql.Composed,
    parameters: Parameters | None,
    timezone: str,
) -> pl.DataFrame:
    """Run one query and return its result; a query without a result gives a frame without columns.

    The server receives `parameters` separately from the query. `timezone` is the zone of the times in the
    frame, and of dates and times without an offset in the query. Raises QueryError.
    """
    text = query if isinstance(query, str) else query.as_string(connection)
    if isinstance(query, str):
        check_query(query)
    try:
        connection.execute("SELECT set_config('TimeZone', %s, false)", [timezone])
        with connection.cursor() as cursor:
            _load_plain_values(cursor)
            # The server refuses to prepare more than one statement.
            cursor.execute(text.encode(), parameters, prepare=True)
            if cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.EMPTY_QUERY:
                raise QueryError("the query is empty")
            return pl.DataFrame() if cursor.description is None else _fetch(cursor, timezone)
    except psycopg.errors.InsufficientPrivilege as error:
        raise QueryError(
            error.diag.message_primary or str(error),
            hint="Queries log in as a reader, who sees the views and functions of schema mart. Those with"
            " names of users or files can be read only after tapewise.connect(with_names=True).",
        ) from error
    except psycopg.Error as error:
        raise explain_error(error, text if parameters is None else _number_placeholders(text)) from error
    # psycopg and polars raise these for values that Python's or polars' types cannot hold.
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise QueryError(
            f"the parameters or the result cannot be converted: {error}",
            hint="Give parameters as a list for %s, or as a dict for %(name)s. A column can be read as text:"
            " `column::text`.",
        ) from error


def _load_plain_values(cursor: psycopg.Cursor[Any]) -> None:
    """Make a cursor return values that polars can hold."""
    for info in _TYPES:
        if info.name not in _DTYPES and info.name != "timestamptz":
            cursor.adapters.register_loader(info.oid, TextLoader)
    cursor.adapters.register_loader("numeric", FloatLoader)


def _fetch(cursor: psycopg.Cursor[Any], timezone: str) -> pl.DataFrame:
    columns = cursor.description or []
    names = name_apart([column.name for column in columns])
    schema = {
        name: _find_dtype(column.type_code, timezone) for name, column in zip(names, columns, strict=True)
    }
    frames = [pl.DataFrame(schema=schema)]
    while rows := cursor.fetchmany(BATCH_ROWS):
        frames.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(frames, rechunk=True)


def _find_dtype(oid: int, timezone: str) -> pl.DataType:
    """Return the column type for values of the type `oid`."""
    info = _TYPES.get(oid)
    if info is None:
        return pl.String()
    element = pl.Datetime("us", timezone) if info.name == "timestamptz" else _DTYPES.get(info.name)
    own = element or pl.String()
    return own if oid == info.oid else pl.List(own)


def _number_placeholders(query: str) -> str:
    """Return the query in the form that the server's errors refer to, with $1 for the first placeholder."""
    numbers = count(1)
    named: dict[str, int] = {}

    def replace(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        name = match["name"]
        return f"${next(numbers) if name is None else named.setdefault(name, len(named) + 1)}"

    return _PLACEHOLDER.sub(replace, query)
