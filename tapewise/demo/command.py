"""The command: loads the example logs and shows the answers."""

import shlex
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from tapewise.demo.answers import (
    show_activity,
    show_cache_hits,
    show_envelopes,
    show_open_times,
    show_requests,
)
from tapewise.demo.loop import show_loop
from tapewise.demo.sections import ARCHIVE, EXAMPLES, say
from tapewise.ingest.commands.output import describe_result
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.loading.progress import show_progress
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.sources.sources import SourceRequest, make_source
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.errors import LogFileError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import newest_revision, upgrade

ZONE = "America/Los_Angeles"
LOGS = (("nft.log", "nft"), ("pftp.log.gz", "pftp"), ("hsi.log", "hsi"))
# The logs of UniTree, the archive behind NFT and FTP. Transfers that NFT's log reports too are counted there.
UNITREE_LOGS = (("cond.*.gz", "cond", True), ("stat.log.gz", "stat", False))
QUERY = "SELECT * FROM mart.activity(period => 'month')"


@click.command()
@click.pass_obj
def demo(settings: Settings) -> None:
    """Load the example logs and answer questions from them.

    The logs go into the archive 'example'. They are made up: two weeks of an archive like LLNL's in 1998.
    Results are shown next to the true values from which the logs were generated. Running the demo again
    counts nothing twice.

    Example: tapewise --home .demo demo
    """
    if not EXAMPLES.is_dir():
        raise LogFileError(f"{EXAMPLES}: the example logs are missing", hint="Run the demo in a checkout.")
    say(f"1. An embedded PostgreSQL {settings.postgres_version} in {settings.home}")
    with open_warehouse(settings) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))
        click.echo(f"It is running; the warehouse is at revision {newest_revision()}.")
        say("2. The logs: every line is loaded, already held, ignored or rejected")
        click.echo("These logs are made up (examples/README.md), and some lines are broken on purpose.\n")
        _ingest(warehouse)
        _ingest_unitree(warehouse)
        with closing(warehouse.connect(Role.READER)) as connection:
            show_activity(connection)
            show_open_times(connection)
            show_requests(connection)
            show_cache_hits(connection)
            show_envelopes(connection)
        show_loop(warehouse)
    _show_next(settings)


def _ingest(warehouse: Warehouse) -> None:
    now = datetime.now(UTC)
    for name, format_name in LOGS:
        request = SourceRequest(ARCHIVE, "synthetic", find_format(format_name), ZONE, format_name)
        with closing(warehouse.connect()) as connection:
            source = make_source(connection, request)
        path = Path(_shorten(str(EXAMPLES / name)))
        with show_progress([path]) as progress:
            result = load_file(warehouse, source, path, now=now, progress=progress)
        click.echo("\n".join(describe_result(result)))


def _ingest_unitree(warehouse: Warehouse) -> None:
    """Load UniTree's logs, and print one balance for all files of a format."""
    now = datetime.now(UTC)
    for pattern, format_name, is_counted in UNITREE_LOGS:
        request = SourceRequest(ARCHIVE, "synthetic", find_format(format_name), ZONE, format_name, is_counted)
        with closing(warehouse.connect()) as connection:
            source = make_source(connection, request)
        total = Tally()
        paths = [Path(_shorten(str(path))) for path in sorted(EXAMPLES.glob(pattern))]
        results = [load_file(warehouse, source, path, now=now) for path in paths]
        for result in results:
            total.line_count += result.tally.line_count
            total.held_count += result.tally.held_count
            total.loaded += result.tally.loaded
            total.ignored += result.tally.ignored
            total.rejected += result.tally.rejected
        is_unchanged = all(result.is_unchanged for result in results)
        summed = FileResult(Path(_shorten(str(EXAMPLES / pattern))), total, 0, is_unchanged)
        click.echo("\n".join(describe_result(summed)))


def _show_next(settings: Settings) -> None:
    say("Next")
    program = shlex.join([_shorten(sys.argv[0]), "--home", _shorten(str(settings.home))])
    for meaning, command in (
        ("Run a query of your own:", f'{program} sql "{QUERY}"'),
        ("See what became of a line:", f"{program} explain line {_shorten(str(EXAMPLES / 'hsi.log'))} 17"),
        ("See how a log is read:", f"{program} formats hsi"),
        ("Predict how other hardware would perform:", f"{program} simulate run --help"),
        ("Load your own logs:", f"{program} ingest --archive NAME --format FORMAT --timezone ZONE FILE..."),
    ):
        click.echo(f"{meaning}\n    {command}")


def _shorten(path: str) -> str:
    """The path as one would type it in the current folder."""
    resolved = Path(path).absolute()
    here = Path.cwd()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else path
