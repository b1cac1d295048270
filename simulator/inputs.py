"""The requests of a run: from an archive, a workload model or a trace file.

Whatever their source, the requests form a trace (`traces.py`) with the additional columns `submitted_at`,
`interface` and `origin`. The origin of a put is `put`. The origin of a get says where its file is: `trace`
(put earlier in the trace), `disk` (on disk at the start) or `tape`.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

import polars as pl
import psycopg

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SimulationError
from tapewise.schema.moments import place_range
from tapewise.schema.writing.loader import read_frame
from tapewise.simulator.demand.models import read_model
from tapewise.simulator.demand.streams import count_unknown_origins, make_stream
from tapewise.simulator.demand.trace_files import complete_trace
from tapewise.simulator.demand.traces import place_in_pools, read_origin, read_trace
from tapewise.simulator.machines import Machine

_TRACE = """
    SELECT trace.submitted_at, trace.direction, trace.interface, trace.user_number, trace.file_number,
        trace.size_bytes, trace.origin, trace.left_out, trace.is_origin_assumed, trace.is_cached,
        trace.is_file_known, {is_failed} AS is_failed{columns}
    FROM
        mart.trace_requests(archive => %s, since => %s, until => %s, interface => %s, files => 'key',
            failed => %s) AS trace
    {joins}
    ORDER BY trace.place
"""
# Where the columns are that only some machines need.
_TRANSFERS = """
    LEFT JOIN mart.transfers
        ON trace.transfer_id = transfers.transfer_id AND trace.ended_at = transfers.ended_at
"""
# Null where no log reports failures: mart.trace_requests takes these requests for successful ones.
_IS_FAILED = "CASE WHEN trace.is_failed OR transfers.is_failure_logged THEN trace.is_failed END"
# Accounts are names, which the reader does not see.
_ACCOUNTS = """
    SELECT transfers.id, transfers.account
    FROM core.transfers JOIN core.archives ON transfers.archive_id = archives.id
    WHERE archives.name = %s AND transfers.account IS NOT NULL
"""
_PLACES = {
    "client": ("transfers.client", _TRANSFERS),
    "class_of_service": ("transfers.class_of_service", _TRANSFERS),
    "transfer_id": ("trace.transfer_id", ""),
}
_OUTAGES = """
    SELECT started_at, ended_at FROM mart.outages WHERE archive = %s ORDER BY started_at, ended_at
"""
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "submitted_at": pl.Datetime("us", "UTC"),
    "direction": pl.String,
    "interface": pl.String,
    "user": pl.Int64,
    "file": pl.Int64,
    "size_bytes": pl.Int64,
    "origin": pl.String,
    "left_out": pl.String,
    "is_unknown": pl.Boolean,
    "is_cached": pl.Boolean,
    "is_file_known": pl.Boolean,
    "is_failed": pl.Boolean,
}


@dataclass(frozen=True)
class Requests:
    """The requests of a run and where they come from.

    `demand_archive` and `demand_kind` describe the archive that they come from, if known. `left_out` counts
    the archive's requests that are not in the trace, by reason. `unknown_origin_count` counts the gets whose
    file is assumed to be on disk because its place is unknown. `measured_origin_count` counts the gets whose
    file begins where the measured machine had it, or is assumed to have had it. `outages_s` are the archive's
    recorded outages in the time of the requests, in seconds after the first; None for other requests.
    `failed_ratio` is the share of requests that failed, of those of which the log says so, where the machine
    makes its own failures; failed requests are left out then.
    """

    trace: pl.DataFrame
    began_at: datetime
    timezone: str
    demand: Literal["archive", "model", "file"]
    demand_name: str
    demand_archive: str | None = None
    demand_kind: str | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    unknown_origin_count: int = 0
    measured_origin_count: int = 0
    outages_s: tuple[tuple[float, float], ...] | None = None
    failed_ratio: float | None = None

    @property
    def has_known_files(self) -> bool:
        """Whether it is known of some requests which file they are for, so that ghosts can be laid."""
        return "is_file_known" in self.trace.columns and bool(self.trace["is_file_known"].any())

    def fit_machine(self, machine: Machine) -> Self:
        """Leave out and count the requests for files larger than the machine accepts, or than their pool.

        An archive sends such files straight to tape, or refuses them. What they would take of drives is left
        out, too.

        Requests from a trace file are not left out, because its author can fix the file. Raises
        SimulationError if no request is left.
        """
        if self.demand == "file":
            return self
        largest = machine.disk.largest_file_bytes
        reason = f"larger than the machine accepts ({largest:,} bytes)"
        fitted = self._leave_out(self.trace["size_bytes"] > largest, reason)
        if machine.disk.pools:
            rooms = pl.Series([pool.capacity_bytes for pool in machine.disk_pools])
            room = rooms.gather(place_in_pools(fitted.trace, machine))
            fitted = fitted._leave_out(
                fitted.trace["size_bytes"] > room, "larger than their pool of the disk"
            )
        return fitted

    def _leave_out(self, is_out: pl.Series, reason: str) -> Self:
        if not is_out.any():
            return self
        if is_out.all():
            raise SimulationError(f"every request of {self.demand} '{self.demand_name}' is {reason}")
        left_out = self.left_out | {reason: int(is_out.sum())}
        return replace(self, trace=self.trace.filter(~is_out), left_out=left_out)

    def with_trace(self, trace: pl.DataFrame) -> Self:
        """Return the same requests with another trace."""
        return replace(self, trace=trace)


def read_archive_requests(
    connection: psycopg.Connection,
    archive: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    interface: str | None = None,
    columns: Sequence[str] = (),
    are_failures_simulated: bool = False,
) -> Requests:
    """Read the requests of an archive by the scenario rules of LLNL's model (`mart.trace_requests`).

    Where the log has paths or keys, they say which file a request is for (`is_file_known`). Where such a file
    was at the beginning is then decided by the simulated machine, so its origin is never `disk`; `is_cached`
    keeps what was measured.

    A `since` or `until` without a time zone is in the archive's time zone, as in `read_model_requests`.
    `columns` are `client`, `class_of_service` or `transfer_id`, which the trace shall have, too; the first
    two are null where the log does not say. `connection` must have the reader's role. Raises SimulationError
    if there is no such archive or it has no requests to run.
    """
    found = connection.execute(
        "SELECT kind, timezone FROM mart.archives WHERE archive = %s", [archive]
    ).fetchone()
    if found is None:
        raise SimulationError(
            f"no archive is called '{archive}'", hint="`tapewise archives list` shows them."
        )
    kind, timezone = found
    failed = "none" if are_failures_simulated else None
    places = [_PLACES[name] for name in columns]
    joins = [join for _, join in places] + [_TRANSFERS] * are_failures_simulated
    query = _TRACE.format(
        is_failed=_IS_FAILED if are_failures_simulated else "trace.is_failed",
        columns="".join(f", {place}" for place, _ in places),
        joins=" ".join(dict.fromkeys(joins)),
    )
    rows = read_frame(
        connection,
        query,
        [archive, *place_range(since, until, timezone), interface, failed],
        _COLUMNS | {name: pl.Int64 if name == "transfer_id" else pl.String for name in columns},
    )
    left_out = dict(rows.drop_nulls("left_out")["left_out"].value_counts().sort("left_out").iter_rows())
    trace = rows.filter(pl.col("left_out").is_null())
    if trace.is_empty():
        raise SimulationError(
            f"archive '{archive}' has no requests that can be run",
            hint=", ".join(f"{count:,} left out: {reason}" for reason, count in left_out.items()) or None,
        )
    began_at = trace["submitted_at"][0]
    is_unknown = trace["is_unknown"] & ~trace["is_file_known"]
    is_decided_here = pl.col("is_file_known") & (pl.col("origin") == "disk")
    trace = trace.with_columns(origin=pl.when(is_decided_here).then(pl.lit("tape")).otherwise("origin"))
    trace = place_in_time(trace.drop("left_out", "is_unknown", "is_failed"), began_at)
    outages = connection.execute(_OUTAGES, [archive]).fetchall()
    return Requests(
        trace,
        began_at,
        timezone,
        "archive",
        archive,
        archive,
        kind,
        left_out,
        int(is_unknown.sum()),
        _count_measured_origins(trace.filter(~pl.col("is_file_known"))),
        tuple(_place_outages(outages, began_at, float(trace["submitted_s"][-1]))),
        _find_failed_ratio(rows) if are_failures_simulated else None,
    )


def read_archive(
    warehouse: Warehouse,
    archive: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    interface: str | None = None,
    columns: Sequence[str] = (),
    are_failures_simulated: bool = False,
) -> Requests:
    """Read the requests of an archive as `read_archive_requests` does, also with the column `account`."""
    read = ["transfer_id" if name == "account" else name for name in columns]
    with closing(warehouse.connect(Role.READER)) as reader:
        given = read_archive_requests(
            reader,
            archive,
            since=since,
            until=until,
            interface=interface,
            columns=read,
            are_failures_simulated=are_failures_simulated,
        )
    if "account" not in columns:
        return given
    with closing(warehouse.connect(Role.LOADER)) as loader:
        accounts = read_frame(loader, _ACCOUNTS, [archive], {"transfer_id": pl.Int64, "account": pl.String})
    trace = given.trace.join(accounts, on="transfer_id", how="left", maintain_order="left")
    return given.with_trace(trace.drop("transfer_id"))


def _place_outages(
    outages: Sequence[tuple[datetime, datetime | None]], began_at: datetime, last_s: float
) -> Iterator[tuple[float, float]]:
    """Yield the outages of the trace's time, in its seconds; one that is not over lasts until its end."""
    for started_at, ended_at in outages:
        begins_s = max(0.0, (started_at - began_at).total_seconds())
        ends_s = (ended_at - began_at).total_seconds() if ended_at else last_s
        if begins_s < ends_s and begins_s <= last_s:
            yield begins_s, ends_s


def _find_failed_ratio(rows: pl.DataFrame) -> float | None:
    """Return the share of requests that failed, of those of which the log says so; None without any."""
    found: float | None = rows.select(pl.col("is_failed").cast(pl.Float64).mean()).item()
    return found


def _count_measured_origins(trace: pl.DataFrame) -> int:
    """Count the gets whose file is where the measured machine had it, whatever the simulated one is."""
    if not {"origin", "direction"} <= set(trace.columns):
        return 0  # other checks report a missing direction
    is_measured = (pl.col("direction") == "get") & pl.col("origin").is_in(["disk", "tape"])
    return trace.filter(is_measured).height


def place_in_time(trace: pl.DataFrame, began_at: datetime) -> pl.DataFrame:
    """Add `submitted_s` to the trace: the seconds from `began_at` to `submitted_at`."""
    since = pl.col("submitted_at") - pl.lit(began_at).cast(pl.Datetime("us", "UTC"))
    return trace.with_columns(submitted_s=since.dt.total_microseconds() / 1e6)


def read_model_requests(
    connection: psycopg.Connection,
    name: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    interface: str | None = None,
    rate_factor: float = 1.0,
    seed: int,
) -> Requests:
    """Generate a stream from a workload model, by default for the period that the model was fitted to.

    Bursts begin `rate_factor` times as often as in the model. `connection` must have the loader's role.
    Raises WorkloadError if there is no such model, and SimulationError if the stream has no requests.
    """
    model = read_model(connection, name)
    asked_from, asked_until = place_range(since, until, model.timezone)
    began_at, ended_at = asked_from or model.first_ended_at, asked_until or model.last_ended_at
    if ended_at <= began_at:
        raise SimulationError(f"the stream would end at {ended_at} and begin at {began_at}")
    trace = make_stream(
        model,
        began_at=began_at,
        duration_s=(ended_at - began_at).total_seconds(),
        seed=seed,
        rate_factor=rate_factor,
    )
    if interface is not None:
        known = sorted({group.interface for group in model.groups})
        if interface not in known:
            raise SimulationError(
                f"workload model '{name}' has no interface '{interface}'", hint=f"It has {', '.join(known)}."
            )
        trace = trace.filter(pl.col("interface") == interface)
    if trace.is_empty():
        raise SimulationError(f"workload model '{name}' gives no requests in that time")
    return Requests(
        trace,
        began_at,
        model.timezone,
        "model",
        name,
        model.archive,
        model.kind,
        unknown_origin_count=count_unknown_origins(model, trace),
        measured_origin_count=_count_measured_origins(trace),
    )


def read_file_requests(path: Path) -> Requests:
    """Read the requests of a trace file, and the origin that it records for them. Raises TraceError."""
    asked = read_trace(path)
    trace, began_at = complete_trace(asked)
    origin = read_origin(path)
    return Requests(
        trace,
        began_at,
        origin.get("timezone", "UTC"),
        "file",
        path.name,
        demand_archive=origin.get("archive"),
        demand_kind=origin.get("kind"),
        measured_origin_count=_count_measured_origins(asked),
    )


def describe_options(**options: Any) -> dict[str, Any]:
    """Return the command's options in the form in which they are stored with the run."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in options.items()
        if value is not None
    }
