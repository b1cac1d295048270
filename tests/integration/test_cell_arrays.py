"""Arrays of cells arrive as they were sent."""

from collections.abc import Mapping, Sequence

import polars as pl
import psycopg
import pytest

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import (
    Slices,
    name_slices,
    slice_arrays,
    slice_counted,
    split_counted,
    write_slices,
)

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


def test_counts_of_one_are_left_out(database: psycopg.Connection) -> None:
    rows = [
        (3, 5, 1, 1, 0.5, 10),
        (3, 6, 2, 4, 1.5, 20),
        (3, 7, 3, 1, 2.5, 2**70),
        # Before something else is added, what is subtracted may be counted less than once.
        (3, 8, 4, -1, 3.5, 40),
        (3, 9, 5, 0, 4.5, 50),
        (4, 1, 6, 1, 5.5, 60),
        (6, 1, 7, 3, 6.5, 70),
    ]
    sums = pl.DataFrame(rows, schema=TYPES, orient="row")
    others, counts = split_counted(ARRAYS, "counts")
    assert (others, counts) == (
        {name: kind for name, kind in ARRAYS.items() if name != "counts"},
        {"counts": "bigint"},
    )
    found = find_slices(database, slice_counted(sums, ARRAYS, "counts"), [others, counts], 5)
    assert found == [
        (
            *(3, [6, 8, 9, 5, 7], [2, 4, 5, 1, 3], [1.5, 3.5, 4.5, 0.5, 2.5], [20, 40, 50, 10, 2**70]),
            [4, -1, 0],
        ),
        (4, [1], [6], [5.5], [60], []),
        (5, [], [], [], [], []),
        (6, [1], [7], [6.5], [70], [3]),
    ]
    none = slice_counted(pl.DataFrame(schema=TYPES), ARRAYS, "counts")
    assert find_slices(database, none, [others, counts], 5) == [(5, [], [], [], [], [])]


def find_arrays(
    database: psycopg.Connection, sums: pl.DataFrame, empty_cell: int
) -> list[tuple[object, ...]]:
    """Return the cells and arrays that a statement finds, with a further cell that is not in `sums`."""
    return find_slices(database, slice_arrays(sums, ARRAYS), [ARRAYS], empty_cell)


def find_slices(
    database: psycopg.Connection, slices: Slices, parts: Sequence[Mapping[str, str]], empty_cell: int
) -> list[tuple[object, ...]]:
    """Return what `find_arrays` does, of slices of each of `parts`."""
    names = {name: kind for arrays in parts for name, kind in name_slices(arrays).items()}
    sliced = slices.cells.cast({"cell": pl.Int64})
    cells = pl.concat([sliced, pl.DataFrame({"cell": [empty_cell]})], how="diagonal")
    types = ", ".join(f"%s::{kind}[]" for kind in ("bigint", *names.values()))
    values = ", ".join(value for arrays in parts for value in write_slices(arrays))
    return database.execute(
        f"SELECT cell, {values} FROM unnest({types}) AS given (cell, {', '.join(names)})"
        " ORDER BY cell".encode(),
        [*slices.packed, *write_literals(cells.select("cell", *names))],
    ).fetchall()
