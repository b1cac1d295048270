"""Compares the rollup `core.activity_cells` with the transfers themselves, day by day."""

import pytest

from tapewise.schema.database import Role

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
