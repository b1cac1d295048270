"""Completes trace files, which may omit some columns or write them in other formats."""

from datetime import UTC, datetime

import polars as pl

from tapewise.schema.errors import TraceError

INTERFACE = "simulated"  # if a trace does not say which program moved a file
# When a trace file without `submitted_at` begins; this is a Thursday.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLOCKS_APART_US = 1_000_000  # allows one of the two time columns to be in whole seconds


def complete_trace(trace: pl.DataFrame) -> tuple[pl.DataFrame, datetime]:
    """Return a trace file's rows with all columns, and the moment at which `submitted_s` is 0.

    Without `submitted_at`, that moment is `EPOCH`. A missing `interface` becomes `simulated`. A get without
    `origin` reads from tape, unless the trace put its file earlier. File names become numbers. Raises
    TraceError for an empty trace, and for a `submitted_at` that has no time zone or contradicts
    `submitted_s`.
    """
    if trace.is_empty():
        raise TraceError("the trace has no requests")
    if "file" in trace.columns and trace.schema["file"] == pl.String:
        trace = trace.with_columns(file=pl.col("file").rank("dense").cast(pl.Int64))
    if "interface" not in trace.columns:
        trace = trace.with_columns(interface=pl.lit(INTERFACE))
    if "origin" not in trace.columns and "direction" in trace.columns:
        is_put = pl.col("direction") == "put"
        trace = trace.with_columns(origin=pl.when(is_put).then(pl.lit("put")).otherwise(pl.lit("tape")))
    if "submitted_at" not in trace.columns or "submitted_s" not in trace.columns:
        return trace, EPOCH
    return _place_in_utc(trace)


def _place_in_utc(trace: pl.DataFrame) -> tuple[pl.DataFrame, datetime]:
    """Return the trace with its `submitted_at` in UTC, and the moment at which `submitted_s` is 0."""
    at = trace["submitted_at"]
    if at.dtype == pl.String:
        # Accepts only times with Z or an offset, because otherwise the time zone is unknown.
        at = at.str.to_datetime("%+", time_unit="us", time_zone="UTC", strict=False)
    elif not isinstance(at.dtype, pl.Datetime) or at.dtype.time_zone is None:
        raise TraceError(f"the trace's submitted_at is of type {at.dtype}, which has no time zone")
    if at.null_count():
        row = int(at.is_null().arg_true()[0])
        raise TraceError(
            f"row {row + 1} of the trace: submitted_at {trace['submitted_at'][row]} is not a time with a"
            " time zone",
            hint="Write it as 1998-10-18T07:06:25Z, or omit the column.",
        )
    trace = trace.with_columns(submitted_at=at.cast(pl.Datetime("us", "UTC")))
    passed_us = (pl.col("submitted_s").cast(pl.Float64) * 1e6).round().cast(pl.Int64, strict=False)
    begins = trace.select(pl.col("submitted_at") - pl.duration(microseconds=passed_us)).to_series()
    began_at: datetime | None = begins[0]
    if began_at is None:  # `check_trace` reports the reason
        return trace, EPOCH
    away = ((begins - began_at).dt.total_microseconds().abs() > CLOCKS_APART_US).arg_true()
    if len(away):
        raise TraceError(
            f"row {away[0] + 1} of the trace: submitted_at {trace['submitted_at'][int(away[0])]} contradicts"
            f" submitted_s, which counts from {began_at}"
        )
    return trace, began_at
