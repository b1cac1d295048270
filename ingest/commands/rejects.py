"""`tapewise rejects`."""

import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tapewise.ingest.commands.output import join_hints, result_to_json
from tapewise.ingest.commands.paths import LOG_PATH
from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.pseudonyms.keys import PseudonymKey, read_key
from tapewise.ingest.upkeep.rejects import (
    RejectedFile,
    RejectFilter,
    Retry,
    count_rejects,
    find_files,
    list_rejects,
    retry_file,
)
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError, TapewiseError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count

SHOWN_LINES = 50
NOT_KEPT = "(its text is not kept)"


@click.command()
@click.option("--archive", help="Only lines of this archive.")
@click.option("--source", help="Only lines of the sources with this name.")
@click.option(
    "--file",
    "path",
    type=LOG_PATH,
    help="Only lines of this log file, whether or not it still exists.",
)
@click.option("--reason", help="Only lines rejected for this reason, as the list shows it.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"How many lines to show at most.  [default: {SHOWN_LINES}; all with --json]",
)
@click.option("--retry", is_flag=True, help="Read the files of these lines again.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object per rejected line, or with --retry per file."
)
@click.pass_obj
def rejects(
    settings: Settings,
    archive: str | None,
    source: str | None,
    path: Path | None,
    reason: str | None,
    limit: int | None,
    retry: bool,
    as_json: bool,
) -> None:
    """Count the rejected lines by source and reason, then show each with its file, number, reason and text.

    With --retry, the files that contain rejected lines are read again. Use it after an upgrade that can read
    more kinds of lines, after a file was repaired, or when a time that was in the future has passed. No line
    is loaded twice. If a file is gone or cannot be read, its ledger entry is unchanged, and the exit status
    is 1.

    The output contains names and complete lines, so the command reads the warehouse as the loading role.

    \b
    Example:
      tapewise rejects --archive hpss --limit 10
      tapewise rejects --archive hpss --retry
    """
    if retry and limit is not None:
        raise click.UsageError("Option '--limit' is for listing lines: --retry reads whole files.")
    asked = RejectFilter(archive, source, None if path is None else ledger_path(path), reason)
    with open_ready_warehouse(settings) as warehouse:
        if retry:
            _retry(warehouse, asked, read_key(settings), as_json=as_json)
        else:
            _show(warehouse, asked, limit, as_json=as_json)


def _show(warehouse: Warehouse, asked: RejectFilter, limit: int | None, *, as_json: bool) -> None:
    with closing(warehouse.connect(Role.LOADER)) as connection:
        if as_json:
            for line in list_rejects(connection, asked, limit):
                click.echo(json.dumps(asdict(line)))
            return
        counts = count_rejects(connection, asked)
        for each in counts:
            click.echo(
                escape_controls(
                    f"{each.archive}/{each.source}: {say_count(each.line_count, 'lines')} of"
                    f" {say_count(each.log_file_count, 'files')}:"
                    f" {each.reason}"
                )
            )
        if not counts:
            click.echo("No line is rejected.")
            return
        limit = SHOWN_LINES if limit is None else limit
        shown = None
        for line in list_rejects(connection, asked, limit):
            if shown != (line.archive, line.source, line.path):
                shown = (line.archive, line.source, line.path)
                click.echo(
                    f"\n{escape_controls(line.path)} ({escape_controls(f'{line.archive}/{line.source}')})"
                )
            text = NOT_KEPT if line.text is None else escape_controls(line.text)
            click.echo(f"  line {line.line_number:,}: {line.reason}: {text}")
    left = sum(each.line_count for each in counts) - limit
    if left > 0:
        click.echo(f"\n{left:,} more: --limit shows more, --reason and --file narrow the list.")


def _retry(warehouse: Warehouse, asked: RejectFilter, key: PseudonymKey | None, *, as_json: bool) -> None:
    with closing(warehouse.connect(Role.LOADER)) as connection:
        files = find_files(connection, asked)
    now = datetime.now(UTC)
    failures: list[tuple[object, TapewiseError]] = []
    newest = [file for file in files if file.is_newest]
    for file in newest:

        def report_wait(archive: str = file.archive) -> None:
            if not as_json:
                click.echo(escape_controls(f"Waiting for another load of '{archive}' to end ..."), err=True)

        retry = retry_file(warehouse, file, now, key, report_wait)
        if as_json:
            click.echo(json.dumps(_to_json(retry)))
        if retry.error is not None:
            failures.append((file.path, retry.error))
            click.echo(f"tapewise: {escape_controls(retry.error.message)}", err=True)
        elif not as_json:
            click.echo("\n".join(_describe(retry)))
    if not as_json:
        _report_the_rest(files, newest)
    if failures:
        raise LogFileError(
            f"{len(failures)} of {len(newest)} files could not be read again",
            hint="\n".join(join_hints(failures)) or None,
        )


def _report_the_rest(files: list[RejectedFile], newest: list[RejectedFile]) -> None:
    if not files:
        click.echo("No file has such lines.")
    if older := len(files) - len(newest):
        click.echo(
            f"{older:,} more had names under which another file has been read since: they cannot be read"
            " again, and stay in the ledger."
        )


def _describe(retry: Retry) -> list[str]:
    assert retry.result is not None
    tally, before = retry.result.tally, retry.file.rejected_count
    path = escape_controls(retry.file.path)
    if retry.is_another:
        return [
            f"{path}: is now a different file, and was read as such: {tally.loaded_count:,} loaded,"
            f" {tally.rejected.total():,} rejected",
            f"  the {before:,} rejected lines of the file that was there before stay in the ledger",
        ]
    return [f"{path}: {before:,} rejected -> {tally.rejected.total():,}; {tally.loaded_count:,} loaded"]


def _to_json(retry: Retry) -> dict[str, Any]:
    known = {
        "archive": retry.file.archive,
        "source": retry.file.source,
        "path": retry.file.path,
        "rejected_before_count": retry.file.rejected_count,
    }
    if retry.result is None:
        return known | {"error": retry.error.message if retry.error else ""}
    return known | result_to_json(retry.result) | {"is_another": retry.is_another}
