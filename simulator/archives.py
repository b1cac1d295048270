"""Writes the results of a run as an archive, into the tables that also hold archives read from logs.

Each finished request becomes a row in `transfers` and one in `requests`, and each stage a row in `stages`.
Users keep their numbers from the trace. In the ledger, a single file represents the run, and each fact counts
as one of its lines. Schema `studies` contains the run itself, its samples, and the parts of each request's
time.
"""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

import polars as pl
import psycopg
import sqlalchemy as sa
from psycopg import errors
from psycopg.types.json import Jsonb

from tapewise.schema.errors import SimulationError
from tapewise.schema.tables.derived import requests
from tapewise.schema.tables.facts import stages, transfers
from tapewise.schema.tables.studies import request_waits, simulation_samples
from tapewise.schema.tables.upgrade import check_revision
from tapewise.schema.writing.archives import analyze_archives
from tapewise.schema.writing.cells import add_cells, sum_cells
from tapewise.schema.writing.day_cells import add_days
from tapewise.schema.writing.day_sums import sum_days
from tapewise.schema.writing.facts import FactWriter
from tapewise.schema.writing.loader import copy_frame, frame_schema
from tapewise.schema.writing.names import NameTable
from tapewise.schema.writing.partitions import analyze_partitions, make_partitions, report_changes
from tapewise.schema.writing.request_rollups import add_requests, sum_requests
from tapewise.schema.writing.stage_cells import add_stages, sum_stages
from tapewise.simulator.inputs import Requests
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import STORED_IN, TIME_COLUMNS, Run

SOURCE = "simulation"
_TOTAL_COLUMNS = (
    "event_count", "staged_count", "joined_count", "stored_count", "stored_bytes", "purge_count",
    "purged_count", "purged_bytes", "disk_used_bytes", "moved_bytes", "tapes", "levels",
    "outages", "failed_try_count", "given_up_count", "disk_pools",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """A run and its inputs. `simulated_at` is real time, not simulated time.

    `displaced_files` are the files that did not fit on the disk at the start.
    """

    given: Requests
    machine: Machine
    run: Run
    seed: int
    options: Mapping[str, Any]
    displaced_files: pl.Series
    simulated_at: datetime

    @property
    def displaced_staged_count(self) -> int:
        """The number of displaced files that had to be staged, each counted once."""
        staged = self.run.jobs.filter("is_staged")["file"]
        return staged.filter(staged.is_in(self.displaced_files.implode())).n_unique()

    @property
    def steady_at(self) -> datetime | None:
        """When the run reached a steady state, in simulated time."""
        steady_s = self.run.totals.steady_s
        return None if steady_s is None else self.given.began_at + timedelta(seconds=steady_s)


def check_name(connection: psycopg.Connection, name: str) -> None:
    """Raise SimulationError if an archive has that name. A run never writes into an existing archive."""
    row = connection.execute("SELECT kind FROM core.archives WHERE name = %s", [name]).fetchone()
    if row is None:
        return
    if row[0] == "simulated":
        raise SimulationError(
            f"there is already an archive called '{name}'",
            hint=f"Choose another name, or drop that archive: `tapewise archives drop {shlex.quote(name)}`.",
        )
    raise SimulationError(
        f"archive '{name}' is {row[0]}: a simulation never writes into it",
        hint="Choose another name for the simulated archive.",
    )


def write_archive(
    connection: psycopg.Connection, settling: psycopg.Connection, name: str, outcome: Outcome
) -> int:
    """Write the run as archive `name`, in one transaction; returns the number of requests written.

    Both connections must have the loader's role. `settling`, in autocommit mode, creates the partitions.
    Raises SimulationError if that archive exists.
    """
    given = outcome.given
    jobs = _place_jobs(given, outcome.run)
    ended = jobs.filter(pl.col("ended_at").is_not_null())
    for table, column in (("transfers", "ended_at"), ("requests", "ended_at"), ("stages", "staged_at")):
        make_partitions(settling, table, ended[column].drop_nulls().dt.date().unique())
    try:
        with connection.transaction():
            values = {"name": name, "kind": "simulated", "timezone": given.timezone}
            archive_id = _insert(connection, "core.archives", values)
            check_revision(connection)  # nobody else knows the archive, so it needs no lock
            report_changes(connection)
            lineage = _insert_ledger(connection, archive_id, name, ended, outcome)
            people = NameTable(connection, "users", archive_id)
            facts = ended.with_columns(
                people.resolve(ended["user"].cast(pl.String)).alias("user_id"),
                archive_id=pl.lit(archive_id, pl.Int32),
                **{column: pl.lit(value, pl.Int32) for column, value in lineage.items()},
            )
            writer = FactWriter(settling, lineage["source_id"])
            facts, brought = _write_facts(connection, writer, facts)
            moved, asked = _fit(facts, transfers), _fit(facts, requests)
            add_cells(connection, archive_id, [sum_cells(moved, given.timezone, has_failures=True)])
            add_days(connection, lineage["source_id"], [sum_days(moved, given.timezone)])
            summed = sum_requests(asked, given.timezone, is_simulated=True, steady_at=outcome.steady_at)
            add_requests(connection, [summed])
            add_stages(connection, [sum_stages(brought, given.timezone)])
            _write_study(connection, archive_id, outcome, facts)
    except errors.UniqueViolation:
        connection.rollback()
        check_name(connection, name)
        raise
    analyze_archives(connection)
    analyze_partitions(settling)
    return facts.height


def _place_jobs(given: Requests, run: Run) -> pl.DataFrame:
    """Return the run's jobs with timestamps instead of seconds, numbered from 1 in `persona`."""
    begin = pl.lit(given.began_at).cast(pl.Datetime("us", "UTC"))

    def at(seconds: pl.Expr) -> pl.Expr:
        return begin + pl.duration(microseconds=(seconds * 1e6).round().cast(pl.Int64))

    stage_ended_s = pl.col("stage_began_s") + pl.col("stage_s")
    return run.jobs.with_columns(
        interface=given.trace["interface"],
        persona=pl.int_range(1, pl.len() + 1, dtype=pl.Int32),
        is_joined=pl.when(pl.col("direction") == "get").then(pl.col("joined_row").is_not_null()),
        submitted_at=at(pl.col("submitted_s")),
        stage_began_at=at(pl.col("stage_began_s")),
        staged_at=at(stage_ended_s),
        started_at=at(pl.col("granted_s")),
        ended_at=at(pl.col("ended_s")),
        # As in a log, the duration begins when the port is granted, so it includes latency and waits for disk
        # space.
        duration_s=pl.col("ended_s") - pl.col("granted_s"),
    ).sort("ended_at", "persona")


def _insert_ledger(
    connection: psycopg.Connection, archive_id: int, name: str, ended: pl.DataFrame, outcome: Outcome
) -> dict[str, int]:
    """Insert the source and the file that represent the run; returns their IDs by column name."""
    source_id = _insert(
        connection,
        "ledger.sources",
        {
            "archive_id": archive_id,
            "name": SOURCE,
            "format": SOURCE,
            "timezone": outcome.given.timezone,
            "clock_resolution_s": 1e-6,
            "is_counted": True,
            "earliest_at": outcome.given.began_at,
            "failure_tables": ["stages", "transfers"],  # a run says what failed
        },
    )
    fact_count = ended.height + ended["staged_at"].count()
    log_file_id = _insert(
        connection,
        "ledger.log_files",
        {
            "source_id": source_id,
            "path": f"tapewise simulate run --into {name}",
            "content_digest": "",
            "read_bytes": 0,
            "waiting_bytes": 0,
            "format_version": 1,
            "program_version": version("tapewise"),
            "first_read_at": outcome.simulated_at,
            "last_read_at": outcome.simulated_at,
            "first_event_at": pl.concat([ended["ended_at"], ended["staged_at"]]).min(),
            "last_event_at": ended["ended_at"].max(),
            "line_count": fact_count,
            "loaded_count": fact_count,
            "held_count": 0,
            "ignored_count": 0,
            "rejected_count": 0,
        },
    )
    return {"source_id": source_id, "log_file_id": log_file_id}


def _write_facts(
    connection: psycopg.Connection, writer: FactWriter, jobs: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Write transfers, stages and requests; returns the jobs with their transfers' IDs, and the stages."""
    jobs = jobs.with_columns(line_number=pl.int_range(1, pl.len() + 1, dtype=pl.Int64), file_key="file")
    jobs = jobs.with_columns(
        line_hash=pl.col("line_number"), occurrence=0, ordinal=0, operation=pl.col("direction"),
        is_time_ambiguous=False, is_duration_coarse=False, is_duration_below_clock=False,
        is_size_saturated=False, is_rate_inconsistent=False, is_time_of_day_unknown=False, is_counted=True,
    )  # fmt: skip
    moved = writer.encode(transfers, _fit(jobs, transfers).drop("id"))
    writer.write(connection, moved)
    jobs = jobs.with_columns(moved.rows["id"])
    staged = jobs.filter(pl.col("staged_at").is_not_null()).rename({"id": "transfer_id"})
    staged = staged.with_columns(
        line_number=jobs.height + pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        is_failed=pl.lit(value=False),
        operation=pl.lit("stage"),
        started_at=pl.col("stage_began_at"),
        duration_s=pl.col("stage_s"),
    ).with_columns(line_hash=pl.col("line_number"))
    brought = writer.encode(stages, _fit(staged, stages).drop("id"))
    writer.write(connection, brought)
    writer.end(connection)
    writer.summarise()
    staged = staged.with_columns(brought.rows["id"])
    # A request that joined a stage also refers to it, but the time of the stage is counted only once: for the
    # request that started it.
    jobs = jobs.rename({"id": "transfer_id"}).with_columns(
        stager=pl.when(pl.col("staged_at").is_null()).then(pl.col("joined_row") + 1).otherwise("persona")
    )
    jobs = jobs.drop("staged_at").join(
        staged.select("staged_at", stager=pl.col("persona").cast(pl.Int64), stage_id="id"),
        on="stager",
        how="left",
        maintain_order="left",
    )
    copy_frame(connection, requests, _fit(jobs, requests))
    return jobs.with_columns(id="transfer_id"), brought.rows


def _write_study(
    connection: psycopg.Connection, archive_id: int, outcome: Outcome, facts: pl.DataFrame
) -> None:
    given, machine, totals = outcome.given, outcome.machine, asdict(outcome.run.totals)
    origin = (given.demand_archive, given.demand_kind)
    if given.demand_kind == "simulated":
        # Use the origin of that archive's own requests: if they came from made-up logs, so do these.
        held = connection.execute(
            "SELECT demand_archive, demand_kind FROM studies.simulation_runs"
            " JOIN core.archives ON archives.id = archive_id WHERE name = %s AND demand_kind IS NOT NULL",
            [given.demand_archive],
        ).fetchone()
        origin = held or origin
    _insert(
        connection,
        "studies.simulation_runs",
        {
            "archive_id": archive_id,
            "demand": given.demand,
            "demand_name": given.demand_name,
            "demand_archive": origin[0],
            "demand_kind": origin[1],
            "options": Jsonb(dict(outcome.options)),
            "machine_title": machine.title,
            "machine": Jsonb(machine.model_dump(mode="json")),
            "seed": outcome.seed,
            "program_version": version("tapewise"),
            "simulated_at": outcome.simulated_at,
            "began_at": given.began_at,
            "steady_at": outcome.steady_at,
            "ended_at": facts["ended_at"].max() if facts.height else given.began_at,
            "job_count": given.trace.height,
            "unfinished_count": outcome.run.totals.unfinished_count,
            "totals": Jsonb(
                {
                    **{column: totals[column] for column in _TOTAL_COLUMNS},
                    "displaced_count": len(outcome.displaced_files),
                    "displaced_staged_count": outcome.displaced_staged_count,
                }
            ),
        },
        returning="archive_id",
    )
    begin = pl.lit(given.began_at).cast(pl.Datetime("us", "UTC"))
    samples = outcome.run.samples.with_columns(
        sampled_at=begin + pl.duration(microseconds=(pl.col("sample_s") * 1e6).round().cast(pl.Int64))
    ).drop("sample_s")
    long = samples.unpivot(index="sampled_at", variable_name="quantity", value_name="value").drop_nulls(
        "value"
    )
    long = long.with_columns(archive_id=pl.lit(archive_id, pl.Int32))
    copy_frame(connection, simulation_samples, _fit(long, simulation_samples))
    waits = facts.select("archive_id", "transfer_id", *TIME_COLUMNS)
    for part, whole in STORED_IN.items():
        waits = waits.with_columns(pl.col(whole) + pl.col(part))
    copy_frame(connection, request_waits, _fit(waits, request_waits))


def _fit(frame: pl.DataFrame, table: sa.Table) -> pl.DataFrame:
    """Return the columns of `table`; those that the frame lacks are null."""
    return frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in frame_schema(table).items()
    )


def _insert(
    connection: psycopg.Connection, table: str, values: Mapping[str, Any], *, returning: str = "id"
) -> int:
    row = connection.execute(
        f"INSERT INTO {table} ({', '.join(values)})"  # noqa: S608  # our own names
        f" VALUES ({', '.join(['%s'] * len(values))}) RETURNING {returning}".encode(),
        list(values.values()),
    ).fetchone()
    assert row is not None
    return int(row[0])
