"""The columns of `core.day_cells`, and the statement that adds to them."""

from collections.abc import Mapping, Sequence

from tapewise.schema.writing.cell_arrays import gather_arrays
from tapewise.schema.writing.routes import write_addition

# The sums over transfers, and their types.
SUMS = {
    "transfer_count": "bigint",
    "failed_count": "bigint",
    "saturated_count": "bigint",
    "size_bytes": "numeric",
    "duration_us": "bigint",
    "unknown_size_count": "bigint",
    "unknown_duration_count": "bigint",
    "ambiguous_count": "bigint",
    "day_only_count": "bigint",
    "coarse_count": "bigint",
    "below_clock_count": "bigint",
    "flagged_saturated_count": "bigint",
    "inconsistent_count": "bigint",
    "rated_size_bytes": "numeric",
    "rated_duration_us": "bigint",
}
# The arrays of a cell, each after the column that its elements are numbered by.
HOUR_ARRAYS = {
    "hours": "smallint",
    "hour_transfer_counts": "integer",
    "hour_failed_counts": "integer",
    "hour_size_bytes": "numeric",
    "hour_unknown_size_counts": "integer",
}
RATE_ARRAYS = {"rate_bins": "smallint", "rate_counts": "integer"}
TEN_MINUTE_ARRAYS = {"ten_minute_offsets": "smallint", "ten_minute_counts": "integer"}
REST_ARRAYS = {
    "rest_size_bins": "smallint",
    "rest_size_counts": "integer",
    "rest_saturated_counts": "integer",
    "rest_size_bytes": "numeric",
}
# The greatest of these is kept. Arrays are compared by their first elements, then by the next.
MAXIMA = {"largest": "bigint[]", "longest": "double precision[]"}


def merge_arrays(
    arrays: Mapping[str, str],
    totals: Mapping[str, str] | None = None,
    *,
    counts: Sequence[str] = (),
    number_count: int = 1,
    short_counts: str | None = None,
) -> str:
    """SQL that sets arrays (names and types) to those held and those added together.

    The first arrays, as many as `number_count`, number the elements. Elements with the same numbers are added
    up, or combined by what `totals` names. If `counts` names arrays, elements that add up to 0 in all of
    these are left out. `short_counts` names the array that has no 1 (`slice_counted`).
    """
    number, others = ", ".join([*arrays][:number_count]), [*arrays][number_count:]
    held, added = (
        ", ".join(f"unnest({row}.{name}) AS {name}" for name in arrays) for row in ("held", "excluded")
    )
    values = {name: f"coalesce({name}, 1)" if name == short_counts else name for name in others}
    how = totals or {}
    combined = ", ".join(
        f"{how.get(name, 'sum')}({value})::{arrays[name]} AS {name}" for name, value in values.items()
    )
    gathered = gather_arrays(arrays, number, short_counts)
    having = f" HAVING {' OR '.join(f'sum({values[name]}) <> 0' for name in counts)}" if counts else ""
    return (
        f"({', '.join(arrays)}) = (SELECT {gathered} FROM (SELECT {number}, {combined}"  # noqa: S608 - the names above
        f" FROM (SELECT {held} UNION ALL SELECT {added}) AS both_of_them GROUP BY {number}{having}) AS total)"
    )


# The columns whose values are sent as texts, and the arrays that are sent as slices.
COLUMNS = SUMS | MAXIMA
SLICES = (HOUR_ARRAYS, RATE_ARRAYS, TEN_MINUTE_ARRAYS, REST_ARRAYS)
ADD = write_addition("day_cells", {"day": "date"}, COLUMNS, SLICES) + ", ".join(
    [
        *(f"{name} = held.{name} + excluded.{name}" for name in SUMS),
        *(f"{name} = greatest(held.{name}, excluded.{name})" for name in MAXIMA),
        *map(merge_arrays, SLICES),
    ]
)
