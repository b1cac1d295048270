"""A syslog-like format, for tests of lines without a year: `Mar  5 09:14:22 anna cray put 1000 1.5`."""

import polars as pl

from tapewise.ingest.records.fields import bare_lines, decimal_number, whole_number, with_fates
from tapewise.ingest.records.format import Format, LineSettings, complete_records, event_time
from tapewise.ingest.records.yearless import yearless_time

LINE = (
    r"^(?<stamp>[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}) (?<user>[a-z]+) (?<host>[a-z]+) (?<direction>put|get)"
    r" (?<size_text>[0-9]+) (?<duration_text>[0-9.]+)$"
)


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            local=yearless_time(pl.col("stamp"), "%b %e %H:%M:%S", settings),
            size_bytes=whole_number(pl.col("size_text")),
            duration_s=decimal_number(pl.col("duration_text")),
            interface=pl.lit("test"),
            operation=pl.col("direction"),
        )
    )
    return complete_records(
        len(lines),
        with_fates(
            records,
            is_line=pl.col("user").is_not_null(),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=pl.lit(value=False),
            table=pl.lit("transfers"),
        ),
    )


YEARLESS = Format(
    name="yearless",
    title="for tests",
    version=1,
    clock_resolution_s=1.0,
    examples=("Mar  5 09:14:22 anna cray put 1000 1.5",),
    parse=parse,
    is_dated_by_file=True,
    is_year_by_file=True,
)
