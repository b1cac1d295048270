"""Reads weighted cells from the warehouse and sorts them into classes."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from tapewise.clustering.documents import QUANTILE_LEVELS
from tapewise.clustering.estimators import CANDIDATES, CellKMeans
from tapewise.clustering.names import Character, name_classes

# A number of classes is tried only if there are at least this many requests per class.
REQUESTS_PER_CLASS = 10
# A cell is an eighth of an octave wide. `RESOLUTION` is the root-mean-square distance of requests from the
# centre of their cell, if they fill it evenly.
CELL_WIDTH = math.log10(2) / 8
RESOLUTION = CELL_WIDTH * math.sqrt(2 / 12)

Key = tuple[str, str]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """The cells of one interface and direction, ordered by size and time, and the requests in no cell.

    `positions` has a row per cell, with the decimal logarithms of its bytes and seconds. Sizes are Python
    integers, because the sum over an archive may one day exceed 64 bits.
    """

    positions: Floats
    request_counts: Integers
    sizes_bytes: list[int]
    cached_counts: Integers
    uncached_counts: Integers
    set_apart: dict[str, int]
    first_ended_at: datetime
    last_ended_at: datetime


@dataclass(frozen=True)
class FittedClass:
    """A fitted class, without its shares, which depend on the whole model."""

    class_number: int
    name: str
    request_count: int
    size_bytes: int
    cached_count: int
    uncached_count: int
    size_log10: float
    time_log10: float
    size_quantiles_bytes: list[float]
    time_quantiles_s: list[float]


def read_cells(connection: psycopg.Connection, asked_for: Mapping[str, Any]) -> dict[Key, Cells]:
    """Read the cells by interface and direction; `asked_for` contains archive, since, until and measure.

    Runs in the caller's transaction.
    """
    # PostgreSQL expects as many cells as requests, so it would sort all requests, which takes three times as
    # long.
    connection.execute("SET LOCAL enable_sort = off")
    connection.execute("SET LOCAL work_mem = '64MB'")
    rows = connection.execute(
        """
        SELECT interface, direction, set_apart, request_count, coalesce(size_bytes, 0),
            cached_count, uncached_count, size_log10, time_log10, first_ended_at, last_ended_at
        FROM mart.workload_cells(
            archive => %(archive)s, since => %(since)s, until => %(until)s, measure => %(measure)s
        )
        ORDER BY interface, direction, set_apart, size_bucket, time_bucket
        """,
        asked_for,
    ).fetchall()
    connection.execute("SET LOCAL enable_sort = on")
    groups: dict[Key, list[tuple[Any, ...]]] = defaultdict(list)
    for interface, direction, *rest in rows:
        groups[interface, direction].append(tuple(rest))
    return {key: _make_cells(found) for key, found in groups.items()}


def _make_cells(rows: list[tuple[Any, ...]]) -> Cells:
    cells = [row for row in rows if row[0] is None]
    return Cells(
        positions=np.array([row[5:7] for row in cells], dtype=np.float64).reshape(-1, 2),
        request_counts=np.array([row[1] for row in cells], dtype=np.int64),
        sizes_bytes=[int(row[2]) for row in cells],
        cached_counts=np.array([row[3] for row in cells], dtype=np.int64),
        uncached_counts=np.array([row[4] for row in cells], dtype=np.int64),
        set_apart={row[0]: row[1] for row in rows if row[0] is not None},
        first_ended_at=min(row[7] for row in rows),
        last_ended_at=max(row[8] for row in rows),
    )


def fit_classes(direction: str, cells: Cells, seed: int) -> tuple[list[FittedClass], dict[int, float | None]]:
    """Return the classes of the cells, and the criterion's values by number of classes.

    If there are no cells, there are no classes. The same cells and seed give the same result.
    """
    values: dict[int, float | None] = dict.fromkeys(CANDIDATES)
    if not len(cells.positions):
        return [], values
    enough = int(cells.request_counts.sum()) // REQUESTS_PER_CLASS
    estimator = CellKMeans(
        resolution=RESOLUTION, candidates=tuple(k for k in CANDIDATES if k <= enough), random_state=seed
    )
    estimator.fit(cells.positions, sample_weight=cells.request_counts)
    values |= estimator.criterion_values_
    characters = []
    for label, center in enumerate(estimator.cluster_centers_):
        within = estimator.labels_ == label
        characters.append(
            Character(
                direction,
                size_bytes=float(10 ** center[0]),
                time_s=float(10 ** center[1]),
                cached_count=int(cells.cached_counts[within].sum()),
                uncached_count=int(cells.uncached_counts[within].sum()),
            )
        )
    names = name_classes(characters)
    return [
        _make_class(label, name, cells, estimator.labels_ == label, estimator.cluster_centers_[label])
        for label, name in enumerate(names)
    ], values


def _make_class(
    label: int, name: str, cells: Cells, within: NDArray[np.bool_], center: Floats
) -> FittedClass:
    counts = cells.request_counts[within]
    return FittedClass(
        class_number=label + 1,
        name=name,
        request_count=int(counts.sum()),
        size_bytes=sum(size for size, is_in in zip(cells.sizes_bytes, within, strict=True) if is_in),
        cached_count=int(cells.cached_counts[within].sum()),
        uncached_count=int(cells.uncached_counts[within].sum()),
        size_log10=float(center[0]),
        time_log10=float(center[1]),
        size_quantiles_bytes=find_quantiles(cells.positions[within, 0], counts),
        time_quantiles_s=find_quantiles(cells.positions[within, 1], counts),
    )


def find_quantiles(logarithms: Floats, counts: Integers) -> list[float]:
    """Return the quantiles of 10 ** `logarithms`, weighted by `counts`, to the width of a bucket (9 %)."""
    order = np.argsort(logarithms, kind="stable")
    running = np.cumsum(counts[order]) / counts.sum()
    # The small difference allows for rounding errors if a level is just reached.
    places = np.searchsorted(running, np.array(QUANTILE_LEVELS) - 1e-12)
    return [float(value) for value in 10 ** logarithms[order][places]]
