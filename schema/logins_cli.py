"""`tapewise db logins`: who may read the warehouse."""

from pathlib import Path

import click
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tapewise.schema.access.logins import add_login, drop_login, list_logins
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.settings import Settings, read_secret_file
from tapewise.schema.tables.upgrade import open_ready_warehouse


@click.group()
def logins() -> None:
    """Create, list and drop reading logins, one for each person.

    A login reads the schema mart and nothing else. Each has its own password, settings and sessions.
    """


@logins.command()
@click.argument("name")
@click.option("--names", "sees_names", is_flag=True, help="Let the login also see names of users and files.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that contains the password on one line.  [default: ask for it]",
)
@click.option(
    "--no-password",
    is_flag=True,
    help="Set no password: the login connects in another way that pg_hba.conf allows.",
)
@click.pass_obj
def add(
    settings: Settings, name: str, sees_names: bool, password_file: Path | None, no_password: bool
) -> None:
    """Create the reading login NAME, and print how to connect with it.

    The embedded server never asks for a password: only the operating system user who runs Tapewise can
    connect to it, as any login.

    Example: tapewise db logins add anna --no-password
    """
    if password_file and no_password:
        raise click.UsageError("Give --password-file or --no-password, not both.")
    with open_ready_warehouse(settings) as warehouse:
        password = None
        if password_file:
            password = read_secret_file(password_file)
        elif warehouse.server is None and not no_password:
            password = str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
        with warehouse.connect(Role.OWNER) as connection:
            add_login(connection, name, sees_names=sees_names, password=password)
        click.echo(f"{name} can log in: {_find_way(warehouse, name)}")


def _find_way(warehouse: Warehouse, name: str) -> str:
    """How a login connects to the database, without its password."""
    if warehouse.server is not None:
        return warehouse.server.url(warehouse.database, name)
    place = conninfo_to_dict(warehouse.url(Role.OWNER))
    kept = {key: str(value) for key, value in place.items() if key not in {"password", "options"}}
    return make_conninfo(**kept | {"user": name})


@logins.command(name="list")
@click.pass_obj
def list_command(settings: Settings) -> None:
    """List the reading logins with their settings.

    Example: tapewise db logins list
    """
    with open_ready_warehouse(settings) as warehouse, warehouse.connect(Role.OWNER) as connection:
        for login in list_logins(connection):
            sees = "mart and names" if login.sees_names else "mart"
            said = f"{login.name}: reads {sees}, {login.connection_limit} connections at most"
            click.echo(f"{said}; {login.settings or 'no settings'}")


@logins.command()
@click.argument("name")
@click.pass_obj
def drop(settings: Settings, name: str) -> None:
    """Drop the login NAME. Its open sessions continue until they end.

    Example: tapewise db logins drop anna
    """
    with open_ready_warehouse(settings) as warehouse, warehouse.connect(Role.OWNER) as connection:
        drop_login(connection, name)
    click.echo(f"Login {name} is dropped.")
