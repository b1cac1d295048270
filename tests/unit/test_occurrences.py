"""Occurrences are numbered alike, whether lines are parsed or skipped, in memory or on disk."""

import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.reading import occurrences
from tapewise.ingest.reading.occurrences import OccurrenceCounter
from tapewise.schema.errors import LogFileError
from tests.disks import mount_small_disk

BEGIN = datetime(1998, 1, 1, tzinfo=UTC)
# Each line is a number, which determines its time. A line with a negative number is not a fact.
PARTS = st.lists(st.lists(st.integers(-3, 25), max_size=20), max_size=8)


def frame(lines: list[int]) -> pl.DataFrame:
    times = [BEGIN + timedelta(seconds=line // 3) if line >= 0 else None for line in lines]
    schema = {"event_at": pl.Datetime("us", "UTC"), "line_hash": pl.Int64}
    return pl.DataFrame({"event_at": times, "line_hash": lines}, schema=schema)


def number(counter: OccurrenceCounter, lines: list[int]) -> list[int | None]:
    rows = frame(lines)
    is_fact = rows["event_at"].is_not_null()
    times_us = rows["event_at"].to_physical().fill_null(0)
    numbers = counter.number(rows["line_hash"].to_numpy(), times_us.to_numpy(), is_fact.to_numpy())
    return [one if known else None for one, known in zip(numbers.tolist(), is_fact, strict=True)]


def expect(seen: Counter[int], lines: list[int]) -> list[int | None]:
    numbers: list[int | None] = []
    for line in lines:
        numbers.append(seen[line] if line >= 0 else None)
        seen[line] += 1
    return numbers


@settings(deadline=None)
@given(parts=PARTS, memory_bytes=st.sampled_from([1, 100, 10**6]))
def test_repeats_are_counted_from_the_beginning_of_the_file(
    monkeypatch_module: pytest.MonkeyPatch, parts: list[list[int]], memory_bytes: int
) -> None:
    monkeypatch_module.setattr(occurrences, "MEMORY_BYTES", memory_bytes)
    seen: Counter[int] = Counter()
    with OccurrenceCounter(Path("a.log")) as counter:
        for lines in parts:
            assert number(counter, lines) == expect(seen, lines)


@settings(deadline=None)
@given(parts=PARTS, passed=st.lists(st.booleans(), min_size=8, max_size=8))
def test_skipped_lines_count_and_lines_that_occurred_before_are_not_skipped(
    parts: list[list[int]], passed: list[bool]
) -> None:
    seen: Counter[int] = Counter()
    with OccurrenceCounter(Path("a.log")) as counter:
        for lines, wants_pass in zip(parts, passed, strict=False):
            facts = [line for line in lines if line >= 0]
            if wants_pass:
                span = frame(facts)["event_at"]
                is_passed = counter.pass_over(pl.Series(lines, dtype=pl.Int64), span.min(), span.max())
                occurred_before = any(seen[line] for line in facts)
                assert not (is_passed and occurred_before)
                # A repeated line that is not a fact may prevent skipping needlessly. New lines never do.
                assert is_passed or occurred_before or any(seen[line] for line in lines)
                if is_passed:
                    expect(seen, lines)
                    continue
            assert number(counter, lines) == expect(seen, lines)


@pytest.fixture(scope="module")
def monkeypatch_module() -> pytest.MonkeyPatch:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_a_full_disk_is_reported_with_the_folder_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occurrences, "MEMORY_BYTES", 1000)
    with mount_small_disk(tmp_path / "disk", "64k") as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        with pytest.raises(LogFileError) as raised, OccurrenceCounter(Path("a.log")) as counter:
            number(counter, list(range(3000)))
            number(counter, list(range(3000, 10_000)))
    assert raised.value.message == (
        f"a.log: temporary data about its lines could not be written to {disk}: No space left on device"
    )
    assert "TMPDIR" in (raised.value.hint or "")
