"""Make up the mounts and files of two years of tape drives, and write them into a warehouse.

Logs are not written and read, because 10 million files are 35 million events, whose load takes more than an
hour. The rows are those that a load derives (`core.mounts` and `core.tape_operations`), as of a log like
UniTree's: 40 drives, 20,000 cartridges, four files a mount on average, half of them recalls, every tenth for
the repacker. Drives are occupied half of the time. Files are drawn at random, so a file has no cartridge of
its own; a cartridge is in one drive at a time, except now and then around midnight.
"""

from contextlib import closing
from datetime import UTC, date, datetime
from itertools import pairwise

import numpy as np
import polars as pl
import psycopg
import sqlalchemy as sa

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.derived import mounts, tape_operations
from tapewise.schema.writing.loader import copy_frame, frame_schema
from tapewise.schema.writing.partitions import analyze_partitions

MONTHS = 24
# A week in the third month.
WEEK = {"since": "'2023-03-06'", "until": "'2023-03-13'"}
DRIVES, VOLUMES, FILES_A_MOUNT, RECALLED_FILES = 40, 20_000, 4, 3_000_000
RECALL_RATIO, REPACKER_RATIO, FAILED_RATIO, UNANSWERED_RATIO = 0.5, 0.1, 0.01, 0.005


def fill_tapes(
    warehouse: Warehouse, archive: str, operation_count: int, *, month_count: int = MONTHS
) -> None:
    """Write about `operation_count` operations and their mounts, in so many months from 2023-01-01 on."""
    rng = np.random.default_rng(43)
    starts_on = [date(2023 + month // 12, month % 12 + 1, 1) for month in range(month_count + 1)]
    counts = {"mounts": 0, "tape_operations": 0}
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as owner:
        archive_id = _make_source(owner, archive)
        for table in counts:
            owner.execute("SELECT core.make_partitions(%s, %s)", [table, starts_on])
        for month, (begin, end) in enumerate(pairwise(starts_on)):
            stays, files = _draw_month(
                rng, begin, end, operation_count // month_count, 1 + month * operation_count
            )
            counts["mounts"] += _write(owner, mounts, stays, archive_id)
            counts["tape_operations"] += _write(owner, tape_operations, files, archive_id)
        # What `tapewise refresh` keeps depends on the counts of rows.
        owner.execute(
            "INSERT INTO ledger.loaded_rows SELECT 1, 1, 'tape_events', '2023-01-01', id, %s, '{}'"
            " FROM ledger.sources WHERE archive_id = %s",
            [sum(counts.values()), archive_id],
        )
        analyze_partitions(owner)
        owner.execute("VACUUM (ANALYZE) core.mounts, core.tape_operations")


def _make_source(owner: psycopg.Connection, archive: str) -> int:
    row = owner.execute(
        "INSERT INTO core.archives (name, kind, timezone)"
        " VALUES (%s, 'synthetic', 'Europe/Berlin') RETURNING id",
        [archive],
    ).fetchone()
    assert row is not None
    owner.execute(
        "INSERT INTO ledger.sources (archive_id, name, format, timezone, clock_resolution_s, is_counted,"
        " earliest_at, failure_tables)"
        " VALUES (%s, 'unitree-tape', 'unitree-tape', 'UTC', 1, true, '1985-01-01Z', '{tape_events}')",
        [row[0]],
    )
    return int(row[0])


def _draw_month(
    rng: np.random.Generator, begin: date, end: date, count: int, first_id: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw the mounts that begin in a month, and their files. Rows are in the order of their last event.

    Times are in microseconds since 1970.
    """
    mount_count = count // FILES_A_MOUNT // DRIVES * DRIVES
    drive = np.repeat(np.arange(DRIVES), mount_count // DRIVES)
    # The last mount of a drive gets the files that are missing.
    file_count = rng.geometric(1 / FILES_A_MOUNT, mount_count)
    first = np.cumsum(file_count) - file_count
    mount = np.repeat(np.arange(mount_count), file_count)
    transfer_s = np.round(rng.exponential(60, len(mount)) + 0.5, 3)
    seek_s = np.round(rng.exponential(8, len(mount)), 3)
    seek_s[first] = 0

    in_mount_s = np.add.reduceat(transfer_s + seek_s, first)
    mount_s, position_s, lazy_s, dismount_s = (
        np.round(rng.gamma(4, mean_s / 4, mount_count), 3) for mean_s in (60, 40, 100, 40)
    )
    stay_s = mount_s + position_s + in_mount_s + lazy_s + dismount_s
    # Drives are idle in between for as long as the month allows.
    span_s = (end - begin).days * 86_400
    idle_s = rng.exponential(1, mount_count)
    by_drive = idle_s.reshape(DRIVES, -1)
    left_s = span_s - stay_s.reshape(DRIVES, -1).sum(axis=1)
    by_drive *= (np.maximum(left_s, 1.0) / by_drive.sum(axis=1))[:, None]
    requested_s = ((stay_s + idle_s).reshape(DRIVES, -1).cumsum(axis=1)).ravel() - stay_s
    positioned_s = requested_s + mount_s + position_s

    until_s = np.cumsum(transfer_s + seek_s)
    until_s += np.repeat(positioned_s - (until_s[first] - (transfer_s + seek_s)[first]), file_count)
    from_s = until_s - transfer_s
    transferred_s = until_s[first + file_count - 1]
    received_s = np.repeat(requested_s - rng.exponential(300, mount_count), file_count)
    later = np.ones(len(mount), dtype=bool)
    later[first] = False
    received_s[later] += rng.random(later.sum()) * (from_s - received_s)[later]

    day = (requested_s // 86_400).astype(np.int64)
    volume = rng.integers(0, VOLUMES // DRIVES, mount_count) * DRIVES + (drive + day) % DRIVES
    is_recall = rng.random(len(mount)) < RECALL_RATIO
    is_repacker = np.repeat(rng.random(mount_count) < REPACKER_RATIO, file_count)
    is_failed = rng.random(len(mount)) < FAILED_RATIO
    size_bytes = (transfer_s * rng.uniform(6e7, 1.6e8, len(mount))).astype(np.int64)
    key = np.where(
        is_recall,
        rng.integers(0, RECALLED_FILES, len(mount)),
        RECALLED_FILES + first_id + np.arange(len(mount)),
    )

    start = int(datetime(begin.year, begin.month, 1, tzinfo=UTC).timestamp())

    def at(seconds: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> pl.Series:
        return pl.Series(np.round((seconds + start) * 1e3).astype(np.int64) * 1000)

    dismount_requested = at(transferred_s + lazy_s)
    stays = pl.DataFrame(
        {
            "mount_id": first_id + len(mount) + np.arange(mount_count),
            "received_at": at(received_s[first]),
            "mount_requested_at": at(requested_s),
            "positioned_at": at(positioned_s),
            "transferred_at": at(transferred_s),
            "dismount_requested_at": dismount_requested,
            "dismounted_at": at(transferred_s + lazy_s + dismount_s),
            "transfer_count": file_count,
            "failed_count": np.add.reduceat(is_failed.astype(np.int64), first),
            "repacker_count": np.add.reduceat(is_repacker.astype(np.int64), first),
            "transfer_s": np.add.reduceat(transfer_s, first),
            "is_repacker": is_repacker[first],
            "volume": volume,
            "drive": drive,
            "size_bytes": np.add.reduceat(np.where(is_failed, 0, size_bytes), first),
        }
    ).with_columns(first_event_at=pl.col("mount_requested_at"), last_event_at=pl.col("dismounted_at"))
    files = pl.DataFrame(
        {
            "operation_id": first_id + np.arange(len(mount)),
            "mount_id": first_id + len(mount) + mount,
            "task": np.where(is_recall, "stage", "migration"),
            "is_repacker": is_repacker,
            "capability_key": key,
            "received_at": at(received_s),
            "mount_requested_at": pl.Series(
                pl.select(pl.when(pl.Series(~later)).then(at(np.repeat(requested_s, file_count)))).to_series()
            ),
            "positioned_at": at(from_s),
            "transferred_at": at(until_s),
            "is_failed": is_failed,
            "volume": np.repeat(volume, file_count),
            "drive": np.repeat(drive, file_count),
            "size_bytes": size_bytes,
            "block_offset": rng.integers(0, 10**6, len(mount)),
            "class_of_service": (key % 5).astype(str),
            "copy_number": np.zeros(len(mount), dtype=np.int64),
        }
    ).with_columns(first_event_at=pl.col("received_at"), last_event_at=pl.col("transferred_at"))
    unanswered = rng.random(mount_count) < UNANSWERED_RATIO
    in_drive = ("positioned_at", "transferred_at", "dismount_requested_at", "dismounted_at")
    lost = stays.filter(pl.Series(unanswered)).with_columns(
        *(pl.lit(None).alias(name) for name in (*in_drive, "drive", "transfer_s", "size_bytes")),
        *(pl.lit(0).alias(name) for name in ("transfer_count", "failed_count", "repacker_count")),
        mount_id=pl.col("mount_id") + mount_count,
        last_event_at=pl.col("mount_requested_at"),
    )
    return pl.concat([stays, lost], how="vertical_relaxed"), files


def _write(owner: psycopg.Connection, table: sa.Table, drawn: pl.DataFrame, archive_id: int) -> int:
    """Write rows with the columns that both tables have in common filled in; return how many there are."""
    volume, drive = pl.col("volume"), pl.col("drive")
    whole = drawn.sort("last_event_at").with_columns(
        archive_id=archive_id,
        interface=pl.lit("unitree"),
        requester=pl.when("is_repacker").then(pl.lit("repacker")).otherwise(pl.lit("client")),
        vsn=pl.format("V{}", volume + 100_000),
        tape_type=pl.when(volume % 2 == 0).then(pl.lit("T10000")).otherwise(pl.lit("LTO8")),
        drive=pl.when(drive.is_not_null()).then(pl.format("drive{}", drive + 10)),
        location=pl.lit("silo"),
        is_time_ambiguous=False,
    )
    frame = whole.select(
        (pl.col(name) if name in whole.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in frame_schema(table).items()
    )
    return copy_frame(owner, table, frame)
