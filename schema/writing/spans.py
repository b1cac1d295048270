"""Cells of days, months and years: what rollups have in common whose cells are kept for all three spans.

Months and years are sums of their days. They are kept so that a question about years reads few rows. A cell
has arrays: the first one has numbers of what is counted, ascending, and each other one has a sum for each of
them.
"""

from collections.abc import Mapping, Sequence
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.routes import number_cells

# The spans of cells, and what polars calls their lengths.
SPANS = {"day": "1d", "month": "1mo", "year": "1y"}


def place_sums(sums: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of days (`day`) once for each span: `span`, and the first day of it, `starts_on`."""
    return pl.concat(
        sums.with_columns(span=pl.lit(span), starts_on=pl.col("day").dt.truncate(length))
        for span, length in SPANS.items()
    )


def sum_spans(
    sums: pl.DataFrame,
    route: Sequence[str],
    element: pl.Expr,
    element_bits: int,
    combine: Sequence[pl.Expr],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the cells of all spans, and the sums, of sums of days (`day`).

    Cells have numbers (`cell`), a `span`, and a `day`, which is their first. A cell has the same values in
    `route`. `element` is a number of so many bits, of which a cell has one sum each, and `combine` adds up
    the columns of several sums. The sums are ordered by `cell` and `element`.
    """
    cell, cells = number_cells(sums, sums["day"], route)
    # Names of the route are known by its cell. To sort texts would take longest.
    rows = sums.with_columns(cell=cell, element=element).drop(*route, "day")
    parts, summed, first = [], [], 0
    for span, length in SPANS.items():
        # Months are added up from days, and years from months, which are far fewer.
        if span != "day":
            above, cells = number_cells(cells, cells["day"].dt.truncate(length), route)
            rows = rows.with_columns(cell=above.gather(rows["cell"]))
        cells = cells.sort("cell")
        key = pl.col("cell") * 2**element_bits + pl.col("element")
        # Sorted before and not after: groups of sorted numbers are found without a hash table.
        grouped = rows.lazy().with_columns(key=key).sort("key").group_by("key", maintain_order=True)
        rows = (
            grouped.agg(combine)
            .with_columns(cell=pl.col("key") // 2**element_bits, element=pl.col("key") % 2**element_bits)
            .drop("key")
            .collect()
        )
        parts.append(cells.with_columns(pl.col("cell") + first, span=pl.lit(span)))
        summed.append(rows.with_columns(pl.col("cell") + first))
        first += cells.height
    return pl.concat(parts), pl.concat(summed)


def drop_spans(
    connection: psycopg.Connection,
    table: str,
    arrays: Mapping[str, str],
    source_id: int,
    since: date | None,
) -> None:
    """Delete a source's cells from day `since` on (None: all), and take them out of its month and year.

    `arrays` names the arrays of `table` (a table of `core`), each with the type of its elements.
    """
    drop_and_remake(connection, table, _write_remake(table, arrays), source_id, since)


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


def _write_remake(table: str, arrays: Mapping[str, str]) -> str:
    """SQL that makes the month of a source again from its days, or its year from its months."""
    number, *sums = arrays
    return f"""
        INSERT INTO core.{table} (route_id, span, starts_on, {", ".join(arrays)})
        SELECT route_id, %(span)s, %(starts_on)s,
            {", ".join(f"array_agg({name} ORDER BY {number})" for name in arrays)}
        FROM (
            SELECT route_id, part.{number},
                {", ".join(f"sum(part.{name})::{arrays[name]} AS {name}" for name in sums)}
            FROM core.{table} AS cells JOIN core.routes ON routes.id = route_id,
                unnest({", ".join(f"cells.{name}" for name in arrays)}) AS part ({", ".join(arrays)})
            WHERE source_id = %(source_id)s AND span = %(below)s AND starts_on >= %(starts_on)s
            GROUP BY route_id, part.{number}
        ) AS entries
        GROUP BY route_id
    """  # noqa: S608 - our own table and columns
