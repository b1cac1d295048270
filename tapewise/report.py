"""`tapewise report`: summarises log files, which it loads into a temporary warehouse, or an archive."""

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from tapewise.ingest.commands.ingest import check_dates
from tapewise.ingest.commands.output import report_failure, sum_failures
from tapewise.ingest.detection.choosing import SAME_TRANSFERS, Choices, read_formats
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import FileResult, load_file
from tapewise.ingest.loading.progress import show_progress
from tapewise.ingest.records.format import Format
from tapewise.ingest.sources.sources import Source, SourceRequest, make_source
from tapewise.readers import READER, open_reader
from tapewise.report_archives import archive_report_to_json, print_archive_report, read_archive
from tapewise.report_pages import Report, print_report, report_to_json
from tapewise.report_sections import Scope, ask, count_hourless
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls
from tapewise.throwaway import open_throwaway

DEFAULT_ZONE = "UTC"
# The archive into which the files are loaded.
ARCHIVE = "report"
_DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option(
    "--format", "format_name", help="Format of the logs.  [default: detected from each file's lines]"
)
@click.option(
    "--timezone", help="Zone of the times in the logs, such as America/Los_Angeles.  [default: UTC]"
)
@click.option(
    "--date",
    "log_date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Date to use when the lines carry none.  [default: the date in the file's name]",
)
@click.option("--archive", help="Summarise this archive of the warehouse, not files.")
@click.option(
    "--since", type=_DAY, metavar="DAY", help="With --archive: this day and later, by its own clock."
)
@click.option("--until", type=_DAY, metavar="DAY", help="With --archive: only days before this one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.argument("paths", nargs=-1, type=click.Path(readable=False, path_type=Path))
@click.pass_obj
def report(
    settings: Settings,
    /,
    format_name: str | None,
    timezone: str | None,
    log_date: datetime | None,
    archive: str | None,
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
    paths: tuple[Path, ...],
) -> None:
    """Summarise log files, without storing anything, or an archive of the warehouse.

    The files PATHS are identified and loaded into a temporary warehouse, which is deleted when the command
    ends. With --archive, what the warehouse has is summarised instead. The report covers the balance of
    lines, transfers, failures, sizes, times, rates, busiest days and hours, users' shares, cache hits and
    open times. It contains no names of users or files.

    \b
    Example:
      tapewise report /var/log/hpss/hsi.log
      tapewise report --timezone America/Los_Angeles nft.log cond.98*
      tapewise report --archive hpss --since 1998-10-01 --until 1998-11-01
    """
    if archive is not None:
        if paths or format_name or timezone or log_date:
            raise click.UsageError(
                "--archive is already read: leave out PATHS, --format, --timezone and --date."
            )
        _report_archive(settings, archive, since, until, as_json=as_json)
        return
    if not paths:
        raise click.UsageError("Give log files (PATHS), or an archive of the warehouse (--archive).")
    if since or until:
        raise click.UsageError("--since and --until go with --archive.")
    _report_files(settings, paths, format_name, timezone, log_date, as_json=as_json)


def _report_archive(
    settings: Settings, archive: str, since: datetime | None, until: datetime | None, *, as_json: bool
) -> None:
    if since and until and since >= until:
        raise click.UsageError("--since must be before --until.")
    if not as_json:
        click.echo("Reading the archive ...", err=True)
    with open_reader(settings, READER) as connection:
        made = read_archive(connection, archive, since and since.date(), until and until.date())
    click.echo(json.dumps(archive_report_to_json(made), default=str)) if as_json else print_archive_report(
        made
    )


def _report_files(
    settings: Settings,
    paths: tuple[Path, ...],
    format_name: str | None,
    timezone: str | None,
    log_date: datetime | None,
    *,
    as_json: bool,
) -> None:
    choices = None
    if format_name is not None:
        choices = Choices(None, dict.fromkeys(paths, find_format(format_name)))
    else:
        choices = read_formats(paths)
    check_dates(choices, log_date, paths)
    check_timezone(timezone or DEFAULT_ZONE)
    for path, error in choices.failures.items():
        report_failure(path, error)
    for path in choices.empty:
        click.echo(f"tapewise: {escape_controls(str(path))}: no whole line yet; passed over", err=True)
    if choices.formats:
        if not as_json:
            click.echo("Starting a temporary PostgreSQL for this report ...", err=True)
        with open_throwaway(settings) as warehouse:
            results = _load(warehouse, choices, timezone or DEFAULT_ZONE, log_date, is_shown=not as_json)
            with closing(warehouse.connect(Role.READER)) as connection:
                answers = ask(connection, Scope(ARCHIVE))
                made = Report(results, choices, answers, timezone, count_hourless(connection, ARCHIVE))
        click.echo(json.dumps(report_to_json(made), default=str)) if as_json else print_report(made)
    if choices.failures:
        raise sum_failures(list(choices.failures.values()), len(dict.fromkeys(paths)))


def _load(
    warehouse: Warehouse, choices: Choices, timezone: str, log_date: datetime | None, *, is_shown: bool
) -> list[FileResult]:
    """Load the files. Report each failure, and move its file from `choices.formats` to `choices.failures`."""
    sources = _make_sources(warehouse, choices.distinct, timezone)
    now = datetime.now(UTC)
    day = log_date.date() if log_date else None
    results = []
    for path, log_format in list(choices.formats.items()):
        try:
            with show_progress(path, is_shown=is_shown) as progress:
                source = sources[log_format.name]
                results.append(load_file(warehouse, source, path, now=now, log_date=day, progress=progress))
        except LogFileError as error:
            choices.failures[path] = error
            del choices.formats[path]
            report_failure(path, error)
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
        connection.execute("ANALYZE")  # without statistics, the planner assumes that new tables are empty
    return results


def _make_sources(warehouse: Warehouse, formats: list[Format], timezone: str) -> dict[str, Source]:
    """Make a source for each format. If formats report the same transfers, only the first is counted."""
    names = [each.name for each in formats]
    uncounted = [name for name in SAME_TRANSFERS if name in names][1:]
    made = {}
    with closing(warehouse.connect()) as connection:
        for each in formats:
            is_counted = each.name not in uncounted
            request = SourceRequest(ARCHIVE, "measured", each, timezone, each.name, is_counted)
            made[each.name] = make_source(connection, request)
    return made
