"""Compare k-means on weighted cells with plain k-means on every request, in one run on one machine.

    python -m benchmarks.classes --requests 10000000

makes up requests, loads them into its own embedded PostgreSQL, and then measures in turn:

- the binning in SQL (`mart.workload_cells`, as `tapewise workload fit` reads it);
- `CellKMeans` on the cells, in one thread as always;
- scikit-learn's `KMeans` on the requests themselves, with as many threads as it chooses.

Both fits use the same number of classes, the same initial centres and features, and `tol=0`. Only ratios
mean anything on another machine. The exit status is 1 if a centre is more than 0.01 standard deviations from
the plain k-means centre, if the inertia of the requests is more than 1.005 times as large, or if the fit is
not 20 times as fast.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import psycopg
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from tapewise.clustering.cells import Cells, read_cells
from tapewise.clustering.estimators import CellKMeans
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tapewise.schema.tables.facts import transfers
from tapewise.schema.tables.upgrade import upgrade
from tapewise.schema.writing.loader import copy_frame, frame_schema

Floats = NDArray[np.float64]

ARCHIVE = "bench"
BLOCK_ROWS = 500_000
BEGIN = datetime(1998, 3, 1, tzinfo=UTC)
SPAN_S = 30 * 86_400

# Centre, spread and share, in decades of bytes and of seconds. The classes overlap, as in a real archive.
MIXTURE = (
    ((3.6, -0.6), (0.6, 0.30), 0.30),
    ((5.2, 0.1), (0.7, 0.40), 0.30),
    ((6.6, 0.5), (0.5, 0.35), 0.20),
    ((7.6, 1.9), (0.6, 0.50), 0.12),
    ((8.8, 2.1), (0.4, 0.30), 0.08),
)
DEVIATION_LIMIT = 0.01
INERTIA_LIMIT = 1.005
SPEED_LIMIT = 20.0


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Compare k-means of cells with plain k-means, in one run.")
    parser.add_argument("--requests", type=int, default=10_000_000)
    parser.add_argument("--classes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1998)
    arguments = parser.parse_args()
    rows = make_rows(arguments.requests, arguments.seed)
    with _warehouse() as warehouse:
        with closing(warehouse.connect(Role.OWNER)) as connection:
            _load(connection, rows)
        with closing(warehouse.connect(Role.READER)) as connection:
            cells, binning_s = _measure_binning(connection)
    start = rows[np.random.default_rng(arguments.seed).choice(len(rows), arguments.classes, replace=False)]
    complaints = _compare(np.log10(rows), cells, np.log10(start), binning_s)
    if complaints:
        sys.exit("\n".join(complaints))


def make_rows(count: int, seed: int) -> Floats:
    """Make sizes in whole bytes and times in seconds, one row each."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(MIXTURE), count, p=[share for *_, share in MIXTURE])
    centers = np.array([center for center, *_ in MIXTURE])
    spreads = np.array([spread for _, spread, _ in MIXTURE])
    rows: Floats = 10 ** (centers[labels] + spreads[labels] * rng.standard_normal((count, 2)))
    rows[:, 0] = np.maximum(np.round(rows[:, 0]), 1)
    return rows


@contextmanager
def _warehouse() -> Iterator[Warehouse]:
    folder = Path(tempfile.mkdtemp(prefix="tapewise-bench-"))
    folder.chmod(0o755)  # if run by root, the server's own account needs access too
    settings = Settings(home=folder / "home")
    try:
        with open_warehouse(settings) as warehouse:
            upgrade(lambda: warehouse.connect(Role.OWNER))
            yield warehouse
    finally:
        EmbeddedServer(settings.home, settings.postgres_version).stop()
        shutil.rmtree(folder)


def _load(connection: psycopg.Connection, rows: Floats) -> None:
    """Load `rows` into core.transfers as gets of one archive and interface."""
    connection.execute(
        "INSERT INTO core.archives (name, kind, timezone) VALUES (%s, 'synthetic', 'UTC')", [ARCHIVE]
    )
    connection.execute(
        "INSERT INTO ledger.sources (archive_id, name, format, timezone, clock_resolution_s, is_counted,"
        " earliest_at) VALUES (1, 'nft', 'nft', 'UTC', 0.001, true, '1985-01-01Z')"
    )
    connection.execute("SELECT core.make_partitions('transfers', %s)", [[BEGIN.date()]])
    for begin in range(0, len(rows), BLOCK_ROWS):
        block = rows[begin : begin + BLOCK_ROWS]
        numbers = np.arange(begin, begin + len(block))
        moments = (numbers * (SPAN_S * 1e6 / len(rows))).astype(np.int64) + int(BEGIN.timestamp() * 1e6)
        values = {
            "id": numbers + 1,
            "line_number": numbers + 1,
            "line_hash": numbers,
            "ended_at": moments,
            "size_bytes": block[:, 0].astype(np.int64),
            "duration_s": block[:, 1],
        }
        constants = {
            "archive_id": 1, "source_id": 1, "log_file_id": 1, "occurrence": 0, "ordinal": 0,
            "interface": "nft", "operation": "sj", "direction": "get", "user_id": 1,
        }  # fmt: skip
        frame = pl.DataFrame(values).select(
            (pl.col(name) if name in values else pl.lit(constants.get(name, _default(name))))
            .cast(dtype)
            .alias(name)
            for name, dtype in frame_schema(transfers).items()
        )
        copy_frame(connection, transfers, frame)
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM ANALYZE core.transfers")


def _default(name: str) -> bool | None:
    return False if name.startswith("is_") else None


def _measure_binning(connection: psycopg.Connection) -> tuple[Cells, float]:
    begin = time.perf_counter()
    groups = read_cells(connection, {"archive": ARCHIVE, "since": None, "until": None, "measure": "service"})
    seconds = time.perf_counter() - begin
    (cells,) = groups.values()
    return cells, seconds


def _compare(rows: Floats, cells: Cells, start: Floats, binning_s: float) -> list[str]:
    """Fit both, print the results, and return what is wrong."""
    classes = len(start)
    begin = time.perf_counter()
    ours = CellKMeans(classes, init=start, max_iter=100_000).fit(
        cells.positions, sample_weight=cells.request_counts
    )
    ours_s = time.perf_counter() - begin
    begin = time.perf_counter()
    plain = KMeans(classes, init=start, n_init=1, tol=0, max_iter=100_000).fit(rows)
    plain_s = time.perf_counter() - begin
    centers = plain.cluster_centers_[np.lexsort(plain.cluster_centers_.T[::-1])]
    deviation = float(np.abs((ours.cluster_centers_ - centers) / rows.std(axis=0)).max())
    inertia = sum(
        float(((part - ours.cluster_centers_[ours.predict(part)]) ** 2).sum())
        for part in np.array_split(rows, max(1, len(rows) // BLOCK_ROWS))
    )
    ratio, speed = inertia / float(plain.inertia_), plain_s / ours_s
    print(f"{len(rows):,} requests in {len(cells.positions):,} cells; {classes} classes, tol=0, one start")
    print(f"{'':32} {'seconds':>8} {'rounds':>7}")
    print(f"{'binning in SQL':32} {binning_s:8.2f}")
    print(f"{'CellKMeans of the cells':32} {ours_s:8.2f} {ours.n_iter_:7}")
    print(f"{'KMeans of the requests':32} {plain_s:8.2f} {plain.n_iter_:7}")
    print(f"the fit is {speed:.1f} times as fast (limit {SPEED_LIMIT:g})")
    print(f"with the binning, {plain_s / (ours_s + binning_s):.1f} times")
    print(f"centres: at most {deviation:.4f} standard deviations apart (limit {DEVIATION_LIMIT})")
    print(f"inertia of the requests: {ratio:.6f} times (limit {INERTIA_LIMIT})")
    found = [
        (deviation > DEVIATION_LIMIT, "the centres are too far from those of plain k-means"),
        (ratio > INERTIA_LIMIT, "the requests are too far from their centres"),
        (speed < SPEED_LIMIT, "the fit is too slow"),
        (int(cells.request_counts.sum()) != len(rows), "the cells do not contain all requests"),
    ]
    return [complaint for is_wrong, complaint in found if is_wrong]


if __name__ == "__main__":
    main()
