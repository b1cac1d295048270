"""The tables of `studies`: workload models, simulation runs, and answers that are prepared."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB

from tapewise.schema.tables.columns import Timestamp, identity, instant, metadata
from tapewise.schema.tables.ledger import archives, sources

workload_models = sa.Table(
    "workload_models",
    metadata,
    identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id), nullable=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    # The second dimension, besides size: the time of the transfer itself, or the time to open the file.
    sa.Column("measure", sa.Text, nullable=False),
    instant("since", nullable=True),
    instant("until", nullable=True),
    sa.Column("criterion", sa.Text, nullable=False),
    # A request begins a new burst if its user made no request for this long before it.
    sa.Column("idle_s", DOUBLE_PRECISION, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    instant("fitted_at"),
    instant("first_ended_at"),
    instant("last_ended_at"),
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
    # The requests in classes. Requests without a size or time are in no class, and `set_apart` counts them by
    # reason.
    sa.Column("request_count", sa.BigInteger, nullable=False),
    sa.Column("set_apart", JSONB, nullable=False),
    # The criterion for each number of classes; null if there were too few distinct requests for that number.
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
    # Get requests that are known to have found, or not to have found, their file on disk.
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
    # Where the requests came from: an archive, a workload model or a file. The origin is stored by name, so a
    # run outlives it.
    sa.Column("demand", sa.Text, nullable=False),
    sa.Column("demand_name", sa.Text, nullable=False),
    sa.Column("demand_archive", sa.Text),
    sa.Column("demand_kind", sa.Text),
    sa.Column("options", JSONB, nullable=False),
    sa.Column("machine_title", sa.Text, nullable=False),
    sa.Column("machine", JSONB, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    instant("simulated_at"),
    # Times by the simulated clock; `steady_at` is null if the run never reached a steady state.
    instant("began_at"),
    instant("steady_at", nullable=True),
    instant("ended_at"),
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
    # No foreign key: fact tables have no key to refer to.
    sa.Column("transfer_id", sa.BigInteger, primary_key=True, autoincrement=False),
    # The whole time of the request, split by cause.
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

simulation_studies = sa.Table(
    "simulation_studies",
    metadata,
    identity(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    # Of everything that its runs depend on, besides the option and the seed. Only a study with the same
    # digest is continued.
    sa.Column("digest", sa.Text, nullable=False, unique=True),
    # As in `simulation_runs`: by name, so a study outlives its archive.
    sa.Column("demand", sa.Text, nullable=False),
    sa.Column("demand_name", sa.Text, nullable=False),
    sa.Column("demand_archive", sa.Text),
    sa.Column("demand_kind", sa.Text),
    sa.Column("options", JSONB, nullable=False),
    sa.Column("machine_title", sa.Text, nullable=False),
    sa.Column("machine", JSONB, nullable=False),
    sa.Column("program_version", sa.Text, nullable=False),
    instant("created_at"),
    sa.CheckConstraint("demand in ('archive', 'model', 'file')", name="demand"),
    sa.CheckConstraint("demand_kind in ('measured', 'synthetic', 'simulated')", name="demand_kind"),
    schema="studies",
    comment="One row per study: the requests, and the machine of which options were tried",
)

study_runs = sa.Table(
    "study_runs",
    metadata,
    sa.Column(
        "study_id",
        sa.Integer,
        sa.ForeignKey(simulation_studies.c.id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    # The changes as typed, by field; empty for the machine as in the file.
    sa.Column("option", sa.Text, primary_key=True),
    sa.Column("seed", sa.BigInteger, primary_key=True, autoincrement=False),
    # The changed fields, with the values that the machine has.
    sa.Column("changed", JSONB, nullable=False),
    # The results by name; null for what the machine or the requests do not have.
    sa.Column("figures", JSONB, nullable=False),
    sa.Column("is_warm", sa.Boolean, nullable=False),
    instant("ran_at"),
    schema="studies",
    comment="One row per run of a study: the figures of an option with a seed",
)

study_curves = sa.Table(
    "study_curves",
    metadata,
    sa.Column(
        "study_id",
        sa.Integer,
        sa.ForeignKey(simulation_studies.c.id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("policy", sa.Text, primary_key=True),
    sa.Column("capacity_bytes", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("get_count", sa.BigInteger, nullable=False),
    sa.Column("miss_count", sa.BigInteger, nullable=False),
    sa.Column("miss_bytes", sa.BigInteger, nullable=False),
    # Of the misses: those of the first get of a file in the log.
    sa.Column("first_count", sa.BigInteger, nullable=False),
    # Both are null without locks; the second also for rules other than LRU.
    sa.Column("crowded_count", sa.BigInteger),
    sa.Column("plain_miss_count", sa.BigInteger),
    sa.Column("options", JSONB, nullable=False),
    instant("replayed_at"),
    # '' for curves of a whole disk.
    sa.Column("pool", sa.Text, primary_key=True),
    # Null for curves kept before revision 0056; the second also without runs of the machine (--waits).
    sa.Column("too_large_count", sa.BigInteger),
    sa.Column("left_out_get_count", sa.BigInteger),
    schema="studies",
    comment="One row per study, pool, rule and size: what a disk or pool of that size would have missed",
)

file_recounts = sa.Table(
    "file_recounts",
    metadata,
    sa.Column(
        "archive_id",
        sa.Integer,
        sa.ForeignKey(archives.c.id, ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    # What was counted: the number of facts, and the first row number of the last load.
    sa.Column("event_count", sa.BigInteger, nullable=False),
    sa.Column("last_load_id", sa.BigInteger, nullable=False),
    instant("last_event_at", nullable=True),
    instant("computed_at"),
    schema="studies",
    comment="One row per archive whose files were counted by day, until facts of it are removed",
)

file_days = sa.Table(
    "file_days",
    metadata,
    sa.Column("source_id", sa.Integer, sa.ForeignKey(sources.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("interface", sa.Text, nullable=False),
    sa.Column("direction", sa.Text, nullable=False),
    sa.Column("class_of_service", sa.Text),
    # By the archive's own clock.
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("put_count", sa.BigInteger, nullable=False),
    sa.Column("copy_count", sa.BigInteger, nullable=False),
    sa.Column("deleted_count", sa.BigInteger, nullable=False),
    sa.Column("overwritten_count", sa.BigInteger, nullable=False),
    sa.Column("unknown_size_count", sa.BigInteger, nullable=False),
    sa.Column("new_name_count", sa.BigInteger, nullable=False),
    sa.Column("unnamed_count", sa.BigInteger, nullable=False),
    sa.Column("put_bytes", sa.Numeric, nullable=False),
    sa.Column("copied_bytes", sa.Numeric, nullable=False),
    sa.Column("deleted_bytes", sa.Numeric, nullable=False),
    sa.Column("overwritten_bytes", sa.Numeric, nullable=False),
    # A histogram of the ages of data that was read: the bins with gets, ascending, and in the other arrays
    # a sum for each of them. The last bin is null for gets of data of unknown age.
    sa.Column("age_bins", ARRAY(sa.SmallInteger), nullable=False),
    sa.Column("age_get_counts", ARRAY(sa.BigInteger), nullable=False),
    sa.Column("age_unknown_size_counts", ARRAY(sa.BigInteger), nullable=False),
    sa.Column("age_bytes", ARRAY(sa.Numeric), nullable=False),
    sa.UniqueConstraint(
        "source_id",
        "interface",
        "direction",
        "class_of_service",
        "day",
        name="file_days_source_id_key",
        postgresql_nulls_not_distinct=True,
    ),
    sa.CheckConstraint("direction in ('put', 'get')", name="direction"),
    schema="studies",
    comment="One row per route and local day of its archive with events of files; derived",
)

# Answers of `mart.lower_envelopes` and `mart.residual_blocks` for many transfers, computed by
# `tapewise refresh`. The arguments are those of the functions; null means all.
envelope_preparations = sa.Table(
    "envelope_preparations",
    metadata,
    identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id, ondelete="CASCADE"), nullable=False),
    instant("since", nullable=True),
    instant("until", nullable=True),
    sa.Column("client", sa.Text),
    sa.Column("class_of_service", sa.Text),
    # What the day cells of these days and this class counted, all clients included. If they count more now,
    # the answer is out of date.
    sa.Column("counted", sa.BigInteger, nullable=False),
    # The transfers that were read.
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    instant("first_ended_at", nullable=True),
    instant("last_ended_at", nullable=True),
    sa.Column("took_s", DOUBLE_PRECISION, nullable=False),
    instant("computed_at"),
    sa.UniqueConstraint(
        "archive_id",
        "since",
        "until",
        "client",
        "class_of_service",
        name="envelope_preparations_archive_id_key",
        postgresql_nulls_not_distinct=True,
    ),
    schema="studies",
    comment="One row per archive, range, client and class of service whose envelopes and residuals are kept",
)


def _prepared(table: str, comment: str, *columns: sa.schema.SchemaItem) -> sa.Table:
    """A table of kept answers: rows of a function of mart, without what the preparation says."""
    return sa.Table(
        table,
        metadata,
        sa.Column(
            "preparation_id",
            sa.Integer,
            sa.ForeignKey(envelope_preparations.c.id, ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("interface", sa.Text, nullable=False),
        sa.Column("direction", sa.Text, nullable=False),
        *columns,
        schema="studies",
        comment=comment,
    )


prepared_envelopes = _prepared(
    "prepared_envelopes",
    "One row per kept line of a lower envelope; the other statistics follow from these",
    sa.Column("stratum_size", sa.Integer, nullable=False),
    sa.Column("stratum_count", sa.BigInteger, nullable=False),
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("filtered_count", sa.BigInteger, nullable=False),
    sa.Column("latency_s", DOUBLE_PRECISION),
    sa.Column("slope_s_per_byte", DOUBLE_PRECISION),
    sa.Column("latency_se_s", DOUBLE_PRECISION),
    sa.Column("slope_se_s_per_byte", DOUBLE_PRECISION),
    sa.Column("regression_squares_s2", DOUBLE_PRECISION),
    sa.Column("residual_squares_s2", DOUBLE_PRECISION),
    sa.PrimaryKeyConstraint("preparation_id", "interface", "direction"),
)

prepared_blocks = _prepared(
    "prepared_blocks",
    "One row per kept block of residuals",
    sa.Column("block_size", sa.Integer, nullable=False),
    # Null for the outliers.
    sa.Column("block", sa.BigInteger),
    sa.Column("transfer_count", sa.BigInteger, nullable=False),
    sa.Column("smallest_bytes", sa.BigInteger, nullable=False),
    sa.Column("mean_bytes", DOUBLE_PRECISION, nullable=False),
    sa.Column("largest_bytes", sa.BigInteger, nullable=False),
    sa.Column("mean_residual_s", DOUBLE_PRECISION),
    sa.Column("p99_residual_s", DOUBLE_PRECISION),
    sa.Column("is_outlier", sa.Boolean, nullable=False),
    sa.Column("is_full", sa.Boolean, nullable=False),
    sa.UniqueConstraint(
        "preparation_id",
        "interface",
        "direction",
        "block",
        name="prepared_blocks_preparation_id_key",
        postgresql_nulls_not_distinct=True,
    ),
)

# Answers of functions of `mart` that take long, computed by `tapewise refresh`.
kept_answers = sa.Table(
    "kept_answers",
    metadata,
    identity(),
    sa.Column("archive_id", sa.Integer, sa.ForeignKey(archives.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("function_name", sa.Text, nullable=False),
    # All arguments but the archive, without those that are null.
    sa.Column("arguments", JSONB, nullable=False),
    # What the archive held, as `mart.archive_states` describes it. If it holds anything else now, the answer
    # is not used.
    sa.Column("state", sa.Text, nullable=False),
    # An array of objects, one per row.
    sa.Column("answer", JSONB, nullable=False),
    sa.Column("took_s", DOUBLE_PRECISION, nullable=False),
    instant("computed_at"),
    # Whether the rows have names of accounts or paths, which not every reader may see.
    sa.Column("has_names", sa.Boolean, nullable=False),
    sa.UniqueConstraint("archive_id", "function_name", "arguments", name="kept_answers_archive_id_key"),
    schema="studies",
    comment="One row per archive, function of mart and arguments whose answer is kept",
)
