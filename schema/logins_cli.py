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
    """Make, list and drop the logins of those who read: a login for each person.

    A login reads the schema mart and nothing else. Its password, its settings and its sessions are its own.
    """


@logins.command()
@click.argument("name")
@click.option("--names", "sees_names", is_flag=True, help="It sees the names of users and files, too.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that holds its password in one line; otherwise it is asked for.",
)
@click.option("--no-password", is_flag=True, help="It gets in by other ways, which pg_hba.conf names.")
@click.pass_obj
def add(
    settings: Settings, name: str, sees_names: bool, password_file: Path | None, no_password: bool
) -> None:
    """Make login NAME, which may read, and print how it gets in.

    The embedded server asks nobody for a password: only the user of this machine who runs Tapewise can reach
    it, as any login.

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
    """How a login reaches the database, without its password."""
    if warehouse.server is not None:
        return warehouse.server.url(warehouse.database, name)
    place = conninfo_to_dict(warehouse.url(Role.OWNER))
    kept = {key: str(value) for key, value in place.items() if key not in {"password", "options"}}
    return make_conninfo(**kept | {"user": name})


@logins.command(name="list")
@click.pass_obj
def list_command(settings: Settings) -> None:
    """List the logins that read, with the settings that they have.

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
    """Drop login NAME. Sessions that it has go on until they end.

    Example: tapewise db logins drop anna
    """
    with open_ready_warehouse(settings) as warehouse, warehouse.connect(Role.OWNER) as connection:
        drop_login(connection, name)
    click.echo(f"Login {name} is dropped.")
