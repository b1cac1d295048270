"""The uses of an archive's files by its puts and gets, in the order of time."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import polars as pl
import psycopg

from tapewise.schema.errors import SimulationError
from tapewise.schema.moments import place_range
from tapewise.schema.writing.loader import read_frame

# The uses in the order in which they ended. Within a microsecond, that of their lines.
_USES = """
    SELECT version_id, event = 'get', version_bytes, happened_at, class_of_service
    FROM mart.file_histories(archive => %s, until => %s)
    WHERE event IN ('put', 'get')
    ORDER BY happened_at, event_id
"""
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "version": pl.Int64,
    "is_get": pl.Boolean,
    "size_bytes": pl.Int64,
    "ended_at": pl.Datetime("us", "UTC"),
    "class_of_service": pl.String,
}
_GETS = """
    SELECT count(*) FROM mart.selected_transfers(archive => %s, since => %s, until => %s, direction => 'get')
    WHERE NOT is_failed
"""

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Uses:
    """Uses of files in the order of time: the file's number, its bytes, and whether it is a get to count.

    `times` is when each use ended, in microseconds since any moment.
    `left_out_count` is the number of gets that are not among them, because the log does not say which file or
    how many bytes they read. `is_put` says which uses are puts; None means none. `classes` has the class of
    service of each use, null if the log does not say; None means none.
    """

    files: Integers
    sizes: Integers
    times: Integers
    is_counted: Booleans
    left_out_count: int = 0
    is_put: Booleans | None = None
    classes: pl.Series | None = None


def read_uses(
    connection: psycopg.Connection,
    archive: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Uses:
    """Read the uses of an archive's files until a time; gets that ended since another time are counted.

    A time without a time zone is in the archive's own. `connection` must have the reader's role. Raises
    SimulationError if there is no such archive, or its log does not say which files the gets read.
    """
    found = connection.execute("SELECT timezone FROM mart.archives WHERE archive = %s", [archive]).fetchone()
    if found is None:
        raise SimulationError(
            f"no archive is called '{archive}'", hint="`tapewise archives list` shows them."
        )
    since, until = place_range(since, until, found[0])
    got = connection.execute(_GETS, [archive, since, until]).fetchone()
    all_count = got[0] if got else 0
    uses = read_frame(connection, _USES, [archive, until], _COLUMNS).drop_nulls("size_bytes")
    is_counted = uses["is_get"]
    if since is not None:
        is_counted &= uses["ended_at"] >= since
    if not is_counted.any():
        raise SimulationError(
            f"the logs of archive '{archive}' do not say which files its"
            f" {all_count:,} {'get reads' if all_count == 1 else 'gets read'}"
            if all_count
            else f"archive '{archive}' has no gets"
            + ("" if since is None and until is None else " in that time"),
            hint="Reuse can only be followed by paths. `tapewise coverage` shows what its logs have."
            if all_count
            else None,
        )
    return Uses(
        (uses["version"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        uses["size_bytes"].to_numpy(),
        uses["ended_at"].dt.epoch("us").to_numpy(),
        is_counted.to_numpy(),
        all_count - int(is_counted.sum()),
        (~uses["is_get"]).to_numpy(),
        uses["class_of_service"],
    )


def find_next_uses(files: Integers) -> Integers:
    """Return the place of the next use of the file of each use, or the number of uses if there is none."""
    found = np.full(files.size, files.size, np.int64)
    order = np.argsort(files, kind="stable")
    is_same = files[order[1:]] == files[order[:-1]]
    found[order[:-1][is_same]] = order[1:][is_same]
    return found


def count_files(files: Integers) -> int:
    """Return the number of files, if all numbers from 0 are used."""
    return int(files.max(initial=-1)) + 1
