"""A format's example lines and the records they become, to show people how a log is read."""

from datetime import UTC, date, datetime
from typing import Any

import polars as pl

from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.records.further_facts import FURTHER_SCHEMA
from tapewise.ingest.sources.sources import EARLIEST_AT

EXAMPLE_DATE = date(1997, 11, 5)


def read_examples(log_format: Format) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each example line with its record, and its further facts; times are in UTC.

    These have the fields that are neither null nor false. Lines without a date are read as of `EXAMPLE_DATE`.
    """
    settings = LineSettings(
        "UTC",
        log_format.clock_resolution_s,
        EARLIEST_AT,
        datetime.max.replace(tzinfo=UTC),
        log_date=EXAMPLE_DATE if log_format.is_dated_by_file else None,
    )
    lines = pl.Series("text", log_format.examples)
    found = [[record] for record in log_format.parse(lines, settings).to_dicts()]
    if log_format.parse_further is not None:
        for fact in log_format.parse_further(lines, settings).select(*FURTHER_SCHEMA).to_dicts():
            del fact["ordinal"]
            found[fact.pop("row")].append(fact)
    return [(line, [_leave_out(fact) for fact in facts]) for line, facts in zip(lines, found, strict=True)]


def _leave_out(fact: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fact.items() if value is not None and value is not False}
