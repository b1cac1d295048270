"""The columns of `core.request_cells`, and the statements that add to them and make spans again."""

from tapewise.schema.writing.cell_arrays import split_counted
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.routes import write_addition

COUNTS = ("request_count", "below_clock_count", "negative_count")
# The quantities of which a cell has histograms, by the columns with their values.
HISTOGRAMS = {"size": "size_bytes", "duration": "duration_s", "wait": "waited_s"}
ARRAYS = {name: {f"{name}_bins": "smallint", f"{name}_counts": "integer"} for name in HISTOGRAMS}
COLUMNS = dict.fromkeys(COUNTS, "bigint") | {
    column: f"{kind}[]" for arrays in ARRAYS.values() for column, kind in arrays.items()
}
# The arrays of counts have no 1 (`slice_counted`).
SLICES = [part for name, arrays in ARRAYS.items() for part in split_counted(arrays, f"{name}_counts")]
ADD = write_addition(
    "request_cells",
    {"span": "text", "starts_on": "date"},
    dict.fromkeys(COUNTS, "bigint"),
    SLICES,
) + ", ".join(
    [
        *(f"{name} = held.{name} + excluded.{name}" for name in COUNTS),
        *(
            merge_arrays(arrays, counts=[f"{name}_counts"], short_counts=f"{name}_counts")
            for name, arrays in ARRAYS.items()
        ),
    ]
)
# A request may leave a cell only in its histograms, so all columns are looked at.
DELETE_EMPTY = (
    "DELETE FROM core.request_cells USING core.routes WHERE route_id = routes.id"  # noqa: S608 - our own names
    " AND source_id = ANY(%s) AND starts_on = ANY(%s) AND "
    + " AND ".join(f"{name} = {'0' if kind == 'bigint' else repr('{}')}" for name, kind in COLUMNS.items())
)
# Makes the months of a source again from their days, or its years from their months.
REMAKE = """
    INSERT INTO core.request_cells (
        route_id, span, starts_on, request_count, below_clock_count, negative_count,
        size_bins, size_counts, duration_bins, duration_counts, wait_bins, wait_counts
    )
    WITH cells AS (
        SELECT request_cells.* FROM core.request_cells JOIN core.routes ON routes.id = route_id
        WHERE source_id = %(source_id)s AND span = %(below)s AND starts_on >= %(starts_on)s
    ), parts AS (
        SELECT route_id, request_count, below_clock_count, negative_count,
            NULL AS quantity, NULL::smallint AS bin, NULL::integer AS n
        FROM cells
        UNION ALL SELECT route_id, 0, 0, 0, 'size', unnest(size_bins), unnest(size_counts) FROM cells
        UNION ALL SELECT route_id, 0, 0, 0, 'duration', unnest(duration_bins), unnest(duration_counts)
        FROM cells
        UNION ALL SELECT route_id, 0, 0, 0, 'wait', unnest(wait_bins), unnest(wait_counts) FROM cells
    ), sums AS (
        SELECT route_id, sum(request_count) AS request_count, sum(below_clock_count) AS below_clock_count,
            sum(negative_count) AS negative_count, quantity, bin, sum(coalesce(n, 1))::integer AS n
        FROM parts GROUP BY route_id, quantity, bin
    )
    SELECT route_id, %(span)s, %(starts_on)s, sum(request_count), sum(below_clock_count), sum(negative_count),
        coalesce(array_agg(bin ORDER BY n = 1, bin) FILTER (WHERE quantity = 'size'), '{}'),
        coalesce(array_agg(n ORDER BY bin) FILTER (WHERE quantity = 'size' AND n <> 1), '{}'),
        coalesce(array_agg(bin ORDER BY n = 1, bin) FILTER (WHERE quantity = 'duration'), '{}'),
        coalesce(array_agg(n ORDER BY bin) FILTER (WHERE quantity = 'duration' AND n <> 1), '{}'),
        coalesce(array_agg(bin ORDER BY n = 1, bin) FILTER (WHERE quantity = 'wait'), '{}'),
        coalesce(array_agg(n ORDER BY bin) FILTER (WHERE quantity = 'wait' AND n <> 1), '{}')
    FROM sums GROUP BY route_id
"""
