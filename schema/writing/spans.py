"""Cells of days, months and years: what rollups have in common whose cells are kept for all three spans.

Months and years are sums of their days. They are kept so that a question about years reads few rows. A cell
has arrays: the first one has numbers of what is counted, ascending, and each other one has a sum for each of
them.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import polars as pl
import psycopg
from numpy.typing import NDArray

from tapewise.schema.writing.cell_arrays import gather_arrays
from tapewise.schema.writing.cell_numbers import number_cells
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE

# The spans of cells, and what polars calls their lengths.
SPANS = {"day": "1d", "month": "1mo", "year": "1y"}


class Spans(NamedTuple):
    """The numbers of cells of days, months and years.

    `names` has the route of each `cell`, its `span`, and its first day, `starts_on`. Days come first, by the
    numbers that they were given, then months, then years. `above` has the month of each day, and the year of
    each month, by their numbers.
    """

    names: pl.DataFrame
    above: pl.Series


def find_spans(days: pl.DataFrame) -> Spans:
    """Return the cells of days (as in `Placed`), and those of their months and years."""
    cells, parts, above, first = days, [days.with_columns(span=pl.lit("day"))], [], 0
    for span, length in [*SPANS.items()][1:]:
        number, found = number_cells(cells, cells["day"].dt.truncate(length), ROUTE_OF_SOURCE)
        first += cells.height
        above.append(number + first)
        cells = found.sort("cell")
        parts.append(cells.with_columns(pl.col("cell") + first, span=pl.lit(span)))
    return Spans(pl.concat(parts, how="diagonal").rename({"day": "starts_on"}), pl.concat(above))


def sum_spans(sums: pl.DataFrame, spans: Spans, combine: Sequence[pl.Expr]) -> pl.DataFrame:
    """Return the sums of all spans, of sums of days.

    `sums` has its `cell` and a number, `element`, of which a cell has one sum each. `combine` adds up the
    columns of several sums. The sums are ordered by `cell` and `element`.
    """
    summed = [sum_elements(sums, combine)]
    for _ in [*SPANS][1:]:
        # Months are added up from days, and years from months, which are far fewer.
        below = summed[-1]
        summed.append(sum_elements(below.with_columns(cell=spans.above.gather(below["cell"])), combine))
    return pl.concat(summed)


def sum_elements(sums: pl.DataFrame, combine: Sequence[pl.Expr]) -> pl.DataFrame:
    """Return the sums of each `cell` and `element`, ordered by these. `combine` adds up other columns."""
    if sums.is_empty():
        return sums.select("cell", "element", pl.exclude("cell", "element"))
    cell, element = (sums[name].cast(pl.Int64).to_numpy() for name in ("cell", "element"))
    values: NDArray[np.int64] | None = None
    first, last = int(element.min()), int(element.max())
    if (int(cell.max()) + 1) * (last - first + 1) >= 2**63:
        values, element = np.unique(element, return_inverse=True)
        first, last = 0, len(values) - 1
    width = last - first + 1
    key = cell * width + (element - first)
    rows = sums.drop("cell", "element")
    # Lines are mostly in the order of time, and so are the cells of their days, which is sorted fast.
    if (key[1:] <= key[:-1]).any():
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
        if (key[1:] == key[:-1]).any():
            # Groups of sorted numbers are found without a hash table.
            numbered = rows.with_columns(key=pl.Series(key).set_sorted())
            rows = numbered.group_by("key", maintain_order=True).agg(combine)
            key = rows["key"].to_numpy()
            rows = rows.drop("key")
    element = key % width + first if values is None else values[key % width]
    return rows.insert_column(0, pl.Series("cell", key // width)).insert_column(
        1, pl.Series("element", element)
    )


def drop_spans(
    connection: psycopg.Connection,
    table: str,
    arrays: Mapping[str, str],
    source_id: int,
    since: date | None,
    *,
    short_counts: str | None = None,
) -> None:
    """Delete a source's cells from day `since` on (None: all), and take them out of its month and year.

    `arrays` names the arrays of `table` (a table of `core`), each with the type of its elements, and
    `short_counts` the one that has no 1 (`slice_counted`).
    """
    drop_and_remake(connection, table, _write_remake(table, arrays, short_counts), source_id, since)


def drop_and_remake(
    connection: psycopg.Connection, table: str, remake: str, source_id: int, since: date | None
) -> None:
    """Delete a source's cells from day `since` on (None: all), and take them out of its month and year.

    `remake` is SQL that makes the month of a source again from its days, or its year from its months.
    """
    if since is None:
        connection.execute(
            f"DELETE FROM core.{table} USING core.routes"  # noqa: S608 - our own table
            " WHERE route_id = routes.id AND source_id = %s",
            [source_id],
        )
        return
    begins = {"day": since, "month": since.replace(day=1), "year": since.replace(month=1, day=1)}
    below = ""
    for span, starts_on in begins.items():
        values = {"source_id": source_id, "span": span, "starts_on": starts_on, "below": below}
        connection.execute(
            f"DELETE FROM core.{table} USING core.routes WHERE route_id = routes.id"  # noqa: S608 - our own table
            " AND source_id = %(source_id)s AND span = %(span)s AND starts_on >= %(starts_on)s",
            values,
        )
        if below:
            connection.execute(remake.encode(), values)
        below = span


def _write_remake(table: str, arrays: Mapping[str, str], short_counts: str | None) -> str:
    """SQL that makes the month of a source again from its days, or its year from its months."""
    number, *sums = arrays
    values = {name: f"coalesce(part.{name}, 1)" if name == short_counts else f"part.{name}" for name in sums}
    return f"""
        INSERT INTO core.{table} (route_id, span, starts_on, {", ".join(arrays)})
        SELECT route_id, %(span)s, %(starts_on)s,
            {gather_arrays(arrays, number, short_counts)}
        FROM (
            SELECT route_id, part.{number},
                {", ".join(f"sum({value})::{arrays[name]} AS {name}" for name, value in values.items())}
            FROM core.{table} AS cells JOIN core.routes ON routes.id = route_id,
                unnest({", ".join(f"cells.{name}" for name in arrays)}) AS part ({", ".join(arrays)})
            WHERE source_id = %(source_id)s AND span = %(below)s AND starts_on >= %(starts_on)s
            GROUP BY route_id, part.{number}
        ) AS entries
        GROUP BY route_id
    """  # noqa: S608 - our own table and columns
