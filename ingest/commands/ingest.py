"""`tapewise ingest`: loads the named files, or whatever is new in the configured sources."""

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tapewise.ingest.commands.output import (
    describe_result,
    report_alike,
    report_failure,
    result_to_json,
    sum_failures,
)
from tapewise.ingest.commands.path_loads import (
    PathOutcome,
    PathsRequest,
    drop_undated,
    find_date_fault,
    load_paths,
    name_formats,
)
from tapewise.ingest.commands.paths import (
    LOG_PATH,
    STANDARD_INPUT,
    expand_paths,
    recursive_option,
    strip_option,
)
from tapewise.ingest.detection.choosing import Choices, choose_formats
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.pseudonyms.keys import get_key
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.log_dates import DateRule, read_date_rule
from tapewise.ingest.records.format import Format
from tapewise.ingest.sources.sources import INGESTED_KINDS
from tapewise.schema.errors import TapewiseError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls

NEEDED_WITH_PATHS = ("archive", "timezone")
FOR_PATHS = (
    "kind",
    "format_name",
    "timezone",
    "source",
    "not_counted",
    "shared",
    "complete",
    "log_date",
    "dates",
    "prefix",
    "pseudonymise",
    "is_recursive",
)


class _DateRuleType(click.ParamType[DateRule]):
    """What `--date-from` takes."""

    name = "rule"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> DateRule:
        """Return the rule, or fail with what is wrong with the text."""
        try:
            return value if isinstance(value, DateRule) else read_date_rule(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


DATE_RULE = _DateRuleType()


@click.command()
@click.option(
    "--archive",
    help="The archive that wrote the logs, created at its first load. Without PATHS, only this one is read.",
)
@click.option(
    "--kind",
    type=click.Choice(INGESTED_KINDS),
    default="measured",
    show_default=True,
    help="Whether real machines wrote the logs. Synthetic logs are never added up with measured ones.",
)
@click.option(
    "--format",
    "format_name",
    help="The logs' format: see `tapewise formats`.  [default: detected from each file's lines]",
)
@click.option("--timezone", help="The time zone of the logs, such as America/Los_Angeles or UTC.")
@click.option("--source", help="Distinguishes an archive's streams of logs.  [default: the format's name]")
@click.option(
    "--not-counted",
    is_flag=True,
    help="Another source of the archive reports the same transfers. Keep the transfers of these files, but"
    " count only those of the other source.",
)
@click.option(
    "--shared",
    is_flag=True,
    help="Another source of the archive also reads these files, because they contain lines of two formats."
    " A line that one source has loaded counts as held for the other.",
)
@click.option(
    "--complete",
    is_flag=True,
    help="The files are complete, so read the last line even if it has no newline. If that line grows later,"
    " it counts again.",
)
@click.option(
    "--date",
    "log_date",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The date to use when the lines carry none.  [default: the date in the file's name]",
)
@click.option(
    "--date-from",
    "dates",
    type=DATE_RULE,
    metavar="name|mtime|FILE.csv|PATTERN",
    help="Where the days of files come from whose lines carry none: their names, their times of change, a"
    " list (columns path and date), or a pattern for their paths with the groups year, month and day.",
)
@click.option(
    "--pseudonymise",
    is_flag=True,
    help="Replace the names of users, machines and files with pseudonyms, using the key that"
    " TAPEWISE_PSEUDONYM_KEY_FILE or tapewise.toml names.",
)
@strip_option
@recursive_option
@click.option("--dry-run", is_flag=True, help="Report what would be loaded; write nothing.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="How many files to read at a time.  [default: half the cores, if there is much to read]",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per file, each on a line.")
@click.option(
    "--prometheus",
    "prometheus_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Without PATHS: write metrics of the run to this file, for node_exporter's textfile collector.",
)
@click.argument("paths", nargs=-1, type=LOG_PATH)
@click.pass_context
def ingest(
    context: click.Context,
    /,
    archive: str | None,
    is_recursive: bool,
    dry_run: bool,
    jobs: int | None,
    as_json: bool,
    prometheus_file: Path | None,
    paths: tuple[Path, ...],
    **of_paths: Any,
) -> None:
    """Load log files, compressed or not, each line at most once.

    Nothing is counted twice, even if you load a file again, a longer copy of it, or files that overlap. Every
    line is accounted for as loaded, already held, ignored or rejected, and the last two come with a reason.
    If a file cannot be read, this is reported, the other files are loaded, and the exit status is 1.

    With PATHS, --archive and --timezone are required. A path in quotation marks may have * ? [ and **, for
    more files than a shell can name. A tar or zip archive means the files in it. A URL (s3, http or https)
    names a file on another machine. Without --format, each
    file's format is detected from its lines (see `tapewise detect`), and the file goes into the source named
    after that format. Without PATHS, the command is the nightly job: it loads whatever is new in the sources
    that tapewise.toml lists. Only one such job runs at a time.

    \b
    Example:
      tapewise ingest --archive hpss --format pftp --timezone America/Los_Angeles logs/*.gz
      tapewise ingest --archive hpss --timezone America/Los_Angeles --dry-run logs/*
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
        from tapewise.ingest.commands.nightly import load_sources  # noqa: PLC0415  # its dependencies are not needed for PATHS

        load_sources(
            settings, archive, dry_run, as_json, prometheus_file or settings.prometheus_file, jobs=jobs
        )
        return
    missing = [
        each
        for each in context.command.params
        if each.name in NEEDED_WITH_PATHS and context.params[each.name] is None
    ]
    if len(missing) == 1:
        raise click.MissingParameter(ctx=context, param=missing[0])
    if missing:
        options = " and ".join(f"'{each.opts[0]}'" for each in missing)
        raise click.UsageError(f"Missing options {options}.")
    if prometheus_file is not None:
        raise click.UsageError("Option '--prometheus' is only for a run without PATHS.")
    if STANDARD_INPUT in paths:
        raise click.UsageError(
            "Standard input has no name by which it could be known again: write it to a file, and name that."
        )
    assert archive is not None
    paths = expand_paths(paths, is_recursive=is_recursive)
    _load_paths(settings, archive, dry_run=dry_run, jobs=jobs, as_json=as_json, paths=paths, **of_paths)


def _load_paths(
    settings: Settings,
    archive: str,
    kind: str,
    format_name: str | None,
    timezone: str,
    source: str | None,
    not_counted: bool,
    shared: bool,
    complete: bool,
    log_date: datetime | None,
    dates: DateRule | None,
    prefix: str | None,
    pseudonymise: bool,
    dry_run: bool,
    jobs: int | None,
    as_json: bool,
    paths: tuple[Path, ...],
) -> None:
    """Load the files that the user named, each into its source."""
    _check_names(archive, source)
    given = name_formats(format_name, paths, prefix)
    if given is not None:
        check_dates(given, log_date, paths, dates)
    check_timezone(timezone)
    request = PathsRequest(
        archive=archive,
        timezone=timezone,
        kind=kind,
        source=source,
        is_counted=not not_counted,
        is_shared=shared,
        is_complete=complete,
        log_date=log_date.date() if log_date else None,
        dates=dates,
        key=get_key(settings) if pseudonymise else None,
        is_dry=dry_run,
    )
    now = datetime.now(UTC)

    def report_wait() -> None:
        if not as_json:
            click.echo(f"Waiting for another load of '{archive}' to end ...", err=True)

    with open_ready_warehouse(settings) as warehouse:
        choices = given or choose_formats(
            warehouse, archive, source, paths, is_complete=complete, prefix=prefix
        )
        check_dates(choices, log_date, paths, dates)
        undated = drop_undated(choices, request)
        report_alike(undated, as_json=as_json)
        outcomes = load_paths(
            warehouse,
            request,
            choices,
            [path for path in paths if path not in undated],
            now=now,
            jobs=jobs,
            is_shown=not as_json,
            on_wait=report_wait,
        )
        failures: dict[Path, TapewiseError] = dict(undated)
        with closing(outcomes):
            for outcome in outcomes:
                _report_outcome(outcome, as_json=as_json)
                if outcome.error is not None:
                    failures[outcome.path] = outcome.error
    if dry_run and not as_json:
        click.echo("A dry run: nothing was written.")
    if failures:
        raise sum_failures(failures, len(paths), "loaded")


def _report_outcome(outcome: PathOutcome, *, as_json: bool) -> None:
    """Report what became of a file and its lines."""
    path, result, log_format = outcome.path, outcome.result, outcome.format
    if log_format is not None and not as_json:
        _report_choice(path, log_format, outcome.reason)
    if result is None:
        if outcome.error is None:
            _report_empty(path, as_json=as_json)
        else:
            report_failure(path, outcome.error, as_json=as_json)
        return
    assert log_format is not None
    if as_json:
        click.echo(json.dumps(result_to_json(result) | {"format": log_format.name}))
    else:
        click.echo("\n".join(describe_result(result)))
    if outcome.error is not None:
        click.echo(f"tapewise: {escape_controls(outcome.error.message)}; see `tapewise detect`", err=True)


def _report_empty(path: Path, *, as_json: bool) -> None:
    """Report a file that was skipped because it does not have a complete line yet."""
    if as_json:
        click.echo(json.dumps(result_to_json(FileResult(path, Tally(), 0)) | {"format": None}))
    else:
        click.echo(f"{escape_controls(str(path))}: no whole line yet; passed over until it has one")


def _check_names(*names: str | None) -> None:
    for name in names:
        if name is not None and (not name.strip() or not name.isprintable()):
            raise click.BadParameter("a name is printable text", param_hint="'--archive' or '--source'")


def _report_choice(path: Path, log_format: Format, reason: str | None) -> None:
    if reason is not None:
        click.echo(f"{escape_controls(str(path))}: read as {log_format.name}, {reason}", err=True)


def check_dates(
    choices: Choices, log_date: datetime | None, paths: tuple[Path, ...], dates: DateRule | None = None
) -> None:
    """Raise a click error if the user's date, or where dates come from, cannot apply to these files.

    Both are for files whose lines have no dates; a date is also for one file only.
    """
    if log_date is not None and dates is not None:
        raise click.UsageError("--date and --date-from exclude each other.")
    fault = find_date_fault(choices, log_date, paths)
    if fault is not None:
        raise click.BadParameter(fault, param_hint="'--date'")
    if dates is not None and choices.distinct and not any(each.is_dated_by_file for each in choices.distinct):
        names = ", ".join(each.name for each in choices.distinct)
        raise click.BadParameter(f"lines of format {names} have dates", param_hint="'--date-from'")
