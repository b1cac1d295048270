"""The two possible times of a clock reading in the hour that is repeated when summer time ends."""

from typing import Literal

import polars as pl

from tapewise.ingest.records.columns import UTC_TIME


def find_first_passes(zone: str, times: pl.Series) -> pl.Series:
    """Return the earliest times (UTC) at which clocks in `zone` show the same as at `times` (UTC)."""
    return _replace_zone(zone, times, "earliest")


def find_second_passes(zone: str, times: pl.Series) -> pl.Series:
    """Return the latest times (UTC) at which clocks in `zone` show the same as at `times` (UTC)."""
    return _replace_zone(zone, times, "latest")


def _replace_zone(zone: str, times: pl.Series, which: Literal["earliest", "latest"]) -> pl.Series:
    local = times.cast(UTC_TIME).dt.convert_time_zone(zone).dt.replace_time_zone(None)
    return local.dt.replace_time_zone(zone, ambiguous=which).dt.convert_time_zone("UTC")
