"""The columns of a record frame, and which of them hold names."""

from typing import Literal

import polars as pl

from tapewise.schema.tables.facts import MOUNT_STEPS

UTC_TIME = pl.Datetime("us", "UTC")

RECORD_SCHEMA: dict[str, pl.DataType] = {
    # fate: exactly one of the three
    "table": pl.String(),
    "ignored": pl.String(),
    "rejected": pl.String(),
    # every fact
    "event_at": UTC_TIME,
    "interface": pl.String(),
    "operation": pl.String(),
    "user": pl.String(),
    "host": pl.String(),
    "class_of_service": pl.String(),
    "account": pl.String(),
    "status_code": pl.Int32(),
    "is_failed": pl.Boolean(),
    "is_time_ambiguous": pl.Boolean(),
    # transfers and opens
    "direction": pl.String(),
    "open_s": pl.Float64(),
    "archive_path": pl.String(),
    "server": pl.String(),
    # transfers and name-space events
    "duration_s": pl.Float64(),
    "size_bytes": pl.Int64(),
    # transfers
    "rate_bytes_per_s": pl.Float64(),
    "client_path": pl.String(),
    "seek_s": pl.Float64(),
    "status_text": pl.String(),
    "is_duration_coarse": pl.Boolean(),
    "is_duration_below_clock": pl.Boolean(),
    "is_size_saturated": pl.Boolean(),
    "is_rate_inconsistent": pl.Boolean(),
    # name-space events; events of tapes, catalogues and stages have a kind too
    "kind": pl.String(),
    "new_archive_path": pl.String(),
    # UniTree's jobs; transfers and stages have the persona too
    "persona": pl.Int32(),
    "session_number": pl.Int32(),
    "job_number": pl.Int32(),
    "started_at": UTC_TIME,
    "description": pl.String(),
    "is_start_after_end": pl.Boolean(),
    # starts of transfers and opens: whether the file was on disk
    "is_cached": pl.Boolean(),
    # starts of transfers; tape events have the capability too
    "capability": pl.String(),
    "copy_count": pl.Int32(),
    "network": pl.String(),
    # tape events; totals of a mount, stages and migrations have some of these columns too
    "task": pl.String(),
    "requester": pl.String(),
    "location": pl.String(),
    "copy_number": pl.Int32(),
    "fragment_number": pl.Int32(),
    "vsn": pl.String(),
    "tape_type": pl.String(),
    "drive": pl.String(),
    "block_offset": pl.Int64(),
    # a site's daily report
    "reported_on": pl.Date(),
    "system": pl.String(),
    "item": pl.String(),
    "part": pl.String(),
    "figures": pl.String(),
    "is_total": pl.Boolean(),
    # stages and migrations
    "queue_s": pl.Float64(),
    # sessions of the Storage Resource Broker
    "storage_type": pl.String(),
    "open_type": pl.String(),
    "session_s": pl.Float64(),
    "read_count": pl.Int64(),
    "read_bytes": pl.Int64(),
    "write_count": pl.Int64(),
    "written_bytes": pl.Int64(),
    "seek_count": pl.Int64(),
    # the flag that only the day of the event is known
    "is_time_of_day_unknown": pl.Boolean(),
    # totals of a mount
    "mount_key": pl.String(),
    "is_mounted": pl.Boolean(),
    "file_count": pl.Int64(),
    **{name: pl.Float64() for name in MOUNT_STEPS},
    # listings of a catalogue
    "state": pl.String(),
    "is_full": pl.Boolean(),
    "is_up": pl.Boolean(),
    "capacity_bytes": pl.Int64(),
    # reads through a cache
    "hit_bytes": pl.Int64(),
    "missed_bytes": pl.Int64(),
    "bypassed_bytes": pl.Int64(),
}
# Flags that are null unless the line sets them. All other flags are false by default.
NULLABLE_FLAGS = ("is_cached", "is_mounted", "is_full", "is_up")

# Columns with names of people, machines and files, which can be hidden for a source
# (`ingest/pseudonyms/hiding.py`). Each contains a name, a path, words (a command with its options and names),
# or a log's message about a failure. A test checks that every text column is listed here or below.
NAME_COLUMNS: dict[str, Literal["name", "path", "words", "status"]] = {
    "user": "name",
    "host": "name",
    "account": "name",
    "archive_path": "path",
    "client_path": "path",
    "new_archive_path": "path",
    "status_text": "status",
    "description": "words",
    "capability": "name",
    "network": "name",
    "server": "name",
}
# Columns with terms that come from programs and from the site's configuration.
NAMELESS_COLUMNS = (
    "table",
    "ignored",
    "rejected",
    "interface",
    "operation",  # but see `Format.is_host_in_operation`
    "class_of_service",
    "direction",
    "kind",
    "task",
    "requester",
    "location",
    "vsn",
    "tape_type",
    "drive",
    "system",
    "item",  # names that may have to be hidden are in `user` or `host`
    "part",
    "figures",
    "storage_type",
    "open_type",
    "mount_key",
    "state",
)
