"""Numbers the occurrences of equal lines within a file.

A record's identity is (source, event time, hash of its line, occurrence). If a line appears three times in a
file, as can happen with FTP's one-second clock, its occurrences are 0, 1 and 2, and all three are kept. The
same three lines in a copy of the file have the same identities.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.schema.errors import LogFileError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Above this size, the keys of a file's lines are kept on disk.
MEMORY_BYTES = 64_000_000

_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """Lines that have been read: their earliest and latest times, and where their keys are kept.

    Times are microseconds since 1970 (UTC). `latest_us` is the latest time in this piece and all earlier
    ones. Without `has_times`, only hashes are kept, because the lines were not parsed.
    """

    since_us: int
    until_us: int
    latest_us: int
    offset: int
    line_count: int
    has_times: bool


class OccurrenceCounter:
    """Numbers the lines of one file, which must be given in order.

    Equal lines have equal times, so a block of lines need only be compared with earlier lines in the same
    time range. This costs next to nothing if a log is in chronological order. The keys (hashes and times) of
    all lines are kept, in a temporary file if there are many. If the disk is full, raises LogFileError, which
    names the temporary folder and the log (`path`).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pieces: list[_Piece] = []
        self._kept = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115  # closed by __exit__
        self._kept_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # close() retries a failed write
            self._kept.close()

    def number(self, hashes: _Integers, times_us: _Integers, is_fact: npt.NDArray[np.bool_]) -> _Integers:
        """Return the occurrence (from 0) of each of the next lines, given their hashes and event times.

        Times are microseconds since 1970 (UTC). For lines that are not facts, the time and the result mean
        nothing.
        """
        repeats = _count_within(hashes)
        if not is_fact.any():
            return repeats
        fact_hashes, fact_times_us = hashes[is_fact], times_us[is_fact]
        since_us, until_us = int(fact_times_us.min()), int(fact_times_us.max())
        before = self._find_before(since_us, until_us)
        if before is not None:
            rows = pl.DataFrame({"line_hash": hashes})
            # Most lines appear only once in a file, and checking whether any repeats is cheaper than joining.
            if rows["line_hash"].is_in(before.implode()).any():
                counts = before.value_counts(name="before")
                joined = rows.join(counts, on="line_hash", how="left", maintain_order="left")["before"]
                repeats = repeats + joined.fill_null(0).cast(pl.Int64).to_numpy()
        self._keep(since_us, until_us, fact_hashes, fact_times_us)
        return repeats

    def pass_over(self, hashes: pl.Series, since: datetime | None, until: datetime | None) -> bool:
        """Whether the next lines, which lie between two known times, can be skipped without numbering them.

        They cannot be skipped if one of them has already appeared in the file; their keys are then not kept.
        `hashes` includes lines that are not facts. If there are no times, none of the lines is a fact.
        """
        if since is None or until is None:
            return True
        since_us, until_us = ((at - EPOCH) // timedelta(microseconds=1) for at in (since, until))
        before = self._find_before(since_us, until_us)
        if before is not None and hashes.is_in(before.implode()).any():
            return False
        self._keep(since_us, until_us, hashes.to_numpy(), None)
        return True

    def _keep(self, since_us: int, until_us: int, hashes: _Integers, times_us: _Integers | None) -> None:
        latest_us = max(until_us, self._pieces[-1].latest_us) if self._pieces else until_us
        has_times = times_us is not None
        self._pieces.append(
            _Piece(since_us, until_us, latest_us, self._kept_bytes, len(hashes), has_times=has_times)
        )
        try:
            self._kept.seek(self._kept_bytes)
            for values in (hashes, times_us):
                if values is not None:
                    self._kept.write(values.tobytes())
                    self._kept_bytes += values.nbytes
            self._kept.flush()
        except OSError as error:
            raise LogFileError(
                f"{self._path}: temporary data about its lines could not be written to"
                f" {tempfile.gettempdir()}: {error.strerror or error}",
                hint="Free space there, or set TMPDIR to another folder. Nothing of the file was loaded.",
            ) from error

    def _find_before(self, since_us: int, until_us: int) -> pl.Series | None:
        """Return the hashes of earlier lines whose times are or may be in that range, or None."""
        found = list(self._fetch(since_us, until_us))
        return pl.Series("line_hash", np.concatenate(found)) if found else None

    def _fetch(self, since_us: int, until_us: int) -> Iterator[_Integers]:
        for piece in reversed(self._pieces):
            if piece.latest_us < since_us:
                return  # and so are all pieces before it
            if piece.until_us < since_us or piece.since_us > until_us:
                continue
            self._kept.seek(piece.offset)
            hashes = np.frombuffer(self._kept.read(8 * piece.line_count), np.int64)
            if piece.has_times:
                times_us = np.frombuffer(self._kept.read(8 * piece.line_count), np.int64)
                hashes = hashes[(times_us >= since_us) & (times_us <= until_us)]
            yield hashes


def _count_within(hashes: _Integers) -> _Integers:
    # Sorting all hashes is cheaper than counting each group. Few lines repeat, so only repeated ones are
    # counted.
    order = np.argsort(hashes)
    ordered = hashes[order]
    is_same = ordered[1:] == ordered[:-1]
    counts = np.zeros(len(hashes), np.int64)
    if is_same.any():
        is_repeated = np.zeros(len(hashes), np.bool_)
        is_repeated[1:] = is_same
        is_repeated[:-1] |= is_same
        # Equal lines in a row, each group in the order of the file.
        places = np.sort(order[is_repeated])
        places = places[np.argsort(hashes[places], kind="stable")]
        is_first = np.diff(hashes[places], prepend=~hashes[places[0]]) != 0
        starts = np.flatnonzero(is_first)
        counts[places] = np.arange(len(places)) - starts[np.cumsum(is_first) - 1]
    return counts
