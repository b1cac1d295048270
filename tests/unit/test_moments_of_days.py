"""The sums of ten minutes that a load gets from its days are those that are counted from transfers."""

import random
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing.cells import sum_cells
from tapewise.schema.writing.day_sums import name_moments, sum_days
from tapewise.schema.writing.loader import frame_schema
from tapewise.schema.writing.routes import Clients

# Zones and moments at which their clocks change: by a minute past midnight, by a quarter, by half an hour.
CHANGES = {
    "America/St_Johns": datetime(1999, 10, 31, 2, tzinfo=UTC),
    "Asia/Kathmandu": datetime(1985, 12, 31, 18, tzinfo=UTC),
    "Australia/Lord_Howe": datetime(1998, 3, 28, 14, tzinfo=UTC),
}


@pytest.mark.parametrize("zone", CHANGES)
def test_moments_of_days_are_the_ten_minutes_of_transfers(zone: str) -> None:
    rng = random.Random(zone)
    schema = frame_schema(transfers)
    flags = [name for name in schema if name.startswith("is_")]
    facts = pl.DataFrame(
        [
            {
                "interface": rng.choice(["nft", "hsi"]),
                "direction": rng.choice(["get", "put"]),
                "class_of_service": rng.choice([None, "4"]),
                "host_id": rng.choice([None, 1, 2]),
                "ended_at": CHANGES[zone] + timedelta(seconds=rng.uniform(-9000, 9000)),
                "size_bytes": rng.choice([None, 0, 2**62]),
                "duration_s": rng.choice([None, 0.0, 1.5]),
            }
            | {name: rng.random() < 0.2 for name in flags}
            for _ in range(500)
        ],
        schema=schema,
    )
    counted = sum_cells(facts, zone, has_failures=True).drop("failures_unlogged_count")
    key = ["cell_at", "interface", "direction", "is_time_of_day_unknown"]
    for clients in (Clients.ALL, Clients.ALL_AND_EACH):
        moments = name_moments([sum_days(facts, zone, clients)]).group_by(key).agg(pl.all().sum())
        assert_frame_equal(moments, counted, check_row_order=False, check_column_order=False)
    assert counted.height == counted.unique(key).height > 30
