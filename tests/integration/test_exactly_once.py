"""Exactly once: the facts are the multiset union of files read in any order, repeatedly or concurrently."""

import bz2
import gzip
import itertools
import json
import lzma
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any

import psycopg
import pytest
import xxhash
from backports import zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.file_types import FEW, HEAD_BYTES
from tapewise.ingest.reading.files import LogFileReader, open_log
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tests.forks import PROJECT, Fork
from tests.integration.evidence import FACTS, check_warehouse, read_balance, read_facts
from tests.stamps import owns, restamp

pytestmark = [pytest.mark.usefixtures("short_segments"), pytest.mark.study("ingest", "schema")]
# A format that unfolds lines cannot read a line without the lines above it; see test_daily_reports.py.
SINGLE_LINED = sorted(name for name, each in FORMATS.items() if each.make_unfold is None)
EVERY_FORMAT = pytest.mark.parametrize("format_name", SINGLE_LINED)
# Loading is tested with formats that load differently: into one table or several, with a day from the file,
# or by a layout. Reading lines is tested with every format, here and elsewhere.
SOME_NAMES = ["cond", "hsi", "pftp", "unitree-tape", "xferlog"]
SOME_FORMATS = pytest.mark.parametrize("format_name", SOME_NAMES)
BEGIN = datetime(2004, 6, 30, 20, 0)
DAY = BEGIN.date()  # for files whose lines have no date
CLOCK = re.compile(r"\d\d:\d\d:\d\d")
TIME = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
)
STAMPS = dict.fromkeys(("nft", "stat"), "%y/%m/%d %H:%M:%S") | dict.fromkeys(
    ("unitree-client", "unitree-tape"), "%Y-%m-%d %H:%M:%S"
)
LAYOUTS = [layout for log_format in FORMATS.values() if (layout := find_layout(log_format))]
BROKEN = (b"broken \xff\x00 line", b"broken: 12")
BROKEN_TEXT = r"broken \xff\x00 line"  # how BROKEN[0] is shown
BLANK = (b"", b"  \t")

# Hypothesis's examples share a warehouse, but each has its own archive. Loads may be slow.
SHARED_FIXTURES: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}

Load = Callable[..., FileResult]


def log_line(format_name: str, kind: int, seconds: int) -> bytes:
    """Make a valid line of this format and kind, `seconds` after BEGIN."""
    examples = find_format(format_name).examples
    example, ended_at = examples[kind % len(examples)], BEGIN + timedelta(seconds=seconds)
    if format_name == "cond":  # a job of 43 seconds, whatever the day
        clocks = iter([ended_at - timedelta(seconds=43), ended_at])
        return CLOCK.sub(lambda _: f"{next(clocks):%H:%M:%S}", example, count=2).encode()
    if find_layout(find_format(format_name)):
        return restamp(find_format(format_name), example, ended_at).encode()
    layout = STAMPS.get(format_name, "%b %e %H:%M:%S %Y")
    line, count = TIME.subn(ended_at.strftime(layout), example)
    assert count == 1
    return line.encode()


def make_lines(format_name: str, count: int = 60) -> list[bytes]:
    """Make lines of every kind around the end of a month, with repeated, broken and blank lines."""
    lines = [log_line(format_name, index, 420 * index) for index in range(count)]
    lines[20:20] = [lines[5], *BROKEN, lines[19], lines[19], BLANK[0]]
    lines += [lines[1], BROKEN[0], BLANK[1]]
    return lines


def write(path: Path, lines: Sequence[bytes], end: bytes = b"\n") -> Path:
    path.write_bytes(b"".join(line + end for line in lines))
    return path


@cache
def fate(line: bytes) -> str:
    if not line.strip():
        return "ignored"
    if line.startswith(b"broken"):
        return "rejected"
    for layout in LAYOUTS:
        owners = (kind for kind in layout.lines if owns(layout, kind, line.decode()))
        if (owner := next(owners, None)) is not None:
            return "fact" if owner.ignored is None else "ignored"
    # Ignored lines report transfers between machines other than the archive.
    return "ignored" if b" kw " in line or b" (k-w) " in line else "fact"


def fates(lines: Sequence[bytes]) -> Counter[str]:
    return Counter(map(fate, lines))


def union(files: Sequence[Sequence[bytes]]) -> Counter[bytes]:
    """Return the files' facts. A line found n times in one file and m in another counts max(n, m) times."""
    every = reduce(or_, map(Counter, files), Counter[bytes]())
    return Counter({line: count for line, count in every.items() if fate(line) == "fact"})


def signed_hash(line: bytes) -> int:
    hashed = xxhash.xxh3_64_intdigest(line)
    return hashed - 2**64 if hashed >= 2**63 else hashed


def expect_union(warehouse: Warehouse, *files: Sequence[bytes], archive: str = "test") -> None:
    """Assert that the archive's facts are the union of those of `files`, and that the ledger balances."""
    expected = union(files)
    line_of = {signed_hash(line): line for line in expected}
    with closing(warehouse.connect(Role.OWNER)) as connection:
        found = connection.execute(
            " UNION ALL ".join(
                f"SELECT line_hash FROM core.{table} JOIN core.archives ON archives.id = archive_id"
                " WHERE name = %(a)s AND ordinal = 0"  # the first fact of each line
                for table in FACTS
            ),
            {"a": archive},
        ).fetchall()
    assert Counter(line_of.get(row[0], b"a line of no file") for row in found) == expected
    check_warehouse(warehouse)


def counts(result: FileResult) -> tuple[int, int, int, int, int]:
    tally = result.tally
    return (
        tally.line_count,
        tally.loaded_count,
        tally.held_count,
        tally.ignored.total(),
        tally.rejected.total(),
    )


def ledger(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """Return the number, path and counts of each row of the ledger, in order."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return connection.execute(
            "SELECT id, path, (line_count, loaded_count, held_count, ignored_count, rejected_count)::text"
            " FROM ledger.log_files ORDER BY id"
        ).fetchall()


@pytest.fixture
def load(load: Load) -> Load:
    """Load one file, with the date DAY if its lines have none."""

    def load_as_of_day(path: Path, format_name: str, **options: Any) -> FileResult:
        if find_format(format_name).is_dated_by_file:
            options.setdefault("log_date", DAY)
        return load(path, format_name, **options)

    return load_as_of_day


@pytest.fixture
def set_block_bytes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Set the default number of bytes to read at a time."""

    def set_block_bytes(size: int) -> None:
        monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (size,))
        monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)

    return set_block_bytes


def count_blocks(path: Path) -> int:
    with open_log(path) as reader:
        return len(list(reader.blocks()))


@EVERY_FORMAT
def test_a_file_read_twice_counts_once(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    expected = fates(lines)
    first = load(write(tmp_path / "log", lines), format_name)
    assert counts(first) == (len(lines), expected["fact"], 0, expected["ignored"], expected["rejected"])
    expect_union(warehouse, lines)
    facts, balance = read_facts(warehouse), read_balance(warehouse)

    second = load(tmp_path / "log", format_name)
    assert counts(second) == (len(lines), 0, expected["fact"], expected["ignored"], expected["rejected"])
    assert second.is_unchanged
    assert read_facts(warehouse) == facts
    assert read_balance(warehouse) == balance


@SOME_FORMATS
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "in reverse"])
def test_two_halves_that_overlap_count_once(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str, order: tuple[int, int]
) -> None:
    lines = make_lines(format_name)
    halves = [lines[:40], lines[25:]]
    for index in order:
        load(write(tmp_path / f"log.{index}", halves[index]), format_name)
    expect_union(warehouse, *halves)
    assert sum(fates(half)["fact"] for half in halves) > union(halves).total()  # the halves overlap


@SOME_FORMATS
def test_two_orders_of_overlapping_files_give_the_same_facts(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    parts = [write(tmp_path / f"log.{index}", lines[15 * index : 15 * index + 30]) for index in range(4)]
    for part in parts:
        load(part, format_name, archive="forwards")
    for part in reversed(parts):
        load(part, format_name, archive="backwards")
    facts = read_facts(warehouse)
    for rows in facts.values():
        forwards = Counter({row[1:]: count for row, count in rows.items() if row[0] == "forwards"})
        backwards = Counter({row[1:]: count for row, count in rows.items() if row[0] == "backwards"})
        assert forwards == backwards
    assert sum(rows.total() for table, rows in facts.items() if table in FACTS) > 0
    check_warehouse(warehouse)


@SOME_FORMATS
def test_a_file_that_grows_keeps_its_row_in_the_ledger(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    for length in (10, 24, 25, len(lines)):
        expected = fates(lines[:length])
        load(write(tmp_path / "log", lines[:length]), format_name)
        expect_union(warehouse, lines[:length])
        ((_, _, row),) = ledger(warehouse)
        assert row == f"({length},{expected['fact']},0,{expected['ignored']},{expected['rejected']})"


@SOME_FORMATS
def test_a_longer_copy_adds_only_its_additional_lines(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    load(write(tmp_path / "log", lines[:30]), format_name)
    copy = load(write(tmp_path / "copy", lines), format_name)
    assert copy.tally.held_count == fates(lines[:30])["fact"]
    expect_union(warehouse, lines)


@SOME_FORMATS
def test_a_shorter_copy_adds_nothing(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    load(write(tmp_path / "log", lines), format_name)
    shorter = load(write(tmp_path / "log", lines[:30]), format_name)
    assert counts(shorter)[1:3] == (0, fates(lines[:30])["fact"])
    assert len(ledger(warehouse)) == 2
    expect_union(warehouse, lines)


@pytest.mark.parametrize("format_name", ["cond", "hsi"])  # cond gets its day from the file
@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd.compress)],
    ids=["gz", "bz2", "xz", "zst"],
)
def test_a_compressed_copy_adds_nothing_and_may_grow(
    warehouse: Warehouse,
    load: Load,
    tmp_path: Path,
    format_name: str,
    suffix: str,
    compress: Callable[[bytes], bytes],
) -> None:
    lines = make_lines(format_name)
    path = write(tmp_path / "log", lines[:40])
    load(path, format_name)
    packed = tmp_path / f"log{suffix}"
    packed.write_bytes(compress(path.read_bytes()))
    assert counts(load(packed, format_name))[1:3] == (0, fates(lines[:40])["fact"])
    expect_union(warehouse, lines[:40])

    packed.write_bytes(compress(write(path, lines).read_bytes()))
    assert load(packed, format_name).tally.loaded_count == fates(lines[40:])["fact"]
    assert load(packed, format_name).is_unchanged
    load(path, format_name)
    assert len(ledger(warehouse)) == 2
    expect_union(warehouse, lines)


def test_a_truncated_compressed_file_leaves_nothing_until_it_is_complete(
    warehouse: Warehouse, load: Load, tmp_path: Path, set_block_bytes: Callable[[int], None]
) -> None:
    lines = make_lines("nft")
    packed = gzip.compress(write(tmp_path / "log", lines).read_bytes())
    path = tmp_path / "log.gz"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    set_block_bytes(200)  # so facts are sent before the missing end is noticed
    with pytest.raises(LogFileError, match="the compressed file ends early"):
        load(path, "nft")
    expect_union(warehouse)
    assert ledger(warehouse) == []
    path.write_bytes(packed)
    load(path, "nft")
    expect_union(warehouse, lines)


@SOME_FORMATS
def test_a_copy_with_other_line_ends_adds_nothing(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    load(write(tmp_path / "unix", lines), format_name)
    copy = load(write(tmp_path / "windows", lines, end=b"\r\n"), format_name)
    assert counts(copy)[1:3] == (0, fates(lines)["fact"])
    expect_union(warehouse, lines)


@SOME_FORMATS
def test_a_byte_order_mark_is_not_part_of_a_line(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines, mark = make_lines(format_name), b"\xef\xbb\xbf"
    path = tmp_path / "log"
    for length in (30, len(lines)):
        path.write_bytes(mark + b"".join(line + b"\n" for line in lines[:length]))
        assert load(path, format_name).tally.rejected.total() == fates(lines[:length])["rejected"]
        expect_union(warehouse, lines[:length])  # this includes a check of the byte counts
        assert len(ledger(warehouse)) == 1
    assert load(write(tmp_path / "copy", lines), format_name).tally.loaded_count == 0
    # This is how `cat` joins two logs.
    (tmp_path / "both").write_bytes(path.read_bytes() + mark + b"".join(line + b"\r\n" for line in lines))
    load(tmp_path / "both", format_name)
    expect_union(warehouse, lines, lines + lines)


def test_the_same_file_by_another_path_is_the_same_file(
    warehouse: Warehouse, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = make_lines("hsi")
    path = write(tmp_path / "log", lines)
    load(path, "hsi")
    (tmp_path / "link").symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for other in (tmp_path / "link", Path("log"), Path("../") / tmp_path.name / "log"):
        assert load(other, "hsi").is_unchanged
    assert len(ledger(warehouse)) == 1
    expect_union(warehouse, lines)


@SOME_FORMATS
def test_a_copy_in_another_place_is_held(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    load(write(tmp_path / "log", lines), format_name)
    facts = read_facts(warehouse)
    copy = load(write(tmp_path / "copy", lines), format_name)
    assert counts(copy)[1:3] == (0, fates(lines)["fact"])
    assert not copy.is_unchanged
    assert len(ledger(warehouse)) == 2
    assert read_facts(warehouse) == facts
    expect_union(warehouse, lines)


@SOME_FORMATS
@pytest.mark.parametrize(("first", "second"), [(1, 3), (3, 1), (2, 2), (4, 5)])
def test_a_line_in_two_files_counts_as_often_as_in_the_one_that_has_it_more_often(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str, first: int, second: int
) -> None:
    line, other = log_line(format_name, 0, 0), log_line(format_name, 1, 0)
    files = [[line] * first + [other], [other, *[line] * second]]
    for index, lines in enumerate(files):
        load(write(tmp_path / f"log.{index}", lines), format_name)
    assert union(files) == Counter({line: max(first, second), other: 1})
    expect_union(warehouse, *files)


@SOME_FORMATS
def test_real_repeats_in_a_file_are_kept(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = [log_line(format_name, 0, 0)] * 7
    assert counts(load(write(tmp_path / "log", lines), format_name)) == (7, 7, 0, 0, 0)
    assert counts(load(write(tmp_path / "copy", lines), format_name)) == (7, 0, 7, 0, 0)
    expect_union(warehouse, lines)


@pytest.mark.parametrize(
    ("format_name", "shuffled"),
    [*((name, False) for name in SOME_NAMES), ("pftp", True)],
    ids=lambda value: value if isinstance(value, str) else ("unsorted" if value else "sorted"),
)
def test_repeats_are_numbered_across_block_boundaries(
    warehouse: Warehouse,
    load: Load,
    tmp_path: Path,
    set_block_bytes: Callable[[int], None],
    format_name: str,
    shuffled: bool,
) -> None:
    lines = sorted(make_lines(format_name) * 2)
    if shuffled:
        random.Random(7).shuffle(lines)
    path = write(tmp_path / "log", lines)
    load(path, format_name, archive="whole")
    set_block_bytes(path.stat().st_size // 9)
    assert count_blocks(path) > 6
    load(path, format_name, archive="pieces")
    facts = read_facts(warehouse)
    for rows in facts.values():
        whole = Counter({row[1:]: count for row, count in rows.items() if row[0] == "whole"})
        pieces = Counter({row[1:]: count for row, count in rows.items() if row[0] == "pieces"})
        assert whole == pieces
    expect_union(warehouse, lines, archive="whole")
    expect_union(warehouse, lines, archive="pieces")

    # Block edges must not matter for a copy or its additional lines either.
    set_block_bytes(path.stat().st_size // 7)
    copy = write(tmp_path / "copy", lines)
    assert load(copy, format_name, archive="pieces").tally.loaded_count == 0
    more = [*lines, log_line(format_name, 0, 0)]
    assert load(write(copy, more), format_name, archive="pieces").tally.loaded_count == 1
    expect_union(warehouse, more, archive="pieces")


@SOME_FORMATS
def test_the_order_of_lines_in_a_file_does_not_matter(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    shuffled = random.Random(11).sample(lines, len(lines))
    load(write(tmp_path / "shuffled", shuffled), format_name)
    expect_union(warehouse, shuffled)
    assert load(write(tmp_path / "reversed", lines[::-1]), format_name).tally.loaded_count == 0
    assert load(write(tmp_path / "log", lines), format_name).tally.loaded_count == 0
    expect_union(warehouse, lines)


@SOME_FORMATS
def test_rejected_and_ignored_lines_of_a_growing_file_are_not_doubled(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = [*BROKEN, *BLANK, log_line(format_name, 0, 0), BROKEN[0]]
    for length in (3, 5, 6, 6):
        load(write(tmp_path / "log", lines[:length]), format_name)
        expect_union(warehouse, lines[:length])
    with closing(warehouse.connect(Role.OWNER)) as connection:
        rejected = connection.execute(
            "SELECT line_number, text FROM ledger.rejected_lines ORDER BY line_number"
        ).fetchall()
        ignored = connection.execute("SELECT sum(line_count) FROM ledger.ignored_lines").fetchone()
    assert rejected == [(1, BROKEN_TEXT), (2, "broken: 12"), (6, BROKEN_TEXT)]
    assert ignored == (2,)


@SOME_FORMATS
def test_an_unfinished_line_waits_and_is_then_counted_once(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)[:12]
    path, half = write(tmp_path / "log", lines[:10]), lines[10][:25]
    load(path, format_name)
    with path.open("ab") as log:
        log.write(half)
    waiting = load(path, format_name)
    assert (waiting.waiting_bytes, waiting.is_unchanged, waiting.tally.line_count) == (25, True, 10)
    expect_union(warehouse, lines[:10])

    with path.open("ab") as log:
        log.write(lines[10][25:])
    assert load(path, format_name).waiting_bytes == len(lines[10])
    expect_union(warehouse, lines[:10])

    with path.open("ab") as log:
        log.write(b"\n" + lines[11][:5])
    finished = load(path, format_name)
    loaded_count = int(fate(lines[10]) == "fact")
    assert (finished.tally.line_count, finished.waiting_bytes) == (11, 5)
    assert finished.tally.loaded_count == loaded_count
    expect_union(warehouse, lines[:11])
    assert len(ledger(warehouse)) == 1


@SOME_FORMATS
def test_the_unfinished_last_line_of_a_complete_file_counts_once(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)[:13]
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(lines))
    assert load(path, format_name).tally.line_count == 12
    expect_union(warehouse, lines[:12])

    complete = load(path, format_name, is_complete=True)
    assert (complete.tally.line_count, complete.tally.loaded_count, complete.waiting_bytes) == (13, 1, 0)
    expect_union(warehouse, lines)
    assert len(ledger(warehouse)) == 1
    for is_complete in (False, True):
        assert load(path, format_name, is_complete=is_complete).is_unchanged
    expect_union(warehouse, lines)

    # The last line was complete, but the file continues.
    write(path, [*lines, lines[0]])
    assert load(path, format_name).tally.loaded_count == 1
    expect_union(warehouse, [*lines, lines[0]])


def test_an_unfinished_last_line_that_is_continued_later_is_another_line(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    lines = make_lines("nft")[:5]
    cut = [*lines[:4], lines[4][:-2]]  # still a valid line: 41.9 seconds instead of 41.902
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(cut))
    assert load(path, "nft", is_complete=True).tally.line_count == 5
    assert load(write(path, lines), "nft").tally.loaded_count == 1
    expect_union(warehouse, cut, lines)


@SOME_FORMATS
def test_a_new_file_under_an_old_name_is_another_file(
    warehouse: Warehouse, load: Load, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name)
    path = write(tmp_path / "log", lines[:30])
    load(path, format_name)
    path.rename(tmp_path / "log.1")
    load(write(path, lines[30:]), format_name)
    assert [row[1] for row in ledger(warehouse)] == [str(path), str(path)]
    expect_union(warehouse, lines[:30], lines[30:])
    assert load(tmp_path / "log.1", format_name).tally.loaded_count == 0
    assert load(path, format_name).is_unchanged

    (tmp_path / "log.1").rename(path)  # and back again
    assert load(path, format_name).tally.loaded_count == 0
    expect_union(warehouse, lines[:30], lines[30:])


def test_an_empty_file_is_read_and_may_grow(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    lines = make_lines("pftp")
    path = write(tmp_path / "log", [])
    assert counts(load(path, "pftp")) == (0, 0, 0, 0, 0)
    assert load(path, "pftp").is_unchanged
    expect_union(warehouse)
    load(write(path, lines), "pftp")
    assert len(ledger(warehouse)) == 1
    expect_union(warehouse, lines)


def test_archives_do_not_share_lines(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    path = write(tmp_path / "log", make_lines("nft"))
    loaded = fates(make_lines("nft"))["fact"]
    assert load(path, "nft").tally.loaded_count == loaded
    assert load(path, "nft", archive="other", timezone="Asia/Kathmandu").tally.loaded_count == loaded
    expect_union(warehouse, make_lines("nft"), archive="other")


def test_equal_lines_of_two_sources_are_two_transfers(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    # Several such lines in a row would be refused as a copy of the other source's log.
    line = b"005041 97/10/01 00:01:41 js 7700 0.425"
    for host in ("mover1", "mover2"):
        load(write(tmp_path / host, [line]), "nft", source=host)
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT count(*) FROM mart.transfers").fetchone() == (2,)


def start(warehouse: Warehouse, format_name: str, *paths: Path) -> Fork:
    """Start a process that runs `tapewise ingest` on `paths`."""
    options = ["--kind", "synthetic", "--format", format_name, "--timezone", "UTC"]
    if find_format(format_name).is_dated_by_file:
        options += ["--date", str(DAY)]
    database = ["--database-url", warehouse.url(Role.LOADER)]
    arguments = [*database, "ingest", "--json", "--archive", "test", *options, *paths]
    return Fork(arguments, PROJECT, os.environ)


def wait_for_waiters(connection: psycopg.Connection, statement: str, processes: Sequence[Fork]) -> None:
    """Wait until each process has a session that waits for a lock in a statement matching this pattern."""
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        f" AND datname = current_database() AND query LIKE '{statement}'"
    )
    deadline = time.monotonic() + 120
    while connection.execute(query).fetchone() != (len(processes),):
        for process in processes:
            assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def load_at_once(warehouse: Warehouse, format_name: str, paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Load each path with its own command, holding all up where they may collide; return their outputs."""
    with ExitStack() as stack:
        watcher = stack.enter_context(closing(warehouse.connect(Role.OWNER, autocommit=True)))
        table_holder = stack.enter_context(closing(warehouse.connect(Role.OWNER)))
        # While this lock is held, no archive can be created or locked.
        table_holder.execute("LOCK TABLE core.archives IN EXCLUSIVE MODE")
        processes = [stack.enter_context(start(warehouse, format_name, path)) for path in paths]
        for process in processes:
            stack.callback(process.kill)
        wait_for_waiters(watcher, "%INSERT INTO core.archives%", processes)
        table_holder.rollback()
        outputs = [process.communicate(timeout=120) for process in processes]
    assert [errors for _, errors in outputs] == [""] * len(paths)
    assert [process.returncode for process in processes] == [0] * len(paths)
    return [json.loads(output) for output, _ in outputs]


@SOME_FORMATS
def test_two_processes_with_overlapping_files_count_once(
    warehouse: Warehouse, tmp_path: Path, format_name: str
) -> None:
    lines = make_lines(format_name, 2000)
    halves = [lines[:1400], lines[600:]]
    paths = [write(tmp_path / f"log.{index}", half) for index, half in enumerate(halves)]
    results = load_at_once(warehouse, format_name, paths)
    assert sum(result["loaded_count"] for result in results) == union(halves).total()
    assert sum(result["held_count"] for result in results) > 0
    expect_union(warehouse, *halves)


@pytest.mark.parametrize("count", [2, 4])
def test_processes_with_the_same_file_count_once(warehouse: Warehouse, tmp_path: Path, count: int) -> None:
    lines = make_lines("pftp", 2000)
    path = write(tmp_path / "log", lines)
    results = load_at_once(warehouse, "pftp", [path] * count)
    loaded = fates(lines)["fact"]
    assert sorted(result["loaded_count"] for result in results) == [0] * (count - 1) + [loaded]
    assert sorted(result["held_count"] for result in results) == [0] + [loaded] * (count - 1)
    assert len(ledger(warehouse)) == 1
    expect_union(warehouse, lines)


POOLS = {
    name: [
        *(log_line(name, kind, seconds) for kind, seconds in itertools.product(range(4), (0, 1, 86400 * 40))),
        *BROKEN,
        *BLANK,
        log_line(name, 0, 0) + b"\r",  # the same line as without \r
    ]
    for name in SINGLE_LINED
}
# One reading: the file's name, the range of its lines, and the size of a block in bytes.
READINGS = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 24), st.integers(0, 24), st.sampled_from([60, 400, 12_000_000])
    ),
    min_size=1,
    max_size=6,
)
numbers = itertools.count()


@settings(max_examples=25, **SHARED_FIXTURES)
@given(data=st.data(), format_name=st.sampled_from(SINGLE_LINED), readings=READINGS)
def test_any_cuts_of_a_log_read_in_any_order_give_the_multiset_union(
    warehouse: Warehouse,
    load: Load,
    tmp_path: Path,
    set_block_bytes: Callable[[int], None],
    data: st.DataObject,
    format_name: str,
    readings: list[tuple[int, int, int, int]],
) -> None:
    lines = data.draw(st.lists(st.sampled_from(POOLS[format_name]), min_size=8, max_size=24))
    archive = f"archive {next(numbers)}"
    folder = tmp_path / archive
    folder.mkdir()
    files = []
    for name, one, other, block_bytes in readings:
        cut = lines[min(one, other) : max(one, other)]
        set_block_bytes(block_bytes)
        result = load(write(folder / str(name), cut), format_name, archive=archive)
        assert result.tally.line_count == len(cut) == sum(counts(result)[1:])
        files.append([line.removesuffix(b"\r") for line in cut])
    expect_union(warehouse, *files, archive=archive)


@st.composite
def mutated_logs(draw: st.DrawFn, format_name: str) -> bytes:
    """Draw example lines, whole or truncated, some with replaced bytes or noise between them."""
    content = b""
    for _ in range(draw(st.integers(1, 25))):
        line = draw(st.sampled_from(find_format(format_name).examples)).encode()
        if draw(st.booleans()):
            begin, end = sorted(draw(st.tuples(*[st.integers(0, len(line))] * 2)))
            line = line[:begin] + draw(PIECES) + line[end if draw(st.booleans()) else begin :]
        content += line + draw(st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b""]))
    return content


PIECES = st.binary(max_size=4) | st.sampled_from(
    [
        b"\0",
        b"\n",
        b"\r\n",
        b"\t",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        "Å\u2028".encode(),
        b"-1",
        b"9" * 30,
        b"0.0000005",
    ]
)


def is_refused(content: bytes) -> bool:
    """Whether the file is refused as a whole, because no newline ends its lines."""
    head = content[:HEAD_BYTES]
    return head.count(b"\r") > FEW and b"\n" not in head


@SOME_FORMATS
@settings(max_examples=8, **SHARED_FIXTURES)
@given(data=st.data(), is_complete=st.booleans(), block_bytes=st.sampled_from([150, 12_000_000]))
def test_the_four_counts_add_up_for_any_bytes(
    warehouse: Warehouse,
    load: Load,
    tmp_path: Path,
    set_block_bytes: Callable[[int], None],
    format_name: str,
    data: st.DataObject,
    is_complete: bool,
    block_bytes: int,
) -> None:
    content = data.draw(mutated_logs(format_name))
    archive = f"archive {next(numbers)}"
    path = tmp_path / archive
    path.write_bytes(content)
    set_block_bytes(block_bytes)
    if is_refused(content):
        with pytest.raises(LogFileError, match="CR alone"):
            load(path, format_name, archive=archive, is_complete=is_complete)
        check_warehouse(warehouse)
        return
    result = load(path, format_name, archive=archive, is_complete=is_complete)
    unfinished = is_complete and not content.endswith(b"\n")
    assert result.tally.line_count == content.count(b"\n") + unfinished == sum(counts(result)[1:])

    copy = tmp_path / f"copy of {archive}"
    copy.write_bytes(content)
    set_block_bytes(12_000_000)
    again = load(copy, format_name, archive=archive, is_complete=is_complete)
    line_count, loaded, held, ignored, rejected = counts(result)
    assert held == 0
    assert counts(again) == (line_count, 0, loaded, ignored, rejected)
    check_warehouse(warehouse)
