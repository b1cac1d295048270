"""Arrays of cells arrive as they were sent."""

import polars as pl
import psycopg
import pytest

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import name_slices, slice_arrays, write_slices

ARRAYS = {
    "bins": "integer",
    "hours": "smallint",
    "counts": "bigint",
    "shortest_s": "double precision",
    "bytes": "numeric",
}
TYPES = {
    "cell": pl.Int64,
    "bins": pl.Int64,
    "hours": pl.Int16,
    "counts": pl.Int64,
    "shortest_s": pl.Float64,
    "bytes": pl.Int128,
}


@pytest.mark.parametrize("wide", [2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**100])
def test_cells_get_their_own_elements(database: psycopg.Connection, wide: int) -> None:
    rows = [
        (3, 7, 1, 2**63 - 1, 0.25, 5),
        (4, -1, -(2**15), -(2**63), 1e300, wide),
        (4, 2**31 - 1, 2**15 - 1, 0, -0.5, -7),
        (4, 0, 0, 1, 3.0, 2),
        (9, 8, 23, 4, 0.1, 0),
    ]
    sums = pl.DataFrame(rows, schema=TYPES, orient="row")
    assert find_arrays(database, sums, 5) == [
        (3, [7], [1], [2**63 - 1], [0.25], [5]),
        (
            4,
            [-1, 2**31 - 1, 0],
            [-(2**15), 2**15 - 1, 0],
            [-(2**63), 0, 1],
            [1e300, -0.5, 3.0],
            [wide, -7, 2],
        ),
        (5, [], [], [], [], []),
        (9, [8], [23], [4], [0.1], [0]),
    ]


def test_cells_without_elements_have_empty_arrays(database: psycopg.Connection) -> None:
    assert find_arrays(database, pl.DataFrame(schema=TYPES), 5) == [(5, [], [], [], [], [])]


def find_arrays(
    database: psycopg.Connection, sums: pl.DataFrame, empty_cell: int
) -> list[tuple[object, ...]]:
    """Return the cells and arrays that a statement finds, with a further cell that is not in `sums`."""
    sliced, packed = slice_arrays(sums, ARRAYS)
    names = name_slices(ARRAYS)
    cells = pl.concat([sliced.cast({"cell": pl.Int64}), pl.DataFrame({"cell": [empty_cell]})], how="diagonal")
    types = ", ".join(f"%s::{kind}[]" for kind in ("bigint", *names.values()))
    return database.execute(
        f"SELECT cell, {', '.join(write_slices(ARRAYS))}"
        f" FROM unnest({types}) AS given (cell, {', '.join(names)}) ORDER BY cell".encode(),
        [*packed, *write_literals(cells.select("cell", *names))],
    ).fetchall()
