"""`tapewise refresh`: computes again what is prepared for answers that would take too long.

A nightly run does the same after its loads.
"""

from contextlib import closing
from datetime import UTC, datetime

import click

from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls
from tapewise.schema.writing.archives import get_archive
from tapewise.schema.writing.file_counts import refresh_files


@click.command()
@click.option("--archive", help="Only this archive.")
@click.pass_obj
def refresh(settings: Settings, archive: str | None) -> None:
    """Count again what happened to files, for answers about growth and about the age of what is read.

    Does nothing for archives to which nothing was added since the last time. Loads of an archive wait while
    its files are counted; queries do not, and get the previous answer until then. `tapewise ingest` does the
    same after reading the sources of tapewise.toml.

    Example: tapewise refresh --archive hpss
    """
    with open_ready_warehouse(settings) as warehouse:
        with closing(warehouse.connect(Role.LOADER)) as connection:
            if archive is not None:
                get_archive(connection, archive)
            names = [name for (name,) in connection.execute("SELECT name FROM core.archives ORDER BY name")]
        for name in [archive] if archive is not None else names:
            counts = refresh_files(warehouse, name, now=datetime.now(UTC), is_shown=True)
            label = escape_controls(name)
            if counts is None:
                click.echo(f"{label}: nothing has changed since the last time.")
            else:
                click.echo(
                    f"{label}: files counted by {counts.day_count:,} routes and days,"
                    f" from {counts.event_count:,} events."
                )
    if archive is None and not names:
        click.echo("No archive yet: `tapewise ingest --help`.")
