"""Converts records of lines into rows of the fact tables."""

import polars as pl
import sqlalchemy as sa

from tapewise.ingest.pseudonyms.file_keys import FileKeys
from tapewise.ingest.sources.sources import Source
from tapewise.schema.tables.facts import event_time_columns
from tapewise.schema.writing.loader import frame_schema
from tapewise.schema.writing.names import NameTable


def make_facts(
    records: pl.DataFrame,
    table: sa.Table,
    source: Source,
    users: NameTable,
    hosts: NameTable,
    file_keys: FileKeys,
) -> pl.DataFrame:
    """Return the rows of `table` for `records`, without their `id`.

    `records` is a numbered record frame (`tapewise.ingest.reading.pipeline`) with rows of that table only,
    and with their `log_file_id`.
    New names of users and hosts are added to the warehouse. If the log does not say when something started,
    the start is the end minus the duration, provided that the time of day is known. A file's key is made from
    its path in the archive, or from its capability. If only the failures of the source are counted, they get
    another interface.
    """
    start = pl.col("started_at")
    is_day_only = "is_time_of_day_unknown"
    is_end_known = ~pl.col(is_day_only) if is_day_only in table.columns else pl.lit(True)
    if "duration_s" in table.columns:
        duration = pl.duration(microseconds=(pl.col("duration_s") * 1e6).round().cast(pl.Int64))
        start = pl.coalesce(start, pl.when(is_end_known).then(pl.col("event_at") - duration))
    interface = pl.col("interface")
    if table.name == "transfers" and source.failures_as is not None:
        interface = pl.when(~pl.col("is_failed")).then(interface).otherwise(pl.lit(source.failures_as))
    values = {
        "interface": interface,
        "user_id": pl.lit(users.resolve(records["user"])),
        "host_id": pl.lit(hosts.resolve(records["host"])),
        event_time_columns[table.name]: pl.col("event_at"),
        "archive_id": pl.lit(source.archive_id),
        "source_id": pl.lit(source.id),
        "started_at": start,
        "file_key": file_keys.make(pl.col("archive_path")),
        "new_file_key": file_keys.make(pl.col("new_archive_path")),
        "capability_key": file_keys.make(pl.col("capability")),
        "ordinal": pl.col("ordinal") if "ordinal" in records.columns else pl.lit(0),
    }
    return records.select(
        values.get(name, pl.col(name)).cast(dtype).alias(name)
        for name, dtype in frame_schema(table).items()
        if name != "id"
    )
