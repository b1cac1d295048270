"""Arrays of cells, sent in PostgreSQL's binary format.

The arrays of a column are sent as one array, of which each cell takes a slice. When each array was a text,
its numbers were written one by one in the program, and parsed one by one in the server.

In some tables, most elements are counted once. There, elements that are counted once come last, and the array
of counts ends before them, which saves up to a sixth of the table's space.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class PackedArray:
    """An array in PostgreSQL's binary format. The statement must say its type: `%s::integer[]`.

    It is sent from where it was written. To copy it to `bytes` takes four to twelve times as long as to write
    it.
    """

    data: memoryview


class _PackedArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: PackedArray) -> memoryview:
        return obj.data


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
    array = np.empty(head.nbytes + len(values) * entry.itemsize, np.uint8)
    array[: head.nbytes].view(">i4")[:] = head
    entries = array[head.nbytes :].view(entry)
    entries["size"] = entry["value"].itemsize
    moments = values.dt.epoch("us") - _EPOCH_US if kind == "timestamptz" else values
    entries["value"] = moments.to_numpy()
    return PackedArray(array.data)


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


def slice_counted(sums: pl.DataFrame, arrays: Mapping[str, str], counts: str) -> Slices:
    """Return the arrays as `slice_arrays` does, where the array `counts` has no 1.

    The elements of a cell that are counted once come after its others.
    """
    cell, count = sums["cell"].to_numpy(), sums[counts].to_numpy()
    order = np.argsort(cell * 2 + (count == 1), kind="stable")
    others, short = split_counted(arrays, counts)
    # Elements move only within their cell, so the cells stay where they are.
    ordered = sums.select(others.keys())[order].insert_column(0, sums["cell"])
    sliced = slice_arrays(ordered, others)
    counted = slice_arrays(sums.select("cell", counts).filter(pl.col(counts) != 1), short)
    return Slices(sliced.cells.join(counted.cells, on="cell", how="left"), [*sliced.packed, *counted.packed])


def split_counted(arrays: Mapping[str, str], counts: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the arrays that have a slice of `slice_counted` in common: all but `counts`, and this."""
    return {name: kind for name, kind in arrays.items() if name != counts}, {counts: arrays[counts]}


def gather_arrays(arrays: Collection[str], number: str, counts: str | None = None) -> str:
    """SQL that aggregates rows of elements to arrays, ordered by `number` (one or more columns).

    If `counts` names one of them, it has no 1 then, as in `slice_counted`.
    """
    if counts is None:
        return ", ".join(f"coalesce(array_agg({name} ORDER BY {number}), '{{}}')" for name in arrays)
    return ", ".join(
        f"coalesce(array_agg({name} ORDER BY {number}) FILTER (WHERE {name} <> 1), '{{}}')"
        if name == counts
        else f"coalesce(array_agg({name} ORDER BY {counts} = 1, {number}), '{{}}')"
        for name in arrays
    )


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
