"""What `formats check` says of a log's lines, and what mart.coverage says once they are loaded."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from xopen import xopen

from ingest.feeds import judge_views
from ingest.formats import find_format
from ingest.formats.base import LineSettings
from ingest.formats.record_columns import RECORD_SCHEMA
from schema.database import Role, Warehouse

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"
ANY_TIME = LineSettings("UTC", 0.01, datetime(1985, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(("name", "log"), [("hsi", "hsi.log"), ("pftp", "pftp.log.gz")])
def test_lines_and_rows_tell_the_same(warehouse: Warehouse, load: Callable, name: str, log: str):
    load(EXAMPLES / log, name)
    with xopen(EXAMPLES / log, errors="replace") as file:
        lines = pl.Series(file.read().splitlines())
    facts = find_format(name).parse(lines, ANY_TIME).drop_nulls("table")
    found = {
        table: {column for column in RECORD_SCHEMA if rows[column].count()}
        for (table,), rows in facts.partition_by("table", as_dict=True).items()
    }
    with closing(warehouse.connect(Role.READER)) as connection:
        rows = connection.execute(
            'SELECT view_name, state, why FROM mart.coverage ORDER BY view_name COLLATE "C"'
        ).fetchall()
    assert rows == [(each.view, each.state, each.why) for each in judge_views(found)]
