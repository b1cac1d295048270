"""`tapewise ingest`, `formats`, `explain` and `archives`."""

import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click
import psycopg

from ingest.archives import drop_archive, list_archives
from ingest.examples import EXAMPLE_DATE, read_examples
from ingest.explanations import LineFate, explain_line, explain_row
from ingest.formats import FORMATS, find_format
from ingest.loads import load_file, preview_file
from ingest.progress import show_progress
from ingest.results import describe_result, escape_controls, result_to_json
from ingest.sources import (
    INGESTED_KINDS,
    Source,
    SourceRequest,
    check_timezone,
    find_source,
    make_source,
    unsaved_source,
)
from schema.database import Role, Warehouse
from schema.errors import DatabaseError, LogFileError
from schema.models import FACT_TABLES
from schema.settings import Settings
from schema.upgrade import open_ready_warehouse

GONE = "(the line is no longer in that file: it is gone, or was rotated)"


@click.command()
@click.option("--archive", required=True, help="The archive that wrote the logs; made at its first load.")
@click.option(
    "--kind",
    type=click.Choice(INGESTED_KINDS),
    default="measured",
    show_default=True,
    help="Whether real machines wrote the logs; made-up ones are never added up with them.",
)
@click.option("--format", "format_name", required=True, help="The logs' format: see `tapewise formats`.")
@click.option(
    "--timezone", required=True, help="The zone of the logs' times, such as America/Los_Angeles or UTC."
)
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
@click.option("--dry-run", is_flag=True, help="Say what would be loaded; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file, each on a line.")
@click.argument("paths", nargs=-1, required=True, type=click.Path(readable=False, path_type=Path))
@click.pass_obj
def ingest(
    settings: Settings,
    archive: str,
    kind: str,
    format_name: str,
    timezone: str,
    source: str | None,
    not_counted: bool,
    complete: bool,
    log_date: datetime | None,
    dry_run: bool,
    as_json: bool,
    paths: tuple[Path, ...],
) -> None:
    """Load log files, compressed or not, each line at most once.

    Reading a file again, a longer copy of it, or files that overlap counts nothing twice. Every line
    is accounted for: loaded, held already, ignored or rejected, the latter two with the reason. A
    file that cannot be read is told of, and the others are loaded; the exit status is then 1.

    \b
    Example:
      tapewise ingest --archive hpss --format pftp --timezone America/Los_Angeles logs/*.gz
    """
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
    )
    now = datetime.now(UTC)

    def tell_of_wait() -> None:
        if not as_json:
            click.echo(f"Waiting for another load of '{archive}' to end ...", err=True)

    failures: list[LogFileError] = []
    with open_ready_warehouse(settings) as warehouse:
        target = _prepare_source(warehouse, request, is_dry=dry_run)
        for path in paths:
            try:
                with show_progress(path, is_shown=not as_json) as tell:
                    read = preview_file if dry_run else load_file
                    result = read(
                        warehouse,
                        target,
                        path,
                        now=now,
                        log_date=log_date.date() if log_date else None,
                        is_complete=complete,
                        progress=tell,
                        on_wait=tell_of_wait,
                    )
            except LogFileError as error:
                failures.append(error)
                if as_json:
                    click.echo(json.dumps({"path": str(path), "error": error.message}))
                click.echo(f"tapewise: {error.message}", err=True)
                continue
            click.echo(json.dumps(result_to_json(result)) if as_json else "\n".join(describe_result(result)))
            if result.tally.is_all_rejected:
                failures.append(LogFileError(f"{path}: no line of it is of format {log_format.name}"))
                click.echo(f"tapewise: {failures[-1].message}; see `tapewise formats`", err=True)
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


def _prepare_source(warehouse: Warehouse, request: SourceRequest, *, is_dry: bool) -> Source:
    try:
        with closing(warehouse.connect(Role.LOADER)) as connection:
            if is_dry:
                return find_source(connection, request) or unsaved_source(request)
            return make_source(connection, request)
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DatabaseError(
            f"the database broke off: {reason}",
            hint="Nothing was loaded. Run the same command again when the database is up.",
        ) from error


@click.command()
@click.argument("name", required=False)
def formats(name: str | None) -> None:
    """List the log formats, or show NAME's lines with the records they become.

    Example: tapewise formats hsi
    """
    if name is None:
        width = max(map(len, FORMATS))
        for log_format in FORMATS.values():
            click.echo(f"{log_format.name:<{width}}  {log_format.title}")
        click.echo("\n`tapewise formats NAME` shows a format's lines and the records they become.")
        return
    log_format = find_format(name)
    click.echo(
        f"{log_format.name}: {log_format.title} (version {log_format.version}; times read as UTC"
        + (f", as of {EXAMPLE_DATE}" if log_format.is_dated_by_file else "")
        + " here)"
    )
    for example, record in read_examples(log_format):
        click.echo(f"\n{example}")
        for field, value in record.items():
            click.echo(f"    {field:<22} {value}")


@click.group()
def explain() -> None:
    """From a row back to its line, and from a line to what became of it.

    As this shows names and whole lines, it reads the warehouse as the loading role.
    """


@explain.command()
@click.argument("table", type=click.Choice([table.name for table in FACT_TABLES]))
@click.argument("row_id", type=int)
@click.pass_obj
def row(settings: Settings, table: str, row_id: int) -> None:
    """Show the file and line that row ROW_ID of TABLE was made from.

    Example: tapewise explain row transfers 10001
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        _print_fate(explain_row(connection, table, row_id))


@explain.command()
@click.argument("path", type=click.Path(readable=False, path_type=Path))
@click.argument("line_number", type=int)
@click.pass_obj
def line(settings: Settings, path: Path, line_number: int) -> None:
    """Show what became of line LINE_NUMBER (from 1) of the log file PATH.

    Example: tapewise explain line hsi.log 17
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        for fate in explain_line(connection, path, line_number, datetime.now(UTC)):
            _print_fate(fate)


def _print_fate(fate: LineFate) -> None:
    click.echo(f"{fate.path}, line {fate.line_number:,} (source {fate.source})")
    click.echo(f"  {GONE if fate.text is None else escape_controls(fate.text)}")
    click.echo(f"  {fate.fate}" + (f" into core.{fate.table}" if fate.fate == "loaded" else ""))
    for name, value in (fate.row or {}).items():
        if value is not None and value is not False:
            click.echo(f"    {name:<24} {escape_controls(str(value))}")


@click.group()
def archives() -> None:
    """List the archives, or drop one."""


@archives.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an archive, each on a line.")
@click.pass_obj
def list_command(settings: Settings, as_json: bool) -> None:
    """List the archives and how much was read for each.

    Example: tapewise archives list
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        found = list_archives(connection)
    for archive in found:
        if as_json:
            click.echo(json.dumps(asdict(archive), default=str))
            continue
        span = (
            f", {archive.first_event_local:%Y-%m-%d} to {archive.last_event_local:%Y-%m-%d}"
            if archive.last_event_local
            else ""
        )
        click.echo(
            f"{archive.name} ({archive.kind}, {archive.timezone}): {archive.loaded_count:,} rows from"
            f" {archive.log_file_count} files of {archive.source_count} sources{span}"
        )
    if not found and not as_json:
        click.echo("No archive yet: `tapewise ingest --help`.")


@archives.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def drop(settings: Settings, name: str, yes: bool) -> None:
    """Drop archive NAME: its facts, names, ledger and workload models. Its log files stay where they are.

    Example: tapewise archives drop test --yes
    """
    if not yes:
        click.confirm(
            f"Drop archive '{name}' with all that was read for it, and its workload models?", abort=True
        )
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.OWNER)) as connection:
        dropped = drop_archive(connection, name)
    click.echo(f"Archive '{name}' is dropped, {dropped:,} rows.")
