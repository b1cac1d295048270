"""The archives, their names and sources, and the tables of `ledger`: what was read, and what became of it."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION, JSONB, UUID

from tapewise.schema.tables.columns import Timestamp, identity, instant, metadata

archives = sa.Table(
    "archives",
    metadata,
    identity(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("timezone", sa.Text, nullable=False),
    sa.Column("created_at", Timestamp, nullable=False, server_default=sa.func.now()),
    # Detail before this time is forgotten (`tapewise forget`): activity cells remain, but no facts.
    instant("retained_since", nullable=True),
    # Whether the rollups by local day also count each client of its own (`tapewise archives clients`).
    sa.Column("has_client_cells", sa.Boolean, nullable=False, server_default=sa.false()),
    # The first local day of which clients are counted, if the detail of earlier days was forgotten before.
    sa.Column("client_cells_since", sa.Date),
    sa.CheckConstraint("kind in ('measured', 'synthetic', 'simulated')", name="kind"),
    schema="core",
    comment="One row per archive; what speaks of days or hours counts them in its timezone",
    # By default, so small a table is never analyzed, and plans that do not know its size are twice as slow.
    postgresql_with={"autovacuum_analyze_scale_factor": 0, "autovacuum_analyze_threshold": 0},
)


def _names(table: str, comment: str) -> sa.Table:
    return sa.Table(
        table,
        metadata,
        identity(),
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
    identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("timezone", sa.Text, nullable=False),
    # The resolution of the log's durations; lines with coarser durations are flagged.
    sa.Column("clock_resolution_s", DOUBLE_PRECISION, nullable=False),
    # False if another source of the archive reports the same transfers and is counted instead.
    sa.Column("is_counted", sa.Boolean, nullable=False),
    instant("earliest_at"),
    instant("latest_at", nullable=True),
    sa.Column("created_at", Timestamp, nullable=False, server_default=sa.func.now()),
    # Identifies the key that turns names into pseudonyms, without revealing it. Null: names are kept.
    sa.Column("pseudonym_key_id", sa.Text),
    # The TOML text that describes a site's own format; null: the format's name identifies it.
    sa.Column("layout_text", sa.Text),
    # True if its files also contain lines in other sources' formats. A line that one source has loaded is not
    # loaded by another.
    sa.Column("is_shared", sa.Boolean, nullable=False, server_default=sa.false()),
    # The fact tables for which the log reports failures. For others, failed attempts are unknown.
    sa.Column("failure_tables", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
    # Even if the source is not counted, its failed transfers count under this interface, because the counted
    # log does not report them. Null if they do not count.
    sa.Column("failures_as", sa.Text),
    # True if its transfers are reads and writes within files, and none of them creates or fetches a file.
    sa.Column("is_of_parts", sa.Boolean, nullable=False, server_default=sa.false()),
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
    # The digest of the first `read_bytes` decompressed bytes, which is the part that has been read.
    sa.Column("content_digest", sa.Text, nullable=False),
    sa.Column("read_bytes", sa.BigInteger, nullable=False),
    sa.Column("waiting_bytes", sa.BigInteger, nullable=False),
    sa.Column("format_version", sa.Integer, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    instant("first_read_at"),
    instant("last_read_at"),
    instant("first_event_at", nullable=True),
    instant("last_event_at", nullable=True),
    sa.Column("line_count", sa.BigInteger, nullable=False),
    sa.Column("loaded_count", sa.BigInteger, nullable=False),
    sa.Column("held_count", sa.BigInteger, nullable=False),
    sa.Column("ignored_count", sa.BigInteger, nullable=False),
    sa.Column("rejected_count", sa.BigInteger, nullable=False),
    # The date of the lines, if they give only the time of day.
    sa.Column("log_date", sa.Date),
    # The file's identity, as reported by the system before the first byte was read; null: unknown. A file
    # with the same identity is not opened again. Device and inode numbers are unsigned.
    sa.Column("device", sa.Numeric(20, 0)),
    sa.Column("inode", sa.Numeric(20, 0)),
    sa.Column("size_bytes", sa.BigInteger),
    sa.Column("ctime_ns", sa.BigInteger),
    # Where `log_date` comes from, such as the file's name; null: not recorded, or there is no such date.
    sa.Column("log_date_from", sa.Text),
    sa.CheckConstraint(
        "line_count = loaded_count + held_count + ignored_count + rejected_count", name="balance"
    ),
    sa.CheckConstraint("least(loaded_count, held_count, ignored_count, rejected_count) >= 0", name="counts"),
    sa.Index("log_files_source_id_path_idx", "source_id", "path"),
    schema="ledger",
    comment="One row per log file (a path and what stood there); a file that has grown keeps its row",
)

# Copies, rotated files and grown files contain pieces that were read before. These are recognised by their
# digests and not parsed again.
segments = sa.Table(
    "segments",
    metadata,
    sa.Column("log_file_id", sa.Integer, sa.ForeignKey(log_files.c.id), primary_key=True),
    sa.Column("first_line_number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("source_id", sa.Integer, sa.ForeignKey(sources.c.id), nullable=False),
    sa.Column("digest", UUID, nullable=False),
    sa.Column("line_count", sa.Integer, nullable=False),
    sa.Column("fact_count", sa.Integer, nullable=False),
    # Counts by reason.
    sa.Column("ignored_counts", JSONB, nullable=False),
    sa.Column("rejected_counts", JSONB, nullable=False),
    instant("first_event_at", nullable=True),
    instant("last_event_at", nullable=True),
    sa.Index("segments_source_id_digest_idx", "source_id", "digest"),
    schema="ledger",
    comment="One row per piece of a log file whose lines are known: what became of them stands here in sum",
)

# This table is filled by the upgrade that creates it, included in backups, and never shown to a reading role.
secrets = sa.Table(
    "secrets",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("secret", sa.Text, nullable=False),
    schema="ledger",
    comment="One row per secret of the warehouse: with 'file keys', paths become the keys of files",
)

# Anybody who may connect could take an advisory lock, but only the loader can lock this table.
rounds = sa.Table(
    "rounds",
    metadata,
    schema="ledger",
    comment="Never has a row: who reads all sources in turn locks it, so that nobody else does",
)

# There are no foreign keys, because they would be checked row by row. Commands that delete log files delete
# these rows by source.
landmarks = sa.Table(
    "landmarks",
    metadata,
    sa.Column("source_id", sa.Integer, primary_key=True, autoincrement=False),
    # The digest of four consecutive lines, and of the file's date if lines have none.
    sa.Column("digest", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("log_file_id", sa.Integer, nullable=False),
    # One bit for each of the four lines, set if the line is a fact. The lowest bit is for the first line.
    sa.Column("fact_lines", sa.SmallInteger, nullable=False),
    schema="ledger",
    comment="One row per place of a source's log files by which copies are found in other sources",
)

# Makes it possible to find and recount the rows that a load wrote to one month, and perhaps one day to move
# them to other storage. There are no foreign keys, for the same reason as in `landmarks`.
loaded_rows = sa.Table(
    "loaded_rows",
    metadata,
    sa.Column("log_file_id", sa.Integer, primary_key=True, autoincrement=False),
    # The number of the first row that the load wrote. Loads of an archive never overlap, so all rows of later
    # loads have larger numbers.
    sa.Column("load_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("fact_table", sa.Text, primary_key=True),
    # The first day of the month (UTC).
    sa.Column("month", sa.Date, primary_key=True),
    sa.Column("source_id", sa.Integer, nullable=False),
    sa.Column("row_count", sa.BigInteger, nullable=False),
    # The columns that may be null, but have a value in at least one of these rows. Also 'kind delete' and so
    # on for name-space events, 'failed' if a transfer failed, and 'failed size_bytes' if one of those has a
    # size.
    sa.Column("filled_columns", sa.ARRAY(sa.Text), nullable=False),
    sa.CheckConstraint("row_count >= 0", name="row_count"),
    sa.Index("loaded_rows_source_id_month_idx", "source_id", "month"),
    schema="ledger",
    comment="One row per load, table of facts and month: how many rows the load wrote there",
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
