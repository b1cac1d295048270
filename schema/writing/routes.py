"""Routes (`core.routes`), which the rollups by local day have in common, and the writing of their cells."""

from collections.abc import Collection, Mapping, Sequence
from enum import Enum

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import PackedArray, name_slices, write_slices

# What identifies a route, besides its source, and the types. Without a client, it is of all clients.
ROUTE_TYPES = {"interface": "text", "direction": "text", "class_of_service": "text", "client_id": "integer"}
ROUTE = tuple(ROUTE_TYPES)
ROUTE_OF_SOURCE = ("source_id", *ROUTE)
# Compares a row `given` with a route. A number of a client is positive, and with IS NOT DISTINCT FROM, the
# many routes of clients would all be compared with each other.
IS_ROUTE = (
    "routes.interface = given.interface AND routes.direction IS NOT DISTINCT FROM given.direction"
    " AND routes.class_of_service IS NOT DISTINCT FROM given.class_of_service"
    " AND coalesce(routes.client_id, 0) = coalesce(given.client_id, 0)"
)
_NAMES = ", ".join(ROUTE)
_ARRAYS = ", ".join(f"%s::{kind}[]" for kind in ROUTE_TYPES.values())


class Clients(Enum):
    """For which clients rows are counted: for all of them at once, each of them, or both."""

    ALL = "all at once"
    EACH = "each of them"
    ALL_AND_EACH = "all at once, and each of them"


def split_clients(rows: pl.DataFrame, clients: Clients) -> pl.DataFrame:
    """Return `rows` with the `client_id` of their routes: null for those of all clients.

    A row is there once for all clients, or once for its client (`host_id`), if that is known, or both.
    """
    parts = []
    if clients is not Clients.EACH:
        parts.append(rows.with_columns(client_id=pl.lit(None, pl.Int32)))
    if clients is not Clients.ALL:
        parts.append(rows.filter(pl.col("host_id").is_not_null()).with_columns(client_id="host_id"))
    return pl.concat(parts)


def add_routes(connection: psycopg.Connection, routes: pl.DataFrame) -> None:
    """Add those of `routes` (`source_id` and the columns of ROUTE) that there are not yet."""
    new = routes.select("source_id", *ROUTE).unique()
    connection.execute(
        f"INSERT INTO core.routes (source_id, {_NAMES}) SELECT given.*"  # noqa: S608 - the names above
        f" FROM unnest(%s::integer[], {_ARRAYS}) AS given (source_id, {_NAMES})"
        # A conflict would use up a number for each known route, in each load.
        f" WHERE NOT EXISTS (SELECT FROM core.routes WHERE routes.source_id = given.source_id AND {IS_ROUTE})"
        f" ORDER BY given.source_id, {', '.join(f'given.{name}' for name in ROUTE)}",
        write_literals(new),
    )


def write_addition(
    table: str,
    key: Mapping[str, str],
    columns: Mapping[str, str],
    slices: Sequence[Mapping[str, str]] = (),
) -> str:
    """SQL that adds cells of routes to a table of `core`, up to what is done with those that are there.

    The cell that is there is called `held`. `key` names what identifies a cell besides its route, and
    `columns` its other columns, each with its type. `slices` has the arrays that are sent as in
    `cell_arrays`. The parameters are the packed arrays of all slices, and then arrays: for `source_id` and
    ROUTE, for the key, of texts for each column, and for the columns of `name_slices`.
    """
    sliced = {name: kind for arrays in slices for name, kind in name_slices(arrays).items()}
    arrays = ["%s::integer[]", _ARRAYS, *(f"%s::{kind}[]" for kind in key.values())]
    arrays += ["%s::text[]"] * len(columns) + [f"%s::{kind}[]" for kind in sliced.values()]
    names = (*key, *columns, *(name for arrays in slices for name in arrays))
    values = [
        *(f"given.{name}" for name in key),
        *(f"given.{name}::{kind}" for name, kind in columns.items()),
        *(value for arrays in slices for value in write_slices(arrays)),
    ]
    return (
        f"INSERT INTO core.{table} AS held (route_id, {', '.join(names)})"  # noqa: S608 - our own names
        f" SELECT routes.id, {', '.join(values)}"
        f" FROM unnest({', '.join(arrays)}) AS given"
        f" (source_id, {', '.join((*ROUTE, *key, *columns, *sliced))})"
        f" JOIN core.routes ON routes.source_id = given.source_id AND {IS_ROUTE}"
        f" ON CONFLICT (route_id, {', '.join(key)}) DO UPDATE SET "
    )


def write_cells(
    connection: psycopg.Connection,
    cells: pl.DataFrame,
    add: str,
    delete_empty: str,
    first_days: str,
    packed: Sequence[PackedArray] = (),
) -> list[int]:
    """Add cells with their routes, in the caller's transaction, and delete cells that are then empty.

    `add` is a statement of `write_addition`, and `packed` has the arrays of its slices. `delete_empty`
    deletes empty cells of an array of sources and of an array of days, which are in the column `first_days`.
    Returns the sources whose routes may have no cell any more.
    """
    if cells.is_empty():
        return []
    add_routes(connection, cells)
    connection.execute(add, [*packed, *write_literals(cells)])
    # What is subtracted may come before what is added, or after.
    source_ids = cells["source_id"].unique().to_list()
    is_any_empty = connection.execute(
        delete_empty, [source_ids, cells[first_days].unique().to_list()]
    ).rowcount
    return source_ids if is_any_empty else []


def drop_unused_routes(connection: psycopg.Connection, source_ids: Collection[int]) -> None:
    """Delete the routes of these sources of which there is no cell left."""
    connection.execute(
        "DELETE FROM core.routes WHERE source_id = ANY(%s)"
        " AND NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.request_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.hit_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.user_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.open_cells WHERE route_id = routes.id)"
        " AND NOT EXISTS (SELECT FROM core.stage_cells WHERE route_id = routes.id)",
        [[*source_ids]],
    )
