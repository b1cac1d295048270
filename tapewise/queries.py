"""`tapewise sql`: a query, run as the reading role."""

import csv
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from decimal import Decimal
from math import isfinite
from typing import Any

import click
import psycopg

from schema.database import Role, open_warehouse
from schema.errors import QueryError
from schema.settings import Settings
from schema.upgrade import open_ready_warehouse
from tapewise.tables import print_table

TABLE_ROWS = 1000


@click.command()
@click.argument("query")
@click.option("--json", "shape", flag_value="json", help="A JSON array of one object a row.")
@click.option("--csv", "shape", flag_value="csv", help="CSV with a header.")
@click.pass_obj
def sql(settings: Settings, query: str, shape: str | None) -> None:
    """Run QUERY ('-': read it from standard input) as the reading role and print what it gives.

    The reading role sees the views and functions of the schema mart, and no names of users or files.

    \b
    Examples:
      tapewise sql "SELECT * FROM mart.activity WHERE period = 'month'"
      tapewise sql --csv "SELECT * FROM mart.lower_envelopes(archive => 'hpss')" > envelopes.csv
    """
    text = sys.stdin.read() if query == "-" else query
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise QueryError("the query is not valid UTF-8") from error
    # An analyst's settings may hold the reader's URL only, which cannot see the revision.
    opened = open_warehouse if settings.reader_url else open_ready_warehouse
    with (
        opened(settings) as warehouse,
        closing(warehouse.connect(Role.READER)) as connection,
        connection.cursor() as cursor,
    ):
        try:
            rows = cursor.stream(text, size=1000)
            first = next(rows, None)
            if first is None:
                columns = _describe(connection, text)  # a stream without rows tells no columns
            else:
                columns = _name_apart([column.name for column in cursor.description or ()])
            _WRITERS[shape](columns, itertools.chain([] if first is None else [first], rows))
        except psycopg.Error as error:
            raise _explain(error, text) from error


def _describe(connection: psycopg.Connection, query: str) -> list[str]:
    """The columns that `query` would give, without running it."""
    connection.pgconn.prepare(b"", query.encode())
    result = connection.pgconn.describe_prepared(b"")
    return _name_apart([(result.fname(index) or b"").decode() for index in range(result.nfields)])


def _name_apart(columns: list[str]) -> list[str]:
    """`columns`, those of a name that is taken with a number behind it: an object has each key once."""
    seen: Counter[str] = Counter()
    named = []
    for column in columns:
        seen[column] += 1
        named.append(column if seen[column] == 1 else f"{column}_{seen[column]}")
    return named


def _write_json(columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
    before = "[\n"
    for row in rows:
        values = [None if isinstance(value, float) and not isfinite(value) else value for value in row]
        click.echo(before + json.dumps(dict(zip(columns, values, strict=True)), default=_to_json), nl=False)
        before = ",\n"
    click.echo("[]" if before == "[\n" else "\n]")


def _write_csv(columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def _write_table(columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> None:
    shown = list(itertools.islice(rows, TABLE_ROWS))
    print_table(columns, shown)
    if next(rows, None) is not None:
        click.echo(f"... and more: only the first {TABLE_ROWS} rows are shown; --csv and --json give all.")


_WRITERS = {"json": _write_json, "csv": _write_csv, None: _write_table}


def _to_json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _explain(error: psycopg.Error, query: str) -> QueryError:
    """PostgreSQL's message, with the line of the query that it speaks of."""
    message = error.diag.message_primary or str(error).strip()
    if error.diag.statement_position:
        position = int(error.diag.statement_position) - 1
        number = query.count("\n", 0, position) + 1
        line = query.splitlines()[number - 1] if query.strip() else ""
        column = position - (query.rfind("\n", 0, position) + 1)
        message += f"\n  line {number}: {line}\n  {' ' * len(f'line {number}: ')}{' ' * column}^"
    hint = error.diag.message_hint
    if "multiple commands" in message:
        message, hint = "a query is one statement", "Run them one by one."
    if "EMPTY_QUERY" in message:
        message = "the query is empty"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        hint = "`tapewise sql` logs in as a reader: mart is open to it, other schemas are not."
    return QueryError(message, hint=hint)
