"""A format's example lines and the records they become, to show people how a log is read."""

from datetime import UTC, date, datetime
from typing import Any

import polars as pl

from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.sources.sources import EARLIEST_AT

EXAMPLE_DATE = date(1997, 11, 5)


def read_examples(log_format: Format) -> list[tuple[str, dict[str, Any]]]:
    """Each example line with the fields of its record that are neither null nor false; times are in UTC.

    Lines without a date are read as of `EXAMPLE_DATE`.
    """
    settings = LineSettings(
        "UTC",
        log_format.clock_resolution_s,
        EARLIEST_AT,
        datetime.max.replace(tzinfo=UTC),
        log_date=EXAMPLE_DATE if log_format.is_dated_by_file else None,
    )
    records = log_format.parse(pl.Series("text", log_format.examples), settings)
    return [
        (line, {name: value for name, value in record.items() if value is not None and value is not False})
        for line, record in zip(log_format.examples, records.iter_rows(named=True), strict=True)
    ]
