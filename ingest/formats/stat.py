"""STAT: what UniTree did for its jobs: files moved, and files staged from tape.

    97/11/05 14:07:31.383 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds

= date and time at the end, persona (which ties the line to a job of the COND log), what was done: source
and destination machine, bytes, seconds. `s` is the archive, so this is a put by machine `k`:

    event_at 1997-11-05 22:07:31.383 UTC (in California), interface unitree, direction put,
    operation transfer, persona 2360, host k, size_bytes 34713600, duration_s 25.115

What failed brings the error codes of source and sink: the first is `status_code`, all of it `status_text`.

    97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)

A file that had to come from tape brings a line of its own, before its transfer: a stage, in whole
seconds and without a size.

    97/11/05 14:35:01.060 3298  File staged in 180 seconds

As in the NFT log, what goes from `s` to `s` is a copy inside the archive, and where neither is `s` no archive
is involved. The same transfers stand in the NFT log: say `--not-counted` for one of the two.
"""

import polars as pl

from ingest.formats.base import (
    MAX_DURATION_S,
    NO_ARCHIVE,
    Format,
    LineSettings,
    complete_records,
    event_time,
)
from ingest.formats.fields import (
    DECIMAL,
    bare_lines,
    clock_time,
    decimal_number,
    exceeds,
    posix_century,
    text_or_null,
    whole_number,
    with_fates,
)

LINE = (
    r"^(?<year>[0-9]{2})/(?<day>[0-9]{2}/[0-9]{2}) +(?<clock>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)"
    r" +(?<persona_text>[0-9]+) +File +(?:(?<verb>transfer|failure) +\((?<from>[A-Za-z])-(?<to>[A-Za-z])\)"
    rf" +(?<size_text>[0-9]+) +bytes|(?<staged>staged)) +in +(?<duration_text>{DECIMAL}) +seconds"
    r"(?: +(?<status_text>.*?))? *$"
)
ARCHIVE = "s"
MAX_PERSONA = 2**31 - 1


def _local_time() -> pl.Expr:
    year = pl.col("year")
    text = pl.concat_str(
        [posix_century(year), year, pl.lit("/"), pl.col("day"), pl.lit(" "), pl.col("clock")]
    )
    return clock_time(text, "%Y/%m/%d %H:%M:%S%.f")


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """The record frame of STAT lines; the module's docstring shows them and their records."""
    is_put, is_get = pl.col("to") == ARCHIVE, pl.col("from") == ARCHIVE
    is_staged = pl.col("staged").is_not_null()
    is_copy = (is_put & is_get).fill_null(False)
    duration_s = pl.col("duration_s")
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            local=_local_time(),
            size_bytes=whole_number(pl.col("size_text")),
            duration_s=decimal_number(pl.col("duration_text")),
            persona=whole_number(pl.col("persona_text")),
            status_text=text_or_null(pl.col("status_text")),
            user=pl.lit(None, dtype=pl.String),
        )
        .with_columns(
            interface=pl.lit("unitree"),
            operation=pl.coalesce("verb", "staged"),
            status_code=pl.col("status_text").str.extract("^(-?[0-9]+)(?: |$)").cast(pl.Int32, strict=False),
            is_failed=(pl.col("verb") == "failure").fill_null(False),
            direction=pl.when(~is_copy).then(
                pl.when(is_put).then(pl.lit("put")).when(is_get).then(pl.lit("get"))
            ),
            host=pl.when(~is_copy).then(pl.when(is_put).then("from").otherwise("to")),
            kind=pl.when(is_copy).then(pl.lit("copy")),
            is_duration_coarse=(is_staged & (duration_s == duration_s.floor())).fill_null(False),
            is_duration_below_clock=(duration_s < settings.clock_resolution_s).fill_null(False),
        )
    )
    return complete_records(
        with_fates(
            records,
            # What a tail would mean is known for transfers only.
            is_line=pl.col("duration_text").is_not_null()
            & ~(is_staged & pl.col("status_text").is_not_null()),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=exceeds(duration_s, MAX_DURATION_S, text=pl.col("duration_text"))
            | exceeds(pl.col("persona"), MAX_PERSONA, text=pl.col("persona_text")),
            passed_over=pl.when(~is_staged & ~is_put & ~is_get).then(pl.lit(NO_ARCHIVE)),
            table=pl.when(is_staged)
            .then(pl.lit("stages"))
            .when(is_copy)
            .then(pl.lit("namespace_events"))
            .otherwise(pl.lit("transfers")),
        )
    )


STAT = Format(
    name="stat",
    title="STAT transfer and staging log of UniTree",
    version=1,
    clock_resolution_s=0.001,
    examples=(
        "97/11/05 14:07:31.383 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds",
        "97/11/05 14:35:01.060 3298  File staged in 180 seconds",
        "97/11/05 14:35:09.417 3298  File transfer (s-w) 8388608 bytes in 2.204 seconds",
        "97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)",
    ),
    parse=parse,
)
