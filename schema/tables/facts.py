"""The tables of the facts in `core`: what the logs said.

Together with `ledger.py` (what was read), `derived.py` (derived rows, and what people have recorded) and
`studies.py`, this is the only Python definition of tables. `migrations/` builds the same schema, and a test
compares the two by `pg_dump -s`. The views of `mart` are in `sql/`, functions and grants in `definitions.py`.

`event_time_columns` names the column with the event time of each fact table, by which the table is
partitioned into months.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from tapewise.schema.tables.columns import flag, instant, metadata

# One sequence numbers the rows of all fact tables. A load takes numbers in blocks, because taking five
# million of them one by one would take more than a tenth of the load's time.
ROW_ID_BLOCK = 10_000
row_ids = sa.Sequence("row_ids", schema="core", metadata=metadata, increment=ROW_ID_BLOCK)


def _day_only_flag() -> sa.Column[bool]:
    """A flag for events of which only the day is known. They are stored as of noon."""
    return sa.Column("is_time_of_day_unknown", sa.Boolean, nullable=False, server_default=sa.false())


def _on_tape() -> tuple[sa.Column[Any], ...]:
    """Where a file is on tape: its cartridge, the drive that was used, and which copy of the file it is."""
    return (
        sa.Column("vsn", sa.Text),
        sa.Column("drive", sa.Text),
        sa.Column("copy_number", sa.Integer),
    )


def _facts(
    table: str,
    event_time: str,
    comment: str,
    *columns: sa.schema.SchemaItem,
    is_outcome_logged: bool = True,
    also_in_brin: tuple[str, ...] = (),
) -> sa.Table:
    """A fact table, partitioned into months by `event_time`. `columns` follow those of every fact table.

    `is_outcome_logged` is false if some logs do not say how the operation ended. In that case `is_failed` can
    be null.

    There is no key or unique index, because it would make a load take three times as long (measured during
    the design). Instead, a load first compares its lines with those already stored. There are no foreign keys
    either, because they would be checked row by row. The BRIN index serves time ranges, `explain row` (by
    `id`) and recounts (by `log_file_id`), and contains the columns `also_in_brin`.
    """
    return sa.Table(
        table,
        metadata,
        sa.Column("id", sa.BigInteger, nullable=False),
        sa.Column("archive_id", sa.Integer, nullable=False),
        sa.Column("source_id", sa.Integer, nullable=False),
        sa.Column("log_file_id", sa.Integer, nullable=False),
        sa.Column("line_number", sa.BigInteger, nullable=False),
        sa.Column("line_hash", sa.BigInteger, nullable=False),
        sa.Column("occurrence", sa.Integer, nullable=False),
        # 0 for the fact that represents its line in the balance. Further facts of the line have 1, 2, ...
        sa.Column("ordinal", sa.SmallInteger, nullable=False, server_default=sa.text("0")),
        instant(event_time),
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("user_id", sa.Integer),
        sa.Column("host_id", sa.Integer),
        sa.Column("class_of_service", sa.Text),
        sa.Column("account", sa.Text),
        sa.Column("status_code", sa.Integer),
        sa.Column("is_failed", sa.Boolean, nullable=not is_outcome_logged),
        flag("is_time_ambiguous"),
        *columns,
        sa.Index(
            f"{table}_brin",
            event_time,
            "id",
            "log_file_id",
            *also_in_brin,
            postgresql_using="brin",
            postgresql_with={"pages_per_range": 32},
        ),
        schema="core",
        comment=comment,
        info={"event_time": event_time},
        postgresql_partition_by=f"RANGE ({event_time})",
    )


transfers = _facts(
    "transfers",
    "ended_at",
    "One row per file moved, or tried, between a client and the archive",
    sa.Column("direction", sa.Text, nullable=False),
    instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("rate_bytes_per_s", DOUBLE_PRECISION),
    sa.Column("archive_path", sa.Text),
    sa.Column("client_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    # UniTree's number for the job that moved the file.
    sa.Column("persona", sa.Integer),
    sa.Column("status_text", sa.Text),
    flag("is_duration_coarse"),
    flag("is_duration_below_clock"),
    flag("is_size_saturated"),
    flag("is_rate_inconsistent"),
    _day_only_flag(),
    # The archive's machine that moved the file.
    sa.Column("server", sa.Text),
    sa.Column("seek_s", DOUBLE_PRECISION),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    # Finds the transfers that were under way at a time, without reading all later ones.
    also_in_brin=("started_at",),
)

opens = _facts(
    "opens",
    "opened_at",
    "One row per file opened",
    sa.Column("direction", sa.Text),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    # Whether the file was on disk, if the log says so.
    sa.Column("is_cached", sa.Boolean),
    _day_only_flag(),
    sa.Column("server", sa.Text),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
)

namespace_events = _facts(
    "namespace_events",
    "happened_at",
    "One row per change of names that moved nothing between a client and the archive",
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("new_archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("new_file_key", sa.BigInteger),
    _day_only_flag(),
    sa.CheckConstraint("kind in ('delete', 'rename', 'copy')", name="kind"),
)

unitree_jobs = _facts(
    "unitree_jobs",
    "ended_at",
    "One row per job of UniTree's COND log",
    sa.Column("direction", sa.Text),
    sa.Column("persona", sa.Integer, nullable=False),
    sa.Column("session_number", sa.Integer, nullable=False),
    sa.Column("job_number", sa.Integer, nullable=False),
    instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("description", sa.Text, nullable=False),
    flag("is_start_after_end"),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    is_outcome_logged=False,
)

stages = _facts(
    "stages",
    "staged_at",
    "One row per file brought from tape to disk",
    instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    # How long the file waited in the queue before the stage began.
    sa.Column("queue_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("persona", sa.Integer),
    flag("is_duration_coarse"),
    flag("is_duration_below_clock"),
    _day_only_flag(),
    *_on_tape(),
)

migrations = _facts(
    "migrations",
    "migrated_at",
    "One row per file written from disk to tape",
    instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("queue_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    flag("is_duration_coarse"),
    flag("is_duration_below_clock"),
    _day_only_flag(),
    *_on_tape(),
)

srb_sessions = _facts(
    "srb_sessions",
    "closed_at",
    "One row per file that was open by way of the Storage Resource Broker, from its open to its close",
    sa.Column("storage_type", sa.Text),
    sa.Column("open_type", sa.Text, nullable=False),
    sa.Column("open_s", DOUBLE_PRECISION),
    # The time from open to close. It includes everything the program did besides reads, writes and seeks, so
    # it is not a transfer time.
    sa.Column("session_s", DOUBLE_PRECISION),
    sa.Column("read_count", sa.BigInteger),
    sa.Column("read_bytes", sa.BigInteger),
    sa.Column("write_count", sa.BigInteger),
    sa.Column("written_bytes", sa.BigInteger),
    sa.Column("seek_count", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    _day_only_flag(),
    sa.CheckConstraint("open_type in ('open', 'create')", name="open_type"),
    is_outcome_logged=False,
)

transfer_starts = _facts(
    "transfer_starts",
    "began_at",
    "One row per transfer asked for, where a log has a line for that",
    sa.Column("direction", sa.Text, nullable=False),
    # Whether a get found its file on disk; null if the log does not say.
    sa.Column("is_cached", sa.Boolean),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    # UniTree's name for the file, which stays the same when its path changes.
    sa.Column("capability", sa.Text),
    sa.Column("capability_key", sa.BigInteger),
    sa.Column("copy_count", sa.Integer),
    sa.Column("network", sa.Text),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
)

stage_events = _facts(
    "stage_events",
    "happened_at",
    "One row per stage that began or was cancelled, where a log has a line for that",
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    *_on_tape(),
    sa.CheckConstraint("kind in ('started', 'cancelled')", name="kind"),
    is_outcome_logged=False,
)

# The line that reports such a read also gives a transfer, whose size is the sum of the three.
cache_reads = _facts(
    "cache_reads",
    "ended_at",
    "One row per read through a cache whose log reports how many bytes the cache had",
    # Read from the cache, fetched for it, and read past the cache.
    sa.Column("hit_bytes", sa.BigInteger, nullable=False),
    sa.Column("missed_bytes", sa.BigInteger, nullable=False),
    sa.Column("bypassed_bytes", sa.BigInteger, nullable=False),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    is_outcome_logged=False,
)

TAPE_TASKS = "task in ('stage', 'migration')"
TAPE_REQUESTERS = "requester in ('client', 'repacker')"
# Into what a session of a drive is divided, in the order in which the steps come (waits come between them).
MOUNT_STEPS = ("mount_s", "position_s", "transfer_s", "flush_s", "wait_s", "unload_s", "dismount_s")

tape_events = _facts(
    "tape_events",
    "happened_at",
    "One row per event of a tape server: of a file to be read or written, or of a cartridge in a drive",
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("task", sa.Text),
    sa.Column("requester", sa.Text),
    sa.Column("capability", sa.Text),
    sa.Column("capability_key", sa.BigInteger),
    sa.Column("location", sa.Text),
    sa.Column("copy_number", sa.Integer),
    sa.Column("fragment_number", sa.Integer),
    sa.Column("vsn", sa.Text),
    sa.Column("tape_type", sa.Text),
    sa.Column("drive", sa.Text),
    sa.Column("block_offset", sa.BigInteger),
    sa.Column("size_bytes", sa.BigInteger),
    sa.CheckConstraint(
        "kind in ('received', 'mount requested', 'mounted', 'positioned', 'transferred',"
        " 'dismount requested', 'dismounted')",
        name="kind",
    ),
    sa.CheckConstraint(TAPE_TASKS, name="task"),
    sa.CheckConstraint(TAPE_REQUESTERS, name="requester"),
    is_outcome_logged=False,
)

mount_summaries = _facts(
    "mount_summaries",
    "ended_at",
    "One row per session of a drive with a cartridge, with the totals that the log reports at its end",
    instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    # The log's own name for the mount.
    sa.Column("mount_key", sa.Text),
    sa.Column("task", sa.Text),
    sa.Column("requester", sa.Text),
    sa.Column("vsn", sa.Text),
    sa.Column("tape_type", sa.Text),
    sa.Column("drive", sa.Text),
    sa.Column("location", sa.Text),
    # Whether the cartridge was in the drive at all; null if the log does not say.
    sa.Column("is_mounted", sa.Boolean),
    sa.Column("file_count", sa.BigInteger),
    sa.Column("size_bytes", sa.BigInteger),
    # The steps of the session. What the drive waited for (data, memory, orders) is one of them.
    *(sa.Column(name, DOUBLE_PRECISION) for name in MOUNT_STEPS),
    sa.CheckConstraint(TAPE_TASKS, name="task"),
    sa.CheckConstraint(TAPE_REQUESTERS, name="requester"),
    is_outcome_logged=False,
)

snapshots = _facts(
    "snapshots",
    "listed_at",
    "One row per cartridge, drive, queue, file or account in a listing of a catalogue",
    sa.Column("kind", sa.Text, nullable=False),
    # Since when it is as listed: since a file was last used, or a drive changed its state.
    instant("started_at", nullable=True),
    sa.Column("state", sa.Text),
    sa.Column("task", sa.Text),
    sa.Column("vsn", sa.Text),
    sa.Column("tape_type", sa.Text),
    sa.Column("drive", sa.Text),
    sa.Column("location", sa.Text),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    # Whether a cartridge takes no more files, and whether a drive is in use or could be.
    sa.Column("is_full", sa.Boolean),
    sa.Column("is_up", sa.Boolean),
    sa.Column("file_count", sa.BigInteger),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("capacity_bytes", sa.BigInteger),
    sa.CheckConstraint("kind in ('volume', 'drive', 'queue', 'file', 'account')", name="kind"),
    sa.CheckConstraint(TAPE_TASKS, name="task"),
    is_outcome_logged=False,
)

# A site's own daily counts, one row for each row of the tables in its report. `reported_at` is noon of that
# day by the source's clock, and serves only to partition the table into months. A correction adds rows, which
# count instead of the earlier ones.
daily_reports = _facts(
    "daily_reports",
    "reported_at",
    "One row per line of a site's daily report that has figures",
    sa.Column("reported_on", sa.Date, nullable=False),
    sa.Column("system", sa.Text),
    sa.Column("item", sa.Text),
    sa.Column("part", sa.Text),
    # A JSON object that maps names to figures.
    sa.Column("figures", sa.Text, nullable=False),
    flag("is_total"),
)

FACT_TABLES = (
    transfers,
    opens,
    namespace_events,
    unitree_jobs,
    stages,
    transfer_starts,
    tape_events,
    daily_reports,
    migrations,
    srb_sessions,
    mount_summaries,
    snapshots,
    stage_events,
    cache_reads,
)

event_time_columns: dict[str, str] = {table.name: table.info["event_time"] for table in FACT_TABLES}
