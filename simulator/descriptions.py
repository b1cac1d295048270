"""What came of a simulation, in words, for the terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import class_row

from schema.errors import SimulationError
from simulator.results import TIME_COLUMNS

# What the causes are called in the table, in the order of TIME_COLUMNS.
_CAUSES = ("user", "port", "file", "drive", "load", "room", "latency", "staging", "transfer", "contention")


@dataclass(frozen=True)
class RunSummary:
    """A simulated archive as `mart.simulation_runs` shows it."""

    archive: str
    timezone: str
    demand: str
    demand_name: str
    demand_kind: str | None
    options: dict[str, Any]
    machine_title: str
    seed: int
    job_count: int
    unfinished_count: int
    totals: dict[str, Any]
    is_circular: bool
    began_at: datetime
    steady_at: datetime | None
    ended_at: datetime
    simulated_at: datetime


def list_runs(connection: psycopg.Connection) -> list[RunSummary]:
    """All simulated archives, by name."""
    with connection.cursor(row_factory=class_row(RunSummary)) as cursor:
        return cursor.execute(_SELECT_RUNS + " ORDER BY archive").fetchall()


def get_run(connection: psycopg.Connection, archive: str) -> RunSummary:
    """The run of one simulated archive. Raises SimulationError if there is none of that name."""
    with connection.cursor(row_factory=class_row(RunSummary)) as cursor:
        found = cursor.execute(_SELECT_RUNS + " WHERE archive = %s", [archive]).fetchone()
    if found is None:
        raise SimulationError(
            f"no simulated archive is called '{archive}'", hint="`tapewise simulate list` shows them."
        )
    return found


def describe_run(connection: psycopg.Connection, run: RunSummary) -> Iterator[str]:
    """The run line by line: what it was, and where the requests' time went since it was steady."""
    zone = ZoneInfo(run.timezone)
    origin = {"archive": "as asked of archive", "model": "of workload model", "file": "of trace"}[run.demand]
    yield f"Simulated archive '{run.archive}': {run.machine_title}, seed {run.seed}"
    yield (
        f"  {run.job_count:,} requests {origin} {run.demand_name}"
        + (f" ({run.demand_kind})" if run.demand_kind else "")
        + f", {_show(run.began_at, zone)} to {_show(run.ended_at, zone)} {run.timezone}"
    )
    totals = run.totals
    yield (
        f"  {totals['staged_count']:,} staged from tape, {totals['stored_count']:,} stored to tape;"
        f" {totals['purge_count']:,} purges took {totals['purged_count']:,} files"
    )
    if run.unfinished_count:  # of an earlier version, which kept such runs
        yield (
            f"  {run.unfinished_count:,} never ended, so there are no means: those of the others say nothing"
            " of the machine. Run it again."
        )
    elif run.steady_at is None:
        yield (
            "  The disk was never as full as its low water mark, so this is no archive in use: no means are"
            " told. Begin with a fuller disk (--fill)."
        )
    else:
        yield from _describe_times(connection, run, zone)
    if run.is_circular:
        yield "  Its requests are made up: a comparison with the archive that they come from is circular."


def _describe_times(connection: psycopg.Connection, run: RunSummary, zone: ZoneInfo) -> Iterator[str]:
    means = ", ".join(f"avg({column})" for column in TIME_COLUMNS)
    rows = connection.execute(
        "SELECT direction, is_cached, count(*), avg(extract(EPOCH FROM ended_at - submitted_at))::float8,"  # noqa: S608  # our own names
        " percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(EPOCH FROM ended_at - submitted_at)::float8),"
        f" {means} FROM mart.requests JOIN mart.request_waits USING (archive, transfer_id)"
        " WHERE archive = %s AND submitted_at >= %s"
        " GROUP BY direction, is_cached ORDER BY direction DESC, is_cached DESC".encode(),
        [run.archive, run.steady_at],
    ).fetchall()
    assert run.steady_at is not None
    if run.steady_at > run.began_at:
        yield f"  In use since {_show(run.steady_at, zone)}; what was asked for before is left out."
    yield "  Where the time went: mean seconds of a request, by cause"
    heads = ("requests", "total", "95 %", *_CAUSES)
    yield "  " + " " * 14 + "".join(f"{head:>11}" for head in heads)
    for direction, is_cached, count, *seconds in rows:
        name = "put" if direction == "put" else f"get from {'disk' if is_cached else 'tape'}"
        yield f"  {name:<14}{count:>11,}" + "".join(f"{value:>11.2f}" for value in seconds)


def _show(moment: datetime, zone: ZoneInfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


_SELECT_RUNS = (
    "SELECT archive, timezone, demand, demand_name, demand_kind, options, machine_title, seed, job_count,"
    " unfinished_count, totals, is_circular, began_at, steady_at, ended_at, simulated_at"
    " FROM mart.simulation_runs"
)
