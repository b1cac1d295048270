"""Numbers the repeats of a line within its file, from the file's beginning.

A record's identity is (source, event time, hash of its line, occurrence): a line that stands three
times in a file has the occurrences 0, 1 and 2, and all three are kept (FTP's one-second clock makes
such lines); the same three lines in a copy of the file have the same identities again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from schema.errors import LogFileError

KEY = ("event_at", "line_hash")
# What is kept of a file's lines goes to disk beyond this.
MEMORY_BYTES = 64_000_000

_Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """Lines that have been read: the first and last of their times, and where their keys are kept.

    `latest` is the last time of all pieces up to this one. Without `has_times` only hashes are kept: of
    lines that were not parsed.
    """

    since: datetime
    until: datetime
    latest: datetime
    offset: int
    line_count: int
    has_times: bool


class OccurrenceCounter:
    """Counts through the lines of one file.

    Equal lines have equal times, so lines need to be compared only with those earlier ones whose times
    overlap their own: in a log that is in order, at next to nothing. The keys of all lines are kept, in
    a temporary file once they are many. Where that finds no room, LogFileError names it and the log, `path`.
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
        with suppress(OSError):  # what found no room is written at the end once more
            self._kept.close()

    def number(self, records: pl.DataFrame) -> pl.Series:
        """The occurrence (Int32, from 0) of each row of the lines that come next.

        `records` has `event_at` and `line_hash`; rows without event time are no facts and get null.
        """
        rows = records.select(KEY)
        repeats = _count_within(rows)
        since, until = rows["event_at"].min(), rows["event_at"].max()
        if since is None:
            return repeats
        since, until = cast(datetime, since), cast(datetime, until)
        before = self._find_before(since, until)
        # Most lines stand once in a file, and to look whether one repeats costs less than to join.
        if before is not None and rows["line_hash"].is_in(before["line_hash"].implode()).any():
            counts = before.group_by("line_hash").len("before")
            joined = rows.join(counts, on="line_hash", how="left", maintain_order="left")["before"]
            repeats = (repeats + joined.fill_null(0).cast(pl.Int32)).rename("occurrence")
        facts = rows.drop_nulls()
        times = facts["event_at"].to_physical().to_numpy()
        self._keep(since, until, facts["line_hash"].to_numpy(), times)
        return repeats

    def pass_over(self, hashes: pl.Series, since: datetime | None, until: datetime | None) -> bool:
        """Whether the lines that come next, of known times, can be passed over without numbering them.

        They cannot where one of them stood in the file before: then nothing is kept of them. `hashes` are
        of all lines, also of those that are no facts; without times, none is one.
        """
        if since is None or until is None:
            return True
        before = self._find_before(since, until)
        if before is not None and hashes.is_in(before["line_hash"].implode()).any():
            return False
        self._keep(since, until, hashes.to_numpy(), None)
        return True

    def _keep(self, since: datetime, until: datetime, hashes: _Times, times: _Times | None) -> None:
        latest = max(until, self._pieces[-1].latest) if self._pieces else until
        self._pieces.append(
            _Piece(since, until, latest, self._kept_bytes, len(hashes), has_times=times is not None)
        )
        try:
            self._kept.seek(self._kept_bytes)
            for values in (hashes, times):
                if values is not None:
                    self._kept.write(values.tobytes())
                    self._kept_bytes += values.nbytes
            self._kept.flush()
        except OSError as error:
            raise LogFileError(
                f"{self._path}: what is kept of its lines could not be written to {tempfile.gettempdir()}:"
                f" {error.strerror or error}",
                hint="Make room there, or name another folder in TMPDIR. Nothing of the file was loaded.",
            ) from error

    def _find_before(self, since: datetime, until: datetime) -> pl.DataFrame | None:
        """The hashes of earlier lines whose times are, or may be, within; None if there are none."""
        found = list(self._fetch(since, until))
        return pl.concat(found) if found else None

    def _fetch(self, since: datetime, until: datetime) -> Iterator[pl.DataFrame]:
        for piece in reversed(self._pieces):
            if piece.latest < since:
                return  # and so is all before it
            if piece.until < since or piece.since > until:
                continue
            self._kept.seek(piece.offset)
            hashes = np.frombuffer(self._kept.read(8 * piece.line_count), np.int64)
            if not piece.has_times:
                yield pl.DataFrame({"line_hash": hashes})
                continue
            times = np.frombuffer(self._kept.read(8 * piece.line_count), np.int64)
            first, last = (int(pl.Series([moment]).to_physical()[0]) for moment in (since, until))
            yield pl.DataFrame({"line_hash": hashes[(times >= first) & (times <= last)]})


def _count_within(rows: pl.DataFrame) -> pl.Series:
    # Few lines repeat, and to sort all hashes costs less than to count per group: only those are counted.
    hashes = rows["line_hash"].to_numpy()
    ordered = np.sort(hashes)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    is_fact = rows["event_at"].is_not_null()
    counts = np.zeros(len(hashes), np.int32)
    if len(repeated):
        places = rows["line_hash"].is_in(pl.Series(repeated).implode()).arg_true().to_numpy()
        within = pl.DataFrame({"line_hash": hashes[places]}).select(pl.int_range(pl.len()).over("line_hash"))
        counts[places] = within.to_series().to_numpy()
    numbered = pl.DataFrame({"occurrence": counts, "is_fact": is_fact})
    return numbered.select(pl.when("is_fact").then("occurrence").alias("occurrence")).to_series()
