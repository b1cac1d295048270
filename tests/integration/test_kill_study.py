"""Four simultaneous commands, killed at random, must leave the same facts and balances as a quiet run.

Each of fifty seeds has overlapping files (`kill_worlds.py`) and twenty kills (`kill_runs.py`) of a command or
one of its workers, a server process, or the postmaster. Half of the kills wait for a COPY to begin, the
others only for a random time. Commands that were killed or lost their server are run again. `test_kills.py`
kills at specific moments; here the moments are random, and the study counts what the kills hit.

CI runs one of the fifty seeds; which one depends on the loading code. `make kill-study` runs all.
"""

import os
import random
import shutil
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import DATABASE, Role, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.tables.upgrade import upgrade
from tests.conftest import register
from tests.integration.evidence import FACTS, check_warehouse, digest_facts
from tests.integration.kill_commands import PROJECT, Command, ingest_arguments
from tests.integration.kill_runs import QUIET, TEMPLATE, Bench, Study
from tests.integration.kill_worlds import World
from tests.integration.test_exactly_once import signed_hash
from tests.integration.test_requests import dump

pytestmark = [pytest.mark.slow, pytest.mark.study("ingest", "schema", together=True)]

VERSION = int(os.environ.get("TAPEWISE_TEST_POSTGRES", "18"))
SEEDS = 50
# All seeds take half an hour, so only this many are tried. The choice changes with the loading code.
SEED_COUNT = min(SEEDS, int(os.environ.get("TAPEWISE_TEST_KILL_SEEDS", "1")))
LOADING = [path for room in ("ingest", "schema") for path in sorted((PROJECT / room).rglob("*.py"))]
TURN = zlib.crc32(b"".join(path.read_bytes() for path in LOADING)) % SEEDS
CHOSEN = sorted((TURN + SEEDS // SEED_COUNT * index) % SEEDS for index in range(SEED_COUNT))

KILLS = ["client"] * 10 + ["backend"] * 8 + ["postmaster"] * 2
KILLS_AFTER_COPY = 5  # at least; half of all kills wait for a COPY
WAVES = 30  # at most, until all kills of a seed have found a target
BALANCE = """
    SELECT sources.name, path, content_digest, read_bytes, waiting_bytes,
        line_count, loaded_count + held_count, ignored_count, rejected_count,
        (SELECT array_agg((reason, line_count)::text ORDER BY reason) FROM ledger.ignored_lines
         WHERE log_file_id = log_files.id),
        (SELECT array_agg((line_number, reason, line_hash, text)::text ORDER BY line_number)
         FROM ledger.rejected_lines WHERE log_file_id = log_files.id)
    FROM ledger.log_files JOIN ledger.sources ON sources.id = source_id ORDER BY sources.name, path
"""


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    home = Path(tempfile.mkdtemp(prefix="tapewise-kills-"))
    home.chmod(0o755)  # if run as root, the server's own account needs access
    server = EmbeddedServer(home, VERSION, system_folder=home / "system")
    try:
        with server:
            bench = Bench(server)
            with bench.connect("postgres") as connection:
                # Data handed to the operating system survives a kill. Only a power cut needs fsync.
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
                connection.execute(f"CREATE DATABASE {TEMPLATE}")
            template = bench.warehouse(TEMPLATE)
            upgrade(lambda: template.connect(Role.OWNER))
            yield bench
    finally:
        server.stop()
        shutil.rmtree(home)


def read_quietly(warehouse: Warehouse, paths: list[Path]) -> float:
    """Load the files one after another in this process; return how long it took, in seconds."""
    begin = time.monotonic()
    for path in paths:
        name = path.name.split(".")[0]
        source = register(warehouse, SourceRequest("test", "synthetic", find_format(name), "UTC", name))
        load_file(warehouse, source, path, now=datetime.now(UTC))
    return time.monotonic() - begin


def deal(draw: random.Random, paths: list[Path]) -> list[list[Path]]:
    """Give each command some of the files, in random order; each file goes to at least one command."""
    hands = [draw.sample(paths, draw.randrange(len(paths) // 2, len(paths) + 1)) for _ in range(4)]
    hands[0] += [path for path in paths if not any(path in hand for hand in hands)]
    return hands


def read_requests(warehouse: Warehouse, *, is_rebuilt: bool) -> list[str]:
    """Return the requests as they are, or after rebuilding all of them."""
    with (
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as settling,
        closing(warehouse.connect(Role.LOADER)) as connection,
    ):
        if is_rebuilt:
            days: set[date] = {
                day
                for (day,) in settling.execute(
                    "SELECT ended_at::date FROM core.transfers UNION SELECT opened_at::date FROM core.opens"
                )
            }
            (archive_id,) = settling.execute("SELECT id FROM core.archives").fetchone() or (0,)
            rebuild_requests(connection, settling, archive_id, days)
        return dump(connection, "test")


def check(bench: Bench, world: World) -> None:
    """Assert that the killed warehouse equals the quiet one, and agrees with the lines themselves."""
    found, quiet = bench.warehouse(DATABASE), bench.warehouse(QUIET)
    assert digest_facts(found) == digest_facts(quiet)
    check_warehouse(found)
    with closing(found.connect(Role.OWNER)) as one, closing(quiet.connect(Role.OWNER)) as other:
        balance = one.execute(BALANCE).fetchall()
        assert balance == other.execute(BALANCE).fetchall()
        assert {row[1]: row[5:9] for row in balance} == world.count_fates()
        assert len(balance) == len(world.contents)
        hashes = Counter(
            row[0] for table in FACTS for row in one.execute(f"SELECT line_hash FROM core.{table}").fetchall()
        )
    assert hashes == Counter({signed_hash(line): count for line, count in world.count_facts().items()})
    requests = read_requests(found, is_rebuilt=False)
    assert requests == read_requests(quiet, is_rebuilt=False)
    assert requests == read_requests(found, is_rebuilt=True)
    assert bool(requests) == ("pftp" in world.formats)


@pytest.mark.parametrize("seed", CHOSEN)
def test_twenty_kills_of_four_commands_leave_what_a_quiet_run_does(
    bench: Bench, tmp_path: Path, seed: int
) -> None:
    bench.make_databases()
    draw = random.Random(seed)
    logs = tmp_path / "logs"
    logs.mkdir()
    world = World(seed, logs)
    environment = {
        "TAPEWISE_SYSTEM_FOLDER": str(bench.server.system_folder),
        "TAPEWISE_POSTGRES_VERSION": str(VERSION),
    }
    plans = [(kind, index % 2 == 0) for index, kind in enumerate(KILLS)]
    draw.shuffle(plans)
    study = Study(bench, draw, [], plans)
    waves = 0
    try:
        while study.plans:
            waves += 1
            assert waves <= WAVES, study.plans
            paths = world.release()
            quiet_s = read_quietly(bench.warehouse(QUIET), paths)
            study.commands[:] = [
                Command(
                    ingest_arguments(bench.server.home, hand, jobs=2 if (waves, index) == (1, 0) else 1),
                    tmp_path / f"said-{waves}-{index}",
                    environment,
                    # One runs as users start it, with worker processes. These take seconds to start.
                    is_forked=(waves, index) != (1, 0),
                )
                for index, hand in enumerate(deal(draw, paths))
            ]
            study.run_wave(quiet_s)
            bench.wait_until_quiet()
            for command in study.commands:
                command.end()
    finally:
        for command in study.commands:
            command.end()
    check(bench, world)
    print(f"seed {seed}: {waves} waves, {dict(study.hits)}")
    assert study.hits.total() == len(KILLS)
    assert sum(count for (_, has_copied), count in study.hits.items() if has_copied) >= KILLS_AFTER_COPY
