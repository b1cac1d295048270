"""Logs that are rewritten while they are read: no line is a mixture of two others, and none is lost."""

import gzip
import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.ledger import resuming
from tapewise.ingest.loading import one_load
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.files import LogFileReader, open_log
from tapewise.ingest.reading.interruptions import TRIES
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.rejects import RejectFilter, find_files, retry_file
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import RewrittenFileError
from tests.conftest import NOW, register
from tests.integration.test_exactly_once import expect_union, ledger

pytestmark = pytest.mark.study("ingest", "schema")

Load = Callable[..., FileResult]
Hook = Callable[..., None]


def make_lines(day: int, count: int = 1000) -> list[bytes]:
    """Lines of one day, all equally long, so that the end of one also completes a cut line of another day."""
    return [
        b"%06d 97/10/%02d 00:%02d:%02d js %07d 0.425" % (row, day, row // 60, row % 60, row * day)
        for row in range(count)
    ]


def join(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


OLD, NEW = make_lines(1), make_lines(2, 1500)


@pytest.fixture
def before_read(monkeypatch: pytest.MonkeyPatch) -> Hook:
    """Read logs in small blocks, and run a function before the seventh read or before every seventh."""
    monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
    monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)
    really_read = LogFileReader.read
    reads = 0

    def hook(change: Callable[[], object], *, is_repeated: bool = False) -> None:
        def read(self: LogFileReader, size: int) -> bytes:
            nonlocal reads
            reads += 1
            if reads == 7 or (is_repeated and reads % 7 == 0):
                change()
            return really_read(self, size)

        monkeypatch.setattr(LogFileReader, "read", read)

    return hook


@pytest.mark.parametrize("count", [700, 1000, 1500], ids=["shorter", "as long", "longer"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_log_copied_and_truncated_while_it_is_read_is_read_again(
    warehouse: Warehouse,
    load: Load,
    tmp_path: Path,
    before_read: Hook,
    pack: Callable[[bytes], bytes],
    count: int,
) -> None:
    suffix = "" if pack is bytes else ".gz"
    path, copy = tmp_path / f"log{suffix}", tmp_path / f"log.1{suffix}"
    path.write_bytes(pack(join(OLD)))

    def copy_and_truncate() -> None:
        shutil.copyfile(path, copy)
        path.write_bytes(pack(join(NEW[:count])))

    before_read(copy_and_truncate)
    result = load(path, "nft")
    assert (result.tally.line_count, result.tally.loaded_count) == (count, count)
    expect_union(warehouse, NEW[:count])
    assert load(copy, "nft").tally.loaded_count == 1000
    expect_union(warehouse, NEW[:count], OLD)
    assert load(path, "nft").is_unchanged


def test_a_log_that_is_rewritten_again_and_again_is_refused(
    warehouse: Warehouse, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before_read: Hook
) -> None:
    path = tmp_path / "log"
    path.write_bytes(join(OLD))
    opened = []

    def open_noted(*args: Any, **options: Any) -> Any:
        opened.append(args)
        return open_log(*args, **options)

    monkeypatch.setattr(one_load, "open_log", open_noted)
    before_read(lambda: path.write_bytes(join(make_lines(2 + len(opened)))), is_repeated=True)
    with pytest.raises(RewrittenFileError, match="was rewritten while it was read"):
        load(path, "nft")
    assert len(opened) == TRIES
    assert ledger(warehouse) == []
    expect_union(warehouse)


def test_a_log_may_grow_while_it_is_read(
    warehouse: Warehouse, load: Load, tmp_path: Path, before_read: Hook
) -> None:
    path = tmp_path / "log"
    path.write_bytes(join(OLD))

    def grow() -> None:
        with path.open("ab") as log:
            log.write(join(NEW))

    before_read(grow)
    load(path, "nft")
    load(path, "nft")
    expect_union(warehouse, OLD + NEW)
    assert len(ledger(warehouse)) == 1


def test_a_log_rewritten_after_its_beginning_was_compared_is_another_file(
    warehouse: Warehouse, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(join(OLD))
    load(path, "nft")
    path.write_bytes(join(OLD + NEW))
    really_compare = resuming.compare_prefix

    def compare_and_rewrite(*args: object, **options: object) -> object:
        found = really_compare(*args, **options)
        monkeypatch.setattr(resuming, "compare_prefix", really_compare)
        path.write_bytes(join(NEW))
        return found

    monkeypatch.setattr(resuming, "compare_prefix", compare_and_rewrite)
    assert load(path, "nft").tally.loaded_count == len(NEW)
    expect_union(warehouse, OLD, NEW)
    assert len(ledger(warehouse)) == 2


def test_a_dry_run_reads_again_what_is_rewritten(
    warehouse: Warehouse, tmp_path: Path, before_read: Hook
) -> None:
    path = tmp_path / "log"
    path.write_bytes(join(OLD))
    source = register(warehouse, SourceRequest("test", "synthetic", find_format("nft"), "UTC", "nft"))
    before_read(lambda: path.write_bytes(join(NEW)))
    tally = preview_file(warehouse, source, path, now=NOW).tally
    assert tally.first_event_at is not None
    assert (tally.loaded_count, tally.first_event_at.day) == (len(NEW), 2)


def test_a_file_that_replaced_a_retried_one_has_its_own_day(
    warehouse: Warehouse, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cond.980505"
    line = "002718 14:06:48 14:07:31 2360 10{}     17 put -d /scratch/k\n"
    path.write_text(line.format(2) + "broken\n")
    load(path, "cond", log_date=date(1998, 5, 9))  # the day is given by hand
    really_compare = resuming.compare_prefix

    def compare_and_rewrite(*args: object, **options: object) -> object:
        found = really_compare(*args, **options)
        monkeypatch.setattr(resuming, "compare_prefix", really_compare)
        path.write_text(line.format(3))
        return found

    monkeypatch.setattr(resuming, "compare_prefix", compare_and_rewrite)
    with closing(warehouse.connect(Role.LOADER)) as connection:
        [file] = find_files(connection, RejectFilter())
    retried = retry_file(warehouse, file, NOW)
    assert (retried.error, retried.is_another) == (None, True)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        rows = connection.execute("SELECT log_date, loaded_count FROM ledger.log_files ORDER BY id")
        assert rows.fetchall() == [(date(1998, 5, 9), 1), (date(1998, 5, 5), 1)]
