"""`tapewise db backup` and `restore`: PostgreSQL's own pg_dump and pg_restore."""

import os
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from schema.binaries import find_binaries
from schema.database import Role, Warehouse
from schema.definitions import make_roles
from schema.errors import DatabaseError
from schema.mart import drop_mart, rebuild_mart
from schema.upgrade import check_revision, current_revision


def back_up(warehouse: Warehouse, file: Path) -> None:
    """Write the warehouse to `file` in pg_dump's custom format; all of it or no file.

    Only its owner can read it. Raises DatabaseError if the file exists or the dump fails, RevisionError if
    there is no warehouse of this program's revision.
    """
    if file.exists():
        raise DatabaseError(
            f"{file}: exists already", hint="Choose another name; a backup is never overwritten."
        )
    with warehouse.connect(Role.OWNER) as connection:
        check_revision(connection)
    unfinished = file.with_name(f"{file.name}.unfinished")
    # `mart` holds no data and is made anew from this program's own sql/ when restored.
    try:
        _run(
            warehouse,
            "pg_dump",
            "--format=custom", "--no-owner", "--exclude-schema=mart", "--file", str(unfinished.resolve()),
        )  # fmt: skip
        unfinished.rename(file)
    finally:
        unfinished.unlink(missing_ok=True)


def restore(warehouse: Warehouse, file: Path) -> None:
    """Read `file` into a database without archives, in one transaction, and rebuild `mart`.

    Raises DatabaseError if there are any or the file is no backup, RevisionError if it was made by
    another version: upgrade it then.
    """
    with warehouse.connect(Role.OWNER) as connection:
        if current_revision(connection) is not None:
            if connection.execute("SELECT FROM core.archives LIMIT 1").fetchone() is not None:
                raise DatabaseError(
                    "the database holds archives already",
                    hint="Restore into another home or an empty database.",
                )
            # Any command makes the schema in an empty home; without an archive nothing is lost with it.
            drop_mart(connection)
            connection.execute("DROP SCHEMA core, ledger, studies CASCADE")
        make_roles(connection)
    _run(
        warehouse,
        "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction",
        str(file.resolve()),
    )  # fmt: skip
    with warehouse.connect(Role.OWNER) as connection:
        check_revision(connection)
        rebuild_mart(connection)


def _run(warehouse: Warehouse, tool: str, *arguments: str) -> None:
    """Run a PostgreSQL tool of the server's own version on the warehouse's database."""
    with warehouse.connect(Role.OWNER) as connection:
        # A newer pg_restore sets what an older server does not know.
        version = 18 if connection.info.server_version >= 170000 else 16
    place = conninfo_to_dict(warehouse.url(Role.OWNER))
    # By the environment: the list of processes shows arguments to everybody, and a URL may hold a password.
    variables = {
        option.envvar.decode(): str(place[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and place.get(option.keyword.decode()) is not None
    }
    result = subprocess.run(
        [find_binaries(version).find_tool(tool), f"--dbname={place.get('dbname', '')}", *arguments],
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        umask=0o077,  # a backup holds the names that the reading role may not see
        check=False,
    )
    if result.returncode != 0:
        raise DatabaseError(f"{tool} failed: {result.stderr.strip()}")
