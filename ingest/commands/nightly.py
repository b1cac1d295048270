"""The nightly job of `tapewise ingest`: reads what is new in the configured sources and reports on it."""

import json
import time
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import click
import psycopg

from tapewise.ingest.commands.output import describe_outcome, join_hints, result_to_json
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.nightly.metrics import (
    RefreshReport,
    RoundReport,
    check_target,
    read_database_bytes,
    read_lines,
    write_metrics,
)
from tapewise.ingest.nightly.run import SourceOutcome, hold_round, read_sources
from tapewise.ingest.nightly.sources import SourcePlan, plan_round
from tapewise.ingest.upkeep.kept_answers import (
    describe_left_out,
    find_left_out,
    find_stale_calls,
    keep_answers,
)
from tapewise.ingest.upkeep.preparations import TIME_LIMIT_S, can_read, find_stale, prepare
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import (
    DatabaseError,
    LogFileError,
    LookupFailedError,
    SettingsError,
    TapewiseError,
)
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls
from tapewise.schema.writing.file_counts import refresh_files


def load_sources(
    settings: Settings,
    archive: str | None,
    dry_run: bool,
    as_json: bool,
    prometheus_file: Path | None,
    *,
    jobs: int | None,
) -> None:
    """Read what is new in the configured sources, report on it, and write metrics if requested.

    Before anything is read, raises ConfigError, or SettingsError if the metrics file cannot be written. After
    everything readable has been read, raises LogFileError for the unreadable files, or SettingsError if
    there was no space for the metrics.
    """
    plans = plan_round(settings, archive)
    if prometheus_file is not None and not dry_run:
        check_target(prometheus_file)
    began_at = datetime.now(UTC)
    outcomes: list[SourceOutcome] = []
    refreshed = None

    def report(warehouse: Warehouse | None, exit_status: int) -> None:
        if prometheus_file is not None and not dry_run:
            _write_report(warehouse, prometheus_file, began_at, exit_status, outcomes, refreshed)

    try:
        with (
            open_ready_warehouse(settings) as warehouse,
            nullcontext(True) if dry_run else hold_round(warehouse) as is_only,
        ):
            if not is_only:
                # Not a failure: the next run reads whatever the other run leaves unread. If the other run
                # hangs, the metrics show that no run has ended for a long time.
                click.echo("Another run over the sources is under way; this one leaves everything to it.")
                return
            for plan in plans:
                _warn_of_globs(settings, plan)
            for outcome in read_sources(
                warehouse,
                plans,
                now=began_at,
                is_dry=dry_run,
                is_shown=not as_json,
                on_result=_report_json if as_json else _report_error,
                jobs=jobs,
            ):
                outcomes.append(outcome)
                if not as_json:
                    click.echo(describe_outcome(outcome))
            failures = [
                (f"{outcome.archive}/{outcome.source}", failure)
                for outcome in outcomes
                for failure in outcome.failures
            ]
            # On a server of one's own without `reader_url`, nothing reads `mart`, so no answers are needed.
            if not dry_run and can_read(warehouse):
                refreshed = _refresh(warehouse, archive, plans, is_shown=not as_json)
            if refreshed is not None and (refreshed.done_count or refreshed.left_count) and not as_json:
                click.echo(
                    f"Prepared answers: {refreshed.done_count:,} refreshed in {refreshed.took_s:.0f} s,"
                    f" {refreshed.left_count:,} left to the next run"
                )
            report(warehouse, 1 if failures else 0)
    except TapewiseError as error:
        try:
            report(None, 1)
        except SettingsError as also:
            if also.message != error.message:
                _warn(also.message)
        raise
    if dry_run and not as_json:
        click.echo("A dry run: nothing was written.")
    if failures:
        hints = join_hints(failures, "sources")
        failed = sum(bool(outcome.failures) for outcome in outcomes)
        raise LogFileError(
            f"{failed} of {len(outcomes)} sources could not be read completely",
            hint="\n".join([*hints, "The rest was read; see above."]),
        )


def _count_files(warehouse: Warehouse, plans: list[SourcePlan], *, is_shown: bool) -> None:
    """Count the files of the archives again; if that is not possible, the previous answers stay."""
    for name in sorted({plan.request.archive for plan in plans}):
        try:
            refresh_files(warehouse, name, now=datetime.now(UTC), is_shown=is_shown)
        except LookupFailedError:
            continue  # nothing of it was ever loaded
        except (TapewiseError, psycopg.Error) as error:
            reason = error.message if isinstance(error, TapewiseError) else " ".join(str(error).split())
            _warn(f"the files of '{name}' were not counted again: {reason}")


def _refresh(
    warehouse: Warehouse, archive: str | None, plans: list[SourcePlan], *, is_shown: bool
) -> RefreshReport | None:
    """Count files again, and prepare the answers that are out of date.

    Returns None if answers cannot be prepared, which does not fail the run.
    """
    began = time.monotonic()
    _count_files(warehouse, plans, is_shown=is_shown)
    try:
        stale = find_stale(warehouse, archive)
        done_count = sum(1 for _ in prepare(warehouse, stale, time_limit_s=TIME_LIMIT_S))
        # Some of these are computed from what was just prepared.
        calls = find_stale_calls(warehouse, archive)
        if left_out := find_left_out(warehouse, archive):
            _warn(f"{describe_left_out(left_out)}.")
        done_count += sum(1 for _ in keep_answers(warehouse, calls, deadline=began + TIME_LIMIT_S))
    except (DatabaseError, psycopg.Error) as error:
        _warn(f"prepared answers could not be refreshed: {error}")
        return None
    return RefreshReport(done_count, len(stale) + len(calls) - done_count, time.monotonic() - began)


def _warn(said: str) -> None:
    click.echo(f"tapewise: {escape_controls(said)}", err=True)


def _warn_of_globs(settings: Settings, plan: SourcePlan) -> None:
    where = f"{settings.config}: archives[{plan.request.archive}].sources[{plan.request.name}].paths"
    for said in plan.unmatched:
        _warn(f"{where}: {said}")


def _report_error(_plan: SourcePlan, found: FileResult | TapewiseError) -> None:
    if isinstance(found, TapewiseError):
        _warn(found.message)


def _report_json(plan: SourcePlan, found: FileResult | TapewiseError) -> None:
    _report_error(plan, found)
    outcome = {"error": found.message} if isinstance(found, TapewiseError) else result_to_json(found)
    click.echo(json.dumps({"archive": plan.request.archive, "source": plan.request.name} | outcome))


def _write_report(
    warehouse: Warehouse | None,
    path: Path,
    began_at: datetime,
    exit_status: int,
    outcomes: list[SourceOutcome],
    refreshed: RefreshReport | None,
) -> None:
    """Write the metrics, without those that come from the database if it cannot be reached."""
    lines, size = [], None
    if warehouse is not None:
        try:
            with closing(warehouse.connect(Role.LOADER)) as connection:
                lines, size = read_lines(connection), read_database_bytes(connection)
        except (DatabaseError, psycopg.Error) as error:
            _warn(f"{path} lacks the metrics from the database: {error}")
    report = RoundReport(began_at, datetime.now(UTC), exit_status, outcomes, lines, size, refreshed)
    write_metrics(path, report)
