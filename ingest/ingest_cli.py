"""`tapewise ingest`: the files that are named, or what is new in all configured sources."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ingest.formats import find_format
from ingest.pseudonym_keys import get_key
from ingest.results import describe_result, result_to_json
from ingest.rounds import prepare_source
from ingest.rounds_cli import load_sources
from ingest.sources import INGESTED_KINDS, SourceRequest, check_timezone
from ingest.workers import FileTask, read_files
from schema.errors import LogFileError, TapewiseError
from schema.settings import Settings
from schema.texts import escape_controls
from schema.upgrade import open_ready_warehouse

NEEDED_WITH_PATHS = ("archive", "format_name", "timezone")
FOR_PATHS = (
    "kind",
    "format_name",
    "timezone",
    "source",
    "not_counted",
    "complete",
    "log_date",
    "pseudonymise",
)


@click.command()
@click.option(
    "--archive",
    help="The archive that wrote the logs; made at its first load. Without PATHS: only this one.",
)
@click.option(
    "--kind",
    type=click.Choice(INGESTED_KINDS),
    default="measured",
    show_default=True,
    help="Whether real machines wrote the logs; made-up ones are never added up with them.",
)
@click.option("--format", "format_name", help="The logs' format: see `tapewise formats`.")
@click.option("--timezone", help="The zone of the logs' times, such as America/Los_Angeles or UTC.")
@click.option("--source", help="Tells streams of logs of one archive apart.  [default: the format's name]")
@click.option(
    "--not-counted",
    is_flag=True,
    help="Another source of the archive tells of the same transfers: keep these, but count those.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="The files are complete: read a last line without newline too (if it goes on, it counts anew).",
)
@click.option(
    "--date",
    "log_date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day of the file, where its lines have none.  [default: the date in the file's name]",
)
@click.option(
    "--pseudonymise",
    is_flag=True,
    help="Make the names of users, machines and files into pseudonyms, with the key that"
    " TAPEWISE_PSEUDONYM_KEY_FILE or tapewise.toml names.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be loaded; write nothing.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Read so many files at a time.  [default: one a core, if there is much to read]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, each on a line.")
@click.option(
    "--prometheus",
    "prometheus_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Without PATHS: write what was done to this file, for node_exporter's textfile collector.",
)
@click.argument("paths", nargs=-1, type=click.Path(readable=False, path_type=Path))
@click.pass_context
def ingest(
    context: click.Context,
    /,
    archive: str | None,
    dry_run: bool,
    jobs: int | None,
    as_json: bool,
    prometheus_file: Path | None,
    paths: tuple[Path, ...],
    **of_paths: Any,
) -> None:
    """Load log files, compressed or not, each line at most once.

    Reading a file again, a longer copy of it, or files that overlap counts nothing twice. Every line
    is accounted for: loaded, held already, ignored or rejected, the latter two with the reason. A
    file that cannot be read is told of, and the others are loaded; the exit status is then 1.

    With PATHS, --archive, --format and --timezone are needed. Without PATHS, what is new in all sources
    that tapewise.toml names is read, which is the nightly job; only one such run goes at a time.

    \b
    Example:
      tapewise ingest --archive hpss --format pftp --timezone America/Los_Angeles logs/*.gz
      tapewise --config /etc/tapewise.toml ingest --prometheus /var/lib/node_exporter/tapewise.prom
    """
    settings: Settings = context.obj
    if not paths:
        for parameter in context.command.params:
            name = parameter.name or ""
            if name in FOR_PATHS and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise click.UsageError(f"Option '{parameter.opts[0]}' is for files: name them as PATHS.")
        if not settings.archives:
            raise click.UsageError(
                f"Missing argument 'PATHS...', and {settings.config} names no archives to read instead."
            )
        load_sources(
            settings, archive, dry_run, as_json, prometheus_file or settings.prometheus_file, jobs=jobs
        )
        return
    for parameter in context.command.params:
        if parameter.name in NEEDED_WITH_PATHS and context.params[parameter.name] is None:
            raise click.MissingParameter(ctx=context, param=parameter)
    if prometheus_file is not None:
        raise click.UsageError("Option '--prometheus' is for what tapewise.toml names, without PATHS.")
    assert archive is not None
    _load_paths(settings, archive, dry_run=dry_run, jobs=jobs, as_json=as_json, paths=paths, **of_paths)


def _load_paths(
    settings: Settings,
    archive: str,
    kind: str,
    format_name: str,
    timezone: str,
    source: str | None,
    not_counted: bool,
    complete: bool,
    log_date: datetime | None,
    pseudonymise: bool,
    dry_run: bool,
    jobs: int | None,
    as_json: bool,
    paths: tuple[Path, ...],
) -> None:
    """Load the files of one source that the user named."""
    for name in (archive, source or format_name):
        if not name.strip() or not name.isprintable():
            raise click.BadParameter("a name is printable text", param_hint="'--archive' or '--source'")
    log_format = find_format(format_name)
    if log_date is not None and not log_format.is_dated_by_file:
        raise click.BadParameter(f"lines of format {format_name} have dates", param_hint="'--date'")
    if log_date is not None and len(paths) > 1:
        raise click.BadParameter("is for one file at a time", param_hint="'--date'")
    request = SourceRequest(
        archive=archive,
        kind=kind,
        format=log_format,
        timezone=check_timezone(timezone),
        name=source or format_name,
        is_counted=not not_counted,
        key=get_key(settings) if pseudonymise else None,
    )
    now = datetime.now(UTC)

    def tell_of_wait() -> None:
        if not as_json:
            click.echo(f"Waiting for another load of '{archive}' to end ...", err=True)

    failures: list[LogFileError] = []
    day = log_date.date() if log_date else None
    with open_ready_warehouse(settings) as warehouse:
        target = prepare_source(warehouse, request, is_dry=dry_run)
        tasks = [FileTask(target, path, day, is_complete=complete, is_dry=dry_run) for path in paths]
        results = read_files(warehouse, tasks, now=now, jobs=jobs, is_shown=not as_json, on_wait=tell_of_wait)
        for path, result in zip(paths, results, strict=True):
            if isinstance(result, LogFileError):
                failures.append(result)
                if as_json:
                    click.echo(json.dumps({"path": str(path), "error": result.message}))
                click.echo(f"tapewise: {escape_controls(result.message)}", err=True)
                continue
            if isinstance(result, TapewiseError):
                raise result
            click.echo(json.dumps(result_to_json(result)) if as_json else "\n".join(describe_result(result)))
            if result.tally.is_all_rejected:
                failures.append(LogFileError(f"{path}: no line of it is of format {log_format.name}"))
                said = escape_controls(failures[-1].message)
                click.echo(f"tapewise: {said}; see `tapewise formats`", err=True)
    if dry_run and not as_json:
        click.echo("A dry run: nothing was written.")
    if failures:
        # What to do is told once, however many files want it.
        hints = dict.fromkeys(failure.hint for failure in failures if failure.hint)
        if len(failures) < len(paths):
            hints["The others were read; see above."] = None
        raise LogFileError(
            f"{len(failures)} of {len(paths)} files could not be read", hint="\n".join(hints) or None
        )
