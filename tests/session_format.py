"""A test format with several facts per line. Each line is written at the end of a drive's session.

    2026-03-02T10:05:00 A00001 drive1 kim requested=10:00:00 positioned=10:00:40 bytes=1000

The first fact of this line is the dismount. The others are the mount request and the positioning before it.
"""

import polars as pl

from tapewise.ingest.records.fields import bare_lines, with_fates
from tapewise.ingest.records.format import Format, LineSettings, complete_records, event_time
from tapewise.ingest.records.further_facts import FURTHER_SCHEMA

LINE = (
    r"^(?<day>\d{4}-\d\d-\d\d)T(?<clock>\d\d:\d\d:\d\d) (?<vsn>[A-Z0-9]+) (?<drive>[a-z0-9]+) (?<user>[a-z]+)"
    r" requested=(?<requested>[0-9:]+) positioned=(?<positioned>[0-9:]+) bytes=(?<size_text>[0-9]+)$"
)


def _split(lines: pl.Series) -> pl.LazyFrame:
    return (
        bare_lines(lines)
        .lazy()
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
    )


def _at(clock: str) -> pl.Expr:
    return pl.concat_str("day", pl.lit(" "), clock).str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    records = _split(lines).with_columns(
        local=_at("clock"),
        interface=pl.lit("test"),
        operation=pl.lit("session"),
        kind=pl.lit("dismounted"),
        host=pl.lit(None, pl.String),
        size_bytes=pl.col("size_text").cast(pl.Int64, strict=False),
    )
    return complete_records(
        len(lines),
        with_fates(
            records,
            is_line=pl.col("vsn").is_not_null(),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=pl.lit(value=False),
            table=pl.lit("tape_events"),
        ),
    )


def parse_further(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    rows = _split(lines).with_row_index("row").filter(pl.col("vsn").is_not_null())
    parts = []
    for ordinal, (clock, kind) in enumerate((("requested", "mount requested"), ("positioned", "positioned"))):
        time = event_time(_at(clock), settings)
        parts.append(
            rows.with_columns(
                ordinal=pl.lit(ordinal + 1),
                table=pl.lit("tape_events"),
                event_at=time.at,
                is_time_ambiguous=time.is_ambiguous,
                interface=pl.lit("test"),
                operation=pl.lit("session"),
                kind=pl.lit(kind),
            )
        )
    found = pl.concat(parts)
    known = found.collect_schema()
    return found.select(
        pl.col(name).cast(dtype) if name in known else pl.lit(None, dtype).alias(name)
        for name, dtype in FURTHER_SCHEMA.items()
    ).collect()


SESSIONS = Format(
    name="sessions",
    title="for tests",
    version=1,
    clock_resolution_s=1.0,
    examples=("2026-03-02T10:05:00 A00001 drive1 kim requested=10:00:00 positioned=10:00:40 bytes=1000",),
    parse=parse,
    parse_further=parse_further,
)
