"""Histograms, whose bins `mart.histogram_bin` and `mart.time_bin` number in the same way."""

from bisect import bisect_right

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tapewise.schema.writing.groups import count_numbers, find_greatest

# The exponent of 1.0, as it is stored
_ONE = 1023
# A bin of a histogram is the exponent of a float and the first six binary digits behind it: 64 bins for each
# factor of two. The middle of a bin is within 1/128 of each number in it. They are counted from 2^-256, so
# that 15 bits are enough. `mart.histogram_bin` and `mart.histogram_value` compute the same.
BIN_SHIFT, BIN_BITS = 46, 15
_LOWEST_BITS = (_ONE - 256) * 64
# The lower edges of the bins of size, numbered from 1: empty files, and 1, 2 and 5 in each decade.
SIZE_EDGES = [0, *(digit * 10**decade for decade in range(19) for digit in (1, 2, 5))]
# Bins of time are short below so many seconds. From the longest time on, they could not be numbered.
SHORT_S, LONGEST_S = 10.0, 1e9


def _index_edges() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for the exponent of a float the bin of the least number that has it, and its greatest size."""
    first_bins = np.zeros(_ONE + 64, np.int64)
    last_sizes = np.full(len(first_bins), 2**63 - 1)
    # The exponent of 0.0 is 0.
    for least, exponent in [(0, 0), *((2**power, _ONE + power) for power in range(64))]:
        first_bins[exponent] = size_bin = bisect_right(SIZE_EDGES, least)
        if size_bin < len(SIZE_EDGES):
            last_sizes[exponent] = SIZE_EDGES[size_bin] - 1
    return first_bins, last_sizes


_FIRST_BINS, _LAST_SIZES = _index_edges()


def count_bins(cell: pl.Series, bins: pl.Series) -> pl.DataFrame:
    """Return how many rows there are (`bin_count`) of each `cell` and `bin`. A `bin` is not negative."""
    first = bins.min()
    first = first if isinstance(first, int) else 0
    # Bins are near each other, so that there are few numbers of a cell and a bin.
    width = find_greatest(bins) - first + 1
    numbers, counts = count_numbers(cell * width + (bins - first))
    return pl.DataFrame({"cell": numbers // width, "bin": numbers % width + first, "bin_count": counts})


def find_bins(values: pl.Series) -> pl.Series:
    """Return the bin of each number. The first bin also has all smaller ones, the last all larger ones."""
    bits = values.to_numpy().view(np.int64)
    return pl.Series(np.clip((bits >> BIN_SHIFT) - _LOWEST_BITS, 0, 2**BIN_BITS - 1))


def find_size_bins(sizes: pl.Series) -> pl.Series:
    """Return the bin of each whole number: how many of `SIZE_EDGES` are not above it. None is negative."""
    numbers = sizes.to_numpy()
    # To search the edges takes three times as long. No more than one of them is between two powers of two.
    exponents = numbers.astype(np.float64).view(np.int64) >> 52
    return pl.Series(_FIRST_BINS[exponents] + (numbers > _LAST_SIZES[exponents]))


def find_time_bins(values: pl.Series) -> pl.Series:
    """Return the bin of each number of seconds, null for null: bins of 50 ms below 10 s, then of 0.5 s.

    Negative numbers are in bin 0, and the last bin has all numbers from `LONGEST_S` on. `mart.time_bin` and
    `mart.time_bin_edge` compute the same.
    """
    short = (values * 20).floor().clip(lower_bound=0)
    long = 180 + (values.clip(upper_bound=LONGEST_S) * 2).floor()
    return short.zip_with(values < SHORT_S, long).cast(pl.Int64)
