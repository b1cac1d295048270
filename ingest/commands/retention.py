"""`tapewise sources` and `tapewise forget`: list, drop, replace or forget what was read."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from tapewise.ingest.commands.output import describe_result
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.pseudonyms.keys import read_key
from tapewise.ingest.upkeep.retention import Forgotten, forget_detail, preview_forgetting
from tapewise.ingest.upkeep.source_drops import SourceSummary, drop_source, list_sources
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count


@click.group()
def sources() -> None:
    """List the sources of the archives, re-read one with another format, or drop one."""


@sources.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per source, each on a line.")
@click.pass_obj
def list_command(settings: Settings, as_json: bool) -> None:
    """List the sources and how much was loaded from each. Times are in the archive's own time zone.

    Example: tapewise sources list
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        found = list_sources(connection)
    for source in found:
        click.echo(json.dumps(asdict(source), default=str) if as_json else _describe(source))
    if not found and not as_json:
        click.echo("No source yet: `tapewise ingest --help`.")


def _describe(source: SourceSummary) -> str:
    span = (
        f", {source.first_event_local:%Y-%m-%d %H:%M} to {source.last_event_local:%Y-%m-%d %H:%M}"
        if source.first_event_local and source.last_event_local
        else ""
    )
    return escape_controls(
        f"{source.archive}/{source.source} ({source.format}, {source.timezone},"
        f" {'counted' if source.is_counted else 'not counted'}):"
        f" {say_count(source.loaded_count, 'rows')} from"
        f" {say_count(source.line_count, 'lines')} of {say_count(source.log_file_count, 'files')}{span}"
    )


@sources.command()
@click.argument("archive")
@click.argument("source")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def drop(settings: Settings, archive: str, source: str, yes: bool) -> None:
    """Drop SOURCE of ARCHIVE with everything that was read for it, as if the source had never existed.

    Use this for a source that was read by mistake, or with the wrong time zone or format. The source's log
    files, the archive and its other sources are not touched.

    Example: tapewise sources drop hpss pftp --yes
    """
    label = escape_controls(f"'{source}' of archive '{archive}'")
    if not yes:
        click.confirm(f"Drop source {label} with everything that was read for it?", abort=True)
    with open_ready_warehouse(settings) as warehouse:
        dropped = drop_source(warehouse, archive, source, _report_wait(archive))
    click.echo(
        f"Source {label} is dropped: {say_count(dropped.fact_count, 'rows')} of"
        f" {say_count(dropped.log_file_count, 'files')},"
        f" {say_count(dropped.name_count, 'names')} of users and hosts."
    )
    if dropped.has_left_cells:
        click.echo(
            "Its transfers from the time that the archive has forgotten stay in the ten-minute rollup: they"
            " can no longer be separated from those of other sources."
        )


@sources.command(name="replace")
@click.argument("archive")
@click.argument("source")
@click.option("--format", "format_name", help="The format, or the file of a layout.  [default: unchanged]")
@click.option("--timezone", help="The time zone of the logs.  [default: unchanged]")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def replace_command(
    settings: Settings, archive: str, source: str, format_name: str | None, timezone: str | None, yes: bool
) -> None:
    """Read the files of SOURCE of ARCHIVE again with another format, layout or time zone.

    The files must still be where they were when they were read. The old rows stay until the new ones are in
    place. If anything fails, nothing changes.

    \b
    Example:
      tapewise sources replace hpss mover --format ./mover.toml
      tapewise sources replace hpss pftp --timezone America/Los_Angeles --yes
    """
    label = escape_controls(f"'{source}' of archive '{archive}'")
    if format_name is None and timezone is None:
        raise click.UsageError("Say how to read the files: give --format, --timezone or both.")
    log_format = find_format(format_name) if format_name else None
    if not yes:
        click.confirm(
            f"Read the files of source {label} again, and replace what was loaded from them?", abort=True
        )
    with open_ready_warehouse(settings) as warehouse:
        replaced = replace_source(
            warehouse,
            archive,
            source,
            log_format=log_format,
            timezone=timezone,
            now=datetime.now(UTC),
            key=read_key(settings),
            on_wait=_report_wait(archive),
        )
    for result in replaced.results:
        click.echo("\n".join(describe_result(result)))
    new_count = sum(result.tally.loaded_count for result in replaced.results)
    click.echo(f"Source {label} is replaced: {new_count:,} rows instead of {replaced.old_fact_count:,}.")


@click.command()
@click.option("--archive", required=True, help="The archive that forgets.")
@click.option(
    "--before",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    required=True,
    help="The first day to keep, by the archive's own clock.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Report how much would be forgotten; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object that says what was forgotten.")
@click.pass_obj
def forget(
    settings: Settings, archive: str, before: datetime, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Forget an archive's individual transactions from before a date; its rollups stay.

    This cannot be undone. Lines from before the date are ignored from then on ("before retention"), even if
    they are read again.

    Example: tapewise forget --archive hpss --before 2010-01-01 --dry-run
    """
    now = datetime.now(UTC)
    with open_ready_warehouse(settings) as warehouse:
        if dry_run:
            with closing(warehouse.connect(Role.LOADER)) as connection:
                forgotten = preview_forgetting(connection, archive, before.date(), now)
        else:
            if not yes:
                _confirm(warehouse.connect, archive, before, now)
            forgotten = forget_detail(warehouse, archive, before.date(), now, _report_wait(archive))
    if as_json:
        click.echo(json.dumps(asdict(forgotten) | {"is_dry_run": dry_run}, default=str))
        return
    for line in _describe_forgotten(forgotten, before, is_dry=dry_run):
        click.echo(line)


def _confirm(connect: Callable[..., Any], archive: str, before: datetime, now: datetime) -> None:
    """Show what would be forgotten and ask for confirmation. An impossible request fails first."""
    with closing(connect(Role.LOADER)) as connection:
        asked = preview_forgetting(connection, archive, before.date(), now)
    click.confirm(
        escape_controls(
            f"Forget {say_count(asked.fact_count, 'rows')} of archive '{archive}' from before"
            f" {before:%Y-%m-%d}, for good?"
        ),
        abort=True,
    )


def _describe_forgotten(forgotten: Forgotten, before: datetime, *, is_dry: bool) -> list[str]:
    tables = [
        say_count(count, name.replace("_", " ")) for name, count in forgotten.fact_counts.items() if count
    ]
    what = ", ".join(tables) if tables else "no rows"
    archive = escape_controls(forgotten.archive)
    if is_dry:
        return [
            f"Archive '{archive}' would forget what is before {before:%Y-%m-%d}: {what}, and"
            f" {say_count(forgotten.request_count, 'requests')} derived from them.",
            "A dry run: nothing was written.",
        ]
    return [
        f"Archive '{archive}' has forgotten what was before {before:%Y-%m-%d}: {what}, and"
        f" {say_count(forgotten.request_count, 'requests')} derived from them,"
        f" {say_count(forgotten.name_count, 'names')} of users and hosts,"
        f" {say_count(forgotten.text_count, 'texts')} of rejected"
        " lines.",
        "mart.activity keeps that time in steps of ten minutes, days and months.",
    ]


def _report_wait(archive: str) -> Callable[[], None]:
    return lambda: click.echo(escape_controls(f"Waiting for a load of '{archive}' to end ..."), err=True)
