"""Keeps miss-ratio curves with a study; `mart.cache_curves` shows them.

All curves of a disk, or of one of its pools, come from one command, so they count the same gets and can be
compared. Those of different pools are of the same time, and either all or none of them have locks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from tapewise.schema.errors import SimulationError
from tapewise.simulator.machines import Machine

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.caches import CacheMisses


# The marks and times belong to one disk or pool. The others must be the same for all curves of a study.
_OWN_OPTIONS = ("high_ratio", "low_ratio", "keep_s", "unstored_s")


@dataclass(frozen=True)
class CurveStudy:
    """A kept study of an archive's requests, and the disk in its machine file.

    `pools` are the classes and the size of each pool, as in the file; None is what the file leaves out.
    """

    id: int
    name: str
    capacity_bytes: int
    pools: Mapping[str, tuple[list[str] | None, int | None]]


def find_curve_study(connection: psycopg.Connection, name: str, archive: str) -> CurveStudy:
    """Find a kept study of the archive's requests. Raises SimulationError if there is none of that name."""
    row = connection.execute(
        "SELECT id, demand = 'archive' AND demand_name = %s, machine -> 'disk'"
        " FROM studies.simulation_studies WHERE name = %s",
        [archive, name],
    ).fetchone()
    if row is None:
        raise SimulationError(f"no study is called '{name}'", hint="`tapewise simulate studies` shows them.")
    number, is_of_archive, disk = row
    if not is_of_archive:
        raise SimulationError(
            f"the requests of study '{name}' are not those of archive '{archive}'",
            hint="A curve beside its runs would be that of other gets.",
        )
    pools = {
        pool: (fields.get("classes_of_service"), fields.get("capacity_bytes"))
        for pool, fields in disk.get("pools", {}).items()
    }
    return CurveStudy(number, name, round(disk["capacity_bytes"]), pools)


def check_pools(study: CurveStudy, machine: Machine) -> None:
    """Raise SimulationError if the machine's disk is not divided as that of the study's machine file.

    A pool of that name would be for other files, or the study's machine would have another size of it.
    """
    own = {
        name: (pool.classes_of_service and list(pool.classes_of_service), pool.capacity_bytes)
        for name, pool in machine.disk.pools.items()
    }
    if (own, machine.disk.capacity_bytes) != (study.pools, study.capacity_bytes):
        raise SimulationError(
            f"the disk of machine '{machine.title}' is not divided as that of study '{study.name}'",
            hint="Take the machine file of the study, or make a study of this one.",
        )


def keep_curves(
    connection: psycopg.Connection,
    study: CurveStudy,
    pool: str | None,
    found: Sequence["CacheMisses"],
    left_out: Mapping[tuple[str, int, str | None], int],
    options: Mapping[str, Any],
    *,
    now: datetime,
) -> None:
    """Keep the curves of a pool, or of a whole disk (None), instead of those that the study had of it.

    Curves of other pools that count the gets of another time, or without locks if these have locks, are
    dropped, too. Points of other pools in `found` are not kept: they are no curves. `left_out` has, by rule,
    size and pool, how many gets a run with that disk leaves out; others had no run. Each point has misses.
    """
    common = {name: value for name, value in options.items() if name not in _OWN_OPTIONS}
    with connection.transaction():
        connection.execute(
            "DELETE FROM studies.study_curves"
            " WHERE study_id = %s AND (pool = %s OR options - %s::text[] <> %s)",
            [study.id, pool or "", list(_OWN_OPTIONS), Jsonb(common)],
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO studies.study_curves (study_id, policy, capacity_bytes, get_count, miss_count,"
                " miss_bytes, first_count, crowded_count, plain_miss_count, too_large_count,"
                " left_out_get_count, options, replayed_at, pool)"
                # The same rule or size may have been typed twice.
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [
                    [
                        *(study.id, each.policy, each.capacity_bytes, each.get_count, each.miss_count),
                        *(each.miss_bytes, each.first_count, each.crowded_count, each.plain_miss_count),
                        *(each.too_large_count, left_out.get((each.policy, each.capacity_bytes, pool))),
                        *(Jsonb(dict(options)), now, pool or ""),
                    ]
                    for each in found
                    if each.pool == pool
                ],
            )
