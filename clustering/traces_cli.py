"""`tapewise workload trace`: writes the requests of an archive as a trace for the simulator."""

import math
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from tapewise.clustering.archives import find_archive
from tapewise.clustering.traces import (
    FURTHER,
    SUFFIXES,
    Trace,
    TraceRequest,
    format_counts,
    read_requests,
    write_trace,
)
from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime, check_range, place_range
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count

_ORIGINS = {"disk": "assumed to be on disk", "tape": "assumed to be on tape"}


@click.command()
@click.option("--archive", required=True, help="The archive whose requests are written.")
@click.option(
    "--since",
    type=TypedTime(),
    help="Only requests that ended at this time or later, by the archive's clock.",
)
@click.option(
    "--until", type=TypedTime(), help="Only requests that ended before this time, by the archive's clock."
)
@click.option("--interface", help="Only this interface (ftp, nft, hsi, ...).")
@click.option("--direction", type=click.Choice(["put", "get"]), help="Only puts, or only gets.")
@click.option("--client", help="Only this client machine.")
@click.option("--class-of-service", help="Only this class of service.")
@click.option(
    "--failed",
    type=click.Choice(["retried", "all", "none"]),
    default="retried",
    show_default=True,
    help="Which failed transfers to write: those that a later transfer retried successfully, all, or none.",
)
@click.option(
    "--retry-within",
    "retry_s",
    type=click.FloatRange(min=0),
    default=TraceRequest.retry_s,
    show_default=True,
    help="Seconds from the end of a failed transfer within which its retry must have ended.",
)
@click.option(
    "--files",
    type=click.Choice(["size", "key"]),
    default="size",
    show_default=True,
    help="What identifies requests for the same file: their size, or their path's key if it is logged.",
)
@click.option(
    "--zero-sizes",
    type=click.Choice(["one", "keep", "drop"]),
    default="one",
    show_default=True,
    help="What to do with requests of 0 bytes: make them 1 byte, keep them, or leave them out.",
)
@click.option(
    "--largest",
    "largest_bytes",
    type=click.IntRange(0, 2**63 - 1),
    help="Leave out requests of more bytes than this, which the simulated machine does not accept.",
)
@click.option(
    "--unknown-origins",
    type=click.Choice(["disk", "tape", "drop"]),
    default="disk",
    show_default=True,
    help="Where the file of a get is assumed to be if neither the logs nor an earlier request for its key"
    " shows it; drop leaves the get out.",
)
@click.option(
    "--with",
    "further",
    type=click.Choice(FURTHER),
    multiple=True,
    help="Also write this column, which limits, priorities or pools of a machine need; may be repeated.",
)
@click.option(
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, .parquet or .csv; an existing one is replaced.",
)
@click.pass_obj
def trace(
    settings: Settings,
    /,
    archive: str,
    since: datetime | None,
    until: datetime | None,
    output: Path,
    **options: Any,
) -> None:
    """Write the requests of an archive as a trace, which the simulator runs.

    The trace has one row per request, in the order of submission. It follows the rules by which Lawrence
    Livermore made a scenario from its logs. It contains no names of users or files, and those of
    client machines only with --with client. The command reads the
    warehouse as the reading role.

    Example: tapewise workload trace --archive llnl --since 1998-05-01 --until 1998-05-15 --output may.parquet
    """
    if output.suffix not in SUFFIXES:
        raise click.BadParameter(f"must end in {' or '.join(SUFFIXES)}", param_hint="'--output'")
    if not math.isfinite(options["retry_s"]):
        raise click.BadParameter("must be a number of seconds", param_hint="'--retry-within'")
    check_range(since, until)
    with (
        open_ready_warehouse(settings) as warehouse,
        closing(warehouse.connect(Role.READER, autocommit=True)) as reader,
    ):
        found = find_archive(reader, archive)
        began_at, ended_at = place_range(since, until, found.timezone)
        request = TraceRequest(
            archive=archive,
            since=began_at,
            until=ended_at,
            **options,
        )
        requests = read_requests(reader, found, request)
    write_trace(requests, output)
    click.echo(f"{escape_controls(str(output))}: {describe_trace(requests)}")


def describe_trace(trace: Trace) -> str:
    """Describe what a trace contains, what was left out and what was assumed, one line each."""
    moments, origins = trace.rows["submitted_at"], trace.rows["origin"]
    counts = {name: int((origins == name).sum()) for name in ("put", "trace", "disk", "tape")}
    lines = [
        f"{say_count(trace.rows.height, 'requests')} of {trace.archive.name} ({trace.archive.kind}),"
        f" submitted from {moments[0]:%Y-%m-%dT%H:%M:%SZ} to {moments[-1]:%Y-%m-%dT%H:%M:%SZ}",
        f"  {say_count(counts['put'], 'puts')}; gets: {counts['trace']:,} of files that were put or got"
        f" before, {counts['disk']:,} of files on disk at the start, {counts['tape']:,} of files on tape",
    ]
    if trace.left_out_counts:
        lines.append(f"  left out: {format_counts(trace.left_out_counts)}")
    if trace.unknown_origin_count:
        lines.append(
            f"  for {say_count(trace.unknown_origin_count, 'gets')} it is unknown where the file was: "
            + _ORIGINS[trace.request.unknown_origins]
        )
    return "\n".join(lines)
