"""Keeps miss-ratio curves with a study; `mart.cache_curves` shows them.

All curves of a study come from one command, so they count the same gets and can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from tapewise.schema.errors import SimulationError

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.caches import CacheMisses


@dataclass(frozen=True)
class CurveStudy:
    """A kept study of an archive's requests, and the size of the disk in its machine file."""

    id: int
    name: str
    capacity_bytes: int


def find_curve_study(connection: psycopg.Connection, name: str, archive: str) -> CurveStudy:
    """Find a kept study of the archive's requests. Raises SimulationError if there is none of that name."""
    row = connection.execute(
        "SELECT id, demand = 'archive' AND demand_name = %s, (machine #>> '{disk,capacity_bytes}')::float8"
        " FROM studies.simulation_studies WHERE name = %s",
        [archive, name],
    ).fetchone()
    if row is None:
        raise SimulationError(f"no study is called '{name}'", hint="`tapewise simulate studies` shows them.")
    number, is_of_archive, capacity_bytes = row
    if not is_of_archive:
        raise SimulationError(
            f"the requests of study '{name}' are not those of archive '{archive}'",
            hint="A curve beside its runs would be that of other gets.",
        )
    return CurveStudy(number, name, round(capacity_bytes))


def keep_curves(
    connection: psycopg.Connection,
    study: CurveStudy,
    found: Sequence["CacheMisses"],
    options: Mapping[str, Any],
    *,
    now: datetime,
) -> None:
    """Keep the curves instead of those that the study had."""
    with connection.transaction():
        connection.execute("DELETE FROM studies.study_curves WHERE study_id = %s", [study.id])
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO studies.study_curves (study_id, policy, capacity_bytes, get_count, miss_count,"
                " miss_bytes, first_count, crowded_count, plain_miss_count, options, replayed_at)"
                # The same rule or size may have been typed twice.
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [
                    [
                        *(study.id, each.policy, each.capacity_bytes, each.get_count, each.miss_count),
                        *(each.miss_bytes, each.first_count, each.crowded_count, each.plain_miss_count),
                        *(Jsonb(dict(options)), now),
                    ]
                    for each in found
                ],
            )
