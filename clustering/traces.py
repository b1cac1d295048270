"""Exports the requests of an archive from the warehouse as a trace, which the simulator reads.

`mart.trace_requests` implements the rules; this module defines the columns of the file and writes it. The
file contains no user or file names:

    submitted_s     seconds since the first request of the trace was submitted
    submitted_at    the same moment, as a time in UTC
    direction       put or get
    interface       the program that moved the file
    user, file      numbers; each request of an unknown user has its own user number, below 0
    size_bytes      bytes moved
    origin          where the file comes from: put, tape, disk or trace, as in `mart.trace_requests`
    client, class_of_service
                    only if they are asked for: the machine and the class of the transfer, null if not logged
"""

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import polars as pl
import psycopg

from tapewise.clustering.archives import Archive
from tapewise.schema.errors import WorkloadError
from tapewise.schema.writing.loader import read_frame

SUFFIXES = (".parquet", ".csv")
# The metadata key under which a Parquet file records how it was made.
METADATA_KEY = "tapewise_trace"

_READ: dict[str, pl.DataType | type[pl.DataType]] = {
    "place": pl.Int64,
    "direction": pl.String,
    "interface": pl.String,
    "user": pl.Int64,
    "file": pl.Int64,
    "size_bytes": pl.Int64,
    "origin": pl.String,
    "is_assumed": pl.Boolean,
    "left_out": pl.String,
    "submitted_at": pl.Datetime("us", "UTC"),
}
_QUERY = """
    SELECT trace.place, trace.direction, trace.interface, trace.user_number, trace.file_number,
        trace.size_bytes, trace.origin, trace.is_origin_assumed, trace.left_out, trace.submitted_at{columns}
    FROM mart.trace_requests(
        archive => %(archive)s, since => %(since)s::timestamptz, until => %(until)s::timestamptz,
        interface => %(interface)s, direction => %(direction)s, client => %(client)s,
        class_of_service => %(class_of_service)s, failed => %(failed)s,
        retry_s => %(retry_s)s::double precision, files => %(files)s, zero_sizes => %(zero_sizes)s,
        largest_bytes => %(largest_bytes)s::bigint,
        unknown_origins => %(unknown_origins)s
    ) AS trace
    {join}
    ORDER BY trace.place
"""
# What limits, priorities and pools of a machine can go by, besides the user.
FURTHER = ("client", "class_of_service")
_JOIN = """
    LEFT JOIN mart.transfers
        ON trace.transfer_id = transfers.transfer_id AND trace.ended_at = transfers.ended_at
"""


@dataclass(frozen=True)
class TraceRequest:
    """The parameters of a trace: the arguments of `mart.trace_requests` (None means no limit), and columns.

    `further` has the columns of `FURTHER` that the trace shall have, too.
    """

    archive: str
    since: datetime | None = None
    until: datetime | None = None
    interface: str | None = None
    direction: str | None = None
    client: str | None = None
    class_of_service: str | None = None
    failed: Literal["retried", "all", "none"] = "retried"
    retry_s: float = 86_400.0
    files: Literal["size", "key"] = "size"
    zero_sizes: Literal["one", "keep", "drop"] = "one"
    largest_bytes: int | None = None
    unknown_origins: Literal["disk", "tape", "drop"] = "disk"
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """The rows of a trace in the order of submission, and how many requests were left out, by reason.

    `unknown_origin_count` is the number of gets whose origin is assumed as `unknown_origins` says. For these
    gets, the logs do not show where the file was. If keys identify files, earlier requests do not show it
    either.
    """

    archive: Archive
    request: TraceRequest
    rows: pl.DataFrame
    left_out_counts: dict[str, int]
    unknown_origin_count: int


def read_requests(connection: psycopg.Connection, archive: Archive, request: TraceRequest) -> Trace:
    """Read the trace of `archive` that `request` describes, from one snapshot, without writing anything.

    Raises WorkloadError if the trace would contain no request.
    """
    further = [name for name in FURTHER if name in request.further]
    query = _QUERY.format(
        columns="".join(f", transfers.{name}" for name in further), join=_JOIN if further else ""
    )
    with connection.transaction():
        connection.execute("SET TRANSACTION READ ONLY")
        connection.execute("SET LOCAL work_mem = '64MB'")
        found = read_frame(connection, query, asdict(request), _READ | dict.fromkeys(further, pl.String()))
    reasons = found["left_out"].drop_nulls().value_counts().sort("left_out")
    left_out_counts = dict(zip(reasons["left_out"].to_list(), reasons["count"].to_list(), strict=True))
    rows = found.filter(pl.col("left_out").is_null())
    if rows.is_empty():
        raise WorkloadError(
            f"none of the selected requests of archive '{request.archive}' can be in a trace",
            hint=f"All are left out: {format_counts(left_out_counts)}." if left_out_counts else None,
        )
    submitted_at = pl.col("submitted_at")
    return Trace(
        archive=archive,
        request=request,
        rows=rows.select(
            ((submitted_at - submitted_at.first()).dt.total_microseconds() / 1e6).alias("submitted_s"),
            *("submitted_at", "direction", "interface", "user", "file", "size_bytes", "origin", *further),
        ),
        left_out_counts=left_out_counts,
        unknown_origin_count=int(rows["is_assumed"].sum()),
    )


def write_trace(trace: Trace, path: Path) -> None:
    """Write the rows to `path` atomically, as Parquet, or as CSV if `path` ends in .csv.

    A Parquet file records how it was made (version, archive, options). Raises WorkloadError if the file
    cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            if path.suffix == ".csv":
                trace.rows.write_csv(file, datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")
            else:
                trace.rows.write_parquet(file, metadata={METADATA_KEY: _describe_origin(trace)})
        unfinished.replace(path)
    except OSError as error:
        raise WorkloadError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def format_counts(counts: dict[str, int]) -> str:
    """Format counts by reason: `2 failed, 1 unknown size`."""
    return ", ".join(f"{count:,} {reason}" for reason, count in counts.items())


def _describe_origin(trace: Trace) -> str:
    return json.dumps(
        {
            "program_version": version("tapewise"),
            "kind": trace.archive.kind,
            "timezone": trace.archive.timezone,
            **asdict(trace.request),
            "left_out_counts": trace.left_out_counts,
            "unknown_origin_count": trace.unknown_origin_count,
        },
        default=lambda moment: moment.isoformat(),
    )
