"""Facts that a line reports beyond its first one.

A record frame has one row per line, which is the line's first fact. A format whose lines report several facts
has a function `parse_further`, which returns a frame of the further ones: `row` (the line's position among
the texts, from 0), `ordinal` (within a line, from 1), `table`, and the other columns of `RECORD_SCHEMA`. The
facts of a line are either all new or all already held, and the line counts once in the balance. The frame may
also have `rejected`: the reason to reject the line because of that fact.

    2026-03-02T10:05:00 A00001 drive1 kim requested=10:00:00 positioned=10:00:40 bytes=1000

This line gives three facts of `tape_events`. The first one is the dismount at 10:05:00. The further facts,
with ordinals 1 and 2, are the mount request at 10:00:00 and the positioning at 10:00:40.

A line is written after everything that it reports has happened, so no further fact is later than the first
one. A format must not make several facts with the same table, time, file and user from one line, because the
code that pairs facts could not order them.
"""

import polars as pl

from tapewise.ingest.records.columns import NULLABLE_FLAGS, RECORD_SCHEMA
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    MAX_NAME_BYTES,
    MAX_SIZE_BYTES,
    NAME_TOO_LONG,
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    LineSettings,
)
from tapewise.ingest.records.passes import find_second_passes
from tapewise.schema.errors import FormatError
from tapewise.schema.tables.facts import event_time_columns

FURTHER_SCHEMA = {
    "row": pl.UInt32(),
    "ordinal": pl.Int16(),
    **{name: dtype for name, dtype in RECORD_SCHEMA.items() if name not in ("ignored", "rejected")},
}

LATER_THAN_LINE = "reports what is later than the line itself"


def settle_further(
    records: pl.DataFrame, further: pl.DataFrame, settings: LineSettings
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make `records` (from `parse`) and `further` facts of the same lines consistent, and return both.

    A line is rejected if one of its further facts has no time, a time outside the source's window or after
    the line's own time, or a name, size or number that would also be rejected in a record. Flags that are not
    set become false. Further facts are removed if their line is not a fact, or if they are from a time that
    the archive has forgotten. Raises FormatError for an invalid table or ordinal.
    """
    given = further["rejected"] if "rejected" in further.columns else pl.Series([None] * len(further))
    further = further.select(pl.col(name).cast(dtype) for name, dtype in FURTHER_SCHEMA.items())
    further = further.with_columns(given.cast(pl.String).alias("given"))
    wrong_tables = set(further["table"].unique()) - event_time_columns.keys()
    if wrong_tables or (further["ordinal"].fill_null(0) < 1).any():
        raise FormatError(
            f"a format gives further facts of {sorted(map(str, wrong_tables)) or 'ordinal 0'}",
            hint="`parse_further` must give a fact table, and ordinals from 1.",
        )
    flags = {name for name, dtype in RECORD_SCHEMA.items() if dtype == pl.Boolean()}
    further = further.with_columns(pl.col(*flags.difference(NULLABLE_FLAGS)).fill_null(value=False))
    own_at, is_repeated = (records[name].gather(further["row"]) for name in ("event_at", "is_time_ambiguous"))
    # If the line is in a repeated hour, it may belong to the second pass.
    latest_at = pl.when(is_repeated).then(find_second_passes(settings.timezone, own_at)).otherwise(own_at)
    further = further.with_columns(own_at=own_at, latest_at=latest_at).filter(pl.col("own_at").is_not_null())
    wrong = further.select("row", reason=pl.coalesce("given", _find_fault(settings))).drop_nulls()
    if wrong.height:
        reasons = wrong.unique("row", keep="first", maintain_order=True)
        records = _reject(records, reasons)
        further = further.join(reasons, on="row", how="anti", maintain_order="left")
    if settings.retained_since is not None:
        further = further.filter(
            pl.col("event_at") >= settings.retained_since, pl.col("own_at") >= settings.retained_since
        )
    return records, further.drop("own_at", "latest_at", "given")


def _find_fault(settings: LineSettings) -> pl.Expr:
    """Return the reason to reject a line because of a further fact; null if the fact is valid."""
    at = pl.col("event_at")
    return (
        pl.when(at.is_null())
        .then(pl.lit(NO_SUCH_TIME))
        .when(at < settings.earliest_at)
        .then(pl.lit(OUTSIDE_WINDOW))
        .when(at > pl.col("latest_at"))
        .then(pl.lit(LATER_THAN_LINE))
        .when(pl.col("size_bytes").is_between(0, MAX_SIZE_BYTES).not_())
        .then(pl.lit(SIZE_OUT_OF_RANGE))
        .when(pl.col("duration_s").is_between(0, MAX_DURATION_S).not_())
        .then(pl.lit(NUMBER_OUT_OF_RANGE))
        .when(pl.any_horizontal(pl.col("user", "host").str.len_bytes() > MAX_NAME_BYTES))
        .then(pl.lit(NAME_TOO_LONG))
    )


def _reject(records: pl.DataFrame, reasons: pl.DataFrame) -> pl.DataFrame:
    """Return `records`, with the lines in `reasons` (`row`, `reason`) rejected."""
    rejected = records.select(row=pl.int_range(pl.len(), dtype=pl.UInt32)).join(
        reasons, on="row", how="left", maintain_order="left"
    )["reason"]
    is_left = pl.lit(rejected.is_null())
    return records.with_columns(
        pl.coalesce("rejected", pl.lit(rejected)).alias(name)
        if name == "rejected"
        else pl.when(is_left).then(pl.col(name)).alias(name)
        for name in RECORD_SCHEMA
    )
