"""The columns of `core.day_cells`, and the statement that adds to them."""

from collections.abc import Mapping

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
    "hour_transfer_counts": "bigint",
    "hour_failed_counts": "bigint",
    "hour_size_bytes": "numeric",
    "hour_unknown_size_counts": "bigint",
}
RATE_ARRAYS = {"rate_bins": "integer", "rate_counts": "bigint"}
ARRAYS = HOUR_ARRAYS | RATE_ARRAYS


def merge(arrays: Mapping[str, str]) -> str:
    """SQL that sets arrays to the sums of those held and those added; elements with nothing are left out.

    `arrays` has the names and types. The first array numbers the elements, and the second one counts.
    """
    names = list(arrays)
    number, count = names[:2]
    held, added = (
        ", ".join(f"unnest({row}.{name}) AS {name}" for name in names) for row in ("held", "excluded")
    )
    totals = ", ".join(f"sum({name})::{arrays[name]} AS {name}" for name in names[1:])
    gathered = ", ".join(f"coalesce(array_agg({name} ORDER BY {number}), '{{}}')" for name in names)
    return (
        f"({', '.join(names)}) = (SELECT {gathered} FROM (SELECT {number}, {totals}"  # noqa: S608 - the names above
        f" FROM (SELECT {held} UNION ALL SELECT {added}) AS both_of_them"
        f" GROUP BY {number} HAVING sum({count}) <> 0) AS total)"
    )


_COLUMNS = SUMS | {name: f"{kind}[]" for name, kind in ARRAYS.items()}
# The parameters: three arrays for routes, the days, an array of texts for each column, and the source.
ADD = (
    f"INSERT INTO core.day_cells AS held (route_id, day, {', '.join(_COLUMNS)})"  # noqa: S608 - as above
    " SELECT routes.id, given.day, "
    + ", ".join(f"given.{name}::{kind}" for name, kind in _COLUMNS.items())
    + f" FROM unnest(%s::text[], %s::text[], %s::text[], %s::date[]{', %s::text[]' * len(_COLUMNS)})"
    f" AS given (interface, direction, class_of_service, day, {', '.join(_COLUMNS)})"
    " JOIN core.routes ON source_id = %s AND routes.interface = given.interface"
    " AND routes.direction = given.direction"
    " AND routes.class_of_service IS NOT DISTINCT FROM given.class_of_service"
    " ON CONFLICT (route_id, day) DO UPDATE SET "
    + ", ".join(
        [
            *(f"{name} = held.{name} + excluded.{name}" for name in SUMS),
            merge(HOUR_ARRAYS),
            merge(RATE_ARRAYS),
        ]
    )
)
