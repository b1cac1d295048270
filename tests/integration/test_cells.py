"""Compares the rollup `core.activity_cells` with the transfers themselves, day by day."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import polars as pl
import psycopg
import pytest

from tapewise.schema.database import Role
from tapewise.schema.writing.cells import add_cells, subtract_cells

# Clock changes by name: the zone, and the day and hour (UTC) when three hours of transfers begin.
CHANGES = {
    "Nepal's quarter of an hour, 1986": ("Asia/Kathmandu", "85/12/31", 18),
    "Newfoundland's minute past midnight, 1999": ("America/St_Johns", "99/10/31", 2),
    "an hour in the night": ("America/Los_Angeles", "98/10/25", 8),
    "half an hour on Lord Howe Island": ("Australia/Lord_Howe", "98/03/28", 14),
}


@pytest.mark.parametrize("zone, day, hour", CHANGES.values(), ids=CHANGES.keys())
def test_days_of_the_archives_zone_contain_the_transfers_that_ended_in_them(
    load, warehouse, tmp_path, zone, day, hour
):
    lines = [
        f"1 {day} {(hour + minute // 60) % 24:02}:{minute % 60:02}:{second:02} js {minute + 1} 1.500\n"
        for minute in range(180)
        for second in (0, 30)
        if hour + minute // 60 < 24
    ]
    (tmp_path / "a.log").write_text("".join(lines))
    # The archive gets its zone from its first source; the tested log is in UTC.
    (tmp_path / "first.log").write_text("1 97/01/01 12:00:00 js 1 1.500\n")
    load(tmp_path / "first.log", "nft", timezone=zone, source="local")
    load(tmp_path / "a.log", "nft", timezone="UTC", source="utc")
    with warehouse.connect(Role.OWNER) as connection:
        by_view = connection.execute(
            "SELECT starts_on, sum(transfer_count), sum(size_bytes) FROM mart.activity(period => 'day')"
            " GROUP BY starts_on ORDER BY starts_on"
        ).fetchall()
        by_count = connection.execute(
            "SELECT (ended_at AT TIME ZONE timezone)::date, count(*), sum(size_bytes) FROM mart.transfers"
            " JOIN mart.archives USING (archive) GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert by_view == by_count


def test_sums_beyond_64_bits_are_exact(load, warehouse, tmp_path):
    size = 2**53
    (tmp_path / "a.log").write_text(
        "".join(f"{user} 97/10/01 00:01:41 js {size} 1.500\n" for user in range(1100))
    )
    load(tmp_path / "a.log", "nft")
    (tmp_path / "b.log").write_text(f"2000 97/10/01 00:01:42 js {size} 1.500\n")
    load(tmp_path / "b.log", "nft")
    with warehouse.connect(Role.READER) as connection:
        sums = connection.execute("SELECT DISTINCT size_bytes FROM mart.activity()").fetchall()
    assert sums == [(1101 * size,)]


SUMS = (
    *("transfer_count", "failed_count", "saturated_count", "size_bytes", "duration_us"),
    *("failures_unlogged_count", "unknown_size_count", "unknown_duration_count"),
)
KEYS = [(interface, direction) for interface in ("hsi", "nft", 'a "b" {c}') for direction in ("put", "get")]
# What is added in turn: cells from one minute after 1999-12-31 to another, their keys, and the bytes of each.
ADDED = {
    "into nothing": (0, 300, KEYS, 5),
    "into cells, between them, and after them": (90, 800, KEYS[:3], 2**62),
    "before all": (-500, -400, KEYS[1:2], 0),
    "one": (1000, 1001, KEYS[:1], 2**64),
    "as many bytes as 64 bits hold": (1000, 1100, KEYS[3:], 2**63 - 1),
    "of which one has more": (990, 1200, KEYS, 2**63 - 3),
    "none": (0, 0, KEYS, 1),
}


def make_cells(first: int, last: int, keys: list[tuple[str, str]], size_bytes: int) -> pl.DataFrame:
    """Cells of ten minutes. Those of one key have the same bytes, and those of another key one byte more."""
    begin = datetime(1999, 12, 31, tzinfo=UTC)
    kinds = {"interface": pl.String, "direction": pl.String, "is_time_of_day_unknown": pl.Boolean}
    rows = [
        (begin + timedelta(minutes=minute), *key, minute % 3 == 0, 2, number % 2, 0, size, minute, 2, 0, 1)
        for minute in range(first, last, 10)
        for number, key in enumerate(keys)
        for size in [size_bytes and size_bytes + number]
    ]
    sums = dict.fromkeys(SUMS, pl.Int64) | {"size_bytes": pl.Int128}
    return pl.DataFrame(rows, schema={"cell_at": pl.Datetime("us", "UTC"), **kinds, **sums}, orient="row")


def test_cells_are_the_sums_of_what_was_added_and_subtracted(database: psycopg.Connection) -> None:
    other = make_cells(0, 900, KEYS, 1)
    for archive_id in (6, 8):
        add_cells(database, archive_id, [other])
    held = Counter[tuple[object, ...]]()
    for added in ADDED.values():
        cells = make_cells(*added)
        add_cells(database, 7, [cells, cells[3:], cells.clear()])
        count(held, [cells, cells[3:]], 1)
        assert read_cells(database, 7) == dict(held)
    for added in list(ADDED.values())[:3]:
        cells = make_cells(*added)
        subtract_cells(database, 7, [cells[3:], cells])
        count(held, [cells, cells[3:]], -1)
        empty = {key[:-1] for key, number in held.items() if key[-1] == "transfer_count" and not number}
        held = Counter({key: number for key, number in held.items() if key[:-1] not in empty})
        assert read_cells(database, 7) == dict(held)
    assert held
    subtract_cells(database, 7, [make_cells(5000, 5010, KEYS[:1], 2**70)])
    assert min(read_cells(database, 7).values()) == -(2**70)
    expected = Counter[tuple[object, ...]]()
    count(expected, [other], 1)
    assert read_cells(database, 6) == read_cells(database, 8) == dict(expected)


def count(held: Counter[tuple[object, ...]], cells: list[pl.DataFrame], sign: int) -> None:
    """Add each number of `cells` to that of the same key and column."""
    for row in pl.concat(cells).iter_rows():
        for name, number in zip(SUMS, row[4:], strict=True):
            held[*row[:4], name] += sign * number


def read_cells(database: psycopg.Connection, archive_id: int) -> dict[tuple[object, ...], int]:
    rows = database.execute(
        "SELECT cell_at, interface, direction, is_time_of_day_unknown, transfer_count, failed_count,"
        " saturated_count, size_bytes, duration_us, failures_unlogged_count, unknown_size_count,"
        " unknown_duration_count FROM core.activity_cells WHERE archive_id = %s",
        [archive_id],
    ).fetchall()
    return {(*row[:4], name): int(number) for row in rows for name, number in zip(SUMS, row[4:], strict=True)}
