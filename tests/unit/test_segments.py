"""Every line is in exactly one segment, and a piece that two files share is cut in the same way in both."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.reading import files, segments
from tapewise.ingest.reading.files import Block, open_log
from tapewise.ingest.reading.segments import Batch, cut_segments

LINES = st.lists(
    st.integers(0, 300).map(lambda number: b"%d %s" % (number, b"x" * (number % 9))), max_size=400
)


@contextmanager
def short_limits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "CUT_MASK", 7)
        patch.setattr(segments, "MIN_LINES", 3)
        patch.setattr(segments, "MAX_LINES", 20)
        patch.setattr(segments, "MAX_BYTES", 150)
        patch.setattr(files, "TICK_S", 0)  # nothing else writes these hundreds of files
        yield


def write(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "log"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def cut(path: Path, block_bytes: int = 1000, salt: bytes = b"") -> list[Batch]:
    with open_log(path) as reader:
        return list(cut_segments(reader.blocks(block_bytes), salt))


def pieces(batches: list[Batch]) -> list[tuple[object, int, int]]:
    return [
        (each.digest, each.first_line_number, each.line_count) for batch in batches for each in batch.segments
    ]


@short_limits()
@settings(deadline=None)
@given(lines=LINES, sizes=st.lists(st.integers(1, 3000), min_size=2, max_size=2))
def test_every_line_is_in_one_segment_however_the_file_is_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], sizes: list[int]
) -> None:
    path = write(tmp_path_factory.mktemp("cut"), lines)
    first, second = (cut(path, size) for size in sizes)
    assert pieces(first) == pieces(second)
    number = 1
    for batch in first:
        assert int(batch.lines["line_number"][0]) == number == batch.segments[0].first_line_number
        for segment in batch.segments:
            assert segment.first_line_number == number
            number += segment.line_count
        assert batch.lines.height == sum(segment.line_count for segment in batch.segments)
    assert number == len(lines) + 1
    texts = [text.encode() for batch in first for text in batch.lines["text"]]
    assert texts == lines


@short_limits()
@settings(deadline=None)
@given(lines=LINES)
def test_segments_keep_to_the_limits_and_only_the_last_may_be_shorter(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    path = write(tmp_path_factory.mktemp("cut"), lines)
    found = pieces(cut(path))
    for _, first, count in found:
        own = lines[first - 1 : first - 1 + count]
        assert count <= 20
        assert sum(map(len, own[:-1])) < 150
        ended_by_bytes = sum(map(len, own)) >= 150
        assert count >= 3 or ended_by_bytes or first + count - 1 == len(lines)


@short_limits()
@settings(deadline=None)
@given(before=LINES, lines=LINES, other=LINES)
def test_a_piece_in_two_files_is_cut_in_the_same_way_soon_after_it_begins(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[bytes],
    lines: list[bytes],
    other: list[bytes],
) -> None:
    """Once both files are cut at the same line, all later cuts and digests are the same."""
    folder = tmp_path_factory.mktemp("cut")
    first = {
        at + count - len(before): digest for digest, at, count in pieces(cut(write(folder, before + lines)))
    }
    second = {
        at + count - len(other): digest for digest, at, count in pieces(cut(write(folder, other + lines)))
    }
    common = sorted(end for end in first.keys() & second.keys() if end > 0)
    if common:
        after = [end for end in first if end > common[0]]
        assert after == [end for end in second if end > common[0]]
        assert all(first[end] == second[end] for end in after)


def test_copies_with_other_first_lines_share_most_segments(tmp_path: Path) -> None:
    numbers = np.random.default_rng(1).integers(0, 2**60, 200_000)
    lines = [b"%d" % number for number in numbers]
    whole = {digest for digest, _, _ in pieces(cut(write(tmp_path, lines), 100_000))}
    part = {digest for digest, _, _ in pieces(cut(write(tmp_path, lines[777:]), 100_000))}
    assert 6 <= len(whole) <= 14  # a segment has 16,384 lines on average, and at least 4,096
    assert len(whole & part) >= len(whole) - 2


def test_other_salts_and_other_orders_give_other_segments(tmp_path: Path) -> None:
    lines = [b"a", b"b"]
    found = {
        pieces(cut(write(tmp_path, content), salt=salt))[0][0]
        for content, salt in ((lines, b""), (lines, b"1"), (lines[::-1], b""), (lines[:1], b""))
    }
    assert len(found) == 4


def test_long_lines_make_no_long_segments(tmp_path: Path) -> None:
    path = write(tmp_path, [b"x" * 1_000_000] * 30)
    assert [count for _, _, count in pieces(cut(path, 3_000_000))] == [8, 8, 8, 6]


def test_an_empty_file_has_no_segments(tmp_path: Path) -> None:
    assert cut(write(tmp_path, [])) == []


def test_lines_are_processed_as_they_arrive(tmp_path: Path) -> None:
    """A batch is returned as soon as it is cut, so a file is never held in memory as a whole."""
    taken = 0
    content = pl.DataFrame({"line_number": [1], "line_hash": [0], "text": ["x"]})

    def blocks() -> Iterator[Block]:
        nonlocal taken
        for number in range(1, 200_001, 50_000):
            taken += 1
            lines = pl.select(
                line_number=pl.int_range(number, number + 50_000, dtype=pl.Int64),
                line_hash=pl.int_range(number, number + 50_000, dtype=pl.Int64),
                text=pl.lit("x").repeat_by(50_000).explode(),
            )
            assert lines.schema == content.schema
            yield Block(50_000, lines, np.arange(1, 50_001))

    batches = cut_segments(blocks(), b"")
    next(batches)
    assert taken == 1
