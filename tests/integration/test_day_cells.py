"""What is added to `core.day_cells` can be taken away again; percentiles are within their bound."""

import random
from datetime import UTC, datetime
from typing import Any

import polars as pl
import psycopg
import pytest

from tapewise.schema.tables.models import transfers
from tapewise.schema.writing.day_cells import add_days, sum_days
from tapewise.schema.writing.loader import frame_schema
from tests.sql.cases import insert_rows, run_query

# The middle of a bin is within 1/128 of every rate in it, and so is what lies between two of them.
BOUND = 1 / 128


def make_transfers(hour: int, size: int, **values: object) -> pl.DataFrame:
    row = {
        "interface": "nft",
        "direction": "get",
        "ended_at": datetime(2000, 1, 15, hour, tzinfo=UTC),
        "size_bytes": size,
        "duration_s": 1.0,
    }
    flags = {name: False for name in frame_schema(transfers) if name.startswith("is_")}
    return pl.DataFrame([row | flags | values], schema=frame_schema(transfers))


def test_what_was_added_can_be_subtracted(database: psycopg.Connection) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()

    def read_cells() -> list[Any]:
        return database.execute("SELECT * FROM core.day_cells ORDER BY route_id, day").fetchall()

    stays = sum_days(make_transfers(12, 1000), "UTC")
    others = [
        sum_days(make_transfers(hour, size, **values), "UTC")
        for hour, size, values in [
            (12, 1000, {}),
            (13, 1000, {}),
            (12, 5000, {}),
            (14, 0, {"is_time_of_day_unknown": True, "class_of_service": "4"}),
            (12, 7, {"is_failed": True}),
        ]
    ]
    add_days(database, source_id, [stays])
    before = read_cells()
    for other in others:
        add_days(database, source_id, [other])
        assert read_cells() != before
        add_days(database, source_id, [other.negate()])
        assert read_cells() == before
    add_days(database, source_id, [*others, *(other.negate() for other in others)])
    assert read_cells() == before
    add_days(database, source_id, [stays.negate()])
    assert read_cells() == []


def test_days_may_be_before_1970_and_far_apart(database: psycopg.Connection) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()
    moments = [(1969, "get"), (1970, "put"), (2000, "get"), (2286, "put")]
    made = [
        make_transfers(12, 1, direction=direction, ended_at=datetime(year, 1, 1, 12, tzinfo=UTC))
        for year, direction in moments
    ]
    add_days(database, source_id, [sum_days(pl.concat(made), "UTC")])
    found = database.execute(
        "SELECT extract(year FROM day)::integer, direction, transfer_count, size_bytes, rate_counts"
        " FROM core.day_cells JOIN core.routes ON routes.id = route_id ORDER BY day"
    ).fetchall()
    assert found == [(*moment, 1, 1, [1]) for moment in moments]


def test_a_known_route_uses_up_no_number(database: psycopg.Connection) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()
    for number in range(5):
        add_days(database, source_id, [sum_days(make_transfers(number, 1, class_of_service="4"), "UTC")])
    add_days(database, source_id, [sum_days(make_transfers(12, 1), "UTC")])
    numbers = [number for (number,) in database.execute("SELECT id FROM core.routes ORDER BY id")]
    assert numbers[1] - numbers[0] == 1 and len(numbers) == 2


@pytest.mark.parametrize("seed", range(4))
def test_percentiles_are_within_their_bound(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    transfers = [
        {
            "direction": dice.choice(["get", "put"]),
            "interface": "nft" if number % (20 * seed + 1) else "ftp",
            "class_of_service": dice.choice([None, "a", "b"]),
            "ended_at": f"2000-0{dice.randrange(1, 4)}-{dice.randrange(1, 28):02}T12:00:00Z",
            "size_bytes": int(dice.lognormvariate(15, 4)),
            "duration_s": dice.choice([0.001, 1.0, dice.lognormvariate(0, 3)]),
        }
        for number in range(800)
    ]
    insert_rows(database, {"transfers": transfers})
    about, exactly = (
        run_query(
            database,
            f"SELECT * FROM mart.monthly_rates(is_exact => {is_exact})"
            " ORDER BY starts_on, interface, direction",
        )
        for is_exact in (False, True)
    )
    assert len(about) == len(exactly) >= 6
    errors = []
    for ours, theirs in zip(about, exactly, strict=True):
        for name, value in theirs.items():
            if name.startswith("p"):
                errors.append(abs(ours[name] / value - 1))
            else:
                assert ours[name] == value
    assert max(errors) <= BOUND
    assert max(errors) > BOUND / 4  # they are not the exact ones
