"""Reimplements the bootstrap of `mart.compare_archives` in plain Python, copying the requests of drawn days.

It shares nothing with the SQL except the rule by which a digest decides how often a day is drawn. Only days
in UTC are supported; simulated archives and evidence of what was on disk are not.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

DAY_US, HOUR_US = 86_400_000_000, 3_600_000_000
QUANTILES = {"p50": (Fraction(1, 2), 10), "p90": (Fraction(9, 10), 50), "p99": (Fraction(99, 100), 500)}
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Request:
    """One request, with times in microseconds since 1970."""

    direction: str
    size_bytes: int
    asked_us: int
    started_us: int | None
    ended_us: int
    times_us: dict[str, int]
    """The transfer, stage and total times that are known."""
    class_of_service: str | None = None

    @property
    def day(self) -> int:
        return self.asked_us // DAY_US

    @property
    def kind(self) -> tuple[str, str | None, int, int]:
        """The direction, class of service, digits of the size, and which of 1, 2 and 5 they reach."""
        digits = str(self.size_bytes)
        step = next(step for step in (5, 2, 1) if self.size_bytes >= step * 10 ** (len(digits) - 1))
        return self.direction, self.class_of_service, len(digits), step


@dataclass(frozen=True)
class Figure:
    """The columns of `mart.compare_archives` that are calculated here."""

    a_value: float | None
    b_value: float | None
    low: float | None
    high: float | None
    block_count: int | None
    p_value: float | None
    adjusted_p_value: float | None
    is_different: bool | None
    set_apart: str | None
    is_headline: bool = False
    is_same: bool = False


class Side:
    """The requests of one archive, which are resampled by day."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.requests = requests
        self.began_us = min(each.asked_us for each in requests)
        self.ended_us = max(each.ended_us for each in requests)
        self.days = range(self.began_us // DAY_US, self.ended_us // DAY_US + 1)

    def choose(self, direction: str) -> list[Request]:
        return [each for each in self.requests if direction in ("all", each.direction)]

    def calculate(self, direction: str, replicate: int) -> Iterator[tuple[str, str, float | None, int, int]]:
        """Yield (quantity, statistic, value, request count, day count). Replicate 0 draws each day once."""
        weights = {day: weigh(replicate, day) for day in self.days}
        chosen = self.choose(direction)
        drawn = [each for each in chosen for _ in range(weights[each.day])]
        spans = {day: self._clip(day, self.began_us, self.ended_us) for day in self.days}
        time_us = sum(weights[day] * (end - begin) for day, (begin, end) in spans.items())
        is_known = not chosen or any(self._is_timed(each) for each in chosen)

        def per_time(amount_us: float) -> float | None:
            return amount_us / time_us if time_us else None

        lasting = [(each.started_us, each.ended_us) for each in chosen if self._is_timed(each)]
        busy_us = idle_us = 0
        for day, (begin, end) in spans.items():
            parts = sorted(self._clip(day, started or 0, ended) for started, ended in lasting)
            busy_us += weights[day] * sum(max(0, until - since) for since, until in parts)
            covered_to, covered_us = begin, 0
            for since, until in parts:
                covered_us += max(0, until - max(since, covered_to))
                covered_to = max(covered_to, until)
            idle_us += weights[day] * (end - begin - covered_us)
        with_days = len(chosen), len(self.days)
        yield "requests", "per day", per_time(len(drawn) * DAY_US), *with_days
        yield "bytes", "per day", per_time(sum(each.size_bytes for each in drawn) * DAY_US), *with_days
        yield "under way", "mean", per_time(busy_us) if is_known else None, *with_days
        yield "none under way", "share", per_time(idle_us) if is_known else None, *with_days
        if direction == "all":
            yield from self._calculate_load(chosen, drawn, weights, time_us)
        for quantity in ("transfer time", "stage time", "total time"):
            timed = [each for each in chosen if quantity in each.times_us]
            if not timed or (quantity == "stage time" and direction != "get"):
                continue
            with_days = len(timed), len({each.day for each in timed})
            values = [each.times_us[quantity] for each in drawn if quantity in each.times_us]
            yield quantity, "mean", float(np.mean(values)) / 1e6 if values else None, *with_days
            for statistic, (probability, _) in QUANTILES.items():
                everything = sorted(each.times_us[quantity] for each in timed)
                found = shift_quantile(everything, values, probability)
                yield quantity, statistic, None if found is None else found / 1e6, *with_days

    def _calculate_load(
        self, chosen: list[Request], drawn: list[Request], weights: dict[int, int], time_us: int
    ) -> Iterator[tuple[str, str, float | None, int, int]]:
        """Yield how unevenly requests come, how large they are, and when they come. Users are not known."""
        days = len({each.day for each in chosen})
        hours: dict[int, int] = {}
        for each in chosen:
            hours[each.asked_us // HOUR_US] = hours.get(each.asked_us // HOUR_US, 0) + 1
        squares = sum(weights[hour * HOUR_US // DAY_US] * count**2 for hour, count in hours.items())
        dispersion = squares / len(drawn) - len(drawn) * HOUR_US / time_us if drawn else None
        yield "requests", "dispersion", dispersion, len(chosen), len(self.days)
        logs = [round(math.log(each.size_bytes) * 1e9) for each in drawn]
        size = math.exp(sum(logs) / len(logs) / 1e9) if logs else None
        yield "size", "geometric mean", size, len(chosen), days
        working = sum(8 <= each.asked_us % DAY_US // HOUR_US < 18 for each in drawn)
        yield "from 8 to 18 h", "share", working / len(drawn) if drawn else None, len(chosen), days

    @staticmethod
    def _is_timed(request: Request) -> bool:
        return request.started_us is not None and request.started_us <= request.ended_us

    @staticmethod
    def _clip(day: int, begin_us: int, end_us: int) -> tuple[int, int]:
        return max(begin_us, day * DAY_US), min(end_us, (day + 1) * DAY_US)


def weigh(replicate: int, day: int) -> int:
    """Return how often a day is drawn: the Poisson quantile at a probability derived from a digest."""
    if replicate == 0:
        return 1
    digest = hashlib.md5(f"{replicate} {day * 86400}".encode(), usedforsecurity=False).hexdigest()
    return max(0, int(stats.poisson.ppf(int(digest[:8], 16) / 2**32, 1)))


def shift_quantile(everything: Sequence[int], drawn: Sequence[int], probability: Fraction) -> int | None:
    """Apply Woodruff's method: shift the quantile of `everything` by as much as `drawn` changes its share."""
    if not drawn:
        return None
    at = everything[math.ceil(probability * len(everything)) - 1]

    def share(values: Sequence[int], *, is_at_included: bool) -> Fraction:
        below = sum(value < at or (is_at_included and value == at) for value in values)
        return Fraction(below, len(values))

    if share(drawn, is_at_included=True) < probability:
        probability += share(everything, is_at_included=True) - share(drawn, is_at_included=True)
    elif share(drawn, is_at_included=False) >= probability:
        probability += share(everything, is_at_included=False) - share(drawn, is_at_included=False)
    place = min(max(math.ceil(probability * len(everything)), 1), len(everything))
    return everything[place - 1]


def compare(a: Sequence[Request], b: Sequence[Request], replicate_count: int) -> dict[Key, Figure]:
    """Return every figure of two archives by (direction, quantity, statistic)."""
    sides = [Side(a), Side(b)]
    directions = [*sorted({each.direction for side in sides for each in side.requests}), "all"]
    values: dict[Key, list[dict[int, float | None]]] = {}
    counts: dict[Key, list[tuple[int, int] | None]] = {}
    for place, side in enumerate(sides):
        for direction in directions:
            for replicate in range(replicate_count + 1):
                for quantity, statistic, value, *count in side.calculate(direction, replicate):
                    key = (direction, quantity, statistic)
                    values.setdefault(key, [{}, {}])[place][replicate] = value
                    counts.setdefault(key, [None, None])[place] = (count[0], count[1])
    judged = {key: judge(key[2], values[key], counts[key]) for key in values}
    adjusted: dict[Key, float] = {}
    for is_headline in (True, False):
        tested = {key: each for key, each in judged.items()
                  if each.p_value is not None and is_head(key) == is_headline}  # fmt: skip
        adjusted |= adjust({key: each.p_value for key, each in tested.items() if not each.is_same})
        adjusted |= {key: 1.0 for key, each in tested.items() if each.is_same}
    return {
        key: Figure(**{**vars(each), "adjusted_p_value": adjusted.get(key), "is_headline": is_head(key),
                       "is_different": adjusted[key] < 0.05 if key in adjusted else None})
        for key, each in judged.items()
    }  # fmt: skip


def judge(
    statistic: str,
    by_replicate: Sequence[dict[int, float | None]],
    counts: Sequence[tuple[int, int] | None],
) -> Figure:
    """Return a figure from its values by replicate and each side's counts of requests and days."""
    (a, b), (a_count, b_count) = by_replicate, counts
    values = (a.get(0), b.get(0))
    block_count = min(count[1] for count in (a_count, b_count) if count)
    reason = None
    if a_count is None or b_count is None:
        reason = "only in b" if a_count is None else "only in a"
    elif values[0] is None or values[1] is None:
        reason = "not known"
    elif block_count < 2:
        reason = "one block"
    elif statistic in QUANTILES and min(a_count[0], b_count[0]) < QUANTILES[statistic][1]:
        reason = "too few"
    if reason is not None or values[0] is None or values[1] is None:
        return Figure(*values, None, None, block_count, None, None, None, reason)
    difference = values[1] - values[0]
    drawn = [y - x for x, y in ((a[r], b[r]) for r in a if r > 0) if x is not None and y is not None]
    error = float(np.std(drawn, ddof=1)) * math.sqrt(block_count / (block_count - 1))
    rounding = 1e-9 * max(abs(values[0]), abs(values[1]))
    if abs(difference) <= rounding:
        p_value = 1.0
    elif error <= rounding:
        p_value = 0.0
    else:
        p_value = 2 * float(stats.t.sf(abs(difference) / error, block_count - 1))
    margin = error * float(stats.t.ppf(0.975, block_count - 1))
    low, high = difference - margin, difference + margin
    is_same = max(abs(difference), error) <= rounding
    return Figure(*values, low, high, block_count, p_value, None, None, None, is_same=is_same)


def is_head(key: Key) -> bool:
    direction, quantity, statistic = key
    if statistic == "share":
        return quantity in ("found on disk", "from 8 to 18 h")
    return direction == "all" and statistic not in QUANTILES


def adjust(p_values: dict[Key, float]) -> dict[Key, float]:
    """Apply Holm's method at half of the level: the sorted p-values times 2 n, 2 (n - 1) ..., never less."""
    found: dict[Key, float] = {}
    least = 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        least = max(least, min(1.0, 2 * p_values[key] * (len(p_values) - rank)))
        found[key] = least
    return found


@dataclass(frozen=True)
class Mix:
    """One replicate of `mart.compared_mixes`."""

    a_value: float | None
    b_value: float | None
    service_difference: float | None
    a_common_count: int
    b_common_count: int


def decompose(
    a: Sequence[Request], b: Sequence[Request], direction: str, quantity: str, replicate: int
) -> Mix:
    """Split the difference of two means: replace each request of `a` by the mean of its kind in `b`."""
    timed = [
        [each for each in side for _ in range(weigh(replicate, each.day))
         if direction in ("all", each.direction) and quantity in each.times_us]
        for side in (a, b)
    ]  # fmt: skip
    by_kind: list[dict[Any, list[int]]] = [{}, {}]
    for times, side in zip(by_kind, timed, strict=True):
        for each in side:
            times.setdefault(each.kind, []).append(each.times_us[quantity])
    of_a, of_b = by_kind
    swapped = [
        (float(np.mean(of_b[each.kind])) - each.times_us[quantity]) / 1e6
        for each in timed[0] if each.kind in of_b
    ]  # fmt: skip
    values = [
        float(np.mean([each.times_us[quantity] for each in side])) / 1e6 if side else None for side in timed
    ]
    return Mix(
        values[0],
        values[1],
        float(np.mean(swapped)) if swapped else None,
        len(swapped),
        sum(each.kind in of_a for each in timed[1]),
    )


def judge_mix(values: Sequence[float | None], block_count: int) -> tuple[float, float]:
    """Return the interval around the first value; the others are its replicates."""
    assert values[0] is not None
    spread = float(np.std([each for each in values[1:] if each is not None], ddof=1))
    error = spread * math.sqrt(block_count / (block_count - 1))
    margin = error * float(stats.t.ppf(0.975, block_count - 1))
    return values[0] - margin, values[0] + margin
