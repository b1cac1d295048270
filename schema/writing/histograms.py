"""Histograms, whose bins `mart.histogram_bin` and `mart.time_bin` number in the same way."""

import numpy as np
import polars as pl

from tapewise.schema.writing.groups import count_numbers, find_greatest

# A bin of a histogram is the exponent of a float and the first six binary digits behind it: 64 bins for each
# factor of two. The middle of a bin is within 1/128 of each number in it. They are counted from 2^-256, so
# that 15 bits are enough. `mart.histogram_bin` and `mart.histogram_value` compute the same.
BIN_SHIFT, BIN_BITS = 46, 15
_LOWEST_BITS = (1023 - 256) * 64
# Bins of time are short below so many seconds. From the longest time on, they could not be numbered.
SHORT_S, LONGEST_S = 10.0, 1e9


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


def find_time_bins(values: pl.Series) -> pl.Series:
    """Return the bin of each number of seconds, null for null: bins of 50 ms below 10 s, then of 0.5 s.

    Negative numbers are in bin 0, and the last bin has all numbers from `LONGEST_S` on. `mart.time_bin` and
    `mart.time_bin_edge` compute the same.
    """
    short = (values * 20).floor().clip(lower_bound=0)
    long = 180 + (values.clip(upper_bound=LONGEST_S) * 2).floor()
    return short.zip_with(values < SHORT_S, long).cast(pl.Int64)
