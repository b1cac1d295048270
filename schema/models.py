"""The tables: `ledger` (what was read), `core` (what it said) and `studies` (workload models, simulations).

The only Python definition of them; `migrations/` builds the same schema, and a test compares the
two by `pg_dump -s`. The views of `mart` are in `sql/`, functions and grants in `definitions.py`.

Units are in the names: `_s` seconds, `_us` microseconds, `_bytes` bytes, `_bytes_per_s`; `_at` is a
`timestamptz`; `is_`/`has_` are flags. `event_time_columns` names the column that carries each fact
table's event time, by which it is cut into months.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB, UUID

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

# One sequence numbers the rows of every fact table. A load takes numbers in blocks, because asking
# for five million of them one at a time would cost more than a tenth of the load.
ROW_ID_BLOCK = 10_000
row_ids = sa.Sequence("row_ids", schema="core", metadata=metadata, increment=ROW_ID_BLOCK)

Timestamp = sa.DateTime(timezone=True)


def _instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, Timestamp, nullable=nullable)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean, nullable=False)


def _identity() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, sa.Identity(always=True), primary_key=True)


archives = sa.Table(
    "archives",
    metadata,
    _identity(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("timezone", sa.Text, nullable=False),
    sa.Column("created_at", Timestamp, nullable=False, server_default=sa.func.now()),
    # What was before is forgotten (`tapewise forget`): of it there are cells of activity, and no facts.
    _instant("retained_since", nullable=True),
    sa.CheckConstraint("kind in ('measured', 'synthetic', 'simulated')", name="kind"),
    schema="core",
    comment="One row per archive; what speaks of days or hours counts them in its timezone",
    # A table of a few rows is never analyzed otherwise, and plans for one of unknown size are twice as slow.
    postgresql_with={"autovacuum_analyze_scale_factor": 0, "autovacuum_analyze_threshold": 0},
)


def _names(table: str, comment: str) -> sa.Table:
    return sa.Table(
        table,
        metadata,
        _identity(),
        sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.UniqueConstraint("archive_id", "name"),
        schema="core",
        comment=comment,
    )


users = _names("users", "One row per user name or number of an archive")
hosts = _names("hosts", "One row per client machine of an archive, as its logs name it")

sources = sa.Table(
    "sources",
    metadata,
    _identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("timezone", sa.Text, nullable=False),
    # The step of the durations in the log; coarser durations inside it are flagged line by line.
    sa.Column("clock_resolution_s", DOUBLE_PRECISION, nullable=False),
    # False where another source of the archive tells of the same transfers and is the one counted.
    sa.Column("is_counted", sa.Boolean, nullable=False),
    _instant("earliest_at"),
    _instant("latest_at", nullable=True),
    sa.Column("created_at", Timestamp, nullable=False, server_default=sa.func.now()),
    # Tells apart the keys by which names become pseudonyms, and gives no key away; null: names stay.
    sa.Column("pseudonym_key_id", sa.Text),
    # The TOML text that describes a site's own format; null: the format is known by its name.
    sa.Column("layout_text", sa.Text),
    sa.UniqueConstraint("archive_id", "name"),
    schema="ledger",
    comment="One row per stream of logs; its settings do not change once it has been read from",
)

log_files = sa.Table(
    "log_files",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(always=False), primary_key=True),
    sa.Column("source_id", sa.Integer, sa.ForeignKey(sources.c.id), nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    # Of the first `read_bytes` bytes, decompressed: the file as far as it was read.
    sa.Column("content_digest", sa.Text, nullable=False),
    sa.Column("read_bytes", sa.BigInteger, nullable=False),
    sa.Column("waiting_bytes", sa.BigInteger, nullable=False),
    sa.Column("format_version", sa.Integer, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    _instant("first_read_at"),
    _instant("last_read_at"),
    _instant("first_event_at", nullable=True),
    _instant("last_event_at", nullable=True),
    sa.Column("line_count", sa.BigInteger, nullable=False),
    sa.Column("loaded_count", sa.BigInteger, nullable=False),
    sa.Column("held_count", sa.BigInteger, nullable=False),
    sa.Column("ignored_count", sa.BigInteger, nullable=False),
    sa.Column("rejected_count", sa.BigInteger, nullable=False),
    # The day whose clock times the lines give, where they give no dates themselves.
    sa.Column("log_date", sa.Date),
    sa.CheckConstraint(
        "line_count = loaded_count + held_count + ignored_count + rejected_count", name="balance"
    ),
    sa.CheckConstraint("least(loaded_count, held_count, ignored_count, rejected_count) >= 0", name="counts"),
    sa.Index("log_files_source_id_path_idx", "source_id", "path"),
    schema="ledger",
    comment="One row per log file (a path and what stood there); a file that has grown keeps its row",
)

# Copies, rotated and grown files consist of pieces that were read before: their digests tell, and they are
# not parsed again.
segments = sa.Table(
    "segments",
    metadata,
    sa.Column("log_file_id", sa.Integer, sa.ForeignKey(log_files.c.id), primary_key=True),
    sa.Column("first_line_number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("source_id", sa.Integer, sa.ForeignKey(sources.c.id), nullable=False),
    sa.Column("digest", UUID, nullable=False),
    sa.Column("line_count", sa.Integer, nullable=False),
    sa.Column("fact_count", sa.Integer, nullable=False),
    # By reason.
    sa.Column("ignored_counts", JSONB, nullable=False),
    sa.Column("rejected_counts", JSONB, nullable=False),
    _instant("first_event_at", nullable=True),
    _instant("last_event_at", nullable=True),
    sa.Index("segments_source_id_digest_idx", "source_id", "digest"),
    schema="ledger",
    comment="One row per piece of a log file whose lines are known: what became of them stands here in sum",
)

ignored_lines = sa.Table(
    "ignored_lines",
    metadata,
    sa.Column("log_file_id", sa.Integer, sa.ForeignKey(log_files.c.id), primary_key=True),
    sa.Column("reason", sa.Text, primary_key=True),
    sa.Column("line_count", sa.BigInteger, nullable=False),
    schema="ledger",
    comment="One row per log file and reason for which lines of it were passed over",
)

rejected_lines = sa.Table(
    "rejected_lines",
    metadata,
    sa.Column("log_file_id", sa.Integer, sa.ForeignKey(log_files.c.id), primary_key=True),
    sa.Column("line_number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("line_hash", sa.BigInteger, nullable=False),
    sa.Column("text", sa.Text),
    schema="ledger",
    comment="One row per line that no record could be made of",
)


def _day_only_flag() -> sa.Column[bool]:
    """Only the day of the event is known: what stands there is noon. Since revision 0008, so at the end."""
    return sa.Column("is_time_of_day_unknown", sa.Boolean, nullable=False, server_default=sa.false())


def _facts(
    table: str,
    event_time: str,
    comment: str,
    *columns: sa.schema.SchemaItem,
    is_outcome_logged: bool = True,
) -> sa.Table:
    """A fact table: who, where from (lineage), when, and what; cut into months by `event_time`.

    `is_outcome_logged` is false where a log may not say how the thing ended: `is_failed` can be null.

    No key or unique index: it would cost three times the load (the design's measurement). What is
    held already is compared before a load instead. No foreign keys either: they are checked row by
    row. The BRIN index serves time ranges, `explain row` (id) and recounts by lineage.
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
        _instant(event_time),
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("user_id", sa.Integer),
        sa.Column("host_id", sa.Integer),
        sa.Column("class_of_service", sa.Text),
        sa.Column("account", sa.Text),
        sa.Column("status_code", sa.Integer),
        sa.Column("is_failed", sa.Boolean, nullable=not is_outcome_logged),
        _flag("is_time_ambiguous"),
        *columns,
        sa.Index(
            f"{table}_brin",
            event_time,
            "id",
            "log_file_id",
            postgresql_using="brin",
            postgresql_with={"pages_per_range": 32},
        ),
        schema="core",
        comment=comment,
        postgresql_partition_by=f"RANGE ({event_time})",
    )


transfers = _facts(
    "transfers",
    "ended_at",
    "One row per file moved, or tried, between a client and the archive",
    sa.Column("direction", sa.Text, nullable=False),
    _instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("rate_bytes_per_s", DOUBLE_PRECISION),
    sa.Column("archive_path", sa.Text),
    sa.Column("client_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    _flag("is_duration_coarse"),
    _flag("is_duration_below_clock"),
    _flag("is_size_saturated"),
    _flag("is_rate_inconsistent"),
    # Since revision 0002, so at the end. UniTree's number of the job that moved the file.
    sa.Column("persona", sa.Integer),
    sa.Column("status_text", sa.Text),
    _day_only_flag(),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
)

opens = _facts(
    "opens",
    "opened_at",
    "One row per file opened",
    sa.Column("direction", sa.Text),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    _day_only_flag(),
    # Whether the file was on disk, where the log says it.
    sa.Column("is_cached", sa.Boolean),
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
    _instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("description", sa.Text, nullable=False),
    _flag("is_start_after_end"),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    is_outcome_logged=False,
)

stages = _facts(
    "stages",
    "staged_at",
    "One row per file brought from tape to disk",
    _instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("persona", sa.Integer),
    _flag("is_duration_coarse"),
    _flag("is_duration_below_clock"),
    _day_only_flag(),
    # How long it stood in the queue before.
    sa.Column("queue_s", DOUBLE_PRECISION),
)

migrations = _facts(
    "migrations",
    "migrated_at",
    "One row per file written from disk to tape",
    _instant("started_at", nullable=True),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("queue_s", DOUBLE_PRECISION),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    _flag("is_duration_coarse"),
    _flag("is_duration_below_clock"),
    _day_only_flag(),
)

srb_sessions = _facts(
    "srb_sessions",
    "closed_at",
    "One row per file that was open by way of the Storage Resource Broker, from its open to its close",
    sa.Column("storage_type", sa.Text),
    sa.Column("open_type", sa.Text, nullable=False),
    sa.Column("open_s", DOUBLE_PRECISION),
    # From open to close: reads, writes, seeks and whatever the program did between them. No transfer's time.
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
    # Whether a get found its file on disk; null where the log does not say.
    sa.Column("is_cached", sa.Boolean),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("archive_path", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    # UniTree's name of the file, which stays when its path changes.
    sa.Column("capability", sa.Text),
    sa.Column("capability_key", sa.BigInteger),
    sa.Column("copy_count", sa.Integer),
    sa.Column("network", sa.Text),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
)

_TAPE_TASKS = "task in ('stage', 'migration')"
_TAPE_REQUESTERS = "requester in ('client', 'repacker')"

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
        "kind in ('received', 'mount requested', 'positioned', 'transferred', 'dismount requested',"
        " 'dismounted')",
        name="kind",
    ),
    sa.CheckConstraint(_TAPE_TASKS, name="task"),
    sa.CheckConstraint(_TAPE_REQUESTERS, name="requester"),
    is_outcome_logged=False,
)

# A site's own count of a day: what a row of its report's tables says. `reported_at` is noon of that day by
# the source's clock, and only cuts the table into months. A correction adds rows, of which the later count.
daily_reports = _facts(
    "daily_reports",
    "reported_at",
    "One row per line of a site's daily report that has figures",
    sa.Column("reported_on", sa.Date, nullable=False),
    sa.Column("system", sa.Text),
    sa.Column("item", sa.Text),
    sa.Column("part", sa.Text),
    # A JSON object: the figures by name.
    sa.Column("figures", sa.Text, nullable=False),
    _flag("is_total"),
)

# What the lines that tell of one request say together, put together anew for the time that a load
# touches. So it holds copies, and no number of its own; the ids are those of the facts. A transfer that
# one line tells all of has no row here: most archives would have all their transfers twice.
requests = sa.Table(
    "requests",
    metadata,
    sa.Column("archive_id", sa.Integer, nullable=False),
    # Of the transfer, or else of the job or the open: what a request is found by.
    _instant("ended_at"),
    sa.Column("transfer_id", sa.BigInteger),
    # The other log's line of the same transfer; of the two, `transfer_id` is the one that counts.
    sa.Column("twin_transfer_id", sa.BigInteger),
    sa.Column("open_id", sa.BigInteger),
    sa.Column("stage_id", sa.BigInteger),
    sa.Column("job_id", sa.BigInteger),
    sa.Column("source_id", sa.Integer, nullable=False),
    sa.Column("interface", sa.Text, nullable=False),
    sa.Column("direction", sa.Text),
    sa.Column("user_id", sa.Integer),
    sa.Column("host_id", sa.Integer),
    sa.Column("class_of_service", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("persona", sa.Integer),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("stage_s", DOUBLE_PRECISION),
    # False where only lines that are not counted tell of the transfer: another log counts it.
    _flag("is_counted"),
    sa.Column("is_failed", sa.Boolean),
    _flag("is_size_saturated"),
    _flag("is_time_ambiguous"),
    _instant("submitted_at", nullable=True),
    _instant("opened_at", nullable=True),
    _instant("staged_at", nullable=True),
    _instant("started_at", nullable=True),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    # Since revision 0005, so at the end. Of the line that says that the transfer was asked for.
    sa.Column("start_id", sa.BigInteger),
    sa.Column("is_cached", sa.Boolean),
    sa.Column("capability_key", sa.BigInteger),
    sa.CheckConstraint("num_nonnulls(transfer_id, open_id, job_id, start_id) >= 1", name="subject"),
    sa.Index("requests_archive_id_ended_at_idx", "archive_id", "ended_at"),
    schema="core",
    comment="One row per request that several lines tell, or a job or an open alone; derived",
    postgresql_partition_by="RANGE (ended_at)",
)


def _of_tapes(table: str, comment: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    """What a cartridge's or a file's tape events tell together; derived, as requests are.

    The ids are those of events. Whatever is not finished stands here too, with the times that are known.
    """
    return sa.Table(
        table,
        metadata,
        sa.Column("archive_id", sa.Integer, nullable=False),
        # Of the first and the last event: what a row is found by.
        _instant("first_event_at"),
        _instant("last_event_at"),
        *columns,
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("vsn", sa.Text),
        sa.Column("tape_type", sa.Text),
        sa.Column("drive", sa.Text),
        sa.Column("location", sa.Text),
        sa.Column("size_bytes", sa.BigInteger),
        _flag("is_time_ambiguous"),
        sa.Index(f"{table}_archive_id_last_event_at_idx", "archive_id", "last_event_at"),
        schema="core",
        comment=comment,
        postgresql_partition_by="RANGE (last_event_at)",
    )


mounts = _of_tapes(
    "mounts",
    "One row per cartridge in a drive, from the request to mount it to its dismount; derived",
    # Of the first event that is known.
    sa.Column("mount_id", sa.BigInteger, nullable=False),
    # When the file that it was mounted for was asked for.
    _instant("received_at", nullable=True),
    _instant("mount_requested_at", nullable=True),
    _instant("positioned_at", nullable=True),
    _instant("transferred_at", nullable=True),
    _instant("dismount_requested_at", nullable=True),
    _instant("dismounted_at", nullable=True),
    # Of the files that were read or written under it: all, those that failed, the repacker's.
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("failed_count", sa.BigInteger, nullable=False),
    sa.Column("repacker_count", sa.BigInteger, nullable=False),
    sa.Column("transfer_s", DOUBLE_PRECISION),
    sa.Column("requester", sa.Text),
    sa.CheckConstraint(_TAPE_REQUESTERS, name="requester"),
)

tape_operations = _of_tapes(
    "tape_operations",
    "One row per file read from a cartridge or written to one, or asked to be; derived",
    sa.Column("operation_id", sa.BigInteger, nullable=False),
    # Null where it came to no mount that is known.
    sa.Column("mount_id", sa.BigInteger),
    sa.Column("task", sa.Text, nullable=False),
    sa.Column("requester", sa.Text, nullable=False),
    sa.Column("capability_key", sa.BigInteger, nullable=False),
    sa.Column("class_of_service", sa.Text),
    sa.Column("copy_number", sa.Integer, nullable=False),
    sa.Column("fragment_number", sa.Integer),
    sa.Column("block_offset", sa.BigInteger),
    _instant("received_at", nullable=True),
    _instant("mount_requested_at", nullable=True),
    _instant("positioned_at", nullable=True),
    _instant("transferred_at", nullable=True),
    sa.Column("is_failed", sa.Boolean),
    sa.CheckConstraint(_TAPE_TASKS, name="task"),
    sa.CheckConstraint(_TAPE_REQUESTERS, name="requester"),
)


def _said_by_people(table: str, comment: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    """What people know and no log tells: from when, until when (null: still so), and their note."""
    return sa.Table(
        table,
        metadata,
        _identity(),
        sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
        _instant("started_at"),
        _instant("ended_at", nullable=True),
        sa.Column("kind", sa.Text, nullable=False),
        *columns,
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("recorded_at", Timestamp, nullable=False, server_default=sa.func.now()),
        sa.CheckConstraint("ended_at > started_at", name="order"),
        schema="core",
        comment=comment,
    )


outages = _said_by_people(
    "outages",
    "One row per time that the archive was known not to serve; said by people",
    sa.CheckConstraint("kind in ('scheduled', 'unscheduled')", name="kind"),
)

config_changes = _said_by_people(
    "config_changes",
    "One row per time that the archive was known to be set up otherwise; said by people",
    sa.Column("class_of_service", sa.Text),
    sa.CheckConstraint("kind in ('staging bypass', 'tape only', 'other')", name="kind"),
)

activity_cells = sa.Table(
    "activity_cells",
    metadata,
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), primary_key=True),
    sa.Column("cell_at", Timestamp, primary_key=True),
    sa.Column("interface", sa.Text, primary_key=True),
    sa.Column("direction", sa.Text, primary_key=True),
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("failed_count", sa.BigInteger, nullable=False),
    sa.Column("saturated_count", sa.BigInteger, nullable=False),
    # Sums over the transfers that did not fail, in whole units so that they equal any recount.
    sa.Column("size_bytes", sa.Numeric, nullable=False),
    sa.Column("duration_us", sa.BigInteger, nullable=False),
    schema="core",
    comment="One row per archive, ten minutes of its local clock, interface and direction; derived",
)

workload_models = sa.Table(
    "workload_models",
    metadata,
    _identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    # Beside the size: the transfer's own time, or the time that it took to open the file.
    sa.Column("measure", sa.Text, nullable=False),
    _instant("since", nullable=True),
    _instant("until", nullable=True),
    sa.Column("criterion", sa.Text, nullable=False),
    # A user who asked for nothing this long begins another burst.
    sa.Column("idle_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    _instant("fitted_at"),
    _instant("first_ended_at"),
    _instant("last_ended_at"),
    sa.CheckConstraint("measure in ('service', 'open')", name="measure"),
    schema="studies",
    comment="One row per workload model: the requests of an archive sorted into classes",
)

workload_groups = sa.Table(
    "workload_groups",
    metadata,
    sa.Column("model_id", sa.Integer, sa.ForeignKey(workload_models.c.id), primary_key=True),
    sa.Column("interface", sa.Text, primary_key=True),
    sa.Column("direction", sa.Text, primary_key=True),
    # Of the requests that are in classes; those that have no size or time are set apart, by reason.
    sa.Column("request_count", sa.BigInteger, nullable=False),
    sa.Column("set_apart", JSONB, nullable=False),
    # By number of classes; null where there were too few different requests for so many.
    sa.Column("criterion_values", JSONB, nullable=False),
    sa.Column("bursts", JSONB, nullable=False),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    schema="studies",
    comment="One row per interface and direction of a workload model",
)

workload_classes = sa.Table(
    "workload_classes",
    metadata,
    sa.Column("model_id", sa.Integer, primary_key=True),
    sa.Column("interface", sa.Text, primary_key=True),
    sa.Column("direction", sa.Text, primary_key=True),
    sa.Column("class_number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("request_count", sa.BigInteger, nullable=False),
    sa.Column("size_bytes", sa.Numeric, nullable=False),
    # Of the gets of which it is known whether their file was on disk.
    sa.Column("cached_count", sa.BigInteger, nullable=False),
    sa.Column("uncached_count", sa.BigInteger, nullable=False),
    sa.Column("size_log10", DOUBLE_PRECISION, nullable=False),
    sa.Column("time_log10", DOUBLE_PRECISION, nullable=False),
    sa.Column("size_quantiles_bytes", ARRAY(DOUBLE_PRECISION), nullable=False),
    sa.Column("time_quantiles_s", ARRAY(DOUBLE_PRECISION), nullable=False),
    sa.ForeignKeyConstraint(
        ["model_id", "interface", "direction"],
        [workload_groups.c.model_id, workload_groups.c.interface, workload_groups.c.direction],
    ),
    schema="studies",
    comment="One row per class of an interface and direction of a workload model; its centre in decades",
)

simulation_runs = sa.Table(
    "simulation_runs",
    metadata,
    sa.Column(
        "archive_id",
        sa.Integer,
        sa.ForeignKey(archives.c.id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    # What was asked of the machine: the requests of an archive, a workload model's, or a file's. By name,
    # so that a run outlives what it was made from.
    sa.Column("demand", sa.Text, nullable=False),
    sa.Column("demand_name", sa.Text, nullable=False),
    sa.Column("demand_archive", sa.Text),
    sa.Column("demand_kind", sa.Text),
    sa.Column("options", JSONB, nullable=False),
    sa.Column("machine_title", sa.Text, nullable=False),
    sa.Column("machine", JSONB, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    _instant("simulated_at"),
    # Of the simulated clock; `steady_at` is null where the run never came to a steady state.
    _instant("began_at"),
    _instant("steady_at", nullable=True),
    _instant("ended_at"),
    sa.Column("job_count", sa.BigInteger, nullable=False),
    sa.Column("unfinished_count", sa.BigInteger, nullable=False),
    sa.Column("totals", JSONB, nullable=False),
    sa.CheckConstraint("demand in ('archive', 'model', 'file')", name="demand"),
    sa.CheckConstraint("demand_kind in ('measured', 'synthetic', 'simulated')", name="demand_kind"),
    schema="studies",
    comment="One row per simulated archive: the machine, what was asked of it, and what came of it",
)

simulation_samples = sa.Table(
    "simulation_samples",
    metadata,
    sa.Column(
        "archive_id",
        sa.Integer,
        sa.ForeignKey(simulation_runs.c.archive_id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("quantity", sa.Text, primary_key=True),
    sa.Column("sampled_at", Timestamp, primary_key=True),
    sa.Column("value", DOUBLE_PRECISION, nullable=False),
    schema="studies",
    comment="One row per simulated archive, quantity and sample over time",
)

request_waits = sa.Table(
    "request_waits",
    metadata,
    sa.Column(
        "archive_id",
        sa.Integer,
        sa.ForeignKey(simulation_runs.c.archive_id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    # No foreign key: rows of facts have none to point at.
    sa.Column("transfer_id", sa.BigInteger, primary_key=True, autoincrement=False),
    # The causes, which add up to the request's time.
    sa.Column("user_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("port_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("file_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("drive_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("load_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("space_wait_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("latency_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("staging_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("transfer_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("contention_s", DOUBLE_PRECISION, nullable=False),
    schema="studies",
    comment="One row per request of a simulated archive: where its time went",
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
)

event_time_columns = {
    "transfers": "ended_at",
    "opens": "opened_at",
    "namespace_events": "happened_at",
    "unitree_jobs": "ended_at",
    "stages": "staged_at",
    "transfer_starts": "began_at",
    "tape_events": "happened_at",
    "daily_reports": "reported_at",
    "migrations": "migrated_at",
    "srb_sessions": "closed_at",
}
