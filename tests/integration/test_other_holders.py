"""Lines that another source of the archive holds are refused, whatever the copy looks like."""

import gzip
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import polars as pl
import psycopg
import pytest

from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.loading import one_load
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.landmarks import MARK, Landmark, LandmarkFinder
from tapewise.ingest.records.format import Format
from tapewise.ingest.sources.sources import Source, SourceRequest
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import HeldElsewhereError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import BROKEN, counts, fates, log_line, make_lines, write

pytestmark = pytest.mark.study("ingest", "schema")

Load = Callable[..., FileResult]
KEY = PseudonymKey("a key of the tests, longer than needed" * 2)
BANNER = [b"broken: transfers of movers 1 to 4", b"broken: user, time, direction", b"broken", b"broken:"]


def state(warehouse: Warehouse) -> object:
    return read_facts(warehouse), read_balance(warehouse)


def edit(log_format: Format) -> Format:
    """The same format in another version, as if its layout had been edited."""
    return replace(log_format, name="edited", version=log_format.version + 1)


def source_of(
    warehouse: Warehouse, name: str, log_format: Format, zone: str = "UTC", key: PseudonymKey | None = None
) -> Source:
    return register(warehouse, SourceRequest("test", "synthetic", log_format, zone, name, key=key))


SHAPES: dict[str, Callable[[list[bytes]], tuple[list[bytes], list[bytes]]]] = {
    "the same": lambda lines: (lines, lines),
    "grown": lambda lines: (lines[:40], lines),
    "grown from two lines": lambda lines: (lines[:2], lines),
    "shorter": lambda lines: (lines, lines[:20]),
    "of two lines": lambda lines: (lines, lines[:2]),
    "behind another": lambda lines: (lines[:2000], [*lines[2000:], *lines[:2000]]),
    "a piece": lambda lines: (lines, lines[1000:2500]),
    "overlapping": lambda lines: (lines[:2000], lines[1000:]),
    "behind a banner": lambda lines: ([*BANNER, *lines[:6]], [*BANNER, *lines[:6]]),
}


@pytest.mark.parametrize(
    ("shape", "difference"), [*zip(SHAPES, cycle(["format", "source", "zone"]), strict=False)]
)
def test_a_copy_in_another_source_is_refused(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str, difference: str
) -> None:
    lines = make_lines("pftp", 3000)
    first, second = SHAPES[shape](lines)
    pftp = find_format("pftp")
    monkeypatch.setitem(FORMATS, "edited", edit(pftp))
    load_file(warehouse, source_of(warehouse, "first", pftp), write(tmp_path / "first", first), now=NOW)
    other = source_of(
        warehouse,
        "other",
        find_format("edited") if difference == "format" else pftp,
        "America/Los_Angeles" if difference == "zone" else "UTC",
    )
    before = state(warehouse)
    path = write(tmp_path / "second", second)
    for read in (preview_file, load_file):
        with pytest.raises(HeldElsewhereError, match=r"second: source 'first' .* read from .*/first$"):
            read(warehouse, other, path, now=NOW)
    assert state(warehouse) == before


@pytest.mark.parametrize("form", ["compressed", "with other line ends", "renamed"])
def test_a_copy_in_another_form_is_refused(
    warehouse: Warehouse, load: Load, tmp_path: Path, form: str
) -> None:
    lines = make_lines("xferlog")[:8]
    path = write(tmp_path / "log", lines)
    load(path, "xferlog")
    match form:
        case "compressed":
            (tmp_path / "copy").write_bytes(gzip.compress(path.read_bytes()))
        case "with other line ends":
            write(tmp_path / "copy", lines, end=b"\r\n")
        case "renamed":
            path.rename(tmp_path / "copy")
    with pytest.raises(HeldElsewhereError):
        load(tmp_path / "copy", "xferlog", source="other")
    check_warehouse(warehouse)


def test_a_file_of_one_line_is_known_by_its_name(load: Load, tmp_path: Path) -> None:
    path = write(tmp_path / "log", [*BANNER[:2], log_line("nft", 0, 0)])
    load(path, "nft")
    write(path, [*BANNER[:2], log_line("nft", 0, 0), log_line("nft", 1, 60)])
    with pytest.raises(HeldElsewhereError, match=r"holds lines of this file$"):
        load(path, "nft", source="other")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], []),
        ([b"", b"  "] * 9, [b"", b"  "] * 9),
        ([BROKEN[0], *BANNER], [BROKEN[0], *BANNER]),
        ([*BANNER, log_line("nft", 0, 0)], [*BANNER, log_line("nft", 0, 60)]),
        # Each of two gateways has one transfer whose line equals one of the other's.
        ([log_line("nft", 0, at) for at in (0, 60, 90)], [log_line("nft", 0, at) for at in (30, 60, 99)]),
        ([log_line("nft", 0, 0)] * 300, [log_line("nft", 0, 0)] * 300),
    ],
    ids=["nothing", "blanks", "rejected", "banners", "a line", "one line repeated"],
)
def test_lines_that_are_equal_by_chance_are_loaded(
    warehouse: Warehouse, load: Load, tmp_path: Path, first: Sequence[bytes], second: Sequence[bytes]
) -> None:
    load(write(tmp_path / "first", first), "nft", source="one")
    result = load(write(tmp_path / "second", second), "nft", source="two")
    assert result.tally.loaded_count == fates(second)["fact"]
    check_warehouse(warehouse)


def test_a_source_with_a_wrong_format_holds_nothing(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    lines = make_lines("pftp")
    path = write(tmp_path / "log", lines)
    assert load(path, "nft").tally.loaded_count == 0
    assert load(path, "pftp").tally.loaded_count == fates(lines)["fact"]
    with pytest.raises(HeldElsewhereError):
        load(path, "pftp", source="other")
    check_warehouse(warehouse)


@pytest.mark.parametrize("is_blockwise", [True, False])
def test_a_file_with_lines_of_two_formats_belongs_to_one_source(
    load: Load, tmp_path: Path, is_blockwise: bool
) -> None:
    lines = [log_line(name, 0, 60 * number) for name in ("nft", "pftp") for number in range(20)]
    path = write(tmp_path / "log", lines if is_blockwise else sorted(lines, key=lambda line: line[-6:]))
    for first, second in (("nft", "pftp"), ("pftp", "nft")):
        load(path, first, archive=first)
        with pytest.raises(HeldElsewhereError):
            load(path, second, archive=first)


@pytest.mark.parametrize(("first", "second"), [(None, KEY), (KEY, KEY)], ids=["names", "pseudonyms"])
def test_a_copy_with_pseudonyms_is_found_too(
    warehouse: Warehouse, tmp_path: Path, first: PseudonymKey | None, second: PseudonymKey | None
) -> None:
    path = write(tmp_path / "log", make_lines("nft"))
    nft = find_format("nft")
    load_file(warehouse, source_of(warehouse, "first", nft, key=first), path, now=NOW)
    before = state(warehouse)
    with pytest.raises(HeldElsewhereError, match="source 'first'"):
        load_file(warehouse, source_of(warehouse, "second", nft, key=second), path, now=NOW)
    assert state(warehouse) == before


def test_the_same_lines_of_another_day_are_other_jobs(load: Load, tmp_path: Path) -> None:
    lines = make_lines("cond")
    load(write(tmp_path / "cond.040630", lines), "cond", source="one")
    other = load(write(tmp_path / "cond.040701", lines), "cond", source="two")
    assert other.tally.loaded_count == fates(lines)["fact"]
    with pytest.raises(HeldElsewhereError):
        load(write(tmp_path / "cond.2004-07-01", lines), "cond", source="one")


def test_nothing_is_refused_if_no_source_of_the_archive_holds_it(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    lines = make_lines("nft")
    path = write(tmp_path / "log", lines)
    for archive in ("here", "there"):
        load(path, "nft", archive=archive)
    with pytest.raises(HeldElsewhereError):
        load(path, "nft", archive="here", source="other")
    drop_source(warehouse, "here", "nft")
    assert counts(load(path, "nft", archive="here", source="other"))[1] == fates(lines)["fact"]
    check_warehouse(warehouse)


def test_one_of_two_loads_into_two_sources_wins(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both loads have read the file before either takes the archive's lock."""
    lines = make_lines("nft", 2000)
    path = write(tmp_path / "log", lines)
    both = threading.Barrier(2, timeout=60)
    lock = one_load.lock_archive

    def lock_together(connection: psycopg.Connection, archive_id: int, on_wait: object) -> None:
        both.wait()
        lock(connection, archive_id)

    monkeypatch.setattr(one_load, "lock_archive", lock_together)
    outcomes: list[FileResult | HeldElsewhereError] = []

    def load(source: Source) -> None:
        try:
            outcomes.append(load_file(warehouse, source, path, now=NOW))
        except HeldElsewhereError as error:
            outcomes.append(error)

    sources = [source_of(warehouse, name, find_format("nft")) for name in ("one", "two")]
    threads = [threading.Thread(target=load, args=[source]) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = [each for each in outcomes if isinstance(each, FileResult)]
    assert [result.tally.loaded_count for result in results] == [fates(lines)["fact"]]
    assert len(outcomes) == 2
    check_warehouse(warehouse)


def test_landmarks_are_dropped_with_their_source_and_stored_once(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    def count() -> list[tuple[str, int]]:
        with closing(warehouse.connect(Role.OWNER)) as connection:
            return connection.execute(
                "SELECT sources.name, count(*) FROM ledger.landmarks JOIN ledger.sources ON id = source_id"
                " GROUP BY 1 ORDER BY 1"
            ).fetchall()

    lines = make_lines("nft", 3000)
    for source, name, part in (
        ("one", "a", lines[:1500]),
        ("one", "b", lines[:1500]),
        ("two", "c", lines[1500:]),
    ):
        load(write(tmp_path / name, part), "nft", source=source)
    one, two = count()
    assert two[1] > 5
    # The copy adds only the landmarks for its name.
    assert 5 < one[1] < two[1] + 20
    drop_source(warehouse, "test", "one")
    assert count() == [two]


def test_the_new_part_of_a_growing_file_is_examined(
    warehouse: Warehouse, load: Load, tmp_path: Path, short_segments: None
) -> None:
    lines = make_lines("nft", 3000)
    for length in (1, 7, 700, 3000):
        load(write(tmp_path / "log", lines[:length]), "nft")
    for begin in (0, 800):
        with pytest.raises(HeldElsewhereError):
            load(write(tmp_path / "copy", lines[begin:]), "nft", source="other")
    check_warehouse(warehouse)


def test_landmarks_do_not_depend_on_how_a_file_is_cut_into_parts() -> None:
    hashes = pl.Series([(number * 0x9E3779B97F4A7C15) % 2**63 for number in range(1000)])
    is_fact = pl.Series([number % 3 > 0 for number in range(1000)])

    def find(size: int) -> list[Landmark]:
        finder = LandmarkFinder("/log", None)
        found = [
            each
            for begin in range(0, 1000, size)
            for each in finder.find(hashes[begin : begin + size], is_fact[begin : begin + size])
        ]
        return sorted([*found, *finder.end()], key=lambda each: each.digest)

    whole = find(1000)
    marked = sum(int(each) & MARK == 0 for each in hashes)
    assert marked > 3
    assert len(whole) >= marked
    for size in (1, 2, 3, 5, 64):
        assert find(size) == whole
