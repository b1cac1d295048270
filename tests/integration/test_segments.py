"""Known segments are not parsed again, which makes no difference to what the warehouse holds."""

import gzip
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts

Load = Callable[..., FileResult]

pytestmark = [pytest.mark.usefixtures("short_segments"), pytest.mark.study("ingest", "schema")]


def nft(number: int) -> str:
    at = datetime(1997, 11, 5) + timedelta(seconds=number % 86400)
    return f"{number % 7:06} {at:%y/%m/%d %H:%M:%S} ks {number} 1.000\n"


LINES = [nft(number) for number in range(0, 3000, 3)]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The lines that were parsed, in order."""
    lines: list[str] = []
    nft = FORMATS["nft"]

    def parse(column: pl.Series, settings: LineSettings) -> pl.DataFrame:
        lines.extend(column)
        return nft.parse(column, settings)

    monkeypatch.setitem(FORMATS, "nft", replace(nft, parse=parse))
    return lines


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines))
    return path


def test_a_copy_is_not_parsed(load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]) -> None:
    load(write(tmp_path / "log", LINES), "nft")
    assert len(parsed) == len(LINES)
    facts = read_facts(warehouse)
    parsed.clear()
    for name in ("copy", "copy.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress("".join(LINES).encode()) if path.suffix else "".join(LINES).encode())
        result = load(path, "nft")
        assert (result.tally.line_count, result.tally.held_count) == (len(LINES), len(LINES))
        assert (result.tally.first_event_at, result.tally.last_event_at) == (
            datetime(1997, 11, 5, tzinfo=UTC),
            datetime(1997, 11, 5, tzinfo=UTC) + timedelta(seconds=2997),
        )
    assert parsed == []
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)


def test_only_the_end_of_a_grown_file_is_parsed(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    load(write(tmp_path / "log", LINES[:600]), "nft")
    parsed.clear()
    load(write(tmp_path / "log", LINES), "nft")
    assert len(parsed) <= 400 + 9
    check_warehouse(warehouse)


def test_only_the_seams_of_joined_pieces_are_parsed(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    for name, piece in (("a", LINES[:300]), ("b", LINES[300:600]), ("c", LINES[600:])):
        load(write(tmp_path / name, piece), "nft")
    parsed.clear()
    result = load(write(tmp_path / "all", LINES), "nft")
    assert result.tally.held_count == len(LINES)
    assert len(parsed) < 60
    check_warehouse(warehouse)


def test_a_changed_line_is_noticed(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    load(write(tmp_path / "log", LINES), "nft")
    parsed.clear()
    changed = [*LINES[:500], nft(1_000_000), *LINES[501:]]
    result = load(write(tmp_path / "copy", changed), "nft")
    assert (result.tally.loaded_count, result.tally.held_count) == (1, len(LINES) - 1)
    assert nft(1_000_000).strip() in parsed
    assert len(parsed) < 40
    check_warehouse(warehouse)


def test_a_line_in_two_known_pieces_counts_twice_if_a_file_has_both(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """Which file is read first does not matter: the multiset union does not depend on the order."""
    first, second = LINES[:50], [LINES[49], *LINES[51:100]]
    for archive, names in (("pieces first", "abc"), ("whole first", "cab")):
        for name in names:
            piece = {"a": first, "b": second, "c": first + second}[name]
            load(write(tmp_path / f"{archive}.{name}", piece), "nft", archive=archive)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        counted = connection.execute(
            "SELECT name, count(*) FROM core.transfers JOIN core.archives ON archives.id = archive_id"
            " GROUP BY name"
        ).fetchall()
    assert dict(counted) == {"pieces first": 100, "whole first": 100}
    check_warehouse(warehouse)


def test_a_file_appended_to_itself_counts_twice(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    load(write(tmp_path / "log", LINES[:100]), "nft")
    result = load(write(tmp_path / "twice", LINES[:100] * 2), "nft")
    assert (result.tally.loaded_count, result.tally.held_count) == (100, 100)
    check_warehouse(warehouse)


def test_rejected_lines_of_known_pieces_are_recorded_for_the_copy_too(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    lines = [line if number % 17 else f"broken {number}\n" for number, line in enumerate(LINES)]
    lines[100:100] = ["\n", "\n"]
    load(write(tmp_path / "log", lines), "nft")
    parsed.clear()
    for begin, name in ((0, "copy"), (333, "tail")):
        result = load(write(tmp_path / name, lines[begin:]), "nft")
        broken = [line for line in lines[begin:] if line.startswith("broken")]
        assert result.tally.rejected.total() == len(broken)
        with closing(warehouse.connect(Role.OWNER)) as connection:
            written = connection.execute(
                "SELECT line_number, text FROM ledger.rejected_lines JOIN ledger.log_files"
                " ON log_files.id = log_file_id WHERE path LIKE %s ORDER BY 1",
                [f"%/{name}"],
            ).fetchall()
        expected = [
            (number, line.strip()) for number, line in enumerate(lines[begin:], start=1) if line in broken
        ]
        assert written == expected
    assert len(parsed) < 40
    check_warehouse(warehouse)


def test_blank_lines_do_not_prevent_a_segment_from_being_known(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    """All lines have the same second, so their segments must be compared with each other."""
    lines = [f"000001 97/11/05 12:00:00 ks {number} 1.000\n" if number % 3 else "\n" for number in range(300)]
    load(write(tmp_path / "log", lines), "nft")
    parsed.clear()
    load(write(tmp_path / "copy", lines), "nft")
    assert parsed == []
    check_warehouse(warehouse)


def test_a_time_in_the_future_is_read_again_in_a_copy(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    lines = [*LINES[:30], "000001 30/01/01 00:00:00 ks 5 1.000\n", *LINES[30:60]]
    load(write(tmp_path / "log", lines), "nft")
    parsed.clear()
    load(write(tmp_path / "copy", lines), "nft")
    assert lines[30].strip() in parsed


def test_another_version_of_a_format_parses_everything_again(
    load: Load, tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load(write(tmp_path / "log", LINES), "nft")
    parsed.clear()
    nft: Format = FORMATS["nft"]
    monkeypatch.setitem(FORMATS, "nft", replace(nft, version=nft.version + 1))
    load(write(tmp_path / "copy", LINES), "nft")
    assert len(parsed) == len(LINES)


def test_other_sources_do_not_know_the_segments(load: Load, tmp_path: Path, parsed: list[str]) -> None:
    for archive in ("one", "other"):
        load(write(tmp_path / "log", LINES), "nft", archive=archive)
    assert len(parsed) == 2 * len(LINES)


def test_a_dry_run_uses_known_segments_and_reports_what_a_load_would_do(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    load(write(tmp_path / "log", LINES[:500]), "nft")
    parsed.clear()
    path = write(tmp_path / "copy", ["broken\n", *LINES])
    request = SourceRequest("test", "synthetic", FORMATS["nft"], "UTC", "nft")
    dry = preview_file(warehouse, register(warehouse, request), path, now=NOW)
    assert len(parsed) < 600
    wet = load(path, "nft")
    assert (dry.tally.loaded, dry.tally.held_count) == (wet.tally.loaded, wet.tally.held_count)
    assert dry.tally.rejected == wet.tally.rejected


@pytest.mark.parametrize("seed", range(5))
def test_any_pieces_in_any_order_give_the_same_warehouse(
    load: Load, warehouse: Warehouse, tmp_path: Path, seed: int
) -> None:
    """Facts and balances are the same whatever was read before.

    Files may be truncated, duplicated, shuffled, broken or growing.
    """
    rng = random.Random(seed)
    lines = [nft(rng.randrange(200)) for _ in range(150)]
    for at in rng.sample(range(150), 10):
        lines[at] = rng.choice(["\n", "broken\n", f"broken {at}\n", "000001 97/11/05 00:00:00 kw 1 1.000\n"])
    files = []
    for _ in range(5):
        begin, end = sorted(rng.sample(range(151), 2))
        piece = lines[begin:end] * rng.choice([1, 1, 1, 2])
        if rng.random() < 0.2:
            rng.shuffle(piece)
        files.append(piece)
    for archive, order in (("forth", files), ("back", files[::-1])):
        for number, piece in enumerate(order):
            path = tmp_path / f"{archive}.{number}"
            if rng.random() < 0.3:  # it grows
                load(write(path, piece[: len(piece) // 2]), "nft", archive=archive)
            load(write(path, piece), "nft", archive=archive)
    facts = read_facts(warehouse)["transfers"]
    by_archive = [
        {row[1:]: count for row, count in facts.items() if row[0] == archive} for archive in ("forth", "back")
    ]
    assert by_archive[0] == by_archive[1]
    check_warehouse(warehouse)
    assert read_balance(warehouse)
