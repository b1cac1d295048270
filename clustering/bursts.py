"""Reads statistics of bursts: batches from one user, a few busy users, and the hours of the week."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import psycopg

from tapewise.clustering.cells import FittedClass
from tapewise.clustering.documents import HOURS_OF_WEEK, QUANTILE_LEVELS, Bursts, UserShare

Key = tuple[str, str]

_ARCHIVE = "archive => %(archive)s, since => %(since)s, until => %(until)s"
_IDLE = f"{_ARCHIVE}, idle_s => %(idle_s)s"
_QUANTILES = "percentile_cont(%(levels)s::double precision[]) WITHIN GROUP (ORDER BY {}::double precision)"
# The class of each request, and that of the previous request in its burst. Requests in no class are skipped.
_CLASSED = f"""
    SELECT
        requests.interface, requests.direction, nearest.class_number,
        lag(nearest.class_number) OVER (
            PARTITION BY requests.interface, requests.direction, requests.user_id, requests.burst_number
            ORDER BY requests.place
        ) AS last_class_number
    FROM mart.burst_requests({_IDLE}, measure => %(measure)s) AS requests
    CROSS JOIN LATERAL (
        SELECT classes.class_number
        FROM unnest(
            %(interfaces)s::text[], %(directions)s::text[], %(class_numbers)s::integer[],
            %(size_logs)s::double precision[], %(time_logs)s::double precision[]
        ) AS classes (interface, direction, class_number, size_log10, time_log10)
        WHERE classes.interface = requests.interface AND classes.direction = requests.direction
        ORDER BY
            (classes.size_log10 - requests.size_log10) ^ 2 + (classes.time_log10 - requests.time_log10) ^ 2,
            classes.class_number
        LIMIT 1
    ) AS nearest
    WHERE requests.set_apart IS NULL AND requests.burst_number IS NOT NULL
"""  # noqa: S608  # our own names

# The share of the requests that each user makes together with those who make more. mart.user_shares also
# counts requests that are not in the fit: those of whole days, and forgotten ones.
_SHARES = f"""
    SELECT interface, direction,
        (sum(count(*)) OVER (
            PARTITION BY interface, direction ORDER BY count(*) DESC ROWS UNBOUNDED PRECEDING
        ) / sum(count(*)) OVER (PARTITION BY interface, direction))::double precision AS running_ratio
    FROM mart.workload_requests({_ARCHIVE})
    WHERE user_id IS NOT NULL AND set_apart IS DISTINCT FROM 'failed'
    GROUP BY interface, direction, user_id
"""  # noqa: S608  # our own names

# The columns to read, and the rows from which to read them, for each interface and direction.
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
    "repeats": (
        "count(*) FILTER (WHERE class_number = last_class_number)::double precision / count(*)",
        f"({_CLASSED}) AS classed WHERE last_class_number IS NOT NULL",
    ),
    "shares": ("array_agg(running_ratio ORDER BY running_ratio)", f"({_SHARES}) AS shares"),
    "week": (
        "json_object_agg(hour_of_week, ARRAY[burst_count, request_count])",
        f"mart.week_profiles({_IDLE})",
    ),
}


def read_bursts(
    connection: psycopg.Connection, asked_for: Mapping[str, Any], classes: Mapping[Key, Iterable[FittedClass]]
) -> dict[Key, Bursts]:
    """Read bursts by interface and direction; `asked_for` contains archive, since, until, idle_s, measure."""
    centers = [(*key, each) for key, found in classes.items() for each in found]
    parameters = {
        **asked_for,
        "levels": list(QUANTILE_LEVELS),
        "interfaces": [interface for interface, _, _ in centers],
        "directions": [direction for _, direction, _ in centers],
        "class_numbers": [each.class_number for _, _, each in centers],
        "size_logs": [each.size_log10 for _, _, each in centers],
        "time_logs": [each.time_log10 for _, _, each in centers],
    }
    found: dict[str, dict[Key, list[Any]]] = {
        name: {
            (interface, direction): values
            for interface, direction, *values in connection.execute(
                f"SELECT interface, direction, {columns} FROM {rows} GROUP BY interface, direction".encode(),  # noqa: S608  # our own: _PARTS
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
    """Make the `Bursts` of requests whose users are all unknown."""
    return _make_bursts(unattributed_count, {})


def _make_bursts(unattributed_count: int, found: Mapping[str, list[Any] | None]) -> Bursts:
    burst_count, request_count, counts, sizes = found.get("sizes") or (0, 0, [], [])
    (gaps,) = found.get("gaps") or ([],)
    (same_class_ratio,) = found.get("repeats") or (None,)
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
        same_class_ratio=same_class_ratio,
        user_shares=[
            UserShare(user_rank=rank, running_ratio=min(ratios[rank - 1], 1)) for rank in _ranks(len(ratios))
        ],
        week_burst_counts=[bursts for bursts, _ in hours],
        week_request_counts=[requests for _, requests in hours],
    )


def _ranks(count: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on below `count`, and `count` itself."""
    decade = 1
    while True:
        for factor in (1, 2, 5):
            if factor * decade >= count:
                if count:
                    yield count
                return
            yield factor * decade
        decade *= 10
