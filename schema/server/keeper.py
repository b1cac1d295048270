"""The keeper, which stops an embedded PostgreSQL that is no longer used, and the locks it relies on.

A server outlives the command that started it, so that the next command finds it running. It must not run for
ever, but commands cannot be relied on to stop it, because they may be killed at any moment. So each server
has a keeper, a small process that checks once a second whether anybody still holds a share of the server.

The locks are taken with `flock` on files in the cluster's folder. The kernel frees a lock when the last
process that holds it dies, however it dies.

    in-use.lock   shared by all clients while they use the server
    start.lock    held by a process that starts or stops the server, or an `initdb` that outlives its client
    server.lock   held by the postmaster and all its children, including orphaned backends
    keeper.lock   held by the keeper

This module needs only the standard library and imports none of our modules, because it is run by its path,
isolated from the environment and the current folder. It runs only on Linux, because it looks for processes in
`/proc`.
"""

import argparse
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

IN_USE_LOCK = "in-use.lock"
START_LOCK = "start.lock"
SERVER_LOCK = "server.lock"
KEEPER_LOCK = "keeper.lock"
KEPT_MARKER = "kept"
DATA_FOLDER = "data"

STOP_TIMEOUT_S = 120.0
POLL_S = 1.0


class Account(NamedTuple):
    """The system account that runs the server when we are root, because PostgreSQL refuses root."""

    name: str
    uid: int
    gid: int


def run(
    arguments: Sequence[str | Path],
    account: Account | None,
    *,
    folder: Path,
    output: int | IO[bytes] = subprocess.PIPE,
    inherited: Sequence[int] = (),
) -> subprocess.CompletedProcess[bytes]:
    """Run one of the server's programs in `folder`, as `account` (None: our own user), and wait for it.

    The program's environment is bare, because `PGPORT`, `PGOPTIONS` and the like would change the server's
    behaviour, and another locale would change its messages. The program inherits only the file descriptors in
    `inherited`.
    """
    return subprocess.run(
        arguments,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        cwd=folder,
        env={"PATH": os.defpath, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        pass_fds=inherited,
        check=False,
    )


def open_lock(path: Path) -> int:
    """Open a lock file, creating it if missing. Child processes do not inherit the descriptor."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def lock(descriptor: int, *, shared: bool = False) -> None:
    """Take a lock, exclusive or shared, and wait as long as others hold it."""
    fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def try_lock(descriptor: int) -> bool:
    """Take an exclusive lock if nobody else holds it; return False if somebody does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Release a lock but keep its file open."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def read_pid_file(data: Path) -> list[str]:
    """Return the lines of the postmaster's pid file, or an empty list if there is no such file."""
    try:
        return (data / "postmaster.pid").read_text(errors="replace").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []


def find_processes(data: Path, *, is_deleted: bool = False) -> list[int]:
    """Return the pids of the PostgreSQL processes that run in `data`, or in a deleted folder of that name."""
    wanted = os.path.realpath(data) + (" (deleted)" if is_deleted else "")
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if str((process / "cwd").readlink()) != wanted:
                continue
            program = str((process / "exe").readlink()).removesuffix(" (deleted)")
        except OSError:  # the process has ended, or belongs to another user
            continue
        if program.endswith("/postgres"):
            found.append(int(process.name))
    return found


def find_postmaster(data: Path) -> int | None:
    """Return the pid of the postmaster of `data`; None if it is dead and the pid file is stale or missing."""
    lines = read_pid_file(data)
    try:
        pid = int(lines[0]) if lines else 0
    except ValueError:
        return None
    return pid if pid in find_processes(data) else None


def send_signal(signal: str, pids: Sequence[int], account: Account | None) -> None:
    """Send a signal to processes, as `account`.

    A pid may come from a file that the account can write, and must not make root kill another process.
    """
    if pids:
        run(["/bin/sh", "-c", 'kill -s "$0" "$@"', signal, *map(str, pids)], account, folder=Path("/"))


def stop_orphans(data: Path, account: Account | None, *, only_deleted: bool = False) -> bool:
    """End processes that have lost their postmaster or their data folder; return False if there are none.

    They end as in a crash, from which the next start recovers. Otherwise, their queries could run for hours.
    """
    orphans = find_processes(data, is_deleted=True)
    if not only_deleted and find_postmaster(data) is None:
        orphans += find_processes(data)
    send_signal("QUIT", orphans, account)
    return bool(orphans)


def stop_server(
    data: Path, server_lock: int, account: Account | None, *, timeout_s: float = STOP_TIMEOUT_S
) -> bool:
    """Shut the server down and wait until all its processes end; return False if they do not end in time.

    Begins with a fast shutdown, which disconnects clients and writes a checkpoint. After half the time, tries
    a shutdown without a checkpoint. The caller must hold `start.lock`. Does nothing if no server is running,
    and copes with a deleted data folder.
    """
    begin = time.monotonic()
    is_asked = False
    while not try_lock(server_lock):
        waited_s = time.monotonic() - begin
        if waited_s > timeout_s:
            return False
        postmaster = find_postmaster(data)
        if postmaster is None:
            stop_orphans(data, account)
        elif not is_asked:
            send_signal("INT", [postmaster], account)
            is_asked = True
        elif waited_s > timeout_s / 2:
            send_signal("QUIT", [postmaster], account)
        time.sleep(0.05)
    unlock(server_lock)
    return True


class Keeper:
    """Watches a cluster's folder until its server is idle, then stops the server and ends."""

    def __init__(self, folder: Path, account: Account | None, linger_s: float) -> None:
        self.folder = folder
        self.data = folder / DATA_FOLDER
        self.account = account
        self.linger_s = linger_s
        self.keeper_lock = open_lock(folder / KEEPER_LOCK)
        self.start_lock = open_lock(folder / START_LOCK)
        self.in_use_lock = open_lock(folder / IN_USE_LOCK)
        self.server_lock = open_lock(folder / SERVER_LOCK)

    def watch(self) -> None:
        """Poll until the server has been idle for `linger_s` seconds, or until it should be kept running."""
        idle_since: float | None = None
        while True:
            time.sleep(min(POLL_S, self.linger_s / 2 + 0.05))
            if self._is_folder_gone():
                self._stop_deleted()
                return
            if not try_lock(self.start_lock):  # the server is being started or stopped
                idle_since = None
                continue
            if try_lock(self.in_use_lock):
                now = time.monotonic()
                idle_since = now if idle_since is None else idle_since
                is_kept = (self.folder / KEPT_MARKER).exists()
                if is_kept or now - idle_since >= self.linger_s:
                    if not is_kept and not stop_server(self.data, self.server_lock, self.account):
                        sys.stderr.write("tapewise: the keeper could not stop the server\n")
                    # Released before start.lock: whoever takes that next must see that the keeper is gone.
                    os.close(self.keeper_lock)
                    return
                unlock(self.in_use_lock)
            else:
                idle_since = None
            unlock(self.start_lock)

    def _stop_deleted(self) -> None:
        """Stop the server of a deleted folder, but not a new server in its place.

        Deleting a folder takes time: our lock file may go first and the data last.
        """
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while not try_lock(self.server_lock) and time.monotonic() < deadline:
            stop_orphans(self.data, self.account, only_deleted=True)
            time.sleep(0.1)

    def _is_folder_gone(self) -> bool:
        """Return whether the cluster's folder was deleted or replaced."""
        try:
            return not os.path.samestat((self.folder / START_LOCK).stat(), os.fstat(self.start_lock))
        except OSError:
            return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the keeper of a cluster in the background, unless the cluster already has one.

    Returns once the keeper holds its lock.
    """
    parser = argparse.ArgumentParser(prog="tapewise.schema.server.keeper", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--linger-s", type=float, default=10.0)
    parser.add_argument("--account", nargs=3, metavar=("NAME", "UID", "GID"))
    options = parser.parse_args(arguments)
    account = None
    if options.account:
        name, uid, gid = options.account
        account = Account(name, int(uid), int(gid))

    keeper = Keeper(options.folder, account, options.linger_s)
    if try_lock(keeper.keeper_lock) and os.fork() == 0:  # forked, so our caller need not wait for us
        os.setsid()
        keeper.watch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
