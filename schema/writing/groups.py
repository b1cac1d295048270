"""Rows that are grouped by a number, and exact sums of their columns.

Arrays with a place for each number are several times faster than a hash table, because few numbers are not
used: those of cells, hours, users and bins begin at 0.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

_LARGEST = 2**63 - 1
# An array with so many places for each row takes longer than sorting, or a hash table.
_SPARSE = 4
_LOW_BITS = 32
_LOW_VALUES = pl.Series([2**_LOW_BITS], dtype=pl.Int128)


class Groups:
    """Groups of the rows that have the same of `numbers`, which are not negative.

    `numbers` has the number of each group, ascending, and `counts` how many rows it has. Other columns have
    one value for each row.
    """

    numbers: pl.Series
    counts: pl.Series

    def __init__(self, numbers: pl.Series) -> None:
        if are_dense(numbers):
            self._places = numbers.to_numpy()
            counts = np.bincount(self._places)
            self._there = np.flatnonzero(counts)
            self.numbers, self.counts = pl.Series(self._there), pl.Series(counts[self._there])
        else:
            self.numbers = numbers.unique().sort()
            self._places = self.numbers.search_sorted(numbers).cast(pl.Int64).to_numpy()
            self._there = np.arange(len(self.numbers))
            self.counts = pl.Series(np.bincount(self._places))
        self._size = int(self._there[-1]) + 1 if len(self._there) else 0

    def sum(self, values: pl.Series) -> pl.Series:
        """Return the sum of whole numbers or Booleans in each group, of 64 bits; null counts as 0."""
        if values.dtype == pl.Boolean:
            # Most flags are rare.
            flagged = self._places[values.arg_true().to_numpy()]
            return pl.Series(np.bincount(flagged, minlength=self._size)[self._there])
        return self._add_up(values.cast(pl.Int64).fill_null(0).to_numpy())

    def sum_wide(self, values: pl.Series) -> pl.Series:
        """Return what `sum` does, of 128 bits."""
        numbers = values.cast(pl.Int64).fill_null(0).to_numpy()
        extremes = (int(numbers.min(initial=0)), int(numbers.max(initial=0)))
        # The sums of most rows need no more than 64 bits.
        if len(numbers) * max(map(abs, extremes)) <= _LARGEST:
            return self._add_up(numbers).cast(pl.Int128)
        high, low = (self._add_up(part) for part in (numbers >> _LOW_BITS, numbers & (2**_LOW_BITS - 1)))
        sums: pl.Series = high.cast(pl.Int128) * _LOW_VALUES + low.cast(pl.Int128)
        return sums

    def find_least(self, values: pl.Series) -> pl.Series:
        """Return the least number in each group. No value is null."""
        return self._find(np.minimum, values)

    def find_greatest(self, values: pl.Series) -> pl.Series:
        """Return the greatest number in each group. No value is null."""
        return self._find(np.maximum, values)

    def spread(self, values: pl.Series) -> pl.Series:
        """Return for each row the value of its group, of which `values` has one each."""
        of_places = np.empty(self._size, values.to_numpy().dtype)
        of_places[self._there] = values.to_numpy()
        return pl.Series(of_places[self._places])

    def _add_up(self, numbers: NDArray[np.int64]) -> pl.Series:
        sums = np.zeros(self._size, np.int64)
        np.add.at(sums, self._places, numbers)
        return pl.Series(sums[self._there])

    def _find(self, which: np.ufunc, values: pl.Series) -> pl.Series:
        numbers = values.to_numpy()
        found = np.empty(self._size, numbers.dtype)
        found[self._places] = numbers
        which.at(found, self._places, numbers)
        return pl.Series(found[self._there])


def group_by_code(cell: pl.Series, codes: pl.Series) -> tuple[Groups, pl.DataFrame]:
    """Return the groups of the rows that have the same cell and code, and the `cell` and `code` of each.

    Codes are whole numbers. A cell is not negative.
    """
    least = codes.min()
    first = least if isinstance(least, int) else 0
    place = codes - first
    count = 1 + find_greatest(place)
    if (1 + find_greatest(cell)) * count >= _SPARSE * len(codes):
        # Few codes are different, so that there are few numbers of a cell and a code.
        place, firsts = number_values(place)
        different = codes.gather(firsts).sort()
        count = len(different)
    else:
        different = pl.int_range(first, first + count, eager=True)
    groups = Groups(cell * count + place)
    numbers = groups.numbers
    code = different.gather(numbers % count)
    return groups, pl.DataFrame({"cell": (numbers // count).cast(pl.Int32), "code": code})


def number_values(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the place of each number among the different ones, and the first row of each of these.

    The numbers are not negative.
    """
    if not are_dense(values):
        return values.unique().sort().search_sorted(values).cast(pl.Int64), values.arg_unique()
    numbers = values.to_numpy()
    first = np.full(find_greatest(values) + 1, -1)
    # Of several rows that are assigned to, the last one stays.
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    is_there = first >= 0
    return pl.Series((np.cumsum(is_there) - 1)[numbers]), pl.Series(np.sort(first[is_there]))


def count_numbers(numbers: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the different ones of `numbers`, ascending, and how many there are of each.

    They are not negative.
    """
    if are_dense(numbers):
        groups = Groups(numbers)
        return groups.numbers, groups.counts
    # Which row has which number, as in groups, would take four times as long. `np.unique` is slower, too.
    ordered = np.sort(numbers.to_numpy())
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], [True] * bool(len(ordered))))
    return pl.Series(ordered[ends]), pl.Series(np.diff(ends, prepend=-1))


def are_dense(numbers: pl.Series) -> bool:
    """Return whether an array with a place for each number is faster than sorting, or a hash table."""
    return find_greatest(numbers) < _SPARSE * len(numbers)


def find_greatest(numbers: pl.Series) -> int:
    """Return the greatest of `numbers`, or 0 if there is none."""
    greatest = numbers.max()
    return greatest if isinstance(greatest, int) else 0
