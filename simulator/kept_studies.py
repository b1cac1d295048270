"""Keeps the runs of studies, each as soon as it has ended, so that a study that was stopped can be continued.

A study is what its runs have in common: the requests, the machine as in the file, the program and, if it was
given one, its name. The same study may be started with other options and more seeds later; it gains their
runs.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from io import BytesIO
from typing import Any

import psycopg
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from tapewise.schema.errors import SimulationError
from tapewise.simulator.inputs import Requests
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import Result
from tapewise.simulator.variants import CAPACITY, Variant


@dataclass(frozen=True)
class Study:
    """A kept study."""

    id: int
    name: str


def open_study(
    connection: psycopg.Connection,
    name: str | None,
    given: Requests,
    machine: Machine,
    *,
    measured_on: Machine | None,
    assumes_origins: bool,
    options: Mapping[str, Any],
    now: datetime,
) -> Study:
    """Return the study of these requests on this machine; it is created if there is none.

    Each name makes a study of its own, so one machine with the same requests can have several. Without a
    `name`, it is named after the requests and the machine. `given` are the requests of the first seed.
    `connection` must have the loader's role and be in autocommit mode. Raises SimulationError if the study of
    that name is another one.
    """
    digest = _digest(given, machine, measured_on, assumes_origins=assumes_origins, name=name)
    default = f"{given.demand_name} on {machine.title}"
    number = 1
    while True:
        found = connection.execute(
            "SELECT id, name FROM studies.simulation_studies WHERE digest = %s", [digest]
        ).fetchone()
        if found is not None:
            return Study(*found)
        tried = name or (default if number == 1 else f"{default} ({number})")
        # Another process may insert the same study, or the same name, at any time.
        connection.execute(
            "INSERT INTO studies.simulation_studies (name, digest, demand, demand_name, demand_archive,"
            " demand_kind, options, machine_title, machine, program_version, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                tried,
                digest,
                given.demand,
                given.demand_name,
                given.demand_archive,
                given.demand_kind,
                Jsonb(dict(options)),
                machine.title,
                Jsonb(_dump(machine)),
                version("tapewise"),
                now,
            ],
        )
        taken = connection.execute(
            "SELECT digest FROM studies.simulation_studies WHERE name = %s", [tried]
        ).fetchone()
        if name is not None and taken is not None and taken[0] != digest:
            raise SimulationError(
                f"study '{name}' has other requests, another machine or version of Tapewise",
                hint="Choose another --name, or drop that study: `tapewise simulate studies --drop NAME`.",
            )
        number += 1


def _dump(machine: Machine) -> dict[str, Any]:
    tables = machine.model_dump(mode="json")
    # A study may change it, although it is not a field of a machine file.
    tables["disk"][CAPACITY.split(".")[1]] = machine.disk.capacity_bytes
    # The rules as curves name them.
    if machine.purge is not None:
        tables["purge"]["policy"] = machine.purge.policy
    for pool in machine.disk_pools:
        if machine.disk.pools and pool.purge is not None:
            tables["disk"]["pools"][pool.name]["policy"] = pool.purge.policy
    return tables


def _digest(
    given: Requests, machine: Machine, measured_on: Machine | None, *, assumes_origins: bool, name: str | None
) -> str:
    state = hashlib.sha256(_digest_program().encode())
    origin = [given.demand, given.demand_name, given.began_at.isoformat(), given.timezone, given.left_out]
    machines = [each and each.model_dump(mode="json") for each in (machine, measured_on)]
    state.update(json.dumps([origin, machines, assumes_origins, name]).encode())
    text = BytesIO()
    given.trace.write_csv(text)
    state.update(text.getbuffer())
    return state.hexdigest()


@cache
def _digest_program() -> str:
    """Return a digest of all that computes runs: another version may give other figures."""
    state = hashlib.sha256(version("tapewise").encode())
    folder = files("tapewise.simulator")
    for part in (folder, folder / "kernel", folder / "demand"):
        for entry in sorted(part.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith(".py"):
                state.update(entry.read_bytes())
    return state.hexdigest()


def read_results(
    connection: psycopg.Connection, study: Study, variants: Sequence[Variant], seeds: Sequence[int]
) -> list[Result]:
    """Return the kept runs of these variants and seeds, without those that are missing."""
    places = {variant.key: place for place, variant in enumerate(variants)}
    rows = connection.execute(
        "SELECT option, seed, figures, is_warm FROM studies.study_runs"
        " WHERE study_id = %s AND option = ANY(%s) AND seed = ANY(%s)",
        [study.id, list(places), list(seeds)],
    )
    return [Result(places[option], seed, figures, is_warm) for option, seed, figures, is_warm in rows]


def keep_result(
    connection: psycopg.Connection, study: Study, variant: Variant, result: Result, *, now: datetime
) -> None:
    """Keep a run, unless another process has kept the same one."""
    connection.execute(
        "INSERT INTO studies.study_runs (study_id, option, seed, changed, figures, is_warm, ran_at)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        [
            study.id,
            variant.key,
            result.seed,
            Jsonb(variant.values),
            Jsonb(result.figures),
            result.is_warm,
            now,
        ],
    )


@dataclass(frozen=True)
class StudySummary:
    """A kept study and its runs, as `mart.study_results` shows them."""

    study: str
    demand: str
    demand_name: str
    machine_title: str
    option_count: int
    seed_count: int
    run_count: int
    created_at: datetime


def list_studies(connection: psycopg.Connection) -> list[StudySummary]:
    """Return all studies with runs, sorted by name."""
    with connection.cursor(row_factory=class_row(StudySummary)) as cursor:
        return cursor.execute(
            "SELECT study, demand, demand_name, machine_title, count(DISTINCT option) AS option_count,"
            " count(DISTINCT seed) AS seed_count, count(*) AS run_count, created_at"
            " FROM mart.study_results"
            " GROUP BY study, demand, demand_name, machine_title, created_at ORDER BY study"
        ).fetchall()


def drop_study(connection: psycopg.Connection, name: str) -> None:
    """Drop a study with its runs. Raises SimulationError if there is none of that name."""
    if not connection.execute("DELETE FROM studies.simulation_studies WHERE name = %s", [name]).rowcount:
        raise SimulationError(f"no study is called '{name}'", hint="`tapewise simulate studies` shows them.")
