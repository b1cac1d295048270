"""UniTree's client events: a start, a stage and an end make one request, whatever the order of the lines."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.schema.database import Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse

pytestmark = pytest.mark.study("ingest", "schema")

FIRST_DAY = datetime(1996, 2, 26, tzinfo=UTC)
DUMP = """
    SELECT ended_at, direction, size_bytes, duration_s, stage_s, requests.is_cached, is_failed, submitted_at,
        staged_at, capability_key, users.name, hosts.name,
        (SELECT ARRAY[line_hash, occurrence] FROM core.transfers WHERE id = transfer_id),
        (SELECT ARRAY[line_hash, occurrence] FROM core.stages WHERE id = stage_id),
        (SELECT ARRAY[line_hash, occurrence] FROM core.transfer_starts WHERE id = start_id)
    FROM core.requests JOIN core.archives ON archives.id = requests.archive_id
    LEFT JOIN core.users ON users.id = user_id LEFT JOIN core.hosts ON hosts.id = host_id
    WHERE archives.name = %s
"""


def write_event(
    at: datetime, event: str, alone: str, code: str, file: int, user: int = 1, host: str = "h1"
) -> str:
    return (
        f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} uftpd {event} op={code} {alone} cap=c{file}"
        f" uid={user} gid=1 family=7 copies=1 host={host} net=hippi size=100 path=/f {file}"
    )


def make_files(seed: int, folder: Path) -> list[Path]:
    """Make up four days of events that cluster around midnight, with few files, users and machines.

    Any line may be missing, and some occur in two files.
    """
    draw = random.Random(seed)
    timed_lines: list[tuple[datetime, str]] = []
    for _ in range(70):
        at = FIRST_DAY + timedelta(days=draw.randrange(1, 4), milliseconds=draw.randrange(-(10**6), 10**6))
        who = {"file": draw.randrange(3), "user": draw.randrange(2), "host": f"h{draw.randrange(2)}"}
        code = draw.choice(("RETR", "RETR", "STOR"))
        cache = draw.choice(("hit", "miss", "miss")) if code == "RETR" else "-"
        events = [("start", f"cache={cache}")]
        if cache == "miss":
            events.append(("stage", "tape_s=60.5"))
        events.append(("end", f"disk_s={draw.randrange(1, 20)}.5 rc={draw.choice((0, 0, 0, 9))}"))
        for event, alone in events:
            if draw.random() < 0.8:
                timed_lines.append((at, write_event(at, event, alone, code, **who)))
            at += timedelta(milliseconds=draw.randrange(0, draw.choice((1, 10**5, 10**7))))
    lines = [text for _, text in sorted(timed_lines)]
    cuts = [0, *sorted(draw.sample(range(1, len(lines)), 5)), len(lines)]
    files = []
    for number, (begin, end) in enumerate(pairwise(cuts)):
        path = folder / f"uftpd.{number}"
        piece = lines[max(begin - draw.choice((0, 5)), 0) : end]
        draw.shuffle(piece)
        path.write_text("".join(f"{text}\n" for text in piece))
        files.append(path)
    return files


def read(warehouse: Warehouse, files: Sequence[Path], archive: str) -> None:
    request = SourceRequest(archive, "synthetic", find_format("unitree-client"), "UTC", "uftpd", True)
    for path in files:
        load_file(warehouse, register(warehouse, request), path, now=NOW)


def dump(connection: psycopg.Connection, archive: str) -> list[str]:
    return sorted(map(repr, connection.execute(DUMP, [archive]).fetchall()))


@pytest.mark.parametrize("seed", range(4))
def test_neither_the_order_of_files_nor_the_rebuilt_range_matters(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, seed: int
):
    files = make_files(seed, tmp_path)
    read(warehouse, files, "in order")
    random.Random(seed).shuffle(files)
    read(warehouse, files, "shuffled")
    found = dump(database, "in order")
    assert dump(database, "shuffled") == found and len(found) > 50
    check_warehouse(warehouse)
    archive_id = database.execute("SELECT id FROM core.archives WHERE name = 'shuffled'").fetchone()[0]
    every_day = [(FIRST_DAY + timedelta(days=n)).date() for n in range(-1, 6)]
    for days in ([every_day[2]], [every_day[1], every_day[4]], every_day, [date(2005, 1, 1)]):
        rebuild_derived(database, database, archive_id, days)
        assert dump(database, "shuffled") == found


def test_networks_of_transfers(warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path) -> None:
    """Each transfer has the network of its start; one that lost its start has none."""
    draw = random.Random(3)
    lines, sizes = [], Counter[str]()
    for file in range(60):
        at = FIRST_DAY + timedelta(minutes=10 * file)
        network, size = draw.choice(("hippi", "fddi", "atm")), draw.randrange(1, 10**6)
        ends_at, is_lost, is_failed = at + timedelta(seconds=5), draw.random() < 0.2, draw.random() < 0.2
        start, end = (
            write_event(when, event, alone, "STOR", file)
            .replace("net=hippi", f"net={network}")
            .replace("size=100", f"size={size}")
            for when, event, alone in (
                (at, "start", "cache=-"),
                (ends_at, "end", f"disk_s=2.0 rc={9 * is_failed}"),
            )
        )
        lines += [end] if is_lost else [start, end]
        sizes[network] += 0 if is_lost or is_failed else size
    (tmp_path / "uftpd").write_text("".join(f"{line}\n" for line in lines))
    read(warehouse, [tmp_path / "uftpd"], "made")
    shares = "SELECT holder, size_bytes FROM mart.shares('made', shared_by => 'network')"
    assert dict(database.execute(shares.encode()).fetchall()) == sizes
    rates = (
        "SELECT network, (size_bytes / 2.0 / transfer_count)::bigint - mean_rate_bytes_per_s::bigint,"
        " size_bytes"
        " FROM mart.transfer_rates('made', grouped_by => '{network}') WHERE network IS NOT NULL"
    )
    assert sorted(database.execute(rates.encode()).fetchall()) == [
        (network, 0, size) for network, size in sorted(sizes.items())
    ]


@pytest.mark.parametrize("seed", range(4, 6))
def test_each_line_is_in_one_request(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, seed: int
):
    read(warehouse, make_files(seed, tmp_path), "made")

    def count(query: str) -> int:
        row = database.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])

    transfers = count("SELECT count(*) FROM core.transfers")
    assert count("SELECT count(transfer_id) FROM mart.requests") == transfers
    assert count("SELECT count(DISTINCT transfer_id) FROM mart.requests") == transfers
    starts = count("SELECT count(*) FROM core.transfer_starts")
    assert count("SELECT count(start_id) FROM mart.requests") == starts
    assert count("SELECT count(DISTINCT start_id) FROM mart.requests") == starts
    # Only requests that never ended are shown as unfinished.
    unfinished = count("SELECT count(*) FROM mart.requests WHERE missing ~ 'transfer'")
    assert unfinished == count("SELECT count(*) FROM mart.requests WHERE transfer_id IS NULL") > 0
    # Puts have no stage, and a stage ends neither before its request nor after its transfer.
    assert (
        count(
            "SELECT count(*) FROM mart.requests WHERE stage_id IS NOT NULL"
            " AND (direction = 'put' OR submitted_at > staged_at"
            " OR (transfer_id IS NOT NULL AND staged_at > ended_at))"
        )
        == 0
    )
    assert count("SELECT count(*) FROM mart.requests WHERE is_cached AND cache_evidence <> 'log'") == 0
    forget_detail(warehouse, "made", (FIRST_DAY + timedelta(days=3)).date(), NOW)
    database.rollback()
    assert count("SELECT count(start_id) FROM mart.requests") == count(
        "SELECT count(*) FROM core.transfer_starts"
    )
    check_warehouse(warehouse)
