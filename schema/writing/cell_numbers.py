"""Numbers of cells: rows and sums have a number in place of the names of their route and local day.

Numbers take a fraction of the space of names, and are grouped and sorted faster.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import polars as pl

from tapewise.schema.errors import DatabaseError
from tapewise.schema.writing.cells import DAY_MINUTES, MINUTE_US, find_local
from tapewise.schema.writing.groups import find_greatest, number_values
from tapewise.schema.writing.routes import ROUTE, ROUTE_OF_SOURCE

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
    return find_local(moments.dt.epoch("us") // MINUTE_US, timezone) // DAY_MINUTES


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
