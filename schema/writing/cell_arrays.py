"""Arrays of cells, sent in PostgreSQL's binary format.

The arrays of a column are sent as one array, of which each cell takes a slice. When each array was a text,
its numbers were written one by one in the program, and parsed one by one in the server.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from tapewise.schema.writing.array_literals import write_array

# For each type, PostgreSQL's number of it, and how its values are written.
_TYPES = {
    "boolean": (16, "?"),
    "smallint": (21, ">i2"),
    "integer": (23, ">i4"),
    "bigint": (20, ">i8"),
    "double precision": (701, ">f8"),
    "timestamptz": (1184, ">i8"),
}
# 2000-01-01, from which PostgreSQL counts microseconds.
_EPOCH_US = 946_684_800_000_000


class PackedArray(bytes):
    """An array in PostgreSQL's binary format. The statement must say its type: `%s::integer[]`."""


class _PackedArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedArray) -> bytes:
        return obj


psycopg.adapters.register_dumper(PackedArray, _PackedArrayDumper)


class Slices(NamedTuple):
    """Arrays of cells for a statement.

    `cells` has the first and the last place of the slice of each `cell`, and arrays that need texts. `packed`
    has what slices are taken of.
    """

    cells: pl.DataFrame
    packed: list[PackedArray]


def pack_array(values: pl.Series, kind: str) -> PackedArray:
    """Return `values`, which has no nulls, as an array of the type `kind`.

    Moments (`timestamptz`) are Datetime columns in UTC.
    """
    number, dtype = _TYPES[kind]
    head = np.array([1, 0, number, len(values), 1] if len(values) else [0, 0, number], ">i4")
    entry = np.dtype([("size", ">i4"), ("value", dtype)])
    # Written where they are sent from: a copy takes as long as all else here.
    array = np.empty(head.nbytes + len(values) * entry.itemsize, np.uint8)
    array[: head.nbytes].view(">i4")[:] = head
    entries = array[head.nbytes :].view(entry)
    entries["size"] = entry["value"].itemsize
    moments = values.dt.epoch("us") - _EPOCH_US if kind == "timestamptz" else values
    entries["value"] = moments.to_numpy()
    return PackedArray(array)


def slice_arrays(sums: pl.DataFrame, arrays: Mapping[str, str]) -> Slices:
    """Return the arrays of the cells of `sums`, which is ordered by `cell` and has a column for each array.

    `arrays` has the types of their elements, as in `name_slices` and `write_slices`.
    """
    cell = sums["cell"].to_numpy()
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    first_name, last_name = _name_places(arrays)
    cells = pl.DataFrame(
        {
            "cell": cell[begins],
            first_name: begins + 1,
            last_name: np.append(begins[1:], len(cell))[: len(begins)],
        }
    )
    packed = []
    for name, kind in arrays.items():
        values = sums[name]
        if kind == "numeric":
            # Only texts hold sums of more than 64 bits, which are rare.
            narrow = values.cast(pl.Int64, strict=False)
            texts = pl.DataFrame(schema={"cell": pl.Int64, name: pl.String})
            if narrow.null_count():
                wide = sums.filter(pl.col("cell").is_in(sums["cell"].filter(narrow.is_null()).implode()))
                texts = wide.group_by("cell", maintain_order=True).agg(write_array(pl.col(name)))
            cells = cells.join(texts, on="cell", how="left")
            values = narrow.fill_null(0)
        packed.append(pack_array(values, "bigint" if kind == "numeric" else kind))
    return Slices(cells, packed)


def name_slices(arrays: Mapping[str, str]) -> dict[str, str]:
    """The columns of the frame of `slice_arrays` besides `cell`, with their types."""
    texts = {name: "text" for name, kind in arrays.items() if kind == "numeric"}
    return dict.fromkeys(_name_places(arrays), "integer") | texts


def write_slices(arrays: Mapping[str, str]) -> list[str]:
    """SQL for the arrays of a row `given` with the columns of `name_slices`. Its parameters are `packed`.

    A cell without a slice has empty arrays.
    """
    first, last = _name_places(arrays)
    part = f"[coalesce(given.{first}, 1):coalesce(given.{last}, 0)]"
    return [
        f"coalesce(given.{name}::numeric[], (%s::bigint[]){part}::numeric[])"
        if kind == "numeric"
        else f"(%s::{kind}[]){part}"
        for name, kind in arrays.items()
    ]


def _name_places(arrays: Mapping[str, str]) -> tuple[str, str]:
    name = next(iter(arrays))
    return f"first_{name}", f"last_{name}"
