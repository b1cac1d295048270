"""`tapewise sql`: runs a query as the reading role."""

import csv
import itertools
import json
import re
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import click
import psycopg

from tapewise.accepted_words import check_query
from tapewise.readers import as_option, explain_denial, open_reader
from tapewise.schema.errors import QueryError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls
from tapewise.spellings import DIRECTIONS, find_near, find_texts
from tapewise.tables import print_table
from tapewise.values import (
    is_moment,
    load_cells,
    load_elements,
    load_texts,
    make_csv_writer,
    make_json_writer,
    name_apart,
)

TABLE_ROWS = 1000
# Words in a query whose meaning depends, or may depend, on the time zone.
_TIMES = re.compile(
    r"\d{4}-\d|\b(date|time|timestamp|timestamptz|now|current_\w+|to_char|to_date|to_timestamp|extract|age)\b"
    r"|\bdate_\w+",
    re.IGNORECASE,
)


@click.command()
@click.argument("query")
@click.option("--json", "shape", flag_value="json", help="Print a JSON array with one object per row.")
@click.option("--csv", "shape", flag_value="csv", help="Print CSV with a header.")
@click.option(
    "--timezone",
    help="IANA zone for dates and times without an offset, and for the times shown."
    "  [default: the zone of the archives, or UTC if they have several]",
)
@as_option
@click.pass_obj
def sql(settings: Settings, query: str, shape: str | None, timezone: str | None, read_as: str) -> None:
    """Run QUERY as the reading role and print the result.

    If QUERY is '-', it is read from standard input. The reading role sees the views and functions of the
    schema mart, but no names of users or files. With --as names, it sees the names too. Without --timezone, a
    note on stderr names the zone used.

    \b
    Examples:
      tapewise sql "SELECT * FROM mart.activity(period => 'month')"
      tapewise sql --timezone Europe/Berlin "SELECT count(*) FROM mart.opens WHERE opened_at >= '2024-03-01'"
      tapewise sql --csv "SELECT * FROM mart.lower_envelopes(archive => 'hpss')" > envelopes.csv
      tapewise sql --as names "SELECT * FROM mart.user_names"
    """
    text = sys.stdin.read() if query == "-" else query
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise QueryError("the query is not valid UTF-8") from error
    if timezone is not None:
        check_timezone(timezone)
    check_query(text)
    with open_reader(settings, read_as) as connection, connection.cursor() as cursor:
        archives = _read_archives(connection)
        zones = None if archives is None else list(dict.fromkeys(archives.values()))
        if zones == [] and "mart." in text:
            where = "" if settings.database_url or settings.reader_url else f" in {settings.home}"
            click.echo(f"The warehouse{where} holds no archive yet.", err=True)
        zone, note = (timezone, None) if timezone else _choose_timezone(zones or [])
        connection.execute("SELECT set_config('TimeZone', %s, false)", [zone])
        try:
            is_empty = _print(cursor, text, shape, note)
        except psycopg.Error as error:
            raise explain_error(error, text) from error
        if "mart." in text:
            for each in _find_spellings(connection, text, archives or {}, is_empty=is_empty):
                click.echo(escape_controls(each), err=True)


def _find_spellings(
    connection: psycopg.Connection, query: str, archives: dict[str, str], *, is_empty: bool
) -> list[str]:
    """Return notes about names in the query that are written with other letters than the warehouse's."""
    notes = find_near(find_texts(query, "archive"), archives, "archive")
    if is_empty:
        # An archive may also be the first argument, or be compared in another way.
        notes += find_near(find_texts(query), archives, "archive")
        notes += find_near(find_texts(query, "direction"), DIRECTIONS, "direction")
        texts = [text for text in find_texts(query, "interface") if text != text.lower()]
        if texts:
            interfaces = connection.execute("SELECT DISTINCT interface FROM mart.day_cells").fetchall()
            notes += find_near(texts, [name for (name,) in interfaces], "interface")
    return list(dict.fromkeys(notes))


def _read_archives(connection: psycopg.Connection) -> dict[str, str] | None:
    """Map archives to their zones. None if there is no warehouse or no access to it."""
    try:
        return dict(connection.execute("SELECT archive, timezone FROM mart.archives").fetchall())
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        connection.rollback()  # the query reports that if it matters
        return None


def _choose_timezone(zones: list[str]) -> tuple[str, str | None]:
    """Return the zone that all archives share, or else UTC, and a note unless all are in UTC."""
    if len(zones) > 1:
        return "UTC", "Times are in UTC, because the archives have several zones (--timezone)."
    if zones in ([], ["UTC"]):
        return "UTC", None
    return zones[0], f"Times are in {zones[0]}, the zone of the archives (--timezone)."


def _print(cursor: psycopg.Cursor, query: str, shape: str | None, note: str | None) -> bool:
    """Print the result of `query` row by row as it arrives, and `note` if the query involves times.

    Returns whether it has no rows.
    """
    load, write = _SHAPES[shape]
    load(cursor.adapters)
    # A table shows few rows, and their values may be large, so its rows are fetched one by one.
    rows = cursor.stream(query, size=1 if shape is None else 100)
    first = next(rows, None)
    if first is None:
        columns = _describe(cursor.connection, query)  # a stream without rows has no description
    else:
        columns = [(column.name, column.type_code) for column in cursor.description or ()]
    if note is not None and (_TIMES.search(query) or any(is_moment(oid) for _, oid in columns)):
        click.echo(note, err=True)
    names = name_apart([name for name, _ in columns])
    write(names, [oid for _, oid in columns], itertools.chain([] if first is None else [first], rows))
    return first is None


def _describe(connection: psycopg.Connection, query: str) -> list[tuple[str, int]]:
    """Return the names and types of the columns that `query` would return, without running it."""
    connection.pgconn.prepare(b"", query.encode())
    result = connection.pgconn.describe_prepared(b"")
    return [((result.fname(index) or b"").decode(), result.ftype(index)) for index in range(result.nfields)]


def _write_json(columns: Sequence[str], types: Sequence[int], rows: Iterator[Sequence[Any]]) -> None:
    keys = [json.dumps(column) for column in columns]
    writers = [make_json_writer(oid) for oid in types]
    before = "[\n"
    for row in rows:
        values = zip(keys, writers, row, strict=True)
        members = ", ".join(f"{key}: {write(value)}" for key, write, value in values)
        click.echo(f"{before}{{{members}}}", nl=False)
        before = ",\n"
    click.echo("[]" if before == "[\n" else "\n]")


def _write_csv(columns: Sequence[str], types: Sequence[int], rows: Iterator[Sequence[Any]]) -> None:
    writers = [make_csv_writer(oid) for oid in types]
    # On a terminal, a newline inside a text would look like a new row.
    show = escape_controls if sys.stdout.isatty() else str
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(map(show, columns))
    for row in rows:
        values = (write(value) for write, value in zip(writers, row, strict=True))
        lines.writerow([None if value is None else show(value) for value in values])


def _write_table(columns: Sequence[str], _types: Sequence[int], rows: Iterator[Sequence[Any]]) -> None:
    shown = list(itertools.islice(rows, TABLE_ROWS))
    print_table(columns, shown)
    if next(rows, None) is not None:
        click.echo(f"... and more: only the first {TABLE_ROWS} rows are shown; --csv and --json print all.")


_SHAPES = {
    "json": (load_elements, _write_json),
    "csv": (load_texts, _write_csv),
    None: (load_cells, _write_table),
}


def explain_error(error: psycopg.Error, query: str) -> QueryError:
    """Convert PostgreSQL's error into a QueryError that shows the offending line of the query."""
    message = error.diag.message_primary or str(error).strip()
    if error.diag.statement_position:
        position = int(error.diag.statement_position) - 1
        number = query.count("\n", 0, position) + 1
        line = query.splitlines()[number - 1] if query.strip() else ""
        column = position - (query.rfind("\n", 0, position) + 1)
        message += f"\n  line {number}: {line}\n  {' ' * len(f'line {number}: ')}{' ' * column}^"
    hint = error.diag.message_hint
    if "multiple commands" in message:
        message, hint = "a query must be a single statement", "Run the statements one by one."
    if "EMPTY_QUERY" in message:
        message = "the query is empty"
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        hint = explain_denial(error)
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedFunction):
        hint = _suggest_object(message) or hint
    return QueryError(message, hint=hint)


def _suggest_object(message: str) -> str | None:
    """Return how to query the view or function of mart with the name closest to the missing one, if any."""
    from tapewise.schema.tables.mart import read_mart  # noqa: PLC0415  # most queries find what they name

    missing = re.search(r'relation "([^"]+)"|function ([\w.]+)\(', message)
    kinds = {each.name: each.metadata.kind for each in read_mart()}
    name = (missing[1] or missing[2]).removeprefix("mart.") if missing else ""
    close = get_close_matches(name, kinds, n=1)
    if not close:
        return None
    call = f"mart.{close[0]}" + ("()" if kinds[close[0]] == "function" else "")
    return f"Did you mean {call}, which is a {kinds[close[0]]}? `tapewise views {close[0]}` describes it."
