"""`mart.compute_forecast` on made-up transfers that follow the power of computers."""

from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.sql.cases import insert_rows

BEGIN = date(2000, 1, 3)  # a Monday
DAYS, COUNT = 80, 40
POWERS = {0: 10.0, 50: 30.0, DAYS: 90.0}  # flop/s, by the number of the day; the last one is a plan
BYTES_PER_FLOP_S_DAY = 1000
POWER = np.array([POWERS[max(since for since in POWERS if since <= day)] for day in range(DAYS)])


def make_transfers(archive: str, sizes: list[int], directions: tuple[str, ...]) -> list[dict[str, object]]:
    """A file a day, moved in each of the directions, an hour apart, in a minute."""
    noon = [datetime.combine(BEGIN + timedelta(day), time(12), UTC) for day in range(DAYS)]
    return [
        {
            "archive": archive,
            "file_key": day,
            "size_bytes": sizes[day],
            "direction": direction,
            "started_at": str(noon[day] + timedelta(hours=number)),
            "ended_at": str(noon[day] + timedelta(hours=number, seconds=60)),
            "duration_s": 60.0,
        }
        for day in range(DAYS)
        for number, direction in enumerate(directions)
    ]


@pytest.mark.study("sql")
def test_growth_that_follows_the_computers_is_foreseen(database: psycopg.Connection) -> None:
    rng = np.random.default_rng(4)
    names = [f"a{number}" for number in range(COUNT)]
    sizes = {
        name: [int(each) for each in BYTES_PER_FLOP_S_DAY * POWER * rng.uniform(0.7, 1.3, DAYS)]
        for name in names
    }
    transfers = [each for name in names for each in make_transfers(name, sizes[name], ("put",))]
    transfers += make_transfers("read", sizes["a0"], ("put", "get", "get", "get"))
    insert_rows(
        database,
        {
            "archives": [{"name": name} for name in (*names, "read")],
            "sources": [{"archive": name, "name": name} for name in (*names, "read")],
            "transfers": transfers,
            "compute_powers": [
                {"archive": name, "flop_per_s": flop_per_s, "starts_on": str(BEGIN + timedelta(since))}
                for name in (*names, "read")
                for since, flop_per_s in POWERS.items()
            ],
        },
    )
    with database.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM mart.compute_forecast(is_fresh => TRUE, years => 0)").fetchall()
        constant = cursor.execute(
            "SELECT * FROM mart.growth_forecast(is_fresh => TRUE, months => 1)"
        ).fetchall()
    found = {row["archive"]: row for row in rows}
    assert len(rows) == len(found) == COUNT + 1

    read = found["read"]
    total = sum(sizes["a0"])
    assert read["net_bytes_per_flop_per_s_year"] == pytest.approx(total / sum(POWER) * 365.25)
    assert (read["kept_ratio"], read["bytes_read_per_byte_written"], read["flop_per_s"]) == (1, 3, 90)
    assert read["moved_bytes_per_day"] == pytest.approx(4 * read["written_bytes_per_day"])
    # The busiest ten minutes move one file; a day moves one four times.
    mean_rate = 4 * total / DAYS / 86400
    assert read["peak_rate_per_mean_rate"] == pytest.approx(max(sizes["a0"]) / 600 / mean_rate)

    # With 12 weeks of such logs, 92 % of the intervals hold the truth (4,000 made-up logs).
    truth = BYTES_PER_FLOP_S_DAY * POWERS[DAYS]
    held = sum(row["net_bytes_per_day_low"] < truth < row["net_bytes_per_day_high"] for row in rows)
    assert held / len(rows) > 0.85
    widths = [(row["net_bytes_per_day_high"] - row["net_bytes_per_day_low"]) / truth for row in rows]
    assert np.median(widths) < 0.15
    # The forecast that does not know the computers misses it.
    assert max(row["net_bytes_per_day_high"] for row in constant) < 0.5 * truth
