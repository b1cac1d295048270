"""Run `tapewise` with one part of a load's work left out, to measure the cost of that part.

    python -m benchmarks.partial_ingest cells --home ... ingest ...

leaves out all rollups (`core.activity_cells`, `core.day_cells` and so on). `days` leaves out all but that of
ten minutes, `core.activity_cells`, and `requests` leaves out `core.requests`.
"""

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from unittest.mock import patch

import polars as pl
import psycopg

from tapewise.cli import main
from tapewise.ingest.loading.rollup import sum_counted_cells
from tapewise.ingest.sources.sources import Source
from tapewise.schema.writing.cells import add_cells


def sum_ten_minutes(table: str, rows: pl.DataFrame, source: Source) -> pl.DataFrame | None:
    """Return the sums of ten minutes of transfers, and None for other facts."""
    return sum_counted_cells(rows, source) if table == "transfers" else None


def add_ten_minutes(
    connection: psycopg.Connection, source: Source, sums: Iterable[pl.DataFrame]
) -> list[object]:
    """Add sums of ten minutes, and return no sums of requests."""
    add_cells(connection, source.archive_id, [*sums])
    return []


def do_nothing(*_: object) -> None:
    """Return what says that there is nothing to add."""


# Replacements for the functions that add up requests reported by several lines, and that add these sums.
WITHOUT_REQUEST_CELLS: dict[str, Callable[..., object]] = {
    "tapewise.ingest.requests.at_load.sum_changes": lambda *_: [],
    "tapewise.ingest.requests.pending.add_requests": do_nothing,
    "tapewise.ingest.requests.rebuild.add_requests": do_nothing,
}
# For each part, the functions that do its work in a load, and their replacements.
PARTS: dict[str, dict[str, Callable[..., object]]] = {
    "cells": {"tapewise.ingest.loading.rollup.sum_facts": do_nothing, **WITHOUT_REQUEST_CELLS},
    "days": {
        "tapewise.ingest.loading.rollup.sum_facts": sum_ten_minutes,
        "tapewise.ingest.loading.one_load.add_sums": add_ten_minutes,
        **WITHOUT_REQUEST_CELLS,
    },
    "requests": {
        "tapewise.ingest.requests.pending.rebuild_requests": do_nothing,
        "tapewise.ingest.requests.at_load.LinesAtLoad.add": do_nothing,
    },
}

if __name__ == "__main__":
    with ExitStack() as stack:
        for name, function in PARTS[sys.argv.pop(1)].items():
            stack.enter_context(patch(name, new=function))
        main()
