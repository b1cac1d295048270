"""Makes up logs of opens and transfers, loads them, and checks the requests derived from them."""

import random
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import psycopg

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Warehouse
from tests.conftest import NOW, register

FIRST_DAY = datetime(2018, 3, 1, tzinfo=UTC)
DAY_COUNT = 30

Lines = list[tuple[datetime, str]]


def open_by_pftp(at: datetime, draw: random.Random) -> str:
    # An open for both reading and writing has no known direction.
    verb = draw.choice(("POPN_Cmd r", "POPN_Cmd r", "POPN_Cmd w", "POPN_Cmd rw"))
    return f"{at:%a %b %e %H:%M:%S %Y} {draw.choice('nm')} /p/{draw.randrange(3)} b {verb} r ftp u fd 0"


def move_by_pftp(at: datetime, draw: random.Random) -> str:
    way = draw.choice(("o RETR_Cmd", "o RETR_Cmd", "i STOR_Cmd"))
    path = f"{draw.randrange(1, 9)}.250 {draw.choice('nm')} {draw.randrange(99)} /p/{draw.randrange(3)}"
    return f"{at:%a %b %e %H:%M:%S %Y} {path} b {way} r ftp u fd 0"


def open_at_sdsc(at: datetime, draw: random.Random) -> str:
    who = f"/p/{draw.randrange(3)}\t{draw.choice('uv')}\t{draw.choice(('read', 'read', 'write'))}"
    times = f"{at:%Y-%m-%d %H:%M:%S}.{draw.randrange(1000):03}\t{draw.randrange(9000) / 1000}"
    return f"{times}\tn\t0\t{who}\t{draw.choice(('ftp', 'hsi'))}open\t{draw.choice('-57')}\t-\thpss07"


def move_at_sdsc(at: datetime, draw: random.Random) -> str:
    way, verb = draw.choice((("read", "get"), ("read", "get"), ("write", "put")))
    times = f"{at:%Y-%m-%d %H:%M:%S}.{draw.randrange(1000):03}\t{draw.randrange(9000) / 1000}"
    who = f"/p/{draw.randrange(3)}\t{draw.choice('uv')}\t{way}"
    operation = draw.choice(("ftp", "hsi")) + verb
    return f"{times}\tn\t{draw.randrange(99)}\t{who}\t{operation}\t{draw.choice('-57')}\t-\tn"


def open_at_dcache(at: datetime, draw: random.Random) -> str:
    file = f"[00FA,9] [{draw.choice(('/p/0', '/p/0', '/p/1', 'Unknown'))}] cms:{draw.choice('ab')}@osm"
    peer = draw.choice(("{Http-1.1:192.0.2.9:0:W:D:/p}", "{null}"))
    status = draw.choice(('{0:""}', '{0:""}', '{10001:"No such file"}'))
    return f"{at:%m.%d %H:%M:%S} [pool:p:hit] {file} {draw.choice(('true', 'false'))} {peer} {status}"


def move_at_dcache(at: datetime, draw: random.Random) -> str:
    file = f"[00FA,9] [{draw.choice(('/p/0', '/p/0', '/p/1', 'Unknown'))}] cms:{draw.choice('ab')}@osm"
    peer = "{Http-1.1:192.0.2.9:0:W:D:/p} [door:W@D:1]"
    status = draw.choice(('{0:""}', '{0:""}', '{10001:"No such file"}'))
    return (
        f"{at:%m.%d %H:%M:%S} [pool:p:transfer] {file} 9 310 {draw.choice(('true', 'false'))} {peer} {status}"
    )


# The layout of a made-up site. Each field that any of our logs has for a request may be in the open's line,
# the transfer's line, both or neither.
SITE = r"""
title = "A made-up site"
nulls = ["-"]
examples = [
    "open 2018-03-01 00:00:00 n u /p/0 1.5 get 5",
    "stage 2018-03-01 00:00:05 n u /p/0",
    "move 2018-03-01 00:00:09 n u /p/0 1.5 get 5 0.25 9",
]

[columns]
interface = "mover"
event_at = { layout = "%Y-%m-%d %H:%M:%S" }
is_failed = false
direction = { map = { put = "put", get = "get" } }

[[lines]]
name = "open"
table = "opens"
pattern = [
    '(?<operation>open) (?<event_at>.{19}) (?<host>[^ ]+) (?<user>[^ ]+) (?<archive_path>[^ ]+)',
    ' (?<open_s>[^ ]+) (?<direction>[^ ]+) (?<class_of_service>[^ ]+)',
]

[[lines]]
name = "stage"
table = "stages"
pattern = '(?<operation>stage) (?<event_at>.{19}) (?<host>[^ ]+) (?<user>[^ ]+) (?<archive_path>[^ ]+)'

[[lines]]
name = "transfer"
table = "transfers"
pattern = [
    '(?<operation>move) (?<event_at>.{19}) (?<host>[^ ]+) (?<user>[^ ]+) (?<archive_path>[^ ]+)',
    ' (?<open_s>[^ ]+) (?<direction>[^ ]+) (?<class_of_service>[^ ]+)',
    ' (?<duration_s>[^ ]+) (?<size_bytes>[^ ]+)',
]
"""


def write_at_site(at: datetime, draw: random.Random) -> str:
    who = f"{draw.choice('nn-')} {draw.choice('uu-')} {draw.choice(('/p/0', '/p/0', '/p/1', '-'))}"
    open_s = draw.choice(("-", draw.randrange(9000) / 1000))
    return f"{at:%Y-%m-%d %H:%M:%S} {who} {open_s} {draw.choice(('get', 'get', 'put'))} {draw.choice('-57')}"


def open_at_site(at: datetime, draw: random.Random) -> str:
    return f"open {write_at_site(at, draw)}"


def move_at_site(at: datetime, draw: random.Random) -> str:
    duration_s = draw.choice(("-", draw.randrange(9000) / 1000))
    return f"move {write_at_site(at, draw)} {duration_s} {draw.randrange(99)}"


MAKERS = {
    "dcache": (open_at_dcache, move_at_dcache),
    "pftp": (open_by_pftp, move_by_pftp),
    "sdsc": (open_at_sdsc, move_at_sdsc),
    "site": (open_at_site, move_at_site),
}


def make_log(format_name: str, seed: int, *, is_late: bool = False) -> Lines:
    """Make lines of opens and transfers in crowds that last between under a second and more than a day.

    With `is_late`, some lines enter the log a week late.
    """
    draw = random.Random(seed)
    lines = []
    for _ in range(120):
        about = FIRST_DAY + timedelta(seconds=draw.randrange(DAY_COUNT * 86_400))
        for _ in range(draw.randrange(2, 7)):
            at = about + timedelta(
                seconds=draw.choice((0, 0, 1, draw.randrange(600), draw.randrange(90_000)))
            )
            late = timedelta(days=7) if is_late and draw.random() < 0.1 else timedelta()
            lines.append((at + late, draw.choice(MAKERS[format_name])(at, draw)))
    for day in range(DAY_COUNT):
        for make in MAKERS[format_name]:
            midnight = FIRST_DAY + timedelta(days=day)
            lines.append((midnight, make(midnight, draw)))
    return sorted(lines)


def read_log(
    warehouse: Warehouse,
    folder: Path,
    format_name: str,
    lines: Lines,
    name: str = "one",
    zone: str = "UTC",
    *,
    is_counted: bool = True,
    source: str | None = None,
    file_date: str = "20180430",
) -> None:
    """Write the lines to a file and load it into the archive `made`."""
    path = folder / f"{name}.{file_date}"
    path.write_text("".join(f"{text}\n" for _, text in lines))
    (folder / "site.toml").write_text(SITE)
    log_format = find_format(str(folder / "site.toml") if format_name == "site" else format_name)
    request = SourceRequest("made", "synthetic", log_format, zone, source or format_name, is_counted)
    result = load_file(warehouse, register(warehouse, request), path, now=NOW)
    assert not result.tally.rejected


def expect_recount(database: psycopg.Connection) -> int:
    """Assert that `rebuild_requests` does not change any request; return the number of requests."""

    def dump() -> list[str]:
        rows = database.execute("SELECT * FROM core.requests").fetchall()
        database.commit()
        return sorted(map(repr, rows))

    found = dump()
    edges = "SELECT min(first_event_at), max(last_event_at) FROM ledger.log_files"
    first, last = (at.astimezone(UTC).date() for at in database.execute(edges).fetchone())
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    days = [first + timedelta(days=n) for n in range(-2, (last - first).days + 3)]
    rebuild_requests(database, database, archive_id, days)
    assert dump() == found
    return len(found)


def note_days(days: set[date]) -> Callable[..., None]:
    """Return a replacement for `rebuild_requests` that also records the requested days in `days`."""

    def note(
        connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, asked: Iterable[date]
    ) -> None:
        asked = set(asked)
        days.update(asked)
        rebuild_requests(connection, settling, archive_id, asked)

    return note
