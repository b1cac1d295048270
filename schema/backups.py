"""`tapewise db backup` and `restore`, with PostgreSQL's own pg_dump and pg_restore."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from tapewise.schema.access.roles import make_roles
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, RevisionError
from tapewise.schema.server import keeper
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.server.leash import leash
from tapewise.schema.tables.lockouts import WAIT_S, locked_out
from tapewise.schema.tables.mart import drop_mart
from tapewise.schema.tables.upgrade import (
    check_upgradable,
    current_revision,
    is_unreleased,
    known_revisions,
    upgrade,
)

# The suffix of the file that a backup is written to until it is complete; a killed backup leaves it behind.
UNFINISHED = ".unfinished-backup"


def back_up(warehouse: Warehouse, file: Path) -> None:
    """Write the warehouse to `file` in pg_dump's custom format, completely or not at all.

    Only the file's owner can read it. The warehouse may be older than this program, so it can be backed up
    before an upgrade. Raises DatabaseError if the file exists, if it cannot be created or if the dump fails,
    and RevisionError if there is no warehouse or if it is newer than this program.
    """
    if file.exists():
        raise _already_exists(file)
    with warehouse.connect(Role.OWNER) as connection:
        check_upgradable(connection)
    with _unfinished(file) as (descriptor, unfinished):
        # `mart` holds no data, and `restore` rebuilds it from this program's own sql/. The revocations on
        # PostgreSQL's own functions (`access/roles.py`) are left out too, and `restore` makes them again,
        # because another version may have other functions.
        _run(
            warehouse,
            "pg_dump",
            "--format=custom", "--no-owner", "--exclude-schema=mart", "--exclude-schema=pg_catalog",
            output=descriptor,
        )  # fmt: skip
        os.fsync(descriptor)
        _publish(unfinished, file)


def remove_unfinished(folder: Path) -> list[Path]:
    """Remove the files that killed backups left in `folder`, and return their paths.

    The file of a running backup is locked and stays.
    """
    removed = []
    for path in sorted(folder.glob(f"*{UNFINISHED}")):
        with suppress(OSError):  # it belongs to somebody else, or was just finished
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                if keeper.try_lock(descriptor):
                    path.unlink()
                    removed.append(path)
            finally:
                os.close(descriptor)
    return removed


@contextmanager
def _unfinished(file: Path) -> Iterator[tuple[int, Path]]:
    """Open and lock a new file next to `file`, for this backup only; remove it after the block."""
    descriptor, path = _open_unfinished(file)
    try:
        yield descriptor, path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _open_unfinished(file: Path) -> tuple[int, Path]:
    while True:
        try:
            descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=UNFINISHED, dir=file.parent)
        except OSError as error:
            raise DatabaseError(
                f"{file}: cannot be created: {error.strerror}",
                hint="Choose a folder that exists and that you may write to.",
            ) from None
        with suppress(OSError):  # on network file systems without locks, leftovers stay
            keeper.lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)  # another backup removed it as a leftover before it was locked


def _publish(unfinished: Path, file: Path) -> None:
    """Give the dump its final name and sync that to disk. Raises DatabaseError if the name is now taken."""
    try:
        try:
            file.hardlink_to(unfinished)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links: claim the name first, then replace our own file
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            unfinished.replace(file)
    except FileExistsError:
        raise _already_exists(file) from None
    folder = os.open(file.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _already_exists(file: Path) -> DatabaseError:
    return DatabaseError(
        f"{file}: already exists", hint="Choose another name; a backup is never overwritten."
    )


def restore(
    warehouse: Warehouse,
    file: Path,
    *,
    wait_s: float = WAIT_S,
    on_wait: Callable[[str], None] | None = None,
) -> str:
    """Restore `file` into a database without archives, in one transaction, then upgrade it.

    Returns the revision of the backup. Waits up to `wait_s` seconds for other sessions that use what is
    replaced, and calls `on_wait` once with a description of them. Raises DatabaseError, before changing
    anything, if they take longer, if there are archives or if the file is not a backup. Raises RevisionError
    if a newer program made the file or the database.
    """
    revision = _read_revision(warehouse, file)

    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    with connect() as connection:

        def prepare() -> None:
            if current_revision(connection) is not None:
                check_upgradable(connection)
                if connection.execute("SELECT FROM core.archives LIMIT 1").fetchone() is not None:
                    raise DatabaseError(
                        "the database already holds archives",
                        hint="Restore into another home or an empty database.",
                    )
                # Any command creates these schemas in an empty home. Without archives, dropping them loses
                # nothing.
                drop_mart(connection)
                connection.execute("DROP SCHEMA core, ledger, studies CASCADE")
            make_roles(connection)

        with locked_out(connection, connect, prepare, "restore", wait_s, on_wait):
            pass
    place = conninfo_to_dict(warehouse.url(Role.OWNER))
    _run(
        warehouse,
        "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction",
        f"--dbname={place.get('dbname', '')}", str(file.resolve()),
    )  # fmt: skip
    upgrade(connect, wait_s=wait_s, on_wait=on_wait)
    return revision


def _read_revision(warehouse: Warehouse, file: Path) -> str:
    """Return the revision of the warehouse in a backup. Raises what `restore` raises."""
    text = _run(
        warehouse,
        "pg_restore", "--data-only", "--schema=ledger", "--table=revisions", "--file=-", str(file.resolve()),
        output=subprocess.PIPE,
    )  # fmt: skip
    found = re.search(r"^COPY ledger\.revisions .*\n(.+)\n\\\.$", text, re.MULTILINE)
    if found is None:
        raise DatabaseError(f"{file}: does not contain a warehouse")
    if found[1] not in known_revisions():
        raise RevisionError(
            f"{file}: contains a warehouse with revision {found[1]}, which this program does not know",
            hint="It is older than the first release, 0.1.0: restore it with the Tapewise that made it, or"
            " load the logs again."
            if is_unreleased(found[1])
            else "A newer Tapewise made it: restore it with that version.",
        )
    return found[1]


def _run(warehouse: Warehouse, tool: str, *arguments: str, output: int = subprocess.DEVNULL) -> str:
    """Run a PostgreSQL tool of the server's version on the warehouse. It ends when this process ends.

    Returns the tool's output if `output` is a pipe.
    """
    with warehouse.connect(Role.OWNER) as connection:
        # A newer pg_restore sets parameters that an older server does not know.
        version = 18 if connection.info.server_version >= 170000 else 16
        options = connection.info.options  # with these, the server notices when the tool is gone
    place = conninfo_to_dict(warehouse.url(Role.OWNER)) | {"options": options}
    # These go into the environment, because the process list shows arguments to everybody, and a URL may hold
    # a password.
    variables = {
        option.envvar.decode(): str(place[option.keyword.decode()])
        for option in Conninfo.get_defaults()
        if option.envvar and place.get(option.keyword.decode()) is not None
    }
    result = subprocess.run(
        leash([find_binaries(version).find_tool(tool), *arguments]),
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")} | variables,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise DatabaseError(f"{tool} failed: {result.stderr.strip()}")
    return result.stdout or ""
