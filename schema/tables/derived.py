"""The tables of `core` that hold no facts: derived rows, the rollup, and what people have recorded."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BIT, DOUBLE_PRECISION

from tapewise.schema.tables.columns import Timestamp, flag, identity, instant, metadata
from tapewise.schema.tables.facts import TAPE_REQUESTERS, TAPE_TASKS
from tapewise.schema.tables.ledger import archives, hosts, sources

# Each request is derived from several lines. The requests of the time range that a load touches are rebuilt,
# so the table holds copies, with the ids of the facts. A transfer that one line describes completely has no
# row here, because most archives would then store all their transfers twice.
requests = sa.Table(
    "requests",
    metadata,
    sa.Column("archive_id", sa.Integer, nullable=False),
    # When the transfer ended, or else the time of the job or open. Requests are looked up by this time.
    instant("ended_at"),
    sa.Column("transfer_id", sa.BigInteger),
    # The other log's line about the same transfer; of the two, `transfer_id` is the one that counts.
    sa.Column("twin_transfer_id", sa.BigInteger),
    sa.Column("open_id", sa.BigInteger),
    sa.Column("stage_id", sa.BigInteger),
    sa.Column("job_id", sa.BigInteger),
    # The id of the line that reports that the transfer was requested.
    sa.Column("start_id", sa.BigInteger),
    sa.Column("source_id", sa.Integer, nullable=False),
    sa.Column("interface", sa.Text, nullable=False),
    sa.Column("direction", sa.Text),
    sa.Column("user_id", sa.Integer),
    sa.Column("host_id", sa.Integer),
    sa.Column("class_of_service", sa.Text),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("capability_key", sa.BigInteger),
    sa.Column("persona", sa.Integer),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("open_s", DOUBLE_PRECISION),
    sa.Column("stage_s", DOUBLE_PRECISION),
    # False if only lines that are not counted report the transfer, because another log counts it.
    flag("is_counted"),
    sa.Column("is_failed", sa.Boolean),
    sa.Column("is_cached", sa.Boolean),
    # Whether a get waited for the stage of another request; null if that is unknown.
    sa.Column("is_joined", sa.Boolean),
    flag("is_size_saturated"),
    flag("is_time_ambiguous"),
    instant("submitted_at", nullable=True),
    instant("opened_at", nullable=True),
    instant("staged_at", nullable=True),
    instant("started_at", nullable=True),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    sa.CheckConstraint("num_nonnulls(transfer_id, open_id, job_id, start_id) >= 1", name="subject"),
    sa.Index("requests_archive_id_ended_at_idx", "archive_id", "ended_at"),
    schema="core",
    comment="One row per request that several lines tell, or a job or an open alone; derived",
    postgresql_partition_by="RANGE (ended_at)",
)


def _of_tapes(
    table: str, comment: str, *columns: sa.schema.SchemaItem, later: tuple[sa.schema.SchemaItem, ...] = ()
) -> sa.Table:
    """A table derived, like requests, from several tape events of a cartridge or a file.

    Its ids are ids of events. It includes unfinished operations, with the times that are known. The columns
    `later` were added after the first release, so they come last.
    """
    return sa.Table(
        table,
        metadata,
        sa.Column("archive_id", sa.Integer, nullable=False),
        # The times of the first and the last event; rows are looked up by them.
        instant("first_event_at"),
        instant("last_event_at"),
        *columns,
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("vsn", sa.Text),
        sa.Column("tape_type", sa.Text),
        sa.Column("drive", sa.Text),
        sa.Column("location", sa.Text),
        sa.Column("size_bytes", sa.BigInteger),
        flag("is_time_ambiguous"),
        *later,
        sa.Index(f"{table}_archive_id_last_event_at_idx", "archive_id", "last_event_at"),
        schema="core",
        comment=comment,
        postgresql_partition_by="RANGE (last_event_at)",
    )


mounts = _of_tapes(
    "mounts",
    "One row per cartridge in a drive, from the request to mount it to its dismount; derived",
    # The id of the first known event.
    sa.Column("mount_id", sa.BigInteger, nullable=False),
    # When the file that the cartridge was mounted for was requested.
    instant("received_at", nullable=True),
    instant("mount_requested_at", nullable=True),
    instant("positioned_at", nullable=True),
    instant("transferred_at", nullable=True),
    instant("dismount_requested_at", nullable=True),
    instant("dismounted_at", nullable=True),
    # How many files were read or written during the mount: all, failed ones, and the repacker's.
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("failed_count", sa.BigInteger, nullable=False),
    sa.Column("repacker_count", sa.BigInteger, nullable=False),
    sa.Column("transfer_s", DOUBLE_PRECISION),
    sa.Column("requester", sa.Text),
    sa.CheckConstraint(TAPE_REQUESTERS, name="requester"),
    later=(
        # When the cartridge was in the drive, if a log reports that before the tape is positioned.
        instant("mounted_at", nullable=True),
        # A cartridge can stay in its drive for weeks. This finds mounts that began in a range without reading
        # all that ended later.
        sa.Index("mounts_archive_id_first_event_at_idx", "archive_id", "first_event_at"),
    ),
)

tape_operations = _of_tapes(
    "tape_operations",
    "One row per file read from a cartridge or written to one, or asked to be; derived",
    sa.Column("operation_id", sa.BigInteger, nullable=False),
    # Null if no mount for the operation is known.
    sa.Column("mount_id", sa.BigInteger),
    sa.Column("task", sa.Text, nullable=False),
    sa.Column("requester", sa.Text, nullable=False),
    sa.Column("capability_key", sa.BigInteger, nullable=False),
    sa.Column("class_of_service", sa.Text),
    sa.Column("copy_number", sa.Integer),
    sa.Column("fragment_number", sa.Integer),
    sa.Column("block_offset", sa.BigInteger),
    instant("received_at", nullable=True),
    instant("mount_requested_at", nullable=True),
    instant("positioned_at", nullable=True),
    instant("transferred_at", nullable=True),
    sa.Column("is_failed", sa.Boolean),
    sa.CheckConstraint(TAPE_TASKS, name="task"),
    sa.CheckConstraint(TAPE_REQUESTERS, name="requester"),
)

stage_starts = sa.Table(
    "stage_starts",
    metadata,
    sa.Column("archive_id", sa.Integer, nullable=False),
    # When the stage began, and when it ended; as long as no end is known, when it began. Rows are looked up
    # by these times.
    instant("first_event_at"),
    instant("last_event_at"),
    # The ids of the events: that it began, and that it was cancelled.
    sa.Column("start_id", sa.BigInteger, nullable=False),
    sa.Column("cancel_id", sa.BigInteger),
    # The stage that reports the end. Its own columns are copied for the rollup of stages.
    sa.Column("stage_id", sa.BigInteger),
    sa.Column("source_id", sa.Integer, nullable=False),
    sa.Column("interface", sa.Text, nullable=False),
    sa.Column("class_of_service", sa.Text),
    # Null as long as no end is known, and if the line of the end has a duration of its own.
    sa.Column("duration_s", DOUBLE_PRECISION),
    sa.Column("is_failed", sa.Boolean),
    flag("is_time_ambiguous"),
    sa.Column("user_id", sa.Integer),
    sa.Column("file_key", sa.BigInteger),
    sa.Column("vsn", sa.Text),
    sa.Column("drive", sa.Text),
    sa.Column("copy_number", sa.Integer),
    sa.Column("size_bytes", sa.BigInteger),
    # No stage has two starts. (Many starts have no stage.)
    sa.Index(
        "stage_starts_archive_id_last_event_at_stage_id_idx",
        "archive_id",
        "last_event_at",
        "stage_id",
        unique=True,
    ),
    schema="core",
    comment="One row per start of a stage that a log reports, with its end if that is known; derived",
    postgresql_partition_by="RANGE (last_event_at)",
)


def _said_by_people(table: str, comment: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    """A table of what people know but no log contains: its start, its end (null: ongoing) and a note."""
    return sa.Table(
        table,
        metadata,
        identity(),
        sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
        instant("started_at"),
        instant("ended_at", nullable=True),
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

compute_powers = sa.Table(
    "compute_powers",
    metadata,
    identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("flop_per_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("starts_on", sa.Date, nullable=False),
    sa.Column("recorded_at", Timestamp, nullable=False, server_default=sa.func.now()),
    sa.UniqueConstraint("archive_id", "starts_on"),
    # Not a number is greater than infinity.
    sa.CheckConstraint("flop_per_s >= 0 and flop_per_s < 'infinity'", name="flop_per_s"),
    schema="core",
    comment="One row per archive and day from which it serves computers of another power; said by people",
)

activity_cells = sa.Table(
    "activity_cells",
    metadata,
    # Not a foreign key, as in the tables of facts: to check it would take a third of the time of adding rows.
    sa.Column("archive_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("cell_at", Timestamp, primary_key=True),
    sa.Column("interface", sa.Text, primary_key=True),
    sa.Column("direction", sa.Text, primary_key=True),
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("failed_count", sa.BigInteger, nullable=False),
    sa.Column("saturated_count", sa.BigInteger, nullable=False),
    # Sums over the transfers that did not fail, in whole units, so they equal any recount.
    sa.Column("size_bytes", sa.Numeric, nullable=False),
    sa.Column("duration_us", sa.BigInteger, nullable=False),
    # Transfers of which only the day is known have their own cells at noon, and count by day and month only.
    sa.Column("is_time_of_day_unknown", sa.Boolean, primary_key=True, server_default=sa.false()),
    # How many transfers come from logs that report no failures.
    sa.Column("failures_unlogged_count", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    # Transfers that did not fail but have no size, or no duration, and so are missing from the sum.
    sa.Column("unknown_size_count", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    sa.Column("unknown_duration_count", sa.BigInteger, nullable=False, server_default=sa.text("0")),
    schema="core",
    comment="One row per archive, ten minutes of its local clock, interface and direction; derived",
)

# What transfers or requests have in common when they are counted by day: few rows, so that cells need no
# names. They include the source, so that what came from a source can be deleted even if its detail was
# forgotten.
routes = sa.Table(
    "routes",
    metadata,
    identity(),
    sa.Column("source_id", sa.Integer, sa.ForeignKey(sources.c.id), nullable=False),
    sa.Column("interface", sa.Text, nullable=False),
    # Null for opens of which the log does not report the direction; only `open_cells` counts those.
    sa.Column("direction", sa.Text),
    sa.Column("class_of_service", sa.Text),
    # Null in routes of all clients.
    sa.Column("client_id", sa.Integer, sa.ForeignKey(hosts.c.id)),
    sa.UniqueConstraint(
        "source_id",
        "interface",
        "direction",
        "class_of_service",
        "client_id",
        name="routes_source_id_key",
        postgresql_nulls_not_distinct=True,
    ),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    sa.Index("routes_client_id_idx", "client_id"),
    schema="core",
    comment="One row per source, interface, direction, class of service and client that a cell counts",
)


def _sum(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _array(name: str, of: type[sa.Numeric[Any] | sa.Integer]) -> sa.Column[Any]:
    return sa.Column(name, sa.ARRAY(of), nullable=False)


# Arrays of cells are compressed and stay in their rows (`definitions.STORAGE`), as long as a row fits on a
# page. In a table of their own, they would take more space.
_IN_ROWS: dict[str, Any] = {"postgresql_with": {"toast_tuple_target": 1024}}

day_cells = sa.Table(
    "day_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    # By the archive's own clock.
    sa.Column("day", sa.Date, primary_key=True),
    # Those of `activity_cells`, with the same rules.
    _sum("transfer_count"),
    _sum("failed_count"),
    _sum("saturated_count"),
    sa.Column("size_bytes", sa.Numeric, nullable=False),
    _sum("duration_us"),
    _sum("unknown_size_count"),
    _sum("unknown_duration_count"),
    # How many transfers have a flag, failed ones included.
    _sum("ambiguous_count"),
    _sum("day_only_count"),
    _sum("coarse_count"),
    _sum("below_clock_count"),
    _sum("flagged_saturated_count"),
    _sum("inconsistent_count"),
    # Of the transfers that have a rate (`rate_bins`).
    sa.Column("rated_size_bytes", sa.Numeric, nullable=False),
    _sum("rated_duration_us"),
    # The hours with transfers, ascending, and in the other arrays a sum for each of them. Transfers of which
    # only the day is known are in none.
    _array("hours", sa.SmallInteger),
    _array("hour_transfer_counts", sa.Integer),
    _array("hour_failed_counts", sa.Integer),
    _array("hour_size_bytes", sa.Numeric),
    _array("hour_unknown_size_counts", sa.Integer),
    # A histogram of the rates: the bins with transfers, ascending, and how many are in each of them.
    _array("rate_bins", sa.SmallInteger),
    _array("rate_counts", sa.Integer),
    # The largest file of those that did not fail: its bytes, its end (microseconds since 1970, negative so
    # that the earliest of equal ones is the greatest array), 1 if its size is saturated, and 1 if only its
    # day is known. The longest transfer: its seconds, its end, and 1 if only its day is known.
    sa.Column("largest", sa.ARRAY(sa.BigInteger)),
    sa.Column("longest", sa.ARRAY(DOUBLE_PRECISION)),
    # When the ten minutes with transfers begin, in minutes after the day begins in UTC, ascending, and how
    # many ended in each of them.
    _array("ten_minute_offsets", sa.SmallInteger),
    _array("ten_minute_counts", sa.Integer),
    # Transfers that did not fail and have a size, but are not in `size_cells`: the bins of size, as there,
    # ascending, and for each of them how many there are, how many sizes are saturated, and the bytes.
    _array("rest_size_bins", sa.SmallInteger),
    _array("rest_size_counts", sa.Integer),
    _array("rest_saturated_counts", sa.Integer),
    _array("rest_size_bytes", sa.Numeric),
    # The ten minutes with transfers as bits. Those of several cells are combined faster than arrays.
    sa.Column(
        "ten_minute_marks",
        BIT(336),
        sa.Computed("core.mark_ten_minutes(ten_minute_offsets)", persisted=True),
        nullable=False,
    ),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day of its archive with transfers; derived",
)

rate_months = sa.Table(
    "rate_months",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    # The first day of the month, by the archive's own clock.
    sa.Column("month", sa.Date, primary_key=True),
    # The first and the last day with a rate.
    sa.Column("first_on", sa.Date, nullable=False),
    sa.Column("last_on", sa.Date, nullable=False),
    # Sums of the days in `day_cells` that have any rate, and of their histograms of rates.
    _sum("rated_count"),
    sa.Column("rated_size_bytes", sa.Numeric, nullable=False),
    _sum("rated_duration_us"),
    _array("rate_bins", sa.SmallInteger),
    _array("rate_counts", sa.Integer),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local month of its archive with rates; derived",
)

hour_months = sa.Table(
    "hour_months",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    # The first day of the month, by the archive's own clock.
    sa.Column("month", sa.Date, primary_key=True),
    # The first and the last day with a transfer whose time of day is known.
    sa.Column("first_on", sa.Date, nullable=False),
    sa.Column("last_on", sa.Date, nullable=False),
    # The hours of the week with transfers, from Monday at 0, ascending, and for each of them the sums of the
    # days in `day_cells`.
    _array("week_hours", sa.SmallInteger),
    _array("transfer_counts", sa.BigInteger),
    _array("failed_counts", sa.BigInteger),
    _array("size_bytes", sa.Numeric),
    _array("unknown_size_counts", sa.BigInteger),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local month of its archive with transfers at known hours; derived",
)

month_peaks = sa.Table(
    "month_peaks",
    metadata,
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
    # The first day of the month, by the archive's own clock.
    sa.Column("month", sa.Date, nullable=False),
    # Null where all of them are added up.
    sa.Column("interface", sa.Text),
    sa.Column("direction", sa.Text),
    sa.Column("class_of_service", sa.Text),
    # How many transfers ended in the busiest ten minutes, and when these begin, in minutes since 1970. Of
    # equally busy ones, the first.
    _sum("transfer_count"),
    sa.Column("ten_minutes", sa.Integer, nullable=False),
    sa.UniqueConstraint(
        "archive_id",
        "month",
        "interface",
        "direction",
        "class_of_service",
        name="month_peaks_archive_id_key",
        postgresql_nulls_not_distinct=True,
    ),
    schema="core",
    comment="One row per archive, local month, and interface and direction or class of service: the busiest"
    " ten minutes; derived",
)

size_cells = sa.Table(
    "size_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    sa.Column("span", sa.Text, primary_key=True),
    # The first day of the month or year, by the archive's own clock, as `day` of `day_cells`.
    sa.Column("starts_on", sa.Date, primary_key=True),
    # The first and the last day with such transfers.
    sa.Column("first_on", sa.Date, nullable=False),
    sa.Column("last_on", sa.Date, nullable=False),
    # The bins of size with transfers, ascending, and for each of them the bytes and the shortest duration.
    _array("size_bins", sa.SmallInteger),
    _array("size_bytes", sa.Numeric),
    sa.Column("shortest_s", sa.ARRAY(DOUBLE_PRECISION), nullable=False),
    # A histogram of sizes and durations, by pairs of bins: the bin of the duration, how many transfers there
    # are, and the bin of the size. Pairs with one transfer come last, and the counts end before them; each
    # of these two parts is ascending.
    _array("time_bins", sa.SmallInteger),
    _array("time_counts", sa.Integer),
    _array("time_size_bins", sa.SmallInteger),
    sa.CheckConstraint("span in ('day', 'month', 'year')", name="span"),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day, month or year with sizes and durations; derived",
)

request_cells = sa.Table(
    "request_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    sa.Column("span", sa.Text, primary_key=True),
    # The first day of the month or year, by the archive's own clock, as in `size_cells`.
    sa.Column("starts_on", sa.Date, primary_key=True),
    # Requests that moved a file and did not fail; in a simulated archive, once its run was steady.
    _sum("request_count"),
    _sum("below_clock_count"),
    _sum("negative_count"),
    # Histograms: the bins that have requests, and how many are in each of them, in the same way as in
    # `size_cells`.
    _array("size_bins", sa.SmallInteger),
    _array("size_counts", sa.Integer),
    _array("duration_bins", sa.SmallInteger),
    _array("duration_counts", sa.Integer),
    _array("wait_bins", sa.SmallInteger),
    _array("wait_counts", sa.Integer),
    sa.CheckConstraint("span in ('day', 'month', 'year')", name="span"),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day, month or year with requests; derived",
)

hit_cells = sa.Table(
    "hit_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    # By the archive's own clock.
    sa.Column("day", sa.Date, primary_key=True),
    # Gets that did not fail; in a simulated archive, once its run was steady. How many of them were staged.
    _sum("staged_count"),
    # What the logs say about where a file was, as numbers (`HIT_CODE` in `schema/writing/hit_cells.py`) that
    # are ascending, and for each of them how many gets there are, and their bytes.
    _array("codes", sa.BigInteger),
    _array("get_counts", sa.Integer),
    _array("size_bytes", sa.Numeric),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day of its archive with gets; derived",
)

user_cells = sa.Table(
    "user_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    sa.Column("span", sa.Text, primary_key=True),
    # The first day of the month or year, by the archive's own clock, as in `size_cells`.
    sa.Column("starts_on", sa.Date, primary_key=True),
    # The users with requests that moved a file and did not fail, and for each of them how many there are, and
    # their bytes. Users with one request come last, and the counts end before them, as in `size_cells`. The
    # name of a user may be forgotten, but the number stays.
    _array("user_ids", sa.Integer),
    _array("request_counts", sa.Integer),
    _array("size_bytes", sa.Numeric),
    sa.CheckConstraint("span in ('day', 'month', 'year')", name="span"),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day, month or year with requests of known users; derived",
)

open_cells = sa.Table(
    "open_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    sa.Column("span", sa.Text, primary_key=True),
    # The first day of the month or year, by the archive's own clock, as in `size_cells`.
    sa.Column("starts_on", sa.Date, primary_key=True),
    # Codes of open times, ascending, and for each of them how many requests that did not fail have it, and
    # the sum of their open times. `mart.open_entries` takes codes apart.
    _array("codes", sa.BigInteger),
    _array("request_counts", sa.Integer),
    _array("open_us", sa.Numeric),
    sa.CheckConstraint("span in ('day', 'month', 'year')", name="span"),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day, month or year with open times; derived",
)

stage_cells = sa.Table(
    "stage_cells",
    metadata,
    sa.Column("route_id", sa.Integer, sa.ForeignKey(routes.c.id), primary_key=True),
    sa.Column("span", sa.Text, primary_key=True),
    # The first day of the month or year, by the archive's own clock, as in `size_cells`.
    sa.Column("starts_on", sa.Date, primary_key=True),
    # Stages without a duration that succeeded, and those that failed.
    _sum("untimed_count"),
    _sum("untimed_failed_count"),
    # The bins of duration (`mart.time_bin`) that have stages, ascending, and how many succeeded in each of
    # them, and how many failed.
    _array("time_bins", sa.Integer),
    _array("stage_counts", sa.BigInteger),
    _array("failed_counts", sa.BigInteger),
    sa.CheckConstraint("span in ('day', 'month', 'year')", name="span"),
    schema="core",
    **_IN_ROWS,
    comment="One row per route and local day, month or year with stages; derived",
)

# The tables whose arrays stay in their rows.
ARRAYS_IN_ROWS = (
    *(day_cells, rate_months, hour_months, size_cells, request_cells),
    *(hit_cells, user_cells, open_cells, stage_cells),
)
