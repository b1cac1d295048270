"""Runs the services of docker-compose.yml as local processes, each in a folder instead of a container.

A service gets only what the file specifies: its own secrets and volumes below its own root, the variables of
its image and of the file, and its command with paths moved below that root. Features that only a container
engine has are left out: images, users, capabilities, networks. `initialise_postgres` replaces the entrypoint
of PostgreSQL's image.
"""

import contextlib
import graphlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tapewise.schema.server import homes
from tapewise.schema.server.binaries import copy_binaries, find_binaries

TREE = Path(__file__).resolve().parents[2]
FILE = TREE / "docker-compose.yml"
TOOLS = TREE / ".tools"
# What the tests of Docker's files check. They change rarely, and their tools take long to build.
CODE = ("contrib", "docker", "docker-compose.yml", "tests/compose")
# Where the programs of each image are on this machine.
PROGRAMS = {"tapewise": Path(sys.executable).parent, "superset": TREE / ".venv-superset" / "bin"}
HEALTHY_TIMEOUT_S = 120
MOVED = re.compile(r"(?<![\w.])/(?:run/secrets|opt/tapewise|site|var/lib/superset|var/lib/tapewise)\b")


def read_variables(path: Path) -> dict[str, str]:
    """The variables of an .env file."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def read_services(variables: dict[str, str]) -> dict[str, Any]:
    """Return the services of docker-compose.yml with `variables` substituted; KeyError if one is missing."""

    def put_in(found: re.Match[str]) -> str:
        name, way, default = found.groups()
        return variables[name] if way == "?" else variables.get(name, default)

    text = re.sub(r"\$\{(\w+):([-?])([^}]*)\}", put_in, FILE.read_text())
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    return services


def start_order(services: dict[str, Any]) -> list[str]:
    """Return the names of the services, each after those it depends on."""
    graph = {name: set(service.get("depends_on", {})) for name, service in services.items()}
    return list(graphlib.TopologicalSorter(graph).static_order())


@cache
def build_tool(name: str) -> Path:
    """Return the path of a tool of the Makefile, which is built if it is missing."""
    subprocess.run(["make", "--quiet", f".tools/{name}"], cwd=TREE, check=True)
    return TOOLS / name


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@dataclass
class Stack:
    """The services below `folder`, which the account that runs PostgreSQL must be able to enter."""

    folder: Path
    variables: dict[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    postgres_port: int = field(default_factory=find_port)
    pages_port: int = field(default_factory=find_port)

    def __post_init__(self) -> None:
        self.services = read_services(self.variables)
        subprocess.run([TREE / "docker" / "make-secrets", self.folder / "secrets"], check=True)
        for path in (self.folder / "secrets").iterdir():
            self.change_secret(
                path.name, path.read_text().replace("@postgres/", f"@127.0.0.1:{self.postgres_port}/")
            )
        (self.folder / "secrets").chmod(0o755)  # containers mount only the files
        self.account = homes.find_account()
        self.postgres = copy_binaries(find_binaries(18), self.folder).install_folder / "bin"

    def change_secret(self, name: str, content: str) -> None:
        path = self.folder / "secrets" / name
        path.chmod(0o644)
        path.write_text(content)

    def secret(self, name: str) -> str:
        return (self.folder / "secrets" / name).read_text().strip()

    def root(self, name: str) -> Path:
        """The folder that stands for the service's file system, created on first use with its mounts."""
        root = self.folder / name
        if root.exists():
            return root
        service = self.services[name]
        mounted = {
            f"/run/secrets/{secret}": self.folder / "secrets" / secret
            for secret in service.get("secrets", [])
        }
        if "build" in service:
            mounted |= {f"/opt/tapewise/{room}": TREE / room for room in ("docker", "dashboards")}
        for volume in service.get("volumes", []):
            if isinstance(volume, dict):
                mounted[volume["target"]] = TREE / volume["source"]
            elif name != "postgres":
                source, target, *_ = volume.split(":")
                assert MOVED.match(target), f"add {target} to MOVED: commands would use this machine's"
                mounted[target] = self.folder / "volumes" / source
                mounted[target].mkdir(parents=True, exist_ok=True)
        for target, source in mounted.items():
            path = Path(f"{root}{target}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(source)
        return root

    def move(self, name: str, text: str) -> str:
        """Replace the container's paths and addresses in a text from the file with those of this machine."""
        text = text.replace("0.0.0.0:8088", "127.0.0.1:8088").replace(
            "127.0.0.1:8088", f"127.0.0.1:{self.pages_port}"
        )
        return MOVED.sub(lambda found: f"{self.root(name)}{found[0]}", text)

    def environment(self, name: str) -> dict[str, str]:
        """The variables of the image and of the file, but none from this process."""
        service = self.services[name]
        values = {"HOME": str(self.root(name)), "PATH": f"{self.postgres}:/usr/bin:/bin"}
        if "build" in service:
            dockerfile = (TREE / service["build"]["dockerfile"]).read_text()
            values |= dict(re.findall(r"^ENV (\w+)=(.*)$", dockerfile, re.MULTILINE))
            image = service["build"]["dockerfile"].split("/")[2]
            values["PATH"] = values["PATH"].replace("/opt/venv/bin", str(PROGRAMS[image]))
            values["PATH"] = values["PATH"].replace("/usr/local/bin", str(TOOLS))
        else:
            values |= {
                "PGPORT": str(self.postgres_port),
                "PGHOST": str(self.root(name)),
                "PGUSER": "postgres",
            }
        values |= service.get("environment", {})
        return {key: self.move(name, str(value)) for key, value in values.items()}

    def run(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a service until it ends."""
        return subprocess.run(
            [self.move(name, part) for part in command],
            env=self.environment(name),
            cwd=self.root(name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def complete(self, name: str) -> str:
        """Run a service to its end; return its output."""
        done = self.run(name, self.services[name]["command"])
        assert done.returncode == 0, done.stdout
        return done.stdout

    def start(self, name: str) -> None:
        """Start a service that keeps running."""
        with (self.root(name) / "log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [self.move(name, part) for part in self.services[name]["command"]],
                env=self.environment(name),
                cwd=self.root(name),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # lets `stop` end its children too, as stopping a container does
            )

    def log(self, name: str) -> str:
        return (self.root(name) / "log").read_text()

    def check_health(self, name: str) -> subprocess.CompletedProcess[str]:
        kind, *command = self.services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.run(name, command)

    def wait_until(self, name: str, is_so: Any, timeout_s: float = HEALTHY_TIMEOUT_S) -> None:
        """Wait until `is_so()`; fail with the service's log if it takes too long or the service ends."""
        deadline = time.monotonic() + timeout_s
        while not is_so():
            assert time.monotonic() < deadline and self.processes[name].poll() is None, self.log(name)
            time.sleep(0.2)

    def stop(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):  # it has already ended
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)
        if (self.folder / "data").exists():
            self._as_postgres(
                self.postgres / "pg_ctl", "-D", self.folder / "data", "-m", "fast", "-w", "stop"
            )

    def initialise_postgres(self) -> None:
        """Do what the image does with an empty volume. The server then listens only on its socket."""
        data, root, environment = self.folder / "data", self.root("postgres"), self.environment("postgres")
        root.chmod(0o777)
        data.mkdir()
        if self.account:
            shutil.chown(data, self.account.uid, self.account.gid)
        arguments = environment["POSTGRES_INITDB_ARGS"].split()
        password_file = environment["POSTGRES_PASSWORD_FILE"]
        self._as_postgres(
            "initdb", "-D", data, "-U", "postgres", "--no-sync", *arguments, f"--pwfile={password_file}"
        )
        (data / "pg_hba.conf").write_text("local all all trust\nhost all all all scram-sha-256\n")
        self._control("start", "")
        for script in (root / "docker-entrypoint-initdb.d").iterdir():
            self._as_postgres("psql", "-X", "-w", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-f", script)

    def open_postgres(self) -> None:
        """Restart the server so that it is reachable over TCP."""
        self._control("stop", "")
        self._control("start", "127.0.0.1")

    def _control(self, action: str, addresses: str) -> None:
        options = (
            f"-c listen_addresses={addresses} -c unix_socket_directories={self.root('postgres')} -c fsync=off"
        )
        log = self.root("postgres") / "log"
        self._as_postgres("pg_ctl", "-D", self.folder / "data", "-w", "-o", options, "-l", log, action)

    def _as_postgres(self, *command: str | Path) -> None:
        done = subprocess.run(
            command,
            env=self.environment("postgres"),
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=[] if self.account else None,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if "start" not in command else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if "start" not in command else subprocess.DEVNULL,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
