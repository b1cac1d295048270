"""Reads what keeps a stream bursty: batches of one user, how few users there are, and when in the week."""

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from clustering.documents import HOURS_OF_WEEK, QUANTILE_LEVELS, Bursts, UserShare

Key = tuple[str, str]

_ARCHIVE = "archive => %(archive)s, since => %(since)s, until => %(until)s"
_IDLE = f"{_ARCHIVE}, idle_s => %(idle_s)s"
_QUANTILES = "percentile_cont(%(levels)s::double precision[]) WITHIN GROUP (ORDER BY {}::double precision)"

# What is asked of which rows, for each interface and direction.
_PARTS = {
    "known": (
        "count(*) FILTER (WHERE user_id IS NULL)",
        f"mart.workload_requests({_ARCHIVE}) WHERE set_apart IS DISTINCT FROM 'failed'",
    ),
    "sizes": (
        "count(*), sum(request_count)::bigint,"
        f" {_QUANTILES.format('request_count')}, {_QUANTILES.format('size_bytes')}",
        f"mart.user_bursts({_IDLE})",
    ),
    "gaps": (_QUANTILES.format("gap_s"), f"mart.burst_requests({_IDLE}) WHERE gap_s IS NOT NULL"),
    "shares": ("array_agg(running_ratio ORDER BY user_rank)", f"mart.user_shares({_IDLE})"),
    "week": (
        "json_object_agg(hour_of_week, ARRAY[burst_count, request_count])",
        f"mart.week_profiles({_IDLE})",
    ),
}


def read_bursts(connection: psycopg.Connection, asked_for: Mapping[str, Any]) -> dict[Key, Bursts]:
    """The bursts by interface and direction. `asked_for`: archive, since, until and idle_s."""
    parameters = {**asked_for, "levels": list(QUANTILE_LEVELS)}
    found: dict[str, dict[Key, list[Any]]] = {
        name: {
            (interface, direction): values
            for interface, direction, *values in connection.execute(
                f"SELECT interface, direction, {columns} FROM {rows} GROUP BY interface, direction".encode(),  # noqa: S608
                parameters,
            )
        }
        for name, (columns, rows) in _PARTS.items()
    }
    return {
        key: _make_bursts(unattributed, {name: part.get(key) for name, part in found.items()})
        for key, (unattributed,) in found["known"].items()
    }


def make_no_bursts(unattributed_count: int = 0) -> Bursts:
    """The bursts where no user is known."""
    return _make_bursts(unattributed_count, {})


def _make_bursts(unattributed_count: int, found: Mapping[str, list[Any] | None]) -> Bursts:
    burst_count, request_count, counts, sizes = found.get("sizes") or (0, 0, [], [])
    (gaps,) = found.get("gaps") or ([],)
    (ratios,) = found.get("shares") or ([],)
    week: dict[str, tuple[int, int]] = (found.get("week") or [{}])[0]
    hours = [week.get(str(hour), (0, 0)) for hour in range(HOURS_OF_WEEK)]
    return Bursts(
        burst_count=burst_count,
        request_count=request_count,
        unattributed_count=unattributed_count,
        user_count=len(ratios),
        request_count_quantiles=counts,
        size_quantiles_bytes=sizes,
        gap_quantiles_s=gaps,
        user_shares=[
            UserShare(user_rank=rank, running_ratio=min(ratios[rank - 1], 1)) for rank in _ranks(len(ratios))
        ],
        week_burst_counts=[bursts for bursts, _ in hours],
        week_request_counts=[requests for _, requests in hours],
    )


def _ranks(count: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on below `count`, and `count` itself."""
    decade = 1
    while True:
        for factor in (1, 2, 5):
            if factor * decade >= count:
                if count:
                    yield count
                return
            yield factor * decade
        decade *= 10
