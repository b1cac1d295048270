"""A warehouse for one command: an embedded PostgreSQL in a temporary folder, deleted at the end."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from tapewise.schema.database import Warehouse, open_warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.server.homes import choose_socket_folder
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

PREFIX = "tapewise-report-"
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def open_throwaway(settings: Settings) -> Iterator[Warehouse]:
    """Open an empty warehouse of this program's revision; the home and URLs of `settings` are not touched.

    When the block ends, its server is stopped and its files are deleted, even after an error, Ctrl-C,
    SIGTERM or SIGHUP (`tapewise.signals`). If the process is killed outright, the server still ends, but its
    files stay behind. Use this function in the main thread, where signals are handled. Raises ServerError.
    """
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    own = settings.model_copy(update={"home": home, "database_url": None, "reader_url": None})
    try:
        if os.geteuid() == 0:
            home.chmod(0o755)  # the server's own account needs access
        with open_warehouse(own) as empty:
            _forgo_safety(empty)
            with open_ready_warehouse(own) as warehouse:
                yield warehouse
    finally:
        with _undisturbed():
            _remove(EmbeddedServer(home, own.postgres_version))


def _forgo_safety(warehouse: Warehouse) -> None:
    """Configure the server not to wait for the disk, because nothing has to survive a power cut."""
    assert warehouse.server is not None
    maintenance = make_conninfo(**warehouse.server.conninfo("postgres"))
    with psycopg.connect(maintenance, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET full_page_writes = off")
        connection.execute("SELECT pg_reload_conf()")


def _remove(server: EmbeddedServer) -> None:
    """Stop the server and delete its home, even if the home was only partly made."""
    sockets = None
    try:
        cluster = server.status().cluster
        sockets = None if cluster is None else choose_socket_folder(cluster)
        server.remove()
    finally:
        shutil.rmtree(server.home, ignore_errors=True)
        if sockets is not None:  # these are in /tmp if the home's path is too long for a socket
            shutil.rmtree(sockets, ignore_errors=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ignore the signals that end a process, so the files are removed even if Ctrl-C is pressed twice."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
