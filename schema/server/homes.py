"""The location and ownership of an embedded server's files, and the account that the server runs as.

A home contains a cluster's folder for each version of PostgreSQL, such as `postgresql-18`. An ordinary user
owns everything in it. If root runs Tapewise, root owns the folder, but the data and the socket folder in it
belong to a separate account, because PostgreSQL refuses to run as root. If that account cannot reach the home
(below /root, say), the cluster's folder is a link to one in `/var/lib/tapewise/clusters`. No folder's
permissions are widened for the account.
"""

import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tapewise.schema.errors import ServerError, ServerOwnerError
from tapewise.schema.server.keeper import Account, run

ACCOUNT_NAME = "tapewise"
ACCOUNT_HINT = f"PostgreSQL refuses root; create a system account {ACCOUNT_NAME}, or run as another user"
SYSTEM_FOLDER = Path("/var/lib/tapewise")
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT_BYTES = 107

_ACCOUNT_ATTEMPTS = 10


def find_account() -> Account | None:
    """Return the account that the server must run as; None (our own user) unless we are root.

    Creates the system account `tapewise` if it is missing. The account has neither a home nor a shell.

    Raises:
        ServerError: the account cannot be created, or our uid has no account (in a container, say).
    """
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise ServerError(
                f"PostgreSQL cannot run as uid {os.geteuid()}, which has no name on this machine",
                hint="add the uid to /etc/passwd, or set the URL of a PostgreSQL server in the settings",
            ) from None
        return None
    complaint = ""
    for _ in range(_ACCOUNT_ATTEMPTS):
        try:
            entry = pwd.getpwnam(ACCOUNT_NAME)
        except KeyError:
            complaint = _add_account()
            time.sleep(0.1 if not complaint else 0.5)  # another process may hold the lock of /etc/passwd
            continue
        if entry.pw_uid == 0:
            raise ServerError(f"the account {ACCOUNT_NAME} has uid 0 (root), which PostgreSQL refuses")
        return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise ServerError(
        f"the account {ACCOUNT_NAME} cannot be created: {complaint}",
        hint=ACCOUNT_HINT,
    )


def _add_account() -> str:
    """Create the account; return useradd's complaints, if any."""
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if useradd is None:
        raise ServerError(
            f"the account {ACCOUNT_NAME} cannot be created: there is no program useradd",
            hint=ACCOUNT_HINT,
        )
    result = subprocess.run(
        [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT_NAME],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return result.stdout.decode(errors="replace").strip()


def can_reach(folder: Path, account: Account) -> bool:
    """Return whether the account can enter the folder, by trying: modes do not show access lists."""
    return run(["/bin/sh", "-c", 'cd "$0"', folder], account, folder=Path("/")).returncode == 0


def name_user(uid: int) -> str:
    """Return the name of a user, or `uid 1234` if the uid has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def check_owner(home: Path, link: Path) -> None:
    """Refuse a home that is somebody else's. `link` is the cluster's folder in it, and need not exist.

    An ordinary user may create a cluster in other users' folders, but may not use their clusters. Root may do
    neither, because the owner of the folder could swap the files that root is about to write.

    Raises:
        ServerOwnerError: the home belongs to somebody else.
    """
    for path in (link, home) if os.geteuid() == 0 else (link,):
        owner = _find_owner(path)
        if owner is not None and owner != os.geteuid():
            raise ServerOwnerError(
                f"the embedded PostgreSQL in {home} belongs to {name_user(owner)},"
                f" and you are {name_user(os.geteuid())}",
                hint=f"choose a home of your own (--home), or run as {name_user(owner)}",
            )


def _find_owner(path: Path) -> int | None:
    """Return the owner of a path, or of the folder that hides it from us; None if it does not exist."""
    try:
        return path.stat().st_uid
    except FileNotFoundError:
        return None
    except PermissionError:
        for parent in path.parents:
            try:
                return parent.stat().st_uid
            except PermissionError:
                continue
        raise


def find_cluster(link: Path) -> Path | None:
    """Return the real path of a cluster's folder; None if the home has none yet.

    Raises:
        ServerError: the home links to a folder that is gone.
    """
    if link.is_symlink() and not link.exists():
        raise ServerError(
            f"the folder of the embedded PostgreSQL, {link.readlink()}, is gone",
            hint=f"restore it from a backup, or remove {link} to begin with an empty warehouse",
        )
    return link.resolve() if link.exists() else None


def make_cluster(home: Path, link: Path, account: Account | None, system_folder: Path) -> Path:
    """Create a cluster's folder if it is missing, and return its real path. Safe against races.

    Raises:
        ServerError: the server's account cannot reach the folder.
    """
    home.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() and not link.exists():
        if account is None or can_reach(home, account):
            link.mkdir(mode=0o755 if account else 0o700, exist_ok=True)
        else:
            _link_cluster(home, link, make_system_folder(system_folder / "clusters"))
    folder = find_cluster(link)
    if folder is None:
        raise ServerError(f"the folder of the embedded PostgreSQL, {link}, was removed while being created")
    if account:
        folder.chmod(0o755)  # the umask may have kept `mkdir` from setting this mode
        if not can_reach(folder, account):
            raise ServerError(
                f"the account {account.name}, which runs PostgreSQL for root, cannot reach {folder}",
                hint=f"{find_barrier(folder, account)}; open it up, or choose another home (--home)",
            )
    return folder


def find_barrier(folder: Path, account: Account) -> str:
    """Describe which parent folder stops the account."""
    for parent in reversed(folder.parents):
        if not can_reach(parent, account):
            return f"{parent} stops it"
    return f"{folder} stops it"


def _link_cluster(home: Path, link: Path, base: Path) -> None:
    """Create a cluster's folder in `base` and link it from the home.

    Part of the folder's name is random. Otherwise, a new home at the path of a deleted one would find the old
    data.
    """
    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]
    folder = Path(tempfile.mkdtemp(prefix=f"{digest}-", dir=base))
    (folder / "home.txt").write_bytes(os.fsencode(link) + b"\n")  # for people who clean up
    try:
        link.symlink_to(folder)
    except FileExistsError:  # another process was faster
        shutil.rmtree(folder)


def make_system_folder(folder: Path) -> Path:
    """Create a folder that root owns and everybody can read, and return it.

    Raises:
        ServerError: the folder exists, and users other than root can write to it.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(0o755)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise ServerError(
            f"others can write to {folder}, where root keeps programs and clusters",
            hint=f"chown root {folder}; chmod 755 {folder}",
        )
    return folder


def choose_socket_folder(cluster: Path) -> Path:
    """Return the folder of the server's socket: in the cluster's folder, or one with a short path in /tmp.

    A socket's path is limited to 107 bytes, and libpq would take a path with a comma for a list of hosts.
    """
    folder = cluster / "run"
    length = len(os.fsencode(folder / SOCKET_NAME))
    if length <= SOCKET_PATH_LIMIT_BYTES and re.fullmatch(r"[\w/.+-]+", str(folder), re.ASCII):
        return folder
    digest = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]
    return Path(f"/tmp/tapewise-{os.geteuid()}-{digest}")  # noqa: S108  checked before use; TMPDIR may differ


def make_socket_folder(folder: Path, account: Account | None) -> None:
    """Create the folder of the socket, which only its owner can enter, or check the existing one.

    Raises:
        ServerError: it is not ours, not private or not a folder. In /tmp, anybody could have created it.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    owner = account.uid if account else os.geteuid()
    status = folder.lstat()
    if status.st_uid not in (owner, os.geteuid()) or status.st_mode != stat.S_IFDIR | 0o700:
        raise ServerError(
            f"the folder for PostgreSQL's socket, {folder}, is not a private folder of {name_user(owner)}"
            f" (it belongs to {name_user(status.st_uid)}, its mode is {stat.filemode(status.st_mode)})",
            hint=f"remove {folder}, and find out who created it",
        )
    if status.st_uid != owner:  # root has just created it, or was killed before changing its owner
        os.chown(folder, owner, account.gid if account else -1, follow_symlinks=False)
