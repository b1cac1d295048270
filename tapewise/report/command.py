"""The command `tapewise report`: summarises log files, or an archive of the warehouse."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import click
import psycopg

from tapewise.extras import find_missing
from tapewise.ingest.commands.ingest import DATE_RULE, check_dates
from tapewise.ingest.commands.output import report_failure, sum_failures
from tapewise.ingest.commands.path_loads import name_formats
from tapewise.ingest.commands.paths import (
    LOG_PATH,
    expand_paths,
    keeping_standard_input,
    recursive_option,
    strip_option,
)
from tapewise.ingest.detection.choosing import Choices, read_formats
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.readers import READER, open_reader
from tapewise.report.archives import (
    archive_report_to_object,
    describe_archive_page,
    print_archive_report,
    read_archive,
)
from tapewise.report.files import (
    DEFAULT_ZONE,
    FilesRequest,
    describe_files_page,
    files_report_to_object,
    print_files_report,
    read_files,
)
from tapewise.report.kept_pages import list_pages, remove_others
from tapewise.report.page import Page
from tapewise.schema.errors import ExportError, LookupFailedError, TapewiseError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls

# A file is only replaced if its name ends with one of these.
PAGE_SUFFIXES = (".html", ".htm")
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
@click.option(
    "--date-from",
    "dates",
    type=DATE_RULE,
    metavar="name|mtime|FILE.csv|PATTERN",
    help="Where the days of files come from whose lines carry none, as for `tapewise ingest`.",
)
@click.option(
    "--complete",
    "is_complete",
    is_flag=True,
    help="The files are complete, so read the last line even if it has no newline.",
)
@strip_option
@recursive_option
@click.option("--archive", help="Summarise this archive of the warehouse, not files.")
@click.option(
    "--since", type=_DAY, metavar="DAY", help="With --archive: this day and later, by its own clock."
)
@click.option("--until", type=_DAY, metavar="DAY", help="With --archive: only days before this one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write one HTML file with figures (- writes it to stdout).",
)
@click.option(
    "--for-dashboards",
    "is_for_dashboards",
    is_flag=True,
    help="Write the HTML files that the dashboards link to: of all archives, or of that of --archive.",
)
@click.argument("paths", nargs=-1, type=LOG_PATH)
@click.pass_obj
def report(
    settings: Settings,
    /,
    format_name: str | None,
    timezone: str | None,
    log_date: datetime | None,
    dates: DateRule | None,
    is_complete: bool,
    prefix: str | None,
    is_recursive: bool,
    archive: str | None,
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
    html: Path | None,
    is_for_dashboards: bool,
    paths: tuple[Path, ...],
) -> None:
    """Summarise log files, without storing anything, or an archive of the warehouse.

    The files PATHS are identified and loaded into a temporary warehouse, which is deleted when the command
    ends. With --archive, what the warehouse has is summarised instead. The report covers the balance of
    lines, transfers, failures, sizes, times, rates, busiest days and hours, users' shares, cache hits and
    open times. It contains no names of users or of files in
    the archive. The path - means standard input.

    \b
    Example:
      tapewise report /var/log/hpss/hsi.log
      ssh mover cat /var/log/hsi.log | tapewise report -
      tapewise report --timezone America/Los_Angeles nft.log cond.98*
      tapewise report --archive hpss --since 1998-10-01 --until 1998-11-01
      tapewise report --archive hpss --html hpss.html
      tapewise report --for-dashboards
    """
    if is_for_dashboards and (as_json or html is not None or since or until):
        raise click.UsageError("--for-dashboards goes with --archive only, or alone.")
    if html is not None:
        if as_json:
            raise click.UsageError("--html and --json exclude each other.")
        if missing := find_missing("report"):
            raise missing
        # What can be known now is said before anything is read.
        if not html.name:
            raise click.UsageError("--html needs the name of a file.")
        if html.suffix.lower() not in PAGE_SUFFIXES and _is_file(html):
            # Of `--html *.log`, the first log would be replaced.
            raise ExportError(
                f"{html} exists, and does not look like a page",
                hint="--html takes the file to write, and replaces only files whose name ends with .html.",
            )
        if str(html) != "-" and not html.parent.is_dir():
            raise ExportError(f"{html} cannot be written: {html.parent} is not a folder")
    if archive is not None or is_for_dashboards:
        if paths or format_name or timezone or log_date or dates or is_complete or prefix or is_recursive:
            raise click.UsageError(
                "--archive is already read: leave out PATHS, and options that say how to read them."
            )
        if is_for_dashboards:
            _write_kept_pages(settings, archive)
            return
        assert archive is not None
        _report_archive(settings, archive, since, until, html, as_json=as_json)
        return
    if not paths:
        raise click.UsageError("Give log files (PATHS), or an archive of the warehouse (--archive).")
    if since or until:
        raise click.UsageError("--since and --until go with --archive.")
    with keeping_standard_input(expand_paths(paths, is_recursive=is_recursive)) as files:
        choices = _choose(files, format_name, prefix, is_complete=is_complete)
        check_dates(choices, log_date, files, dates)
        check_timezone(timezone or DEFAULT_ZONE)
        request = FilesRequest(timezone, log_date.date() if log_date else None, dates, is_complete)
        _report_files(settings, choices, request, html, as_json=as_json)


def _report_archive(
    settings: Settings,
    archive: str,
    since: datetime | None,
    until: datetime | None,
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    if since and until and since >= until:
        raise click.UsageError("--since must be before --until.")
    if not as_json:
        click.echo("Reading the archive ...", err=True)
    with open_reader(settings, READER) as connection:
        made = read_archive(connection, archive, since and since.date(), until and until.date())
    if html is not None:
        _write(html, describe_archive_page(made))
    elif as_json:
        click.echo(json.dumps(archive_report_to_object(made), default=str))
    else:
        print_archive_report(made)


def _write_kept_pages(settings: Settings, archive: str | None) -> None:
    """Write the pages to which the dashboards link, unless nothing has changed since they were made.

    Raises ExportError after the other pages have been written, if one could not be.
    """
    if missing := find_missing("report"):
        raise missing
    folder = settings.reports_folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"{folder} cannot be made: {error.strerror or error}") from error
    failed = 0
    with open_reader(settings, READER) as connection:
        pages = list_pages(connection, folder, archive, version("tapewise"))
        if archive is not None and not pages:
            raise LookupFailedError(
                f"no archive is called '{archive}'", hint="`tapewise archives list` shows them."
            )
        for page in pages:
            connection.rollback()  # each report is of a moment of its own
            shown = escape_controls(page.archive)
            if page.is_fresh:
                click.echo(f"{shown}: nothing has changed since its report was written", err=True)
                continue
            click.echo(f"{shown}: reading the archive ...", err=True)
            try:
                made = read_archive(connection, page.archive, None, None)
                _write(page.path, describe_archive_page(made), page.complete)
            except (TapewiseError, psycopg.Error) as error:
                failed += 1
                click.echo(f"tapewise: {shown}: {escape_controls(' '.join(str(error).split()))}", err=True)
    for name in remove_others(folder, pages) if archive is None else []:
        click.echo(
            f"{escape_controls(name)}: there is no such archive any more; its report is removed", err=True
        )
    if failed:
        raise ExportError(f"{failed} of {len(pages)} reports could not be written")


def _choose(
    paths: tuple[Path, ...], format_name: str | None, prefix: str | None, *, is_complete: bool
) -> Choices:
    named = name_formats(format_name, paths, prefix)
    return named or read_formats(paths, is_complete=is_complete, prefix=prefix)


def _report_files(
    settings: Settings, choices: Choices, request: FilesRequest, html: Path | None, *, as_json: bool
) -> None:
    file_count = len(choices.formats) + len(choices.failures) + len(choices.empty)
    for path, error in choices.failures.items():
        report_failure(path, error)
    for path in choices.empty if as_json or html is not None else ():  # the text says so itself
        click.echo(f"tapewise: {escape_controls(str(path))}: no whole line yet; passed over", err=True)
    # A report is also made of files that have no line yet, because a mail may be waiting for it.
    if choices.formats or choices.empty:
        if choices.formats and not as_json:
            click.echo("Starting a temporary PostgreSQL for this report ...", err=True)
        Thread(target=_load_libraries, args=[html is not None], daemon=True).start()
        made = read_files(settings, choices, request, is_shown=not as_json)
        if not made.results and not choices.empty:
            pass  # no file could be read; the errors say so
        elif html is not None:
            _write(html, describe_files_page(made))
        elif as_json:
            click.echo(json.dumps(files_report_to_object(made), default=str))
        else:
            print_files_report(made)
    if choices.failures:
        raise sum_failures(choices.failures, file_count, "summarised")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # its name is too long; writing to it reports that
        return False


def _load_libraries(has_figures: bool) -> None:
    """Import what the report needs later, while PostgreSQL starts. What is missing is reported there."""
    with suppress(ImportError):
        import tapewise.clustering.fits
    if has_figures:
        with suppress(ImportError):
            import tapewise.report.rendering  # noqa: F401  only for its effect on later imports


def _write(path: Path, page: Page, complete: Callable[[str], str] = str) -> None:
    """Write the page to `path` (- is stdout); if that fails, an earlier file stays as it was."""
    from tapewise.report.rendering import make_page

    text = complete(make_page(page, datetime.now(UTC).astimezone(), version("tapewise")))
    if str(path) == "-":
        click.echo(text, nl=False)
        return
    # What a link refers to is written; what is no plain file, such as a pipe, cannot be replaced.
    target = path.resolve()
    unfinished = target.with_name(f".{os.getpid()}.unfinished")
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
        else:
            unfinished.write_text(text, encoding="utf-8")
            if target.exists():
                shutil.copymode(target, unfinished)
            unfinished.replace(target)
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    size_bytes = len(text.encode())
    size = f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 100_000 else f"{size_bytes / 1e3:.0f} kB"
    click.echo(f"{path} written ({size})", err=True)
