"""Routes (`core.routes`), local days and histograms, which the rollups by local day have in common."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
import psycopg

from tapewise.schema.errors import DatabaseError
from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import PackedArray, name_slices, write_slices
from tapewise.schema.writing.cells import DAY_MINUTES, MINUTE_US, find_local
from tapewise.schema.writing.groups import count_numbers, find_greatest, number_values

# A bin of a histogram is the exponent of a float and the first six binary digits behind it: 64 bins for each
# factor of two. The middle of a bin is within 1/128 of each number in it. They are counted from 2^-256, so
# that 15 bits are enough. `mart.histogram_bin` and `mart.histogram_value` compute the same.
BIN_SHIFT, BIN_BITS = 46, 15
_LOWEST_BITS = (1023 - 256) * 64
# Bins of time are short below so many seconds. From the longest time on, they could not be numbered.
SHORT_S, LONGEST_S = 10.0, 1e9
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
_TEXTS = pl.Categorical(pl.Categories("tapewise routes"))
_LARGEST = 2**63 - 1
# To compare all texts with so many of them is faster than to number them by a hash table.
FEW_TEXTS = 8
# So many sums are added together. Larger arrays would be memory that is new to the process, which the system
# clears first: with ten times as many, this took as long as all else.
ENOUGH_SUMS = 2_000_000
# So many days after the first one, a day is in an archive's logs by mistake (359 years).
MOST_DAYS = 2**17


# Names of cells, and frames.
_PartT = TypeVar("_PartT", bound=tuple[pl.DataFrame, ...])


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


def number_routes(rows: pl.DataFrame, columns: Sequence[str] = ROUTE) -> tuple[pl.Series, pl.DataFrame]:
    """Return the number of each row's route, from 0, and the routes by their numbers (`route`).

    Rows with the same values in `columns` have the same route. A number in these columns is not negative.
    """
    packed = pack_columns(rows, columns, pl.Series([0], dtype=pl.Int64).new_from_index(0, rows.height))
    route, firsts = number_values(packed)
    return route, rows[[*columns]][firsts].hstack(pl.DataFrame({"route": route})[firsts])


def number_cells(
    rows: pl.DataFrame, days: pl.Series, columns: Sequence[str] = ROUTE
) -> tuple[pl.Series, pl.DataFrame]:
    """Return the number of each row's values in `columns` and day, from 0, and these by this `cell`.

    `days` are dates, or days since 1970.
    """
    days = days.cast(pl.Int64)
    cell, firsts = number_values(pack_columns(rows, columns, days - find_first_day(days)))
    # Frames are made of columns, because each `select` or `with_columns` takes some 70 us, which is
    # much where rows are few.
    of_cells = pl.DataFrame({"cell": cell, "day": days.cast(pl.Int32).cast(pl.Date)})[firsts]
    return cell, rows[[*columns]][firsts].hstack(of_cells)


def count_bins(cell: pl.Series, bins: pl.Series) -> pl.DataFrame:
    """Return how many rows there are (`bin_count`) of each `cell` and `bin`. A `bin` is not negative."""
    first = bins.min()
    first = first if isinstance(first, int) else 0
    # Bins are near each other, so that there are few numbers of a cell and a bin.
    width = find_greatest(bins) - first + 1
    numbers, counts = count_numbers(cell * width + (bins - first))
    return pl.DataFrame({"cell": numbers // width, "bin": numbers % width + first, "bin_count": counts})


class Placed(NamedTuple):
    """Rows with the number of their route and local day (`cell`), and `names`: routes and days by `cell`.

    They are found once for all sums of the same rows, because this takes as long as a sum. The names are in
    the order of cells, which are numbered from 0. Rows also have the number of their `run` in `runs`, which
    has minutes since 1970 and the local time of each (`minute`, `local`).
    """

    rows: pl.DataFrame
    names: pl.DataFrame
    runs: pl.DataFrame

    def filter(self, is_kept: pl.Expr) -> "Placed":
        """Return these without the rows that are not kept."""
        return Placed(self.rows.filter(is_kept), self.names, self.runs)

    def gather_days(self, cell: pl.Series) -> pl.Series:
        """Return the local day of each row of these cells, counted since 1970."""
        return self.names["day"].cast(pl.Int32).cast(pl.Int64).gather(cell)


def place_rows(rows: pl.DataFrame, timezone: str) -> Placed:
    """Return rows of transfers or requests, which have `source_id` and the columns of ROUTE, with `cell`."""
    run, runs = find_runs(rows["ended_at"], timezone)
    days = (runs["local"] // DAY_MINUTES).gather(run)
    cell, names = number_cells(rows, days, ROUTE_OF_SOURCE)
    return Placed(rows.hstack([cell.alias("cell"), run.alias("run")]), names.sort("cell"), runs)


def batch_parts(parts: Iterable[_PartT]) -> Iterator[list[_PartT]]:
    """Return the parts (as in `join_parts`) in order, so many at a time that they have `ENOUGH_SUMS`."""
    batch: list[_PartT] = []
    count = 0
    for part in parts:
        batch.append(part)
        count += sum(frame.height for frame in part)
        if count >= ENOUGH_SUMS:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def join_parts(parts: Sequence[tuple[pl.DataFrame, ...]]) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Return common names of the cells of all parts, and each frame of all parts in one.

    Each part has its names (as in `Placed`) and then as many frames, whose `cell` is numbered by them. Sums
    are kept by numbers until the end, because names take many times their space.
    """
    every = pl.concat([names for names, *_ in parts])
    cell, names = number_cells(every, every["day"], ROUTE_OF_SOURCE)
    renumbered: list[list[pl.DataFrame]] = []
    first = 0
    for of_part, *frames in parts:
        cells = cell.slice(first, of_part.height)
        renumbered.append([frame.with_columns(cell=cells.gather(frame["cell"])) for frame in frames])
        first += of_part.height
    return names.sort("cell"), [pl.concat(frames) for frames in zip(*renumbered, strict=True)]


def pack_columns(rows: pl.DataFrame, columns: Sequence[str], packed: pl.Series) -> pl.Series:
    """Return one number for each row, which is different where `packed` or a value in `columns` is."""
    for name in columns:
        value = rows[name]
        # Most logs have one source and one interface. To compare costs a fraction of numbering texts.
        nulls = value.null_count()
        if nulls == rows.height or (not nulls and (value == value[0]).all()):
            continue
        code = _number_texts(value) if value.dtype == pl.String else value.cast(pl.Int64) + 1
        code = code.fill_null(0) if nulls else code
        # Numbers of sources, clients and days may be large, but there are no more different ones than rows.
        if (1 + find_greatest(packed)) * (1 + find_greatest(code)) > _LARGEST:
            packed, code = number_values(packed)[0], number_values(code)[0]
        packed = packed * (1 + find_greatest(code)) + code
    return packed


def _number_texts(texts: pl.Series) -> pl.Series:
    """Return a number from 1 on for each text, or 0 or null for null."""
    numbers = pl.zeros(len(texts), pl.Int64, eager=True)
    is_left = texts.is_not_null()
    for number in range(1, FEW_TEXTS + 1):
        first = is_left.arg_max() if is_left.any() else None
        if first is None:
            return numbers
        is_same = (texts == texts[first]).fill_null(value=False)
        numbers = numbers + is_same.cast(pl.Int64) * number
        is_left = is_left & ~is_same
    return texts.cast(_TEXTS).to_physical().cast(pl.Int64) + 1


def find_days(moments: pl.Series, timezone: str) -> pl.Series:
    """Return the local day of each moment, counted since 1970."""
    run, runs = find_runs(moments, timezone)
    return (runs["local"] // DAY_MINUTES).gather(run)


def find_runs(moments: pl.Series, timezone: str) -> tuple[pl.Series, pl.DataFrame]:
    """Return the number of the run of each moment, and each run's `minute` and `local` time.

    Both are in minutes since 1970, as in `find_local`.

    Clocks differ from UTC by whole minutes. Moments of one minute are mostly next to each other, so each run
    of a minute is converted once.
    """
    minutes = moments.dt.epoch("us") // MINUTE_US
    minute = minutes.rle().struct.field("value")
    return minutes.rle_id(), pl.DataFrame({"minute": minute, "local": find_local(minute, timezone)})


def find_first_day(days: pl.Series) -> int:
    """Return the first of `days`, from which they are counted in keys; 0 if there are none."""
    # A trace that is simulated may begin before 1970.
    first_day, last_day = days.min(), days.max()
    if not isinstance(first_day, int) or not isinstance(last_day, int):
        return 0
    if last_day - first_day >= MOST_DAYS:
        raise DatabaseError("transfers of one file are more than 359 years apart")
    return first_day


def find_bins(values: pl.Series) -> pl.Series:
    """Return the bin of each number. The first bin also has all smaller ones, the last all larger ones."""
    bits = values.to_numpy().view(np.int64)
    return pl.Series(np.clip((bits >> BIN_SHIFT) - _LOWEST_BITS, 0, 2**BIN_BITS - 1))


def find_time_bins(values: pl.Series) -> pl.Series:
    """Return the bin of each number of seconds, null for null: bins of 50 ms below 10 s, then of 0.5 s.

    Negative numbers are in bin 0, and the last bin has all numbers from `LONGEST_S` on. `mart.time_bin` and
    `mart.time_bin_edge` compute the same.
    """
    short = (values * 20).floor().clip(lower_bound=0)
    long = 180 + (values.clip(upper_bound=LONGEST_S) * 2).floor()
    return short.zip_with(values < SHORT_S, long).cast(pl.Int64)


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
