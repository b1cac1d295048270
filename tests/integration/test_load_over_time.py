"""Compares load over time, concurrency and neighbours with an independent count, for random transfers."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.sql.cases import insert_rows, run_query

# Clock changes forward, back and at midnight; a zone that is 5:45 from UTC; and one without changes.
ZONES = {
    "America/Los_Angeles": date(1998, 10, 25),
    "Europe/Berlin": date(1998, 3, 29),
    "America/Sao_Paulo": date(1998, 10, 11),
    "Asia/Kathmandu": date(1998, 10, 25),
    "UTC": date(1998, 10, 25),
}
COUNT = 80
MICROSECOND = timedelta(microseconds=1)
# Rates are rounded to 2^-30 bytes/s.
ROUNDING = 2.0**-30


@dataclass(frozen=True)
class Transfer:
    """A transfer as the log has it; `began` is None if the log does not say."""

    id: int
    zone: str
    interface: str
    direction: str
    client: str
    began: datetime | None
    ended: datetime
    size: int | None
    is_failed: bool
    is_saturated: bool
    is_hour_unknown: bool

    @property
    def moved(self) -> int | None:
        return 0 if self.is_failed else self.size

    @property
    def is_moved_known(self) -> bool:
        return self.is_failed or (self.size is not None and not self.is_saturated)

    def overlap_us(self, since: datetime, until: datetime) -> int:
        assert self.began is not None
        return max((min(self.ended, until) - max(self.began, since)) // MICROSECOND, 0)


def make_transfers(dice: random.Random) -> list[Transfer]:
    """Make transfers within two days around the change of clocks of each zone."""
    found = []
    for zone, day in ZONES.items():
        midnight = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
        for _ in range(COUNT):
            # Whole minutes make transfers begin when others end, and when periods begin.
            began = midnight + timedelta(minutes=dice.randrange(-600, 1200))
            if dice.random() < 0.5:
                began += timedelta(microseconds=dice.randrange(60_000_000))
            duration = dice.choice(
                [
                    timedelta(),
                    timedelta(microseconds=1),
                    timedelta(seconds=dice.randrange(1, 900)),
                    timedelta(minutes=dice.randrange(1, 60)),
                    timedelta(hours=dice.randrange(1, 30)),
                ]
            )
            found.append(
                Transfer(
                    len(found) + 1,
                    zone,
                    dice.choice(["nft", "ftp"]),
                    dice.choice(["put", "get"]),
                    dice.choice(["cray", "sp2"]),
                    None if dice.random() < 0.05 else began,
                    began + duration,
                    None
                    if dice.random() < 0.1
                    else dice.choice([0, 1000, 2**31 - 1, dice.randrange(10**10)]),
                    is_failed=dice.random() < 0.1,
                    is_saturated=dice.random() < 0.05,
                    is_hour_unknown=zone == "UTC" and dice.random() < 0.02,
                )
            )
    return found


def make_row(each: Transfer) -> dict[str, Any]:
    return {
        "archive": each.zone,
        "interface": each.interface,
        "direction": each.direction,
        "client": each.client,
        "started_at": each.began and each.began.isoformat(),
        "ended_at": each.ended.isoformat(),
        "duration_s": each.began and (each.ended - each.began).total_seconds(),
        "size_bytes": each.size,
        "is_failed": each.is_failed,
        "is_size_saturated": each.is_saturated,
        "is_time_of_day_unknown": each.is_hour_unknown,
    }


@pytest.fixture(scope="module")
def transfers() -> list[Transfer]:
    return make_transfers(random.Random(3))


@pytest.fixture
def filled(database: psycopg.Connection, transfers: list[Transfer]) -> Iterator[psycopg.Connection]:
    archives = [{"name": zone, "timezone": zone} for zone in ZONES]
    insert_rows(database, {"archives": archives, "transfers": [make_row(each) for each in transfers]})
    return database


def most_at_once(placed: Iterable[Transfer], since: datetime, until: datetime) -> tuple[int, Fraction]:
    """Return the greatest number under way, and the greatest sum of rates, by looking at each beginning."""
    placed = [each for each in placed if each.overlap_us(since, until)]
    most, fastest = 0, Fraction()
    for moment in {max(each.began or since, since) for each in placed}:
        now = [each for each in placed if (each.began or moment) <= moment < each.ended]
        most = max(most, len(now))
        fastest = max(
            fastest,
            sum(
                (
                    Fraction(each.moved or 0, each.overlap_us(each.began or since, each.ended)) * 10**6
                    for each in now
                ),
                Fraction(),
            ),
        )
    return most, fastest


def cut_local(since: datetime, until: datetime, zone: str, period: str) -> list[tuple[datetime, datetime]]:
    """Cut a time into periods of the local clock, by looking at each minute."""
    first = since.replace(second=0, microsecond=0) - timedelta(days=2)
    parts: dict[Any, datetime] = {}
    for number in range((until - first) // timedelta(minutes=1) + 2 * 1440):
        minute = first + timedelta(minutes=number)
        local = minute.astimezone(ZoneInfo(zone))
        clock = (local.utcoffset(), local.hour, local.minute // 10 if period == "ten_minutes" else 0)
        parts.setdefault((local.date(), *(() if period == "day" else clock)), minute)
    starts = sorted(parts.values())
    return [(a, b) for a, b in pairwise(starts) if b > since and a <= until]


def count_load(
    asked: list[Transfer], zone: str, period: str, since: datetime | None, until: datetime | None
) -> dict[datetime, dict[str, Any]]:
    """Count what mart.load_over_time reports, period by period, from all transfers of one group."""
    # The log goes on beyond the range if its days do.
    days = {each.ended.astimezone(ZoneInfo(zone)).date() for each in asked}
    lost_days = Counter(
        each.ended.astimezone(ZoneInfo(zone)).date() for each in asked if each.is_hour_unknown
    )
    known = [each for each in asked if not each.is_hour_unknown]
    known = [
        each
        for each in known
        if (since is None or each.ended > since or (each.began or each.ended) >= since)
        and (until is None or (each.began or each.ended) < until)
    ]
    has_before = since is not None and min(days) < since.astimezone(ZoneInfo(zone)).date()
    has_after = until is not None and max(days) > (until - MICROSECOND).astimezone(ZoneInfo(zone)).date()
    if not known and not (has_before and has_after):
        return {}
    starts = [max(each.began or each.ended, since or each.began or each.ended) for each in known]
    ends = [min(each.ended, until or each.ended) for each in known]
    first = since if has_before and since else min(starts)
    last = until if has_after and until else max(ends)
    placed = [each for each in known if each.began is not None and each.began < each.ended]
    counted = {}
    for start, end in cut_local(first, last, zone, period):
        a, b = max(start, first), min(end, last)
        begun = [each for each in known if each.began and start <= each.began < end and each.began >= a]
        lost = [each for each in known if each.began is None and start <= each.ended < end]
        if a > b or (a == b and not begun + lost):
            continue
        here = [each for each in placed if each.overlap_us(a, b)]
        instant = [each for each in begun if each.began == each.ended]
        transfer_us = sum(each.overlap_us(a, b) for each in here)
        size = sum(
            (
                Fraction(
                    (each.moved or 0) * each.overlap_us(a, b), each.overlap_us(each.began or a, each.ended)
                )
                for each in here
            ),
            Fraction(sum(each.moved or 0 for each in instant)),
        )
        lost_day = lost_days[start.astimezone(ZoneInfo(zone)).date()]
        is_incomplete = bool(lost or lost_day)
        is_bound = is_incomplete or not all(each.is_moved_known for each in here + instant)
        most, fastest = most_at_once(here, a, b)
        is_known = transfer_us > 0 or not is_incomplete
        is_size_known = size > 0 or not is_bound
        period_us = (b - a) // MICROSECOND
        busy_us = sum(
            (y - x) // MICROSECOND
            for x, y in join_spans((max(each.began or a, a), min(each.ended, b)) for each in here)
        )
        counted[start] = {
            "begun_count": len(begun),
            "unknown_duration_count": len(lost),
            "hour_unknown_count": lost_day,
            "transfer_s": transfer_us / 1e6 if is_known else None,
            "mean_under_way": transfer_us / period_us if is_known and period_us else None,
            "max_under_way": most if is_known else None,
            "period_s": period_us / 1e6,
            "busy_s": busy_us / 1e6 if is_known else None,
            "size_bytes": float(size) if is_size_known else None,
            "unspread_bytes": sum(each.moved or 0 for each in lost),
            "mean_rate_bytes_per_s": float(size) / period_us * 1e6 if is_size_known and period_us else None,
            "max_rate_bytes_per_s": float(fastest) if is_size_known else None,
            "is_size_lower_bound": is_bound,
        }
    return counted


def join_spans(spans: Iterable[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
    joined: list[tuple[datetime, datetime]] = []
    for since, until in sorted(spans):
        if joined and since <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], until))
        else:
            joined.append((since, until))
    return joined


def choose_range(dice: random.Random, zone: str) -> tuple[datetime | None, datetime | None]:
    day = ZONES[zone]
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    since, until = sorted(midnight + timedelta(minutes=dice.randrange(-1200, 3000)) for _ in range(2))
    until += timedelta(microseconds=dice.choice([0, 1, 999]))
    return dice.choice([(since, until), (since, None), (None, until), (None, None)])


def ask(function: str, since: datetime | None, until: datetime | None, **arguments: str | int) -> str:
    given: dict[str, Any] = {**arguments}
    given |= {"since": since} if since else {}
    given |= {"until": until} if until else {}
    listed = ", ".join(f"{name} => '{value}'" for name, value in given.items())
    return f"SELECT * FROM mart.{function}({listed})"


@pytest.mark.parametrize("zone", ZONES)
def test_load_agrees_with_an_independent_count(
    filled: psycopg.Connection, transfers: list[Transfer], zone: str
) -> None:
    dice = random.Random(zone)
    for number in range(6):
        since, until = choose_range(dice, zone) if number else (None, None)
        period = dice.choice(["ten_minutes", "hour", "day"]) if number else "ten_minutes"
        keys = dice.choice([(), ("interface",), ("direction",), ("interface", "direction")])
        question = ask(
            "load_over_time",
            since,
            until,
            archive=zone,
            period=period,
            grouped_by="_and_".join(keys) or "all",
        )
        rows = run_query(filled, question)
        groups: dict[tuple[str, ...], list[Transfer]] = {}
        for each in transfers:
            if each.zone == zone:
                groups.setdefault(tuple(getattr(each, key) for key in keys), []).append(each)
        for values, asked in groups.items():
            found = {row["starts_at"]: row for row in rows if tuple(row[key] for key in keys) == values}
            expected = count_load(asked, zone, period, since, until)
            assert sorted(found) == sorted(expected), question
            for moment, counted in expected.items():
                for name, value in counted.items():
                    got = found[moment][name]
                    is_equal = got == value or (
                        None not in (got, value)
                        and got == pytest.approx(value, rel=1e-9, abs=ROUNDING * (counted["transfer_s"] or 1))
                    )
                    assert is_equal, (question, moment, name, got, value)


def count_numbers(
    asked: list[Transfer], since: datetime | None, until: datetime | None
) -> tuple[Counter[int], Counter[int], int]:
    """Count the microseconds and the beginnings at each number under way, and transfers without a start."""
    days = {each.ended.astimezone(ZoneInfo(asked[0].zone)).date() for each in asked}
    zone = ZoneInfo(asked[0].zone)
    known = [
        each
        for each in asked
        if not each.is_hour_unknown
        and (since is None or each.ended > since or (each.began or each.ended) >= since)
        and (until is None or (each.began or each.ended) < until)
    ]
    edges = {max(each.began or each.ended, since or each.began or each.ended) for each in known}
    edges |= {min(each.ended, until or each.ended) for each in known}
    if since and min(days) < since.astimezone(zone).date():
        edges.add(since)
    if until and max(days) > (until - MICROSECOND).astimezone(zone).date():
        edges.add(until)
    placed = [each for each in known if each.began and each.began < each.ended]

    def count(moment: datetime) -> int:
        return sum((each.began or moment) <= moment < each.ended for each in placed)

    lasting: Counter[int] = Counter()
    for a, b in pairwise(sorted(edges)):
        lasting[count(a)] += (b - a) // MICROSECOND
    begun: Counter[int] = Counter()
    for each in known:
        if each.began and (since is None or each.began >= since):
            begun[count(each.began) + (each.began == each.ended)] += 1
    first = since.astimezone(zone).date() if since else date.min
    last = (until - MICROSECOND).astimezone(zone).date() if until else date.max
    lost = sum(each.began is None for each in known)
    lost += sum(each.is_hour_unknown and first <= each.ended.date() <= last for each in asked)
    return lasting, begun, lost


def test_concurrency_agrees_with_an_independent_count(
    filled: psycopg.Connection, transfers: list[Transfer]
) -> None:
    dice = random.Random(5)
    for zone in ZONES:
        for turn in range(4):
            since, until = choose_range(dice, zone) if turn else (None, None)
            interface = dice.choice(["nft", "ftp"])
            asked = [each for each in transfers if (each.zone, each.interface) == (zone, interface)]
            lasting, begun, lost = count_numbers(asked, since, until)
            question = ask("concurrency", since, until, archive=zone, interface=interface)
            all_us, all_count = lasting.total() or None, begun.total() or None
            rows = {row["under_way"]: row for row in run_query(filled, question)}
            assert set(rows) == {number for number in lasting | begun if lasting[number] or begun[number]}
            for number, row in rows.items():
                at_least_us = sum(us for other, us in lasting.items() if other >= number)
                at_least_count = sum(count for other, count in begun.items() if other >= number)
                assert row == {
                    "archive": zone,
                    "kind": "measured",
                    "under_way": number,
                    "lasting_s": pytest.approx(lasting[number] / 1e6),
                    "lasting_ratio": all_us and pytest.approx(lasting[number] / all_us),
                    "at_least_s": pytest.approx(at_least_us / 1e6),
                    "at_least_ratio": all_us and pytest.approx(at_least_us / all_us),
                    "begun_count": begun[number],
                    "begun_ratio": all_count and pytest.approx(begun[number] / all_count),
                    "begun_at_least_count": at_least_count,
                    "begun_at_least_ratio": all_count and pytest.approx(at_least_count / all_count),
                    "unplaced_count": lost,
                    "is_wait_included": interface == "nft",
                }, (question, number)


def test_neighbours_agree_with_an_independent_count(
    filled: psycopg.Connection, transfers: list[Transfer]
) -> None:
    question = ask("transfer_neighbours", None, None, limit_count=6)
    for others_interface in (None, "nft"):
        more = f", others_interface => '{others_interface}')" if others_interface else ")"
        rows = {row["transfer_id"]: row for row in run_query(filled, question[:-1] + more)}
        placed = [each for each in transfers if each.began and each.began < each.ended]
        placed = [each for each in placed if not each.is_hour_unknown]
        assert set(rows) == {each.id for each in placed}
        for each in placed:
            assert each.began is not None
            at_once = [
                other
                for other in placed
                if other.zone == each.zone
                and others_interface in (None, other.interface)
                and other.overlap_us(each.began, each.ended)
            ]
            others = [other for other in at_once if other is not each]
            length_us = each.overlap_us(each.began, each.ended)
            edges = {other.began for other in at_once} | {other.ended for other in at_once}
            inside = {moment for moment in edges if moment and each.began < moment < each.ended}
            at_limit_us = sum(
                (b - a) // MICROSECOND
                for a, b in pairwise(sorted(inside | {each.began, each.ended}))
                if sum((other.began or a) <= a < other.ended for other in at_once) >= 6
            )
            moved = sum(
                Fraction(
                    (other.moved or 0) * other.overlap_us(each.began, each.ended),
                    other.overlap_us(other.began or each.began, other.ended),
                )
                for other in others
            )
            row = rows[each.id]
            assert (row["others_count"], row["others_at_start"]) == (
                len(others),
                sum((other.began or each.ended) <= each.began for other in others),
            )
            met_us = sum(other.overlap_us(each.began, each.ended) for other in others)
            assert row["mean_others"] == pytest.approx(met_us / length_us, abs=1e-6)
            assert row["others_bytes"] == pytest.approx(float(moved), rel=1e-9, abs=1e-3)
            assert row["at_limit_s"] == pytest.approx(at_limit_us / 1e6)


def test_nothing_is_lost_or_counted_twice(filled: psycopg.Connection, transfers: list[Transfer]) -> None:
    """All time holds the bytes and seconds of all transfers, whatever the periods."""
    placed = [each for each in transfers if each.began and not each.is_hour_unknown]
    moved_bytes = sum(each.moved or 0 for each in placed)
    duration_s = sum((each.ended - (each.began or each.ended)).total_seconds() for each in placed)
    for period in ("ten_minutes", "day", "year"):
        load = run_query(
            filled,
            "SELECT sum(size_bytes) AS size_bytes, sum(transfer_s) AS transfer_s,"
            " sum(begun_count) AS begun_count"
            f" FROM mart.load_over_time(period => '{period}', grouped_by => 'interface')",
        )
        assert load == [
            {
                "size_bytes": pytest.approx(moved_bytes, rel=1e-12),
                "transfer_s": pytest.approx(duration_s, rel=1e-12),
                "begun_count": len(placed),
            }
        ]
