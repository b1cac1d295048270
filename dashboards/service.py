"""`make dashboards`: runs Superset for the warehouse of one home, on this machine only, without Docker.

    python -m tapewise.dashboards.service --home .demo start
    python -m tapewise.dashboards.service --home .demo stop

The pages need PostgreSQL, so the embedded server is started and stopped together with Superset. Superset's
database, its log and the passwords are in the home's folder `superset`, which only its owner can read.
"""

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import BinaryIO

from tapewise.schema.database import Role
from tapewise.schema.errors import ServerError, TapewiseError
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.server.leash import leash
from tapewise.schema.settings import Settings, read_settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

FOLDER = Path(__file__).parent.resolve()
PROGRAMS = FOLDER.parent / ".venv-superset" / "bin"
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30


class Service:
    """The Superset of one home: its folder, its secrets, and the process that serves the pages."""

    def __init__(self, settings: Settings, port: int) -> None:
        self.settings = settings
        self.port = port
        self.folder = settings.home.resolve() / "superset"
        self.process_file = self.folder / "process"
        self.log_file = self.folder / "superset.log"
        self.login_file = self.folder / "login"
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """The address of the pages."""
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Provision Superset and serve its pages; if it is running, stop it first to use the current assets.

        Raises ServerError if Superset's environment is missing, or if Superset fails; the message then
        contains Superset's own.
        """
        if not (PROGRAMS / "gunicorn").exists():
            raise ServerError(
                "Superset is not installed", hint="Run `make dashboards`, which installs it first."
            )
        self._check_home()
        self.stop()
        self._check_port()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = self._environment(self._start_warehouse())
        self._run("the upgrade of Superset's database", "superset", "db", "upgrade", environment=environment)
        self._run("setting Superset up", "python", str(FOLDER / "provisioning.py"), environment=environment)
        self._serve(environment)
        self.login_file.touch(mode=0o600)
        self.login_file.write_text(
            "".join(
                f"{user} {environment[f'SUPERSET_{user.upper()}_PASSWORD']}\n" for user in ("viewer", "admin")
            ),
            encoding="utf-8",
        )

    def stop(self) -> bool:
        """End the process that serves the pages; return whether there was one."""
        process = self.find_process()
        if process is None:
            return False
        os.kill(process, signal.SIGTERM)
        if not self._has_ended():
            os.killpg(process, signal.SIGKILL)  # also its workers, which hold nothing that must be saved
            if not self._has_ended():
                raise ServerError(f"Superset (process {process}) does not end", hint=f"See {self.log_file}.")
        if self._child is not None:
            self._child.wait()
        self.process_file.unlink(missing_ok=True)
        return True

    def _has_ended(self) -> bool:
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.find_process() is not None and time.monotonic() < deadline:
            time.sleep(0.1)
        return self.find_process() is None

    def _check_home(self) -> None:
        if (
            self._is_embedded
            and EmbeddedServer(self.settings.home, self.settings.postgres_version).status().cluster is None
        ):
            raise ServerError(
                f"{self.settings.home} holds no warehouse", hint="`make demo` makes one in .demo."
            )

    def _check_port(self) -> None:
        """Refuse a port in use, because the program that answers there would receive our passwords."""
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", self.port))
            except OSError as error:
                hint = "Choose another: `make dashboards DASHBOARDS_PORT=8090`."
                raise ServerError(f"port {self.port} cannot be used: {error.strerror}", hint=hint) from None

    def stop_warehouse(self) -> None:
        """Stop the embedded PostgreSQL, as `tapewise db stop` does; leave a site's own server alone."""
        if self._is_embedded:
            EmbeddedServer(self.settings.home, self.settings.postgres_version).stop()

    @property
    def _is_embedded(self) -> bool:
        return self.settings.database_url is None and self.settings.reader_url is None

    def find_process(self) -> int | None:
        """Return the pid of the process that serves this home's pages, or None.

        Other programs may get the same pid later, so the process must have our folder in its environment.
        """
        try:
            process = int(self.process_file.read_text(encoding="utf-8"))
            environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        return process if f"SUPERSET_STATE_FOLDER={self.folder}".encode() in environment else None

    def _start_warehouse(self) -> str:
        """Start the embedded server, if used, and keep it running; return the warehouse's reader URL."""
        if self._is_embedded:
            EmbeddedServer(self.settings.home, self.settings.postgres_version).start()
        with open_ready_warehouse(self.settings) as warehouse:
            return warehouse.url(Role.DASHBOARDS)

    def _environment(self, reader_url: str) -> dict[str, str]:
        """Return the variables that superset_config.py and provisioning.py read; creates missing secrets."""
        environment = os.environ | {
            "PYTHONPATH": str(FOLDER),
            "FLASK_APP": "superset.app:create_app()",
            "SUPERSET_CONFIG_PATH": str(FOLDER / "superset_config.py"),
            "SUPERSET_STATE_FOLDER": str(self.folder),
            "SUPERSET_METADATA_URL": f"sqlite:///{self.folder / 'superset.db'}?timeout=30",
            "TAPEWISE_REPORTS": str(self.settings.reports_folder.resolve()),
            "TAPEWISE_SOURCE_LIMITS": json.dumps(self._list_limits()),
            "TAPEWISE_READER_URL": reader_url.replace("postgresql://", "postgresql+psycopg2://", 1),
        }
        for name in ("SUPERSET_SECRET_KEY", "SUPERSET_ADMIN_PASSWORD", "SUPERSET_VIEWER_PASSWORD"):
            file = self.folder / name.lower()
            if not file.exists():
                file.touch(mode=0o600)
                file.write_text(secrets.token_urlsafe(36), encoding="utf-8")
            environment[name] = file.read_text(encoding="utf-8")
        return environment

    def _list_limits(self) -> list[tuple[str, str, float]]:
        """List the archive, the source and the limit in hours of each source in `tapewise.toml`."""
        return [
            (archive.name, source.name, source.silent_after_hours)
            for archive in self.settings.archives
            for source in archive.sources
        ]

    def _run(self, what: str, program: str, *arguments: str, environment: dict[str, str]) -> None:
        """Run a program of Superset's environment and wait for it; its output goes to the log.

        If this process ends, so does the program.
        """
        with self._open_log() as log:
            done = subprocess.run(
                leash([PROGRAMS / program, *arguments]),
                env=environment,
                cwd=FOLDER,
                stdout=log,
                stderr=log,
                check=False,
            )
        if done.returncode:
            raise ServerError(f"{what} failed: {self._last_words()}", hint=f"See {self.log_file}.")

    def _serve(self, environment: dict[str, str]) -> None:
        with self._open_log() as log:
            process = self._child = subprocess.Popen(
                [
                    PROGRAMS / "gunicorn",
                    *("--config", FOLDER / "gunicorn_settings.py", "--bind", f"127.0.0.1:{self.port}"),
                    "superset.app:create_app()",
                ],
                env=environment,
                cwd=FOLDER,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # so that it outlives the command and its terminal
            )
        self.process_file.write_text(f"{process.pid}\n", encoding="utf-8")
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._is_healthy():
            if process.poll() is not None or time.monotonic() > deadline:
                raise ServerError(
                    f"Superset does not answer: {self._last_words()}", hint=f"See {self.log_file}."
                )
            time.sleep(0.2)

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}health", timeout=5) as answer:  # noqa: S310  # our own
                return bool(answer.read() == b"OK")
        except (urllib.error.URLError, OSError):
            return False

    def _open_log(self) -> BinaryIO:
        self.log_file.touch(mode=0o600)
        return self.log_file.open("ab")

    def _last_words(self) -> str:
        lines = self.log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"


def port_number(text: str) -> int:
    """Parse a port number; argparse turns a ValueError into a message."""
    if not 0 < int(text) < 65536:
        raise ValueError
    return int(text)


def main() -> int:
    """Start or stop Superset; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tapewise.dashboards.service", description=__doc__)
    parser.add_argument("--home", help="the home of the warehouse, as for `tapewise --home`")
    parser.add_argument("--port", type=port_number, default=8088, help="on 127.0.0.1; default %(default)s")
    parser.add_argument("action", choices=["start", "stop"])
    given = parser.parse_args()
    try:
        service = Service(read_settings(home=given.home), given.port)
        if given.action == "stop":
            print("Superset is stopped." if service.stop() else "Superset was not running.")
            service.stop_warehouse()
            return 0
        service.start()
    except TapewiseError as error:
        print(f"dashboards: {error}", *([error.hint] if error.hint else []), sep="\n", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"dashboards: {error.filename or given.home}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"The dashboards are at {service.address}")
    print(f"Users and their passwords are in {service.login_file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
