"""Give PostgreSQL roles the passwords from their login URLs.

    TAPEWISE_DATABASE_URL_FILE=owner_url python docker/passwords.py loader_url reader_url

Each argument is a file that contains a URL with a user and a password. The program logs in as the owner of
the warehouse, who created those roles (`tapewise db upgrade`), and may be run any number of times.
"""

import sys
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tapewise.schema.access.logins import set_password
from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.errors import SettingsError, TapewiseError
from tapewise.schema.settings import read_secret_file, read_settings


def read_login(path: Path) -> tuple[str, str]:
    """Return the user and password of the URL in `path`. Raises SettingsError unless it has both."""
    try:
        login = conninfo_to_dict(read_secret_file(path))
    except psycopg.ProgrammingError:  # its text would repeat the URL with the password
        login = {}
    user, password = login.get("user"), login.get("password")
    if not user or not password:
        raise SettingsError(
            f"{path}: not a URL with user and password",
            hint="Write postgresql://user:password@host/database.",
        )
    return str(user), str(password)


def main(paths: list[str]) -> int:
    """Set the passwords of all roles or of none; return the exit status."""
    try:
        logins = [read_login(Path(path)) for path in paths]
        with open_warehouse(read_settings()) as warehouse, warehouse.connect(Role.OWNER) as connection:
            for user, password in logins:
                set_password(connection, user, password)
    except TapewiseError as error:
        print(f"passwords.py: {error}", *([error.hint] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_status
    print("Passwords are set: " + ", ".join(user for user, _ in logins))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
