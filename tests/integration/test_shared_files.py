"""Files with lines of two formats: two sources read them, and no line counts twice."""

from pathlib import Path

import pytest

from tapewise.double_checks import check_doubles
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import Source, SourceRequest
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import HeldElsewhereError
from tests.conftest import NOW, register

pytestmark = pytest.mark.study("ingest", "schema")

# Lines of both formats, as in one syslog. NFT's format reads the first list, FTP's the second.
NFT = [f"005041 97/10/01 00:{minute:02}:41 js 7700 0.425" for minute in range(8)]
FTP = [
    f"Wed Oct  1 00:{minute:02}:42 1997 1 host.example {1000 + minute} /pub/file b _ o a kim ftp 0 * c"
    for minute in range(8)
]
BOTH = [line for pair in zip(NFT, FTP, strict=True) for line in pair]


def source_of(warehouse: Warehouse, name: str, format_name: str, *, is_shared: bool = False) -> Source:
    request = SourceRequest("test", "synthetic", find_format(format_name), "UTC", name, is_shared=is_shared)
    return register(warehouse, request)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def count(warehouse: Warehouse) -> dict[str, int]:
    with warehouse.connect(Role.OWNER) as connection:
        return dict(
            connection.execute(
                "SELECT name, count(*) FROM core.transfers JOIN ledger.sources ON sources.id = source_id"
                " GROUP BY name"
            ).fetchall()
        )


@pytest.mark.parametrize("shared", ["nft", "xferlog"])
def test_each_source_loads_only_the_lines_of_its_format(warehouse: Warehouse, tmp_path: Path, shared: str):
    log = write(tmp_path / "log", BOTH)
    for name in ("nft", "xferlog"):
        tally = load_file(
            warehouse, source_of(warehouse, name, name, is_shared=name == shared), log, now=NOW
        ).tally
        assert (tally.line_count, tally.loaded_count, tally.held_count) == (16, 8, 0)
    assert count(warehouse) == {"nft": 8, "xferlog": 8}


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
def test_a_line_that_both_read_is_loaded_by_one(warehouse: Warehouse, tmp_path: Path, order: tuple[str, str]):
    log = write(tmp_path / "log", NFT[:6])
    for name in order:
        source = source_of(warehouse, name, "nft", is_shared=name == "second")
        is_first = name == order[0]
        for read in (preview_file, load_file):
            tally = read(warehouse, source, log, now=NOW).tally
            assert (tally.loaded_count, tally.held_count) == ((6, 0) if is_first else (0, 6)), read
    # The file grows, and the other source is the first to read the new lines.
    write(log, NFT)
    for name in reversed(order):
        tally = load_file(warehouse, source_of(warehouse, name, "nft"), log, now=NOW).tally
        assert tally.line_count == 8 == tally.loaded_count + tally.held_count
    assert count(warehouse) == {order[0]: 6, order[1]: 2}
    # Reading again changes nothing.
    for name in order:
        load_file(warehouse, source_of(warehouse, name, "nft"), log, now=NOW, is_forced=True)
    assert count(warehouse) == {order[0]: 6, order[1]: 2}
    with warehouse.connect() as connection:
        assert [finding.verdict for finding in check_doubles(connection)] == ["ok"]


def test_equal_lines_are_matched_one_by_one(warehouse: Warehouse, tmp_path: Path):
    first = source_of(warehouse, "first", "nft")
    load_file(warehouse, first, write(tmp_path / "once", NFT[:4]), now=NOW)
    second = source_of(warehouse, "second", "nft", is_shared=True)
    tally = load_file(warehouse, second, write(tmp_path / "twice", NFT[:4] * 2), now=NOW).tally
    assert (tally.loaded_count, tally.held_count) == (4, 4)


def test_a_source_can_be_shared_later(warehouse: Warehouse, tmp_path: Path):
    load_file(warehouse, source_of(warehouse, "first", "nft"), write(tmp_path / "a", NFT[:4]), now=NOW)
    load_file(warehouse, source_of(warehouse, "second", "nft"), write(tmp_path / "b", NFT[4:]), now=NOW)
    both = write(tmp_path / "both", NFT)
    with pytest.raises(HeldElsewhereError) as caught:
        load_file(warehouse, source_of(warehouse, "second", "nft"), both, now=NOW)
    assert "--shared" in (caught.value.hint or "")
    tally = load_file(warehouse, source_of(warehouse, "second", "nft", is_shared=True), both, now=NOW).tally
    assert (tally.loaded_count, tally.held_count) == (0, 8)


def test_a_third_source_is_still_refused(warehouse: Warehouse, tmp_path: Path):
    log = write(tmp_path / "log", NFT)
    load_file(warehouse, source_of(warehouse, "first", "nft"), log, now=NOW)
    load_file(warehouse, source_of(warehouse, "second", "nft", is_shared=True), log, now=NOW)
    with pytest.raises(HeldElsewhereError, match="source 'first'"):
        load_file(warehouse, source_of(warehouse, "third", "nft"), log, now=NOW)
