"""Recounts bursts from the lines of a made-up log in plain Python, one bin after the other."""

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from statistics import fmean, stdev, variance
from zoneinfo import ZoneInfo

import pytest
from psycopg.rows import dict_row

from tapewise.schema.database import Role, Warehouse

pytestmark = pytest.mark.study("sql", "schema")

BERLIN = ZoneInfo("Europe/Berlin")
# Clocks go forward on 29 March.
BEGINNING = datetime(1998, 3, 27, 9, 17, tzinfo=BERLIN).astimezone(UTC)
DAYS = 5
OUTAGES = [
    (BEGINNING + timedelta(hours=20), BEGINNING + timedelta(hours=31, minutes=25)),
    (BEGINNING + timedelta(hours=30), BEGINNING + timedelta(hours=31, minutes=40)),
    (BEGINNING + timedelta(hours=70), BEGINNING + timedelta(hours=70, minutes=7)),
]
SINCE = datetime(1998, 3, 28, tzinfo=BERLIN).astimezone(UTC)
UNTIL = datetime(1998, 3, 31, tzinfo=BERLIN).astimezone(UTC)


def make_lines(dice: random.Random) -> list[tuple[str, datetime, str]]:
    """Make lines of NFT in bursts, with the direction and when each was asked for."""
    found = []
    for _ in range(120):
        at = BEGINNING + timedelta(seconds=dice.randrange(DAYS * 86400))
        direction = dice.choice(["put", "get"])
        for _ in range(dice.choice([1, 2, 30])):
            at += timedelta(seconds=dice.choice([0, 1, 20, 700]))
            took_s = dice.choice([1, 30, 5000])
            ended = (at + timedelta(seconds=took_s)).astimezone(BERLIN)
            machines = "ws" if direction == "put" else "sw"
            line = f"007 {ended:%y/%m/%d %H:%M:%S} {machines} {dice.randrange(1, 10**9)} {took_s}.000"
            found.append((line, at, direction))
    return sorted(found, key=lambda each: each[0])


def count_outage_seconds() -> list[int]:
    """Count the seconds in outages from the first midnight on, so that overlapping outages need no rule."""
    origin = BEGINNING.astimezone(BERLIN).replace(hour=0, minute=0)
    seconds = [
        any(begun <= at < ended for begun, ended in OUTAGES)
        for at in (origin.astimezone(UTC) + timedelta(seconds=second) for second in range((DAYS + 3) * 86400))
    ]
    return list(accumulate(seconds, initial=0))


def list_bins(since: datetime, until: datetime, bin_s: int, out: list[int]) -> tuple[list[datetime], int]:
    """List when the bins begin that count, and count those that outages leave out."""
    found, out_count = [], 0
    first = BEGINNING.astimezone(BERLIN).replace(hour=0, minute=0)
    for day in range(DAYS + 2):
        midnight, tomorrow = ((first + timedelta(days=day + more)).astimezone(UTC) for more in (0, 1))
        for number in range(int((tomorrow - midnight).total_seconds()) // bin_s):
            at = midnight + timedelta(seconds=number * bin_s)
            if since <= at and at + timedelta(seconds=bin_s) <= until:
                second = int((at - first.astimezone(UTC)).total_seconds())
                if (out[second + bin_s] - out[second]) * 2 >= bin_s:
                    out_count += 1
                else:
                    found.append(at)
    return found, out_count


@pytest.mark.parametrize(("since", "until"), [(None, None), (SINCE, UNTIL)])
def test_bursts(
    warehouse: Warehouse,
    load: Callable[..., object],
    tmp_path: Path,
    since: datetime | None,
    until: datetime | None,
) -> None:
    lines = make_lines(random.Random(5))
    (tmp_path / "nft.log").write_text("".join(f"{line}\n" for line, _, _ in lines))
    load(tmp_path / "nft.log", "nft", timezone="Europe/Berlin")
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
        for begun, ended in OUTAGES:
            connection.execute(
                "INSERT INTO core.outages (archive_id, kind, note, started_at, ended_at)"
                " SELECT id, 'scheduled', '', %s, %s FROM core.archives",
                [begun, ended],
            )
    with closing(warehouse.connect(Role.READER)) as connection:
        cursor = connection.cursor(row_factory=dict_row)
        values = [since, until]
        dispersions = cursor.execute(
            "SELECT * FROM mart.arrival_dispersion('test', %s, %s)", values
        ).fetchall()
        gaps_of = cursor.execute("SELECT * FROM mart.interarrivals('test', %s, %s)", values).fetchall()

    asked = {
        direction: sorted(
            at
            for _, at, way in lines
            if way == direction and (since or at) <= at and (until is None or at < until)
        )
        for direction in ("get", "put")
    }
    out = count_outage_seconds()
    assert len(dispersions) == 8
    for row in dispersions:
        times = asked[row["direction"]]
        bins, out_count = list_bins(since or times[0], until or times[-1], row["bin_s"], out)
        counts = Counter(
            bins[place]
            for time in times
            if (place := bisect_right(bins, time) - 1) >= 0
            and time < bins[place] + timedelta(seconds=row["bin_s"])
        )
        each = [counts[at] for at in bins]
        assert (row["bin_count"], row["outage_bin_count"]) == (len(bins), out_count)
        assert (row["request_count"], row["max_count"]) == (sum(each), max(each))
        assert row["variance"] == pytest.approx(variance(each))
        assert row["dispersion_ratio"] == pytest.approx(variance(each) / fmean(each))
    assert len(gaps_of) == 2
    for row in gaps_of:
        pairs = list(pairwise(asked[row["direction"]]))
        gaps = sorted(
            (after - at).total_seconds()
            for at, after in pairs
            if at == after or not any(begun < after and at < ended for begun, ended in OUTAGES)
        )
        assert 0 < row["outage_gap_count"] == len(pairs) - len(gaps)
        assert row["mean_s"] == pytest.approx(fmean(gaps))
        assert row["variation_ratio"] == pytest.approx(stdev(gaps) / fmean(gaps))
        for percent in (50, 90, 99):
            assert row[f"p{percent}_s"] == gaps[ceil(len(gaps) * percent / 100) - 1]
