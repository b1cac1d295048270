"""One cluster of the embedded PostgreSQL: creating its data, starting its postmaster, reading its log.

Callers must hold the cluster's start lock, except for functions that only read.
"""

import errno
import os
import pwd
import shlex
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tapewise.schema.errors import ServerError
from tapewise.schema.server import homes, keeper
from tapewise.schema.server.binaries import Binaries
from tapewise.schema.server.keeper import DATA_FOLDER, Account

SUPERUSER = "tapewise"
PORT = "5432"  # appears only in the socket's name
START_TIMEOUT_S = 600

# Text must always sort by code point, on every machine, because indexes rely on that order.
LOCALES = {
    16: ["--locale=C", "--lc-ctype=C.UTF-8"],
    18: ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
}
# Settings that a site may tune later, in data/postgresql.conf or with ALTER SYSTEM.
SETTINGS = {
    "max_connections": "100",
    "max_wal_size": "2GB",
    "shared_buffers": "256MB",
    "max_locks_per_transaction": "256",  # a query over decades of month partitions locks each of them
    "jit": "off",  # the wheel has no JIT
    "timezone": "UTC",
    "log_timezone": "UTC",
}
LOG_LIMIT_BYTES = 16 * 2**20
LOG_TAIL_LINES = 15

HINTS = {
    errno.ENOSPC: "free some space, or choose a home on another disk (--home)",
    errno.EDQUOT: "free some space, or choose a home on another disk (--home)",
    errno.EROFS: "choose a writable home (--home)",
    errno.EACCES: "choose a home that you can write to (--home)",
    errno.EPERM: "choose a home that you can write to (--home)",
}


def make_data(cluster: Path, binaries: Binaries, account: Account | None, start_lock: int) -> None:
    """Create the data folder, which gets its final name only when it is complete and on disk."""
    unfinished = cluster / f"{DATA_FOLDER}.unfinished"
    if unfinished.exists():  # left by a killed initdb, since a running one holds the start lock
        shutil.rmtree(unfinished)
    unfinished.mkdir(mode=0o700)
    if account:
        os.chown(unfinished, account.uid, account.gid)
    settings = [argument for item in SETTINGS.items() for argument in ("--set", "=".join(item))]
    result = keeper.run(
        [
            binaries.find_tool("initdb"),
            f"--pgdata={unfinished.name}",
            f"--username={SUPERUSER}",
            "--encoding=UTF8",
            *LOCALES[binaries.version],
            "--auth-local=peer",
            "--auth-host=reject",
            "--data-checksums",
            *settings,
        ],
        account,
        folder=cluster,
        inherited=[start_lock],
    )
    if result.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise ServerError(
            f"initdb could not create a cluster in {cluster}:{_format_tail(result.stdout)}",
            hint=_hint_at(result.stdout),
        )
    unfinished.rename(cluster / DATA_FOLDER)
    folder = os.open(cluster, os.O_RDONLY)
    try:
        os.fsync(folder)  # otherwise a power cut could undo the renaming, even after logs were loaded
    finally:
        os.close(folder)


def write_access_files(cluster: Path, account: Account | None) -> None:
    """Let only our own user and the server's account connect through the socket."""
    names = [pwd.getpwuid(os.geteuid()).pw_name] + ([account.name] if account else [])
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    contents = {
        "pg_hba.conf": "local all all peer map=tapewise\n",
        "pg_ident.conf": "".join(f"tapewise {name} all\n" for name in quoted),
    }
    for name, text in contents.items():
        path = cluster / name
        path.write_text(text)
        path.chmod(0o644)


def run_postmaster(cluster: Path, binaries: Binaries, account: Account | None, server_lock: int) -> None:
    """Start the server and wait until it accepts connections. The server inherits and keeps `server_lock`."""
    # These are set on the command line, so that neither a file nor ALTER SYSTEM can override them.
    options = {
        "listen_addresses": "",
        "port": PORT,
        "unix_socket_directories": str(homes.choose_socket_folder(cluster)),
        "unix_socket_permissions": "0700",
        "hba_file": "pg_hba.conf",
        "ident_file": "pg_ident.conf",
        "logging_collector": "off",
        # Ends the query of any client that is gone, including Superset and psql.
        "client_connection_check_interval": "2s",
    }
    if binaries.version >= 17:
        # Any user can send notifications, and those that nobody receives could fill up to 8 GB.
        options["max_notify_queue_pages"] = "64"
    with open_log(cluster) as log:
        begin = log.tell()
        result = keeper.run(
            [
                binaries.find_tool("pg_ctl"),
                "start",
                "--silent",
                "--wait",
                f"--timeout={START_TIMEOUT_S}",
                f"--pgdata={DATA_FOLDER}",
                f"--options={shlex.join(f'--{name}={value}' for name, value in options.items())}",
            ],
            account,
            folder=cluster,  # paths are relative to it, because pg_ctl passes them to a shell unquoted
            output=log,
            inherited=[server_lock],
        )
    if result.returncode != 0 or find_ready_postmaster(cluster) is None:
        tail = read_log_tail(cluster, begin)
        raise ServerError(
            f"the embedded PostgreSQL in {cluster} did not start:{tail}", hint=_hint_at(tail.encode())
        )


def find_ready_postmaster(cluster: Path) -> int | None:
    """Return the pid of the postmaster if it accepts connections, else None."""
    lines = keeper.read_pid_file(cluster / DATA_FOLDER)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return None
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(os.fspath(homes.choose_socket_folder(cluster) / homes.SOCKET_NAME))
        except OSError:  # the pid file outlived its postmaster
            return None
    return int(lines[0])


@contextmanager
def open_log(cluster: Path) -> Iterator[BinaryIO]:
    """Open the server's log for appending, after rotating it if it has grown large."""
    path = cluster / "server.log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_LIMIT_BYTES:
            path.rename(path.with_name("server.log.1"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
        yield log


def read_log_tail(cluster: Path, begin: int = 0) -> str:
    """Return the last lines of the server's log after byte `begin`, indented for a message."""
    try:
        content = (cluster / "server.log").read_bytes()[begin:]
    except OSError:
        return ""
    return _format_tail(content)


def _format_tail(output: bytes) -> str:
    lines = output.decode(errors="replace").splitlines()[-LOG_TAIL_LINES:]
    return "".join(f"\n    {line}" for line in lines)


def _hint_at(output: bytes) -> str | None:
    """Return the hint for the system error that a program's output mentions, or None."""
    return next((hint for code, hint in HINTS.items() if os.strerror(code).encode() in output), None)
