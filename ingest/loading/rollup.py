"""The cells that a source's transfers add to its archive's rollup."""

import polars as pl

from tapewise.ingest.sources.sources import Source
from tapewise.schema.writing.cells import sum_cells


def sum_counted(transfers: pl.DataFrame, source: Source) -> pl.DataFrame | None:
    """Return the cells of `transfers` (rows of that table from `source`), or None if none are counted."""
    if not source.is_counted:
        if source.failures_as is None:
            return None
        transfers = transfers.filter("is_failed")
    return sum_cells(transfers, source.archive_timezone, has_failures="transfers" in source.failure_tables)
