"""The versions of the files of a trace: each put makes a new one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.simulator.kernel.tables import Integers

_Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Versions:
    """The versions of files, numbered in the order in which they come: first the inventory's files.

    Of each request, `number` has the number of the version that it reads or writes, and `version` says which
    of its file's it is: 0 for what was there before the first put. `is_early` marks gets of what was there
    before, if the file is put later, and `is_overwriting` puts of a file that was there, or was asked for,
    before.
    Of each version, `first_row` has the row in which it comes first: that of an inventory's file, or behind
    all of these, that of a request. Of each of the inventory's files, `asked_row` has the row of the first
    request for it, from 0, or -1.
    """

    number: Integers
    version: Integers
    is_early: _Flags
    is_overwriting: _Flags
    first_row: Integers
    asked_row: Integers


def find_versions(held_files: pl.Series, files: pl.Series, is_put: _Flags) -> Versions:
    """Find the versions of the files of requests, after those of an inventory, which are all different.

    `files` and `is_put` have a value for each request, in the order of time; both series have the same type.
    """
    names = pl.concat([held_files, files])
    keys = names.to_numpy() if names.dtype.is_integer() else names.rank("dense").to_numpy()
    held_count, count = len(held_files), len(names)
    # All rows of a file one after the other, in order of time, and the inventory's first.
    rows = np.argsort(keys, kind="stable")
    keys = keys[rows]
    is_start = np.ones(count, np.bool_)
    is_start[1:] = keys[1:] != keys[:-1]
    file = np.cumsum(is_start) - 1
    puts = np.zeros(count, np.bool_)
    puts[held_count:] = is_put
    puts = puts[rows]
    put_count = np.cumsum(puts)
    starts = np.flatnonzero(is_start)
    version: Integers = put_count - (put_count - puts)[starts][file]
    ends = np.append(starts[1:], count) - 1
    is_put_later = version[ends][file] > 0 if count else puts
    is_new = is_start | puts
    is_first = np.zeros(count, np.bool_)
    is_first[rows[is_new]] = True
    numbers = (np.cumsum(is_first) - 1)[rows[is_new]]

    def restore(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a column of the sorted rows in the order of the requests."""
        found = np.empty_like(column)
        found[rows] = column
        return found[held_count:]

    asked = np.full(held_count, -1, np.int64)
    is_held = rows < held_count
    is_asked = is_held[:-1] & ~is_start[1:]
    asked[rows[:-1][is_asked]] = rows[1:][is_asked] - held_count
    return Versions(
        number=restore(numbers[np.cumsum(is_new) - 1]),
        version=restore(version),
        is_early=restore(~puts & (version == 0) & is_put_later),
        is_overwriting=restore(puts & ~is_start),
        first_row=np.flatnonzero(is_first),
        asked_row=asked,
    )
