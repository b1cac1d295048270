"""What a line reports beyond its first fact: one line can give several facts.

A record frame has a row per line, and so its first fact. A format whose lines give more has `parse_further`,
which gives a frame of the others: `row` (the line's place among the texts, from 0), `ordinal` (from 1 up
within a line), `table`, and the other columns of `RECORD_SCHEMA`. All facts of a line are new or held
together, and the line counts once in the balance.

    2026-03-02 10:05:00 session tape=A00001 mounted=10:00:12 files=31
    a record of table `mounts`-like facts at 10:05:00, and a further one at 10:00:12 with ordinal 1

A line is written when what it reports is over, so no further fact is later than the first one.
"""

import polars as pl

from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import OUTSIDE_WINDOW, LineSettings

FURTHER_SCHEMA = {
    "row": pl.UInt32(),
    "ordinal": pl.Int16(),
    **{name: dtype for name, dtype in RECORD_SCHEMA.items() if name not in ("ignored", "rejected")},
}

LATER_THAN_LINE = "reports what is later than the line itself"


def settle_further(
    records: pl.DataFrame, further: pl.DataFrame, settings: LineSettings
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`records` as of `parse` and `further` of the same lines, made to agree.

    A line is rejected if a further fact is outside the source's window, or later than its first one. Further
    facts of lines that are no facts go, and those from before what the archive has forgotten.
    """
    further = further.select(pl.col(name).cast(dtype) for name, dtype in FURTHER_SCHEMA.items())
    own_at = records["event_at"].gather(further["row"])
    further = further.with_columns(own_at=own_at).filter(pl.col("own_at").is_not_null())
    wrong = further.select(
        "row",
        reason=pl.when(
            ~pl.col("event_at").is_between(settings.earliest_at, settings.latest_at, closed="left")
            | pl.col("event_at").is_null()
        )
        .then(pl.lit(OUTSIDE_WINDOW))
        .when(pl.col("event_at") > pl.col("own_at"))
        .then(pl.lit(LATER_THAN_LINE)),
    ).drop_nulls()
    if wrong.height:
        reasons = wrong.unique("row", keep="first", maintain_order=True)
        records = _reject(records, reasons)
        further = further.join(reasons, on="row", how="anti", maintain_order="left")
    if settings.retained_since is not None:
        further = further.filter(
            pl.col("event_at") >= settings.retained_since, pl.col("own_at") >= settings.retained_since
        )
    return records, further.drop("own_at")


def _reject(records: pl.DataFrame, reasons: pl.DataFrame) -> pl.DataFrame:
    """`records` with the lines of `reasons` (`row`, `reason`) rejected."""
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
