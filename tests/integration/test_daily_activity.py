"""Compares mart.daily_activity (a count of the transfers) with mart.activity (a sum of the rollup)."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import psycopg
import pytest

from tapewise.schema.writing.cells import sum_cells
from tests.sql.cases import insert_rows, run_query

COLUMNS = (
    "starts_on, archive, kind, interface, direction, transfer_count, failed_count, failures_unknown_count,"
    " saturated_count, size_bytes, unknown_size_count, duration_s, unknown_duration_count"
)
COLUMN_TYPES = {"ended_at": pl.Datetime("us", "UTC"), "size_bytes": pl.Int64, "duration_s": pl.Float64}


def draw_transfers(dice: random.Random, since: datetime) -> list[dict[str, Any]]:
    """Make four days of transfers. Any field that a log may omit may be missing."""
    rows = []
    for _ in range(400):
        is_saturated = dice.random() < 0.1
        rows.append(
            {
                "interface": dice.choice(["ftp", "nft"]),
                "direction": dice.choice(["get", "put"]),
                "ended_at": since + timedelta(seconds=dice.randrange(4 * 86400)),
                "is_time_of_day_unknown": dice.random() < 0.1,
                "is_failed": dice.random() < 0.2,
                "is_size_saturated": is_saturated,
                "size_bytes": 2**31 - 1 if is_saturated else dice.choice([None, 0, dice.randrange(10**10)]),
                "duration_s": dice.choice([None, 0.0, 0.499, round(dice.uniform(0, 1000), 3)]),
            }
        )
    return rows


# Days of 25 and 23 hours, a day that begins twice, a day in a zone 5:45 ahead of UTC, and a day with a clock
# change at a minute past midnight.
@pytest.mark.parametrize(
    ("timezone", "since"),
    [
        ("America/Los_Angeles", datetime(1998, 10, 24, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2000, 3, 25, tzinfo=UTC)),
        ("America/Havana", datetime(1998, 10, 24, tzinfo=UTC)),
        ("Asia/Kathmandu", datetime(2000, 1, 15, tzinfo=UTC)),
        ("America/St_Johns", datetime(2000, 10, 28, tzinfo=UTC)),
    ],
)
def test_days_equal_those_of_the_rollup(database: psycopg.Connection, timezone: str, since: datetime) -> None:
    transfers = draw_transfers(random.Random(1), since)
    # FTP's log reports no failures.
    cells = [
        cell
        for interface in ("ftp", "nft")
        for cell in sum_cells(
            pl.DataFrame(transfers, schema_overrides=COLUMN_TYPES).filter(interface=interface),
            timezone,
            has_failures=interface == "nft",
        ).to_dicts()
    ]
    insert_rows(
        database,
        {
            "archives": [{"name": "site", "timezone": timezone}],
            "sources": [{"name": "ftp", "failure_tables": []}, {"name": "nft"}],
            "transfers": [
                row | {"ended_at": row["ended_at"].isoformat(), "source": row["interface"]}
                for row in transfers
            ],
            "activity_cells": [row | {"cell_at": row["cell_at"].isoformat()} for row in cells],
        },
    )
    rows = run_query(database, f"SELECT {COLUMNS} FROM mart.daily_activity() ORDER BY 1, 4, 5")
    assert len(rows) >= 16
    assert sum(row["transfer_count"] for row in rows) == len(transfers)
    assert rows == run_query(
        database, f"SELECT {COLUMNS} FROM mart.activity(period => 'day') ORDER BY 1, 4, 5"
    )
