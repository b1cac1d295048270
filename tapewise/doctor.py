"""`tapewise doctor`: checks a warehouse and its nightly job for everything that can be wrong."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime

import click
import psycopg

from tapewise.checks import (
    Finding,
    check_access,
    check_archives,
    check_disk,
    check_globs,
    check_ledger,
    check_rejects,
    check_run,
    check_sources,
    check_statistics,
)
from tapewise.double_checks import check_doubles
from tapewise.ingest.nightly.sources import plan_round
from tapewise.ingest.upkeep.kept_answers import describe_left_out, find_left_out
from tapewise.pseudonym_checks import check_pseudonyms
from tapewise.rollup_checks import check_rollups
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, ServerError, SettingsError, TapewiseError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.mart import is_mart_current
from tapewise.schema.tables.upgrade import newest_revision, open_ready_warehouse
from tapewise.schema.texts import escape_controls
from tapewise.source_states import read_states
from tapewise.status import MOMENT

RECOUNT_ROWS = 5_000_000


@click.command()
@click.option("--now", type=MOMENT, help="Check as of this time, such as 1998-11-01T01:00:00Z.")
@click.option(
    "--recount",
    "row_limit",
    type=click.IntRange(min=1),
    default=RECOUNT_ROWS,
    show_default=True,
    help="How many rows of the latest files to recount and compare with the ledger.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per finding, each on its own line."
)
@click.pass_obj
def doctor(settings: Settings, now: datetime | None, row_limit: int, as_json: bool) -> None:
    """Check the warehouse, its sources and its disk.

    The exit status is 1 if anything is wrong.

    Example: tapewise doctor
    """
    is_wrong = False
    for finding in examine(settings, now or datetime.now(UTC), row_limit):
        is_wrong |= finding.verdict == "wrong"
        if as_json:
            click.echo(json.dumps(asdict(finding)))
        else:
            verdict = finding.verdict.upper() if finding.verdict == "wrong" else finding.verdict
            click.echo(f"{verdict:<8} {finding.check:<9} {escape_controls(finding.sentence)}")
    if is_wrong:
        sys.exit(1)


def examine(settings: Settings, now: datetime, row_limit: int = RECOUNT_ROWS) -> Iterator[Finding]:
    """Yield the findings about the warehouse of `settings`, as of `now`. Raises ConfigError."""
    plans = plan_round(settings)
    if not plans:
        yield Finding("globs", "note", f"{settings.config} names no archives: the nightly job reads nothing.")
    yield from check_globs(plans)
    try:
        with open_ready_warehouse(settings) as warehouse:
            yield from examine_warehouse(settings, warehouse, now, row_limit)
    except (DatabaseError, ServerError, SettingsError) as error:
        yield Finding("database", "wrong", _say(error))
    except psycopg.Error as error:
        yield Finding("database", "wrong", f"The database refused: {' '.join(str(error).split())}")


def examine_warehouse(
    settings: Settings, warehouse: Warehouse, now: datetime, row_limit: int = RECOUNT_ROWS
) -> Iterator[Finding]:
    """Yield the findings about an open warehouse of the right revision. Raises what the database raises."""
    plans = plan_round(settings)
    with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
        if not is_mart_current(loader):
            yield Finding(
                "database",
                "wrong",
                "Schema mart was made by another version of Tapewise: run `tapewise db upgrade`.",
            )
        else:
            yield Finding(
                "database",
                "ok",
                f"The database answers and is at revision {newest_revision()}; mart matches this program.",
            )
            # The embedded server has a login that sees names, which is not made for a check.
            if warehouse.server is None and (left_out := find_left_out(warehouse, None)):
                yield Finding("answers", "note", f"{describe_left_out(left_out)}.")
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            states = read_states(reader)
            yield from check_sources(reader, plans, states, now)
            for state in states:
                yield from check_rejects(reader, state)
            yield from check_access(loader, reader)
        yield from check_archives(loader)
        yield from check_pseudonyms(loader, settings, plans)
        yield from check_ledger(loader, row_limit)
        yield from check_doubles(loader)
        yield from check_rollups(loader)
        yield from check_statistics(loader)
        yield from check_disk(loader, warehouse, now)
        yield from check_run(loader)


def _say(error: TapewiseError) -> str:
    said = f"{error.message[0].upper()}{error.message[1:]}."
    return f"{said} {error.hint}" if error.hint else said
