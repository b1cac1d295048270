"""The landmarks of a log file, by which copies are recognised whatever format they are read as.

Two sources of an archive must not hold the same lines. Comparing digests of files would not detect this,
because copies grow, nor would comparing digests of segments, because they depend on the format. A landmark is
a digest of four consecutive lines, taken

- at the beginning of the file, and
- wherever a line's hash ends in zeros, which is the case for one line in 128, and for the same lines in every
  copy.

A landmark is stored with bits that say which of the four lines are facts. All logs of a host contain the same
banners, so two logs are considered copies only if a landmark that they share contains two different facts.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt
import polars as pl

WIDTH = 4
# One line in 2^7 begins a landmark. If two files share a run of 600 lines, this is noticed in 99 % of cases.
MARK = 0x7F
HEAD_LINES = 4

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# Distinguishes the landmarks whose digests include the file's path, which are only at its beginning.
_OF_PATH = 16

_Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Landmark:
    """Consecutive lines of a file, by hash; with `is_of_path`, only files of that name have this landmark."""

    digest: int
    hashes: tuple[int, ...]
    fact_lines: int
    is_of_path: bool

    @property
    def can_prove_copy(self) -> bool:
        """Whether this landmark can prove anything; one line that is repeated cannot."""
        return self.is_of_path or len(set(self.hashes)) > 1

    def proves_copy(self, other_fact_lines: int) -> bool:
        """Whether this landmark proves that two files contain the same facts.

        `other_fact_lines` says which of these lines are facts in the other file. Two logs can have one line
        in common by chance, but files with the same name and the same beginning are the same file.
        """
        facts = self.fact_lines | other_fact_lines
        found = {each for place, each in enumerate(self.hashes) if facts >> place & 1}
        return len(found) >= (1 if self.is_of_path else 2)


class LandmarkFinder:
    """Finds the landmarks of one file, whose lines must be given in order.

    `path` is the file's name in the ledger. `log_date` is the day of its lines, or None if they contain it.
    It is part of the landmarks, because the same lines on two days are different facts.
    """

    def __init__(self, path: str, log_date: date | None) -> None:
        self._path = zlib.crc32(path.encode())
        self._seed = 0 if log_date is None else log_date.toordinal()
        self._is_at_beginning = True
        self._line_count = 0
        # The last lines so far, whose landmarks also need lines that are yet to come.
        self._hashes: _Hashes = np.empty(0, np.uint64)
        self._is_fact: npt.NDArray[np.bool_] = np.empty(0, np.bool_)

    def find(self, hashes: pl.Series, is_fact: pl.Series) -> Iterator[Landmark]:
        """Yield the landmarks that the next lines complete."""
        self._hashes = np.concatenate([self._hashes, hashes.to_numpy().view(np.uint64)])
        self._is_fact = np.concatenate([self._is_fact, is_fact.to_numpy()])
        first = self._line_count + len(hashes) - len(self._hashes)
        self._line_count += len(hashes)
        place_count = len(self._hashes) - WIDTH + 1
        if place_count <= 0:
            return
        if self._is_at_beginning:
            yield from self._find_beginning()
        is_marked = (self._hashes[:place_count] & np.uint64(MARK)) == 0
        is_marked[: max(0, HEAD_LINES - first)] = True
        yield from self._make(np.flatnonzero(is_marked), WIDTH, 0)
        self._hashes, self._is_fact = self._hashes[place_count:], self._is_fact[place_count:]

    def pass_over(self, line_count: int) -> None:
        """Skip the next `line_count` lines, which are known."""
        self._line_count += line_count
        self._is_at_beginning = False
        self._hashes, self._is_fact = self._hashes[:0], self._is_fact[:0]

    def end(self) -> Iterator[Landmark]:
        """Yield the landmarks of a file that ended with fewer lines than a full landmark has."""
        if self._is_at_beginning and len(self._hashes):
            yield from self._find_beginning()

    def _find_beginning(self) -> Iterator[Landmark]:
        """Yield landmarks of the first 1 to WIDTH lines, because a copy may have had only a few lines."""
        self._is_at_beginning = False
        begin = np.zeros(1, np.int64)
        for width in range(1, min(WIDTH, len(self._hashes)) + 1):
            yield from self._make(begin, width, _OF_PATH)
            if 1 < width < WIDTH:
                yield from self._make(begin, width, 0)

    def _make(self, places: npt.NDArray[np.int64], width: int, of_path: int) -> Iterator[Landmark]:
        lines = self._hashes[places[:, None] + np.arange(width)]
        is_fact = self._is_fact[places[:, None] + np.arange(width)]
        digests = np.full(len(places), self._seed * 32 + of_path + width, np.uint64)
        if of_path:
            digests += np.uint64(self._path) << np.uint64(32)
        for column in range(width):
            digests = (digests ^ (digests >> _SHIFT)) * _MULTIPLIER + lines[:, column]
        digests ^= digests >> _SHIFT
        fact_lines = (is_fact << np.arange(width)).sum(axis=1)
        for digest, hashes, facts in zip(
            digests.view(np.int64).tolist(), lines.tolist(), fact_lines.tolist(), strict=True
        ):
            yield Landmark(digest, tuple(hashes), facts, bool(of_path))
