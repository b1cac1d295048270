"""The embedded PostgreSQL: our own server, started on demand and stopped when nobody uses it.

    with EmbeddedServer(home) as server:
        connection = psycopg.connect(server.url("warehouse"))

It listens only on a Unix socket, in a folder that only its owner can enter. Only the operating system user
who runs Tapewise can connect, as any database role.

The contents of the cluster's folder, `home/postgresql-18`:

    data/           PostgreSQL's data folder; the server's account owns it
    data.unfinished the same, while `initdb` runs or after it was killed
    run/            the socket
    server.log      output of the server and its keeper; server.log.1: older output
    pg_hba.conf, pg_ident.conf      who may connect; written at every start
    *.lock, kept    see `tapewise.schema.server.keeper`
"""

import os
import pwd
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote, urlencode

from tapewise.schema.errors import ServerError
from tapewise.schema.server import clusters, homes, keeper
from tapewise.schema.server.binaries import Binaries, copy_binaries, find_binaries
from tapewise.schema.server.clusters import PORT, START_TIMEOUT_S, SUPERUSER
from tapewise.schema.server.keeper import DATA_FOLDER, Account

LINGER_S = 10.0


@dataclass(frozen=True)
class ServerStatus:
    """The state of a server, found without starting it."""

    version: int
    cluster: Path | None
    """The real path of the cluster's folder; None if it does not exist yet."""
    pid: int | None
    """The postmaster's pid if it accepts connections, else None."""
    is_kept: bool
    """Whether the server runs until `stop`; otherwise it ends when nobody uses it."""

    @property
    def is_running(self) -> bool:
        """Whether the server accepts connections."""
        return self.pid is not None


class EmbeddedServer:
    """The server of one home. Any number of objects and processes may use it at once.

    Creating the object changes nothing. `linger_s` is how long the server stays up after its last user has
    left; if users give different values, the first one applies. `system_folder` is where root keeps programs
    and clusters (by default /var/lib/tapewise, or `TAPEWISE_SYSTEM_FOLDER`, which is meant for tests).

    Every method can raise `ServerError`, or its subclass `ServerOwnerError` if the home is another user's.
    """

    def __init__(
        self, home: Path, version: int = 18, *, linger_s: float = LINGER_S, system_folder: Path | None = None
    ) -> None:
        self.home = Path(home).absolute()
        self.version = version
        self.linger_s = linger_s
        self.system_folder = system_folder or Path(
            os.environ.get("TAPEWISE_SYSTEM_FOLDER", homes.SYSTEM_FOLDER)
        )
        self._share: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Start the server if it is down, and hold a share of it until `release` or this process's end.

        Creates the cluster at first use. Waits up to ten minutes while the server recovers from a crash. Does
        nothing if this object already holds a share.
        """
        if self._share is not None:
            return
        with _os_errors_explained(f"start the embedded PostgreSQL in {self.home}"):
            cluster, account = self._make_cluster()
            share = keeper.open_lock(cluster / keeper.IN_USE_LOCK)
            try:
                # The share comes first, so the keeper does not stop the server while it starts.
                keeper.lock(share, shared=True)
                with _locked(cluster / keeper.START_LOCK) as start_lock:
                    self._ensure_running(cluster, account, start_lock)
            except BaseException:
                os.close(share)
                raise
            self._share = share

    def release(self) -> None:
        """Give back the share. The server stops a little later if nobody else holds one."""
        if self._share is not None:
            os.close(self._share)
            self._share = None

    def start(self) -> None:
        """Start the server if it is down, and keep it running until `stop`, even without users.

        After a crash of the server or the machine, its next user restarts it, and it again runs until `stop`.
        """
        with _os_errors_explained(f"start the embedded PostgreSQL in {self.home}"):
            cluster, account = self._make_cluster()
            marker = cluster / keeper.KEPT_MARKER
            with _locked(cluster / keeper.START_LOCK) as start_lock:
                was_kept = marker.exists()
                marker.touch()  # before the start: a crash in between would leave a server without a keeper
                try:
                    self._ensure_running(cluster, account, start_lock)
                except BaseException:
                    if not was_kept:
                        marker.unlink()
                    raise

    def stop(self) -> None:
        """Stop the server, even after `start`, and disconnect its users. Gives back this object's share.

        Does nothing if no server is running.
        """
        self.release()
        cluster = self._find_cluster()
        if cluster is None:
            return
        with _os_errors_explained(f"stop the embedded PostgreSQL in {self.home}"):
            account = homes.find_account()
            with _locked(cluster / keeper.START_LOCK), _opened(cluster / keeper.SERVER_LOCK) as server_lock:
                (cluster / keeper.KEPT_MARKER).unlink(missing_ok=True)
                if not keeper.stop_server(cluster / DATA_FOLDER, server_lock, account):
                    raise ServerError(
                        f"the embedded PostgreSQL in {self.home} did not stop in time",
                        hint=f"see {cluster / 'server.log'}",
                    )

    def remove(self) -> None:
        """Stop the server and delete the cluster with everything in it. Does nothing if there is none."""
        self.stop()
        cluster = self._find_cluster()
        if cluster is None:
            return
        with _os_errors_explained(f"remove the embedded PostgreSQL in {self.home}"):
            shutil.rmtree(cluster)
            if self._link.is_symlink():
                self._link.unlink()

    def status(self) -> ServerStatus:
        """Return the state of the server without changing it."""
        cluster = self._find_cluster()
        with _os_errors_explained(f"look at the embedded PostgreSQL in {self.home}"):
            is_kept = cluster is not None and (cluster / keeper.KEPT_MARKER).exists()
            pid = clusters.find_ready_postmaster(cluster) if cluster else None
        return ServerStatus(self.version, cluster, pid, is_kept)

    def conninfo(self, dbname: str, user: str = SUPERUSER) -> dict[str, str]:
        """Return the keywords for `psycopg.connect`; the server must have run before but need not run now."""
        cluster = self._find_cluster()
        if cluster is None:
            raise ServerError(f"{self.home} has no embedded PostgreSQL {self.version} yet")
        folder = homes.choose_socket_folder(cluster)
        account = homes.find_account()
        return {
            "host": str(folder),
            "port": PORT,
            "dbname": dbname,
            "user": user,
            # Another user could have created a socket in /tmp while our server was down.
            "requirepeer": account.name if account else pwd.getpwuid(os.geteuid()).pw_name,
        }

    def url(self, dbname: str, user: str = SUPERUSER) -> str:
        """Return the same as `conninfo`, but as a URI for libpq."""
        info = self.conninfo(dbname, user)
        place = urlencode({name: info[name] for name in ("host", "port", "requirepeer")})
        return f"postgresql://{quote(user, safe='')}@/{quote(dbname, safe='')}?{place}"

    @property
    def _link(self) -> Path:
        return self.home / f"postgresql-{self.version}"

    def _find_cluster(self) -> Path | None:
        with _os_errors_explained(f"look at the embedded PostgreSQL in {self.home}"):
            homes.check_owner(self.home, self._link)
            return homes.find_cluster(self._link)

    def _make_cluster(self) -> tuple[Path, Account | None]:
        homes.check_owner(self.home, self._link)
        account = homes.find_account()
        if account:
            homes.make_system_folder(self.system_folder)  # before the home, which by default is in it
        return homes.make_cluster(self.home, self._link, account, self.system_folder), account

    def _find_binaries(self) -> Binaries:
        binaries = find_binaries(self.version)
        if os.geteuid() == 0:  # the Python environment may be where the server's account cannot read it
            return copy_binaries(binaries, homes.make_system_folder(self.system_folder))
        return binaries

    def _ensure_running(self, cluster: Path, account: Account | None, start_lock: int) -> None:
        """Start the server unless it accepts connections; the caller holds `start_lock`."""
        if not (cluster / keeper.KEPT_MARKER).exists():
            self._ensure_keeper(cluster, account)
        if clusters.find_ready_postmaster(cluster):
            return
        binaries = self._find_binaries()
        with _opened(cluster / keeper.SERVER_LOCK) as server_lock:
            if not self._wait_for_others(cluster, account, server_lock):
                return
            data = cluster / DATA_FOLDER
            if not data.exists():
                clusters.make_data(cluster, binaries, account, start_lock)
            socket_folder = homes.choose_socket_folder(cluster)
            homes.make_socket_folder(socket_folder, account)
            # These files are unused, but PostgreSQL would give up if another process now had the pid in them.
            for stale in (data / "postmaster.pid", *socket_folder.glob(f"{homes.SOCKET_NAME}*")):
                stale.unlink(missing_ok=True)
            clusters.write_access_files(cluster, account)
            clusters.run_postmaster(cluster, binaries, account, server_lock)

    def _wait_for_others(self, cluster: Path, account: Account | None, server_lock: int) -> bool:
        """Wait until the server may be started; return False if another process has started it instead."""
        data = cluster / DATA_FOLDER
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            # Processes left from an earlier folder of this name would remove the new server's socket.
            has_orphans = keeper.stop_orphans(data, account)
            if not has_orphans and keeper.try_lock(server_lock):
                break
            if clusters.find_ready_postmaster(cluster):
                return False
            if time.monotonic() > deadline:
                raise ServerError(
                    f"the embedded PostgreSQL in {self.home} is not ready after {START_TIMEOUT_S} s:"
                    f"{clusters.read_log_tail(cluster)}",
                    hint="it may be recovering from a crash: try again later",
                )
            time.sleep(0.05)
        strangers = keeper.find_processes(data)
        if strangers:
            raise ServerError(
                f"a PostgreSQL that Tapewise did not start runs in {data} (process {strangers[0]})",
                hint="stop it",
            )
        return True

    def _ensure_keeper(self, cluster: Path, account: Account | None) -> None:
        """Start a keeper if there is none. Called before the server starts, which must never lack one."""
        with _opened(cluster / keeper.KEEPER_LOCK) as keeper_lock:
            if not keeper.try_lock(keeper_lock):
                return
        # The keeper is run by its path, isolated, because only this process's sys.path may have our package.
        command = [sys.executable, "-I", "-S", keeper.__file__, str(cluster), f"--linger-s={self.linger_s}"]
        if account:
            command += ["--account", account.name, str(account.uid), str(account.gid)]
        with clusters.open_log(cluster) as log:
            result = keeper.run(command, None, folder=Path("/"), output=log)
        if result.returncode != 0:
            tail = clusters.read_log_tail(cluster)
            raise ServerError(f"the keeper of the embedded PostgreSQL failed:{tail}")


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = keeper.open_lock(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    with _opened(path) as descriptor:
        keeper.lock(descriptor)
        yield descriptor


@contextmanager
def _os_errors_explained(action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename2 or error.filename
        where = f" ({place})" if place else ""
        raise ServerError(
            f"cannot {action}: {error.strerror or error}{where}", hint=clusters.HINTS.get(error.errno or 0)
        ) from error
