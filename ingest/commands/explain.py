"""`tapewise explain` and `archives`."""

import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from tapewise.ingest.commands.paths import LOG_PATH
from tapewise.ingest.pseudonyms.keys import PseudonymKey, read_key
from tapewise.ingest.sources.archives import drop_archive, list_archives
from tapewise.ingest.upkeep.client_counts import count_clients, drop_client_counts, find_forgotten_counts
from tapewise.ingest.upkeep.explanations import LineFate, explain_line, explain_row
from tapewise.schema.database import Role
from tapewise.schema.errors import SettingsError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count
from tapewise.schema.writing.partitions import analyze_partitions

LACKS_KEY = (
    "(the names of this source are pseudonyms: to show the line, we need their key and access to the file)"
)
GONE = "(the line is no longer in that file: the file is gone, or was rotated)"


@click.group()
def explain() -> None:
    """Trace a row back to its line, or show what became of a line.

    The output contains names and complete lines, so the command reads the warehouse as the loading role.
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
        _print_fate(explain_row(connection, table, row_id, _find_key(settings)))


@explain.command()
@click.argument("path", type=LOG_PATH)
@click.argument("line_number", type=int)
@click.pass_obj
def line(settings: Settings, path: Path, line_number: int) -> None:
    """Show what became of line LINE_NUMBER (counted from 1) of the log file PATH.

    Example: tapewise explain line hsi.log 17
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        for fate in explain_line(connection, path, line_number, datetime.now(UTC), _find_key(settings)):
            _print_fate(fate)


def _find_key(settings: Settings) -> PseudonymKey | None:
    """The key, or None if there is no readable key; most of the output does not need one."""
    try:
        return read_key(settings)
    except SettingsError:
        return None


def _print_fate(fate: LineFate) -> None:
    click.echo(escape_controls(f"{fate.path}, line {fate.line_number:,} (source {fate.source})"))
    absent = LACKS_KEY if fate.lacks_key else GONE
    click.echo(f"  {absent if fate.text is None else escape_controls(fate.text)}")
    into = f" into core.{fate.table}" if fate.fate == "loaded" else ""
    click.echo(escape_controls(f"  {fate.fate}{into}"))
    for name, value in (fate.row or {}).items():
        if value is not None and value is not False:
            click.echo(f"    {name:<24} {escape_controls(str(value))}")


@click.group()
def archives() -> None:
    """List the archives, choose what one counts, or drop one."""


@archives.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per archive, each on a line.")
@click.pass_obj
def list_command(settings: Settings, as_json: bool) -> None:
    """List the archives and how much was loaded into each.

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
            f"{archive.name} ({archive.kind}, {archive.timezone}):"
            f" {say_count(archive.loaded_count, 'rows')} from"
            f" {say_count(archive.log_file_count, 'files')} of"
            f" {say_count(archive.source_count, 'sources')}{span}"
            f"{'; counts single clients' if archive.has_client_cells else ''}"
        )
    if not found and not as_json:
        click.echo("No archive yet: `tapewise ingest --help`.")


@archives.command()
@click.argument("name")
# Two options, and not one with two names: if that is left out, click takes it for --off.
@click.option("--on", "is_on", is_flag=True, help="Count each client machine separately.")
@click.option("--off", "is_off", is_flag=True, help="Do not, and delete what was counted.")
@click.option("--yes", is_flag=True, help="Do not ask before counts of forgotten days are deleted.")
@click.pass_obj
def clients(settings: Settings, name: str, is_on: bool, is_off: bool, yes: bool) -> None:
    """Choose whether archive NAME also counts each client machine separately: --on or --off.

    With --on, questions of dashboards about one client are answered at once, and not from all transfers.
    Loads take longer, and the warehouse takes more disk. --on counts what is there already, except days whose
    detail is forgotten; --off deletes these counts.

    Example: tapewise archives clients hpss --on
    """
    if is_on == is_off:
        raise click.UsageError("Give one of --on and --off.")
    label = escape_controls(f"'{name}'")

    def report_wait() -> None:
        click.echo(f"Waiting for a load of {label} to end ...", err=True)

    with open_ready_warehouse(settings) as warehouse:
        forgotten_on = None if is_on or yes else find_forgotten_counts(warehouse, name)
        if forgotten_on is not None:
            click.confirm(
                f"Archive {label} counts single clients on days before {forgotten_on}, whose detail is"
                " forgotten. They cannot be counted again. Delete these counts?",
                abort=True,
            )
        counts = (count_clients if is_on else drop_client_counts)(warehouse, name, report_wait)
    found = f"{counts.client_count:,} {'client' if counts.client_count == 1 else 'clients'}"
    if is_off:
        click.echo(
            f"Archive {label} counts no single clients any more. The cells of {found} are deleted."
            if counts.is_changed
            else f"Archive {label} already counts no single clients."
        )
        return
    since = f", since {counts.since}, the first day whose detail it has" if counts.since else ""
    click.echo(
        f"Archive {label} {'now' if counts.is_changed else 'already'} counts each client separately{since}:"
        f" {found} so far."
    )


@archives.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def drop(settings: Settings, name: str, yes: bool) -> None:
    """Drop archive NAME with its facts, names, ledger and workload models. Its log files are not touched.

    Example: tapewise archives drop test --yes
    """
    if not yes:
        click.confirm(
            f"Drop archive '{name}' with everything that was read for it, and its workload models?",
            abort=True,
        )
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.OWNER)) as connection:
        dropped = drop_archive(connection, name)
        connection.autocommit = True
        analyze_partitions(connection)
    click.echo(f"Archive '{name}' is dropped, {say_count(dropped, 'rows')}.")
