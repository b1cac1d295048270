"""Cells of days do not depend on the order of loads; percentiles are within their bound."""

import random
from datetime import UTC, date, datetime
from typing import Any

import polars as pl
import psycopg
import pytest

from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing import cell_numbers
from tapewise.schema.writing.day_cells import add_days, replace_days
from tapewise.schema.writing.day_sums import sum_days
from tapewise.schema.writing.loader import frame_schema
from tapewise.schema.writing.request_rollups import add_requests, sum_transfers
from tests.month_peaks import WRONG_MONTH_PEAKS
from tests.sql.cases import insert_rows, run_query

pytestmark = pytest.mark.study("ingest", "schema")

# The middle of a bin is within 1/128 of every rate in it, and so is what lies between two of them.
BOUND = 1 / 128
TABLES = ("core.day_cells", "core.rate_months", "core.hour_months", "core.month_peaks", "core.size_cells")
# The columns to compare, and what they are ordered by.
ANSWERS = {
    "monthly_rates": ("*", "starts_on, interface, direction"),
    "size_times": (
        "interface, direction, size_from_bytes, size_to_bytes, transfer_count, mean_size_bytes,"
        " min_duration_s, p10_duration_s, p50_duration_s, p90_duration_s, first_on, last_on",
        "size_from_bytes, interface, direction",
    ),
}


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


def test_a_day_can_be_counted_again(database: psycopg.Connection) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()

    def read_cells() -> list[Any]:
        return [
            database.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5").fetchall() for table in TABLES
        ]

    day = date(2000, 1, 15)
    others = [
        make_transfers(12, 5, ended_at=datetime(*moment, tzinfo=UTC))
        for moment in [(2000, 1, 14, 12), (2000, 1, 16, 12), (2000, 12, 31, 12), (2001, 1, 1, 12)]
    ]
    add_days(database, source_id, [sum_days(pl.concat(others), "UTC")])
    without = read_cells()
    stays = make_transfers(12, 1000, duration_s=2.0)
    added = sum_days(stays, "UTC")
    add_days(database, source_id, [added])
    before = read_cells()
    for hour, size, values in [
        (12, 1000, {}),
        (13, 1000, {}),
        (12, 5000, {}),
        (14, 0, {"is_time_of_day_unknown": True, "class_of_service": "4"}),
        (12, 7, {"is_failed": True}),
    ]:
        add_days(database, source_id, [sum_days(make_transfers(hour, size, **values), "UTC")])
        assert read_cells() != before
        replace_days(database, source_id, [day], added)
        assert read_cells() == before
    assert before != without
    replace_days(database, source_id, [day], sum_days(stays.clear(), "UTC"))
    assert read_cells() == without


@pytest.mark.parametrize("seed", range(3))
def test_the_order_and_the_parts_of_a_file_do_not_matter(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    rows = pl.concat(
        make_transfers(
            dice.randrange(24),
            dice.choice([0, 1, 2**31 - 1, 10**18]),
            duration_s=dice.choice([None, 0.0, 0.1, 1 / 3, 1e5]),
            ended_at=datetime(2000, 1, dice.randrange(1, 4), 12, dice.randrange(60), tzinfo=UTC),
            is_size_saturated=dice.random() < 0.3,
            is_time_of_day_unknown=dice.random() < 0.3,
            is_duration_coarse=dice.random() < 0.3,
            is_failed=dice.random() < 0.1,
            direction=dice.choice(["put", "get"]),
            class_of_service=dice.choice([None, "4"]),
        )
        for _ in range(200)
    )
    found = []
    for is_second in (False, True):
        database.execute("BEGIN")
        insert_rows(database, {"archives": [{"name": "llnl"}]})
        [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()
        order = rows.sample(fraction=1, shuffle=True, seed=seed) if is_second else rows
        parts = [sum_days(part, "Asia/Kathmandu") for part in order.iter_slices(13 if is_second else 200)]
        add_days(database, source_id, parts[:5])
        for part in parts[5:]:
            add_days(database, source_id, [part])
        found.append(
            [
                database.execute(
                    f"SELECT to_jsonb(t) - '{{route_id,archive_id}}'::text[] FROM {table} AS t ORDER BY 1"
                ).fetchall()
                for table in TABLES
            ]
        )
        assert database.execute(WRONG_MONTH_PEAKS).fetchall() == []
        database.execute("ROLLBACK")
    assert found[0] == found[1]


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
    assert database.execute(WRONG_MONTH_PEAKS).fetchall() == []


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
    errors = []
    for function, (columns, order) in ANSWERS.items():
        about, exactly = (
            run_query(
                database,
                f"SELECT {columns} FROM mart.{function}(is_exact => {is_exact}) AS answers ORDER BY {order}",
            )
            for is_exact in (False, True)
        )
        assert len(about) == len(exactly) >= 6
        for ours, theirs in zip(about, exactly, strict=True):
            for name, value in theirs.items():
                if name.startswith("p"):
                    errors.append(abs(ours[name] / value - 1))
                else:
                    assert ours[name] == value
    assert max(errors) <= BOUND
    assert max(errors) > BOUND / 4  # they are not the exact ones


def test_a_route_is_dropped_that_an_earlier_batch_has_emptied(
    database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()
    stays, goes = (
        sum_transfers(
            make_transfers(12, 1, class_of_service=name).with_columns(
                source_id=pl.lit(source_id, pl.Int32), open_s=pl.lit(1.0)
            ),
            "UTC",
        )
        for name in ("4", "5")
    )
    add_requests(database, [stays, goes])
    monkeypatch.setattr(cell_numbers, "ENOUGH_SUMS", 1)
    add_requests(database, [goes.negate(), stays])
    assert database.execute("SELECT class_of_service FROM core.routes").fetchall() == [("4",)]
    assert database.execute("SELECT span, request_count FROM core.request_cells").fetchall() == [
        ("day", 2),
        ("month", 2),
        ("year", 2),
    ]
