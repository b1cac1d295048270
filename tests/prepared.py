"""An empty warehouse's cluster, made once per session, from which forked commands start in a new home.

Creating a cluster and its schema takes a second of CPU; copying one takes a tenth. Hundreds of tests run a
command in a new home, or a report, which has a warehouse of its own. Tests of the server itself, and commands
that run as typed, create theirs.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.server import clusters
from tapewise.schema.server.binaries import Binaries
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.server.keeper import DATA_FOLDER, Account
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import upgrade

VARIABLE = "TAPEWISE_TEST_PREPARED"
VERSION = 18


def prepare_cluster() -> None:
    """Make the cluster in the folder that VARIABLE names, unless it is there."""
    folder = Path(os.environ[VARIABLE])
    folder.mkdir(mode=0o755, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / DATA_FOLDER).exists():
            return
        home = Path(tempfile.mkdtemp(dir=folder))
        home.chmod(0o755)  # when run as root, the server's own account must get in
        server = EmbeddedServer(home, VERSION)
        try:
            with open_warehouse(Settings(home=home, postgres_version=VERSION)) as warehouse:
                upgrade(lambda: warehouse.connect(Role.OWNER))
            server.stop()
            cluster = server.status().cluster
            assert cluster is not None
            _copy(cluster / DATA_FOLDER, folder / "unfinished")
            (folder / "unfinished").rename(folder / DATA_FOLDER)
        finally:
            server.remove()
            shutil.rmtree(home)


def use_prepared_cluster() -> None:
    """Let this process's new clusters be copies of the prepared one."""
    create = clusters.make_data

    def make_data(cluster: Path, binaries: Binaries, account: Account | None, start_lock: int) -> None:
        if binaries.version == VERSION:
            _copy(Path(os.environ[VARIABLE]) / DATA_FOLDER, cluster / DATA_FOLDER)
        else:
            create(cluster, binaries, account, start_lock)

    clusters.make_data = make_data


def _copy(data: Path, into: Path) -> None:
    subprocess.run(["cp", "--archive", data, into], check=True)
