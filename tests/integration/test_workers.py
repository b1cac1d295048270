"""One of several processes that read files in parallel is killed."""

import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading import workers
from tapewise.ingest.loading.workers import FileTask, read_files
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import WorkerError
from tests.conftest import NOW, register

pytestmark = pytest.mark.study("ingest", "schema")

WAITERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def find_workers() -> list[int]:
    children = [
        int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()
    ]
    return [pid for pid in children if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_killed_process_is_reported_in_one_error(
    warehouse: Warehouse,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "SMALL_BYTES", 0)  # each file in a load of its own
    source = register(warehouse, SourceRequest("test", "synthetic", find_format("nft"), "UTC", "nft"))
    paths = [tmp_path / f"log.{number}" for number in range(6)]
    for number, path in enumerate(paths):
        path.write_text(f"000001 97/11/05 14:07:{number:02} ks 73400320 41.902\n")
    with (
        closing(warehouse.connect(Role.OWNER)) as holder,
        # Within a transaction, the activity of sessions would be read only once.
        closing(warehouse.connect(Role.OWNER, autocommit=True)) as watcher,
    ):
        holder.execute("SELECT FROM core.archives FOR UPDATE")

        def kill_one() -> None:
            deadline = time.monotonic() + 60
            while watcher.execute(WAITERS).fetchone() != (2,):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            os.kill(find_workers()[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        try:
            tasks = [FileTask(source, path) for path in paths]
            results = list(read_files(warehouse, tasks, now=NOW, jobs=2))
        finally:
            killer.join()
    assert len(results) == len(paths)
    assert all(isinstance(result, WorkerError) and "was killed" in result.message for result in results)
    assert capfd.readouterr().err == ""
