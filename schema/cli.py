"""`tapewise db`: the database itself."""

from pathlib import Path

import click

from tapewise.schema.backups import back_up, remove_unfinished, restore
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.errors import SettingsError
from tapewise.schema.logins_cli import logins
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tapewise.schema.tables.lockouts import WAIT_S
from tapewise.schema.tables.upgrade import current_revision, newest_revision, open_ready_warehouse, upgrade
from tapewise.schema.texts import escape_controls

ROLES = {"owner": Role.OWNER, "loader": Role.LOADER, "reader": Role.READER}


@click.group()
def db() -> None:
    """Start, stop, upgrade, back up and restore the database.

    Without a database URL in the settings, Tapewise keeps its warehouse in an embedded PostgreSQL
    below its home. Every command that needs the server starts it, and it stops some seconds after the last
    command.
    """


db.add_command(logins)


def _embedded(settings: Settings) -> EmbeddedServer:
    if settings.database_url is not None or settings.reader_url is not None:
        raise SettingsError(
            "the settings name the URL of a server",
            hint="This command starts and stops only the embedded server.",
        )
    return EmbeddedServer(settings.home, settings.postgres_version)


@db.command()
@click.pass_obj
def start(settings: Settings) -> None:
    """Start the embedded PostgreSQL and keep it running until `db stop`.

    Example: tapewise db start
    """
    _embedded(settings).start()
    with open_ready_warehouse(settings) as warehouse:
        click.echo(f"PostgreSQL {settings.postgres_version} is up: {warehouse.url(Role.READER)}")


@db.command()
@click.pass_obj
def stop(settings: Settings) -> None:
    """Stop the embedded PostgreSQL, even if somebody is using it.

    Example: tapewise db stop
    """
    server = _embedded(settings)
    was_running = server.status().is_running
    server.stop()
    click.echo("PostgreSQL is stopped." if was_running else "PostgreSQL was not running.")


@db.command()
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def remove(settings: Settings, yes: bool) -> None:
    """Stop the embedded PostgreSQL and delete it with the whole warehouse.

    The log files stay where they are. If root created the warehouse, part of it may
    be below /var/lib/tapewise.

    Example: tapewise --home .demo db remove --yes
    """
    server = _embedded(settings)
    cluster = server.status().cluster
    if cluster is None:
        click.echo(f"{settings.home} holds no warehouse.")
        return
    if not yes:
        click.confirm(f"Delete the warehouse in {settings.home} ({cluster})?", abort=True)
    server.remove()
    click.echo(f"The warehouse in {settings.home} is deleted.")


@db.command()
@click.option(
    "--as", "role", type=click.Choice(sorted(ROLES)), default="reader", show_default=True, help="Log in as."
)
@click.pass_obj
def url(settings: Settings, role: str) -> None:
    """Print the database URL, for psql and other programs.

    Run `tapewise db start` first, to keep the embedded server up for them.

    Example: psql "$(tapewise db url)"
    """
    # We may not be able to connect to a site's own server to check the revision, even if we know its URL.
    opened = open_warehouse if settings.database_url or settings.reader_url else open_ready_warehouse
    with opened(settings) as warehouse:
        click.echo(warehouse.url(ROLES[role]))


@db.command(name="upgrade")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0),
    default=WAIT_S,
    show_default=True,
    help="Seconds to wait for others who are using what the upgrade changes.",
)
@click.pass_obj
def upgrade_command(settings: Settings, wait_s: float) -> None:
    """Bring the schema to this program's version: run the migrations and rebuild the views.

    Creates the warehouse if there is none. The command does all of this or nothing; a second run only
    rebuilds the views. If somebody else's transaction is in the way for longer than --wait, the command
    reports whose it is and changes nothing.

    Example: tapewise db upgrade
    """
    with open_warehouse(settings) as warehouse:
        before = read_revision(warehouse)
        upgrade(
            lambda: warehouse.connect(Role.OWNER),
            wait_s=wait_s,
            on_wait=_report_wait,
        )
    click.echo(
        f"The warehouse has revision {newest_revision()}" + (f", was {before}." if before else ", new.")
    )


def _report_wait(blockers: str) -> None:
    click.echo(f"Waiting for {escape_controls(blockers)}.", err=True)


def read_revision(warehouse: Warehouse) -> str | None:
    """Return the revision of the warehouse's schema, or None if it has none."""
    with warehouse.connect(Role.OWNER) as connection:
        return current_revision(connection)


@db.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def backup(settings: Settings, file: Path) -> None:
    """Write the whole warehouse to FILE (PostgreSQL's custom format), which must not exist.

    A warehouse older than this program can be backed up too, before `tapewise db upgrade`. Removes the files
    that killed backups left in FILE's folder (*.unfinished-backup).

    Example: tapewise db backup warehouse.dump
    """
    for path in remove_unfinished(file.parent):
        click.echo(escape_controls(f"Removed {path}, which a killed backup left behind."), err=True)
    with open_warehouse(settings) as warehouse:
        back_up(warehouse, file)
    click.echo(escape_controls(f"{file}: {file.stat().st_size:,} bytes."))


@db.command(name="restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_obj
def restore_command(settings: Settings, file: Path) -> None:
    """Restore FILE, written by `db backup`, into a database that holds no archive.

    If an older Tapewise wrote FILE, the warehouse is then upgraded. If somebody else's transaction is in the
    way for longer than 30 seconds, the command reports whose it is and changes nothing.

    Example: tapewise --home /srv/new-home db restore warehouse.dump
    """
    with open_warehouse(settings) as warehouse:
        revision = restore(warehouse, file, on_wait=_report_wait)
    newest = newest_revision()
    upgraded = "" if revision == newest else f", and upgraded from revision {revision} to {newest}"
    click.echo(escape_controls(f"{file} is restored{upgraded}."))
