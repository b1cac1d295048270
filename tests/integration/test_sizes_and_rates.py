"""Recounts sizes and rates from the lines of the example's logs, in plain Python, unlike the SQL."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil
from statistics import fmean, linear_regression, stdev
from typing import Any, LiteralString
from zoneinfo import ZoneInfo

import pytest
from psycopg.rows import dict_row

from tapewise.schema.database import Role, Warehouse
from tests.conftest import Site
from tests.integration.example_archive import LOGS, ZONE, load_example

pytestmark = pytest.mark.study("sql", together=True)

LINE = re.compile(
    r"([0-9]+) (98/1[0-2]/[0-9]{2} (?:[01][0-9]|2[0-3]):[0-9:]+) ([a-z])([a-z]) ([0-9]+) ([0-9.]+) *"
)
LIMIT = 2**31 - 1

Fetch = Callable[..., list[dict[str, Any]]]


@dataclass(frozen=True)
class Line:
    """A line of NFT's log that reports a transfer to or from the archive (`s`)."""

    ended_at: datetime
    direction: str
    client: str
    user: str
    size_bytes: int
    duration_s: float
    is_coarse: bool

    @property
    def is_filtered(self) -> bool:
        return self.duration_s <= 0 or (self.is_coarse and self.duration_s < 10)


def read_lines() -> list[Line]:
    found = []
    for text in (LOGS / "nft.log").read_text(encoding="utf-8", errors="replace").splitlines():
        if match := LINE.fullmatch(text):
            user, when, origin, target, size, seconds = match.groups()
            if (origin == "s") == (target == "s"):
                continue
            found.append(
                Line(
                    datetime.strptime(when, "%y/%m/%d %H:%M:%S").replace(tzinfo=ZoneInfo(ZONE)),
                    "put" if target == "s" else "get",
                    origin if target == "s" else target,
                    user,
                    int(size),
                    float(seconds),
                    seconds == "0.499" or float(seconds).is_integer(),
                )
            )
    return found


LINES = read_lines()


@pytest.fixture(scope="module")
def example(site: Site) -> Iterator[Warehouse]:
    with site.clone() as fresh:
        load_example(fresh)
        yield fresh


@pytest.fixture(scope="module")
def rows_of(example: Warehouse) -> Iterator[Fetch]:
    with closing(example.connect(Role.OWNER)) as connection:

        def fetch(query: LiteralString, *values: object) -> list[dict[str, Any]]:
            return connection.cursor(row_factory=dict_row).execute(query, values).fetchall()

        yield fetch


@pytest.mark.parametrize("steps", [[1], [1, 2, 5]])
def test_sizes(rows_of: Fetch, steps: list[int]) -> None:
    edges = [0, *(step * 10**power for power in range(12) for step in steps)]
    for direction in ("put", "get"):
        sizes = [line.size_bytes for line in LINES if line.direction == direction]
        expected = []
        for low, high in pairwise(edges):
            found = [size for size in sizes if low <= size < high]
            upto = [size for size in sizes if size < high]
            if found:
                expected.append(
                    {
                        "size_from_bytes": low,
                        "size_to_bytes": high,
                        "transfer_count": len(found),
                        "saturated_count": found.count(LIMIT),
                        "size_bytes": sum(found),
                        "running_count_ratio": pytest.approx(len(upto) / len(sizes)),
                        "running_bytes_ratio": pytest.approx(sum(upto) / sum(sizes)),
                        "unbinned_count": 0,
                        "is_from_cells": True,
                    }
                )
        rows = rows_of(
            """
            SELECT size_from_bytes, size_to_bytes, transfer_count, saturated_count, size_bytes,
                running_count_ratio, running_bytes_ratio, unbinned_count, is_from_cells
            FROM mart.transfer_sizes('example', interface => 'nft', direction => %s, bins_per_decade => %s)
            ORDER BY size_from_bytes
            """,
            direction,
            len(steps),
        )
        assert rows == expected


@pytest.mark.parametrize(("direction", "stratum_size"), [("put", 100), ("get", 25)])
def test_residuals(rows_of: Fetch, direction: str, stratum_size: int) -> None:
    """As figures 5.1, 5.2 and 5.4 of LLNL's appendix A have them."""
    kept = sorted(
        (each for each in LINES if each.direction == direction and not each.is_filtered),
        key=lambda each: (each.size_bytes, each.ended_at, each.duration_s),
    )
    kept = [each for each in kept if each.size_bytes != LIMIT]
    strata = [kept[at : at + stratum_size] for at in range(0, len(kept), stratum_size)]
    points = [
        min(stratum, key=lambda each: (each.duration_s, -each.size_bytes))
        for stratum in strata
        if len(stratum) == stratum_size
    ]
    slope, latency_s = linear_regression(
        [each.size_bytes for each in points], [each.duration_s for each in points]
    )
    expected = [
        {
            "size_bytes": each.size_bytes,
            "duration_s": each.duration_s,
            "residual_s": pytest.approx(each.duration_s - latency_s - slope * each.size_bytes, abs=1e-6),
            "is_outlier": each.size_bytes > 4e9 or (each.size_bytes < 1e9 and each.duration_s > 1000),
        }
        for each in sorted(kept, key=lambda each: (each.size_bytes, each.duration_s))
    ]
    rows = rows_of(
        """
        SELECT size_bytes, duration_s, residual_s, is_outlier
        FROM mart.residuals('example', interface => 'nft', direction => %s)
        ORDER BY size_bytes, duration_s
        """,
        direction,
    )
    assert len(rows) > 2000
    assert rows == expected


@pytest.mark.parametrize("over_bytes", [0, 10_000_000])
def test_rates(rows_of: Fetch, over_bytes: int) -> None:
    """As table 7 of SDSC's paper has them: by month and direction, of files over a limit, of one client."""
    envelopes = rows_of("SELECT * FROM mart.lower_envelopes('example', interface => 'nft', client => 'w')")
    expected = []
    for line in sorted(envelopes, key=lambda row: row["direction"]):
        sized = [
            each
            for each in LINES
            if (each.direction, each.client) == (line["direction"], "w") and each.size_bytes > over_bytes
        ]
        known = [each for each in sized if not each.is_filtered and each.size_bytes != LIMIT]
        rates = sorted(each.size_bytes / each.duration_s for each in known)
        theory = [
            each.size_bytes / (line["latency_s"] + each.size_bytes / line["rate_bytes_per_s"])
            for each in known
        ]
        fastest = max(known, key=lambda each: (each.size_bytes / each.duration_s, -each.ended_at.timestamp()))
        expected.append(
            {
                "starts_on": "1998-10-01",
                "direction": line["direction"],
                "transfer_count": len(known),
                "unrated_count": len(sized) - len(known),
                "size_bytes": sum(each.size_bytes for each in known),
                "unrated_bytes": sum(each.size_bytes for each in sized)
                - sum(each.size_bytes for each in known),
                "min_rate_bytes_per_s": pytest.approx(rates[0]),
                "p10_rate_bytes_per_s": pytest.approx(rates[ceil(0.1 * len(rates)) - 1]),
                "p50_rate_bytes_per_s": pytest.approx(rates[ceil(0.5 * len(rates)) - 1]),
                "p90_rate_bytes_per_s": pytest.approx(rates[ceil(0.9 * len(rates)) - 1]),
                "max_rate_bytes_per_s": pytest.approx(rates[-1]),
                "mean_rate_bytes_per_s": pytest.approx(fmean(rates)),
                "fastest_size_bytes": fastest.size_bytes,
                "fastest_at": fastest.ended_at,
                "envelope_count": len(known),
                "mean_envelope_bytes_per_s": pytest.approx(fmean(theory)),
                "envelope_ratio": pytest.approx(
                    fmean(
                        each.size_bytes / each.duration_s / rate
                        for each, rate in zip(known, theory, strict=True)
                    )
                ),
            }
        )
    rows = rows_of(
        """
        SELECT starts_on::text, direction, transfer_count, unrated_count, size_bytes, unrated_bytes,
            min_rate_bytes_per_s,
            p10_rate_bytes_per_s, p50_rate_bytes_per_s, p90_rate_bytes_per_s, max_rate_bytes_per_s,
            mean_rate_bytes_per_s, fastest_size_bytes, fastest_at, envelope_count, mean_envelope_bytes_per_s,
            envelope_ratio
        FROM mart.transfer_rates(
            'example', interface => 'nft', client => 'w', grouped_by => '{month, direction}', over_bytes => %s
        )
        ORDER BY direction
        """,
        over_bytes,
    )
    assert len(rows) == 2
    assert rows == expected


def test_days_before_and_after_the_filter(rows_of: Fetch) -> None:
    """As table 2.1 of the Livermore paper's appendix A has them, and the days of mart.daily_activity."""
    days: dict[str, list[Line]] = {}
    for line in LINES:
        days.setdefault(str(line.ended_at.date()), []).append(line)
    kept = {
        day: [line for line in lines if not line.is_filtered and line.size_bytes != LIMIT]
        for day, lines in days.items()
    }
    rows = rows_of(
        """
        SELECT rates.starts_on::text AS day, rates.transfer_count + unrated_count AS transfers,
            rates.size_bytes + unrated_bytes AS bytes, rates.transfer_count AS kept,
            rates.size_bytes AS kept_bytes, days.transfer_count - coalesce(failed_count, 0) AS counted,
            days.size_bytes AS counted_bytes
        FROM mart.transfer_rates(
            'example', interface => 'nft', grouped_by => '{day}', over_bytes => -1
        ) AS rates
        JOIN mart.daily_activity('example', interface => 'nft', grouped_by => '{}') AS days USING (starts_on)
        ORDER BY day
        """
    )
    assert rows == [
        {
            "day": day,
            "transfers": len(days[day]),
            "bytes": sum(line.size_bytes for line in days[day]),
            "kept": len(kept[day]),
            "kept_bytes": sum(line.size_bytes for line in kept[day]),
            "counted": len(days[day]),
            "counted_bytes": sum(line.size_bytes for line in days[day]),
        }
        for day in sorted(days)
    ]


def test_request_figures(rows_of: Fetch) -> None:
    """As tables 4 and 5 of the Livermore paper's appendix B have them."""
    for direction in ("put", "get"):
        times = sorted(line.duration_s for line in LINES if line.direction == direction)
        rows = rows_of(
            """
            SELECT request_count, mean_s, deviation_s, min_s, p1_s, p5_s, p10_s, p50_s, p90_s, p95_s, p99_s,
                max_s
            FROM mart.request_figures('example', interface => 'nft', direction => %s)
            WHERE quantity = 'transfer time'
            """,
            direction,
        )
        places = {f"p{percent}_s": -(-percent * len(times) // 100) for percent in (1, 5, 10, 50, 90, 95, 99)}
        assert rows == [
            {
                "request_count": len(times),
                "mean_s": pytest.approx(fmean(times)),
                "deviation_s": pytest.approx(stdev(times)),
                "min_s": times[0],
                **{name: times[place - 1] for name, place in places.items()},
                "max_s": times[-1],
            }
        ]
