"""What `doctor` reports if two sources of an archive hold the same lines."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tapewise.double_checks import check_doubles
from tapewise.ingest.ledger.other_sources import OtherHolders
from tapewise.ingest.loading.file_results import FileResult
from tests.integration.test_exactly_once import make_lines, write

pytestmark = pytest.mark.study("ingest", "schema")

Load = Callable[..., FileResult]


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Load as an older program did, without refusing lines that another source has."""
    monkeypatch.setattr(OtherHolders, "_check", lambda *_: None)
    return


def find(database: psycopg.Connection) -> list[str]:
    return [each.sentence for each in check_doubles(database) if each.verdict == "wrong"]


def test_sources_with_different_lines_are_fine(
    database: psycopg.Connection, load: Load, tmp_path: Path
) -> None:
    lines = make_lines("nft", 3000)
    files = [("one", "a", lines[:1400]), ("one", "copy", lines[:900]), ("two", "b", lines[1400:])]
    for source, name, part in files:
        load(write(tmp_path / name, part), "nft", source=source)
    load(tmp_path / "a", "nft", archive="other", source="two")
    [finding] = check_doubles(database)
    assert finding.verdict == "ok"


@pytest.mark.usefixtures("before", "short_segments")
@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (slice(60), slice(60), "log_files"),
        (slice(60), slice(40), "segments"),
        (slice(60), slice(40), "landmarks"),
    ],
)
def test_lines_that_count_twice_are_reported(
    database: psycopg.Connection, load: Load, tmp_path: Path, first: slice, second: slice, left: str
) -> None:
    lines = make_lines("nft")
    for name in ("log", "more"):
        load(write(tmp_path / name, lines[first]), "nft", source="one")
    load(write(tmp_path / "copy", lines[second]), "nft", source="two")
    for table in {"landmarks", "segments"} - {left}:
        database.execute(f"DELETE FROM ledger.{table}".encode())
    [sentence] = find(database)
    assert sentence.startswith("Sources 'one' and 'two' of archive 'test' hold the same lines, from ")
    assert (" and 1 more file:" in sentence) == (left == "log_files")


@pytest.mark.usefixtures("before")
@pytest.mark.parametrize("lines", [[], [b"", b" "], [b"broken"] * 9, make_lines("nft")[:1]])
def test_lines_that_are_equal_by_chance_are_not_reported(
    database: psycopg.Connection, load: Load, tmp_path: Path, lines: list[bytes]
) -> None:
    for source in ("one", "two"):
        load(write(tmp_path / source, lines), "nft", source=source)
    assert find(database) == []
