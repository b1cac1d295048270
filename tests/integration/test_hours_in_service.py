"""Compares the hours in service of mart.hour_profiles with an independent count, near clock changes."""

import random
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.integration.test_idle import ZONES, covered, make_cells, make_outages, make_transfers, spans
from tests.sql.cases import insert_rows, run_query

HOUR = timedelta(hours=1)
# Also midnights that come twice, and a day that never was.
CHANGES = ZONES | {
    "America/Havana": [date(2024, 3, 10), date(2024, 11, 3)],
    "America/St_Johns": [date(1999, 4, 4), date(1999, 10, 31)],
    "Pacific/Apia": [date(2011, 12, 30), date(2012, 4, 1)],
}
# Days before and after the change from which and until which it is asked; None asks for all days.
RANGES = ((None, None), (-1, None), (None, 0), (0, 2), (-2, 1))


def count_hours(
    cells: list[datetime], outages: list[dict[str, Any]], zone: str, since: date, until: date
) -> Counter[tuple[int, int]]:
    """Count the hours in service by weekday and hour, each of them by itself."""
    place = ZoneInfo(zone)
    counts: Counter[tuple[int, int]] = Counter()
    for day in {cell.astimezone(place).date() for cell in cells}:
        midnight = datetime.combine(day, time(), place).astimezone(UTC)
        for hour_at in (midnight + number * HOUR for number in range(-3, 28)):
            local = hour_at.astimezone(place)
            is_idle = not any(hour_at <= cell < hour_at + HOUR for cell in cells)
            is_out = covered(spans(outages), hour_at, hour_at + HOUR) >= HOUR / 2
            is_between = min(cells) - HOUR < hour_at <= max(cells)
            is_asked_for = since <= local.date() == day <= until
            if is_asked_for and is_between and not (is_idle and is_out):
                counts[day.isoweekday(), local.hour] += 1
    return counts


@pytest.mark.parametrize("seed", range(4))
def test_hours_in_service_are_those_counted_one_by_one(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    changes = {zone: days[seed % 2] for zone, days in CHANGES.items()}
    transfers = {zone: make_transfers(dice, day, zone) for zone, day in changes.items()}
    # Without outages, most days are not looked at hour by hour.
    outages = {zone: make_outages(dice, day, zone)[: 10 * (seed // 2)] for zone, day in changes.items()}
    cells = {zone: make_cells(rows, zone) for zone, rows in transfers.items()}
    insert_rows(
        database,
        {
            "archives": [{"name": zone, "timezone": zone} for zone in changes],
            "transfers": [row for rows in transfers.values() for row in rows],
            "activity_cells": [cell for rows in cells.values() for cell in rows],
            "outages": [row for rows in outages.values() for row in rows],
        },
    )
    for zone, day in changes.items():
        times = [datetime.fromisoformat(cell["cell_at"]) for cell in cells[zone]]
        for first, last in RANGES:
            asked, edges = f"archive => '{zone}'", {}
            # From noon to noon: a range means whole days.
            for name, days in (("since", first), ("until", last)):
                if days is not None:
                    noon = datetime.combine(day + timedelta(days), time(12), ZoneInfo(zone)).astimezone(UTC)
                    asked += f", {name} => '{noon.isoformat()}'"
                    # A day that never was has no noon.
                    edges[name] = noon.astimezone(ZoneInfo(zone)).date()
            since, until = edges.get("since", date.min), edges.get("until", date.max)
            expected = count_hours(times, outages[zone], zone, since, until)
            rows = run_query(database, f"SELECT weekday, hour, hour_count FROM mart.hour_profiles({asked})")
            found = Counter({(row["weekday"], row["hour"]): row["hour_count"] for row in rows})
            assert +found == expected, (asked, found - expected, expected - found)
            assert expected.total() > 10
