"""Lines from a period that the archive has forgotten are ignored, whatever their format."""

from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import BEFORE_RETENTION, LineSettings, ignore_forgotten

SETTINGS = LineSettings(
    timezone="UTC",
    clock_resolution_s=1,
    earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
    latest_at=datetime(2100, 1, 1, tzinfo=UTC),
    log_date=date(2004, 6, 30),
)


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_forgotten_facts_keep_only_their_new_fate(format_name: str) -> None:
    log_format = find_format(format_name)
    lines = pl.Series([*log_format.examples, "", "broken"])
    records = log_format.parse(lines, SETTINGS)
    times = sorted(records["event_at"].drop_nulls())
    assert times
    for since in (times[0], times[len(times) // 2], times[-1], times[-1] + timedelta(microseconds=1)):
        settings = LineSettings(**vars(SETTINGS) | {"retained_since": since})
        found = ignore_forgotten(records, settings)
        assert dict(found.schema) == RECORD_SCHEMA
        is_old = (records["event_at"] < since).fill_null(value=False)
        assert found.filter(~is_old).equals(records.filter(~is_old))
        old = found.filter(is_old)
        assert old["ignored"].to_list() == [BEFORE_RETENTION] * is_old.sum()
        assert old.drop("ignored").null_count().transpose().to_series().unique().to_list() == [old.height]
    assert ignore_forgotten(records, SETTINGS) is records
