"""Rows of transfers wait until there are enough to be summed together, and none is lost."""

from typing import Any
from unittest.mock import Mock

import polars as pl
import pytest

from tapewise.ingest.loading import rollup
from tapewise.schema.writing.day_sums import SUMMED
from tapewise.schema.writing.request_rollups import TRANSFER


def test_transfers_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[tuple[str, list[int]]] = []

    def sum_facts(table: str, rows: pl.DataFrame, source: Any) -> str | None:
        summed.append((table, rows["size_bytes"].to_list()))
        return None if table == "opens" else table

    monkeypatch.setattr(rollup, "sum_facts", sum_facts)
    monkeypatch.setattr(rollup, "ENOUGH_ROWS", 4)
    sums = rollup.FactSums(Mock())

    def add(table: str, *sizes: int) -> None:
        columns = ("size_bytes",) if table != "transfers" else (*(TRANSFER | SUMMED), "unread")
        sums.add(table, pl.DataFrame(dict.fromkeys(columns, sizes)))

    add("transfers", 1, 2, 3)
    add("stages", 9)
    assert summed == [("stages", [9])]
    add("transfers", 4, 5)
    assert summed[1:] == [("transfers", [1, 2, 3, 4, 5])]
    add("opens", 8)
    add("transfers", 6)
    assert len(summed) == 3
    sums.settle()
    sums.settle()
    assert summed[2:] == [("opens", [8]), ("transfers", [6])]
    assert sums.found == ["stages", "transfers", "transfers"]
