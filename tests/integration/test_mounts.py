"""Mounts and tape operations equal a recount of the events, in any order of files and after any change."""

import json
import random
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse
from tests.integration.tape_recount import describe, dump

pytestmark = pytest.mark.study("ingest", "schema")

FIRST_DAY = datetime(1996, 2, 26, tzinfo=UTC)
DAY_COUNT = 9
FIELDS = (
    *("op", "by", "cap", "family", "location", "copy", "frag", "vsn", "type", "unit", "block", "size", "rc"),
)
# A log file: its path and its source.
LogFile = tuple[Path, str]


def write_event(at: datetime, event: str, **fields: object) -> str:
    names = (
        "op",
        "by",
        "cap",
        "family",
        "location",
        "copy",
        "frag",
        "vsn",
        "type",
        "unit",
        "block",
        "size",
        "rc",
    )
    values = " ".join(f"{name}={fields.get(name, '-')}" for name in names)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} tapesrvr {event} {values}"


def write_mounted(at: datetime, vsn: str, unit: str) -> str:
    """UniTree has no event for a cartridge that is in the drive but not positioned, so CTA reports it."""
    names = {"message": "Tape mounted for read-only access", "tapeDrive": unit, "tapeVid": vsn}
    return json.dumps({"epoch_time": at.timestamp(), "program": "cta-taped"} | names)


def make_events(seed: int) -> list[tuple[datetime, str]]:
    """Make up events of nine days, crowded around midnight, with few cartridges, drives and files.

    Some events are missing. Some cartridges stay in a drive for days, and some pauses are long.
    """
    draw = random.Random(seed)
    events: list[tuple[datetime, str]] = []

    def write(at: datetime, event: str, **fields: object) -> None:
        if draw.random() < 0.85:
            events.append((at, write_event(at, event, **fields)))

    for _ in range(45):
        at = FIRST_DAY + timedelta(
            days=draw.randrange(1, DAY_COUNT), milliseconds=draw.randrange(-(9**6), 9**6)
        )
        vsn, unit = f"D{draw.randrange(3)}", f"d{draw.randrange(2)}"
        pause_s = draw.choice((1, 60, 3000, 3000, 80_000, 90_000))

        def later(limit_s: int = pause_s) -> timedelta:
            return timedelta(milliseconds=draw.randrange(0, limit_s * 1000))

        for number in range(draw.choice((0, 1, 1, 2, 5))):
            names = {
                "op": draw.choice(("stage", "mig")),
                "by": draw.choice(("client", "client", "repacker")),
                "cap": f"4f.{draw.randrange(3)}",
                "copy": draw.randrange(1, 3),
                "frag": draw.choice(("-", "-", 1)),
                "family": 7,
                "size": draw.choice(("-", 100, 200)),
            }
            write(at, "received", **names)
            at += later()
            if number == 0:
                write(at, "mount", vsn=vsn, type="D3", **names)
                at += later()
            if number == 0 and draw.random() < 0.7:
                events.append((at, write_mounted(at, vsn, unit)))
                at += later()
            there = {"vsn": vsn, "type": "D3", "unit": unit, "block": draw.randrange(9)}
            write(at, "positioned", **names | there)
            at += later()
            write(at, "complete", **names | there | {"rc": draw.choice((0, 0, 0, 5, "-"))})
            at += later()
        write(at, "dismount", vsn=vsn, unit=unit)
        at += later(9)
        write(at, "dismounted", vsn=vsn, unit=unit)
    return sorted(events)


def make_files(seed: int, folder: Path) -> list[LogFile]:
    """Write the events to files of three sources; some lines occur in two files of one source."""
    draw = random.Random(seed)
    lines: dict[str, list[str]] = {"tapesrvr": [], "pdmsrvr": [], "cta": []}
    for _, text in make_events(seed):
        unitree = draw.choice(("tapesrvr", "tapesrvr", "pdmsrvr"))
        lines["cta" if text.startswith("{") else unitree].append(text)
    files = []
    for source, source_lines in lines.items():
        cuts = [0, *sorted(draw.sample(range(1, len(source_lines)), 5)), len(source_lines)]
        for number, (begin, end) in enumerate(pairwise(cuts)):
            path = folder / f"{source}.{number}"
            piece = source_lines[max(begin - draw.choice((0, 0, 4)), 0) : end]
            draw.shuffle(piece)
            path.write_text("".join(f"{text}\n" for text in piece))
            files.append((path, source))
    return files


def read(warehouse: Warehouse, files: Sequence[LogFile], archive: str) -> None:
    for path, name in files:
        log_format = find_format("cta" if name == "cta" else "unitree-tape")
        request = SourceRequest(archive, "synthetic", log_format, "UTC", name, True)
        load_file(warehouse, register(warehouse, request), path, now=NOW)


@pytest.mark.parametrize("seed", range(3))
def test_they_equal_a_recount_of_the_events_whatever_the_order_of_files(
    warehouse: Warehouse, tmp_path: Path, seed: int
):
    files = make_files(seed, tmp_path)
    random.Random(seed).shuffle(files)
    for number, file in enumerate(files):
        read(warehouse, [file], "made")
        assert dump(warehouse, "made") == describe(warehouse, "made"), f"after {number + 1} files"
    mounts, operations = dump(warehouse, "made")
    assert len(mounts) > 40 and len(operations) > 40
    check_warehouse(warehouse)
    read(warehouse, sorted(files), "in order")
    assert dump(warehouse, "in order") == (mounts, operations)


@pytest.mark.parametrize("seed", range(5, 8))
def test_rebuilding_any_range_changes_nothing(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, seed: int
):
    read(warehouse, make_files(seed, tmp_path), "made")
    before = dump(warehouse, "made")
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    days = [(FIRST_DAY + timedelta(days=n)).date() for n in range(-1, 60)]
    for chosen in ([days[3]], [days[1], days[6]], days, [date(2005, 1, 1)]):
        rebuild_derived(database, database, archive_id, chosen)
        database.commit()
        assert dump(warehouse, "made") == before
    database.execute("DELETE FROM core.mounts")
    database.execute("DELETE FROM core.tape_operations")
    rebuild_derived(database, database, archive_id, days)
    database.commit()
    assert dump(warehouse, "made") == before


@pytest.mark.parametrize("seed", range(8, 10))
def test_they_equal_a_recount_after_dropping_a_source_and_forgetting(
    warehouse: Warehouse, tmp_path: Path, seed: int
):
    read(warehouse, make_files(seed, tmp_path), "made")
    drop_source(warehouse, "made", "pdmsrvr")
    left = dump(warehouse, "made")
    assert left == describe(warehouse, "made") and left[0]
    forget_detail(warehouse, "made", (FIRST_DAY + timedelta(days=4)).date(), NOW)
    still = dump(warehouse, "made")
    assert still == describe(warehouse, "made") and 0 < len(still[0]) < len(left[0])
    check_warehouse(warehouse)


def test_a_late_line_changes_the_whole_stay_of_a_cartridge_for_weeks(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
):
    names = {"op": "stage", "by": "client", "cap": "4f.1", "copy": 1, "vsn": "D1", "unit": "d1", "rc": 0}
    asked = write_event(FIRST_DAY, "mount", **names | {"unit": "-"})
    ends = [FIRST_DAY + timedelta(hours=20 * n) for n in range(1, 31)]
    (tmp_path / "long").write_text("".join(write_event(at, "complete", **names) + "\n" for at in ends))
    read(warehouse, [(tmp_path / "long", "tapesrvr")], "made")
    (tmp_path / "late").write_text(asked + "\n")
    read(warehouse, [(tmp_path / "late", "tapesrvr")], "made")
    rows = database.execute(
        "SELECT transfer_count, mounts.mount_requested_at, count(*) FROM core.mounts"
        " JOIN core.tape_operations USING (archive_id, mount_id) GROUP BY 1, 2"
    ).fetchall()
    assert rows == [(30, FIRST_DAY, 30)]
    assert dump(warehouse, "made") == describe(warehouse, "made")


def test_one_log_may_cover_many_months(warehouse: Warehouse, tmp_path: Path):
    # A session prepares a statement after some executions; the log covers more months than that.
    names = {"op": "stage", "by": "client", "cap": "4f.1", "copy": 1, "unit": "d1", "rc": 0}
    lines = [
        write_event(FIRST_DAY + timedelta(days=31 * n, minutes=minute), event, **names | {"vsn": f"D{n}"})
        for n in range(20)
        for minute, event in ((0, "mount"), (9, "complete"))
    ]
    (tmp_path / "long").write_text("".join(f"{line}\n" for line in lines))
    read(warehouse, [(tmp_path / "long", "tapesrvr")], "made")
    mounts, operations = dump(warehouse, "made")
    assert (len(mounts), len(operations)) == (20, 20)
    assert (mounts, operations) == describe(warehouse, "made")


def test_a_dropped_archive_takes_them_with_it(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
):
    read(warehouse, make_files(20, tmp_path), "made")
    with closing(warehouse.connect(Role.OWNER)) as connection:
        drop_archive(connection, "made")
    assert database.execute(
        "SELECT (SELECT count(*) FROM core.mounts), (SELECT count(*) FROM core.tape_operations)"
    ).fetchone() == (0, 0)
