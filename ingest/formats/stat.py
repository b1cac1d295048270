"""STAT: UniTree's log of the files that it moved, or staged from tape, for its jobs.

    97/11/05 14:07:31.383 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds

The fields are the date and time of the end, the persona (which links the line to a job of the COND log), what
was done, source and destination machine, bytes, and seconds. `s` is the archive, so this is a put by machine
`k`:

    event_at 1997-11-05 22:07:31.383 UTC (in California), interface unitree, direction put,
    operation transfer, persona 2360, host k, size_bytes 34713600, duration_s 25.115

A line that reports a failure ends with the error codes of the source and the destination. The first code
becomes `status_code`, and the entire text becomes `status_text`:

    97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)

Some real logs contain `LEN failure`, but we do not know where in the line. A transfer counts as failed if
the text after its seconds mentions a failure.

If a file had to come from tape, a line for the stage precedes the transfer, with whole seconds and no size:

    97/11/05 14:35:01.060 3298  File staged in 180 seconds

As in the NFT log, a transfer from `s` to `s` is a copy inside the archive, and if neither machine is `s`, no
archive is involved. The NFT log has the same transfers, so load one of the two logs with `--not-counted`. The
duration flags therefore have the same meaning in both logs: whole seconds, or 0.499, come from a coarser
clock. The NFT log does not report failures, so the failed transfers of a STAT log that is not counted are
counted anyway, under interface nft.
"""

from functools import partial

import polars as pl

from tapewise.ingest.records.fields import (
    DECIMAL,
    bare_lines,
    decimal_number,
    exceeds,
    is_ftp_subsecond,
    text_or_null,
    unitree_time,
    whole_number,
    with_fates,
)
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    NO_ARCHIVE,
    Format,
    LineSettings,
    complete_records,
    event_time,
)
from tapewise.ingest.records.joined_lines import reject_joined

LINE = (
    r"^(?<year>[0-9]{2})/(?<day>[0-9]{2}/[0-9]{2}) +(?<clock>[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)"
    r" +(?<persona_text>[0-9]+) +File +(?:(?<verb>transfer|failure) +\((?<from>[A-Za-z])-(?<to>[A-Za-z])\)"
    rf" +(?<size_text>[0-9]+) +bytes|(?<staged>staged)) +in +(?<duration_text>{DECIMAL}) +seconds"
    r"(?: +(?<status_text>.*?))? *$"
)
LINE_START = "[0-9]{2}/[0-9]{2}/[0-9]{2} +[0-9]{2}:[0-9]{2}:[0-9]{2}[. ]"
ARCHIVE = "s"
FAILURE = "failure"
MAX_PERSONA = 2**31 - 1


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse STAT lines into a record frame; the module's docstring shows lines and a record."""
    is_put, is_get = pl.col("to") == ARCHIVE, pl.col("from") == ARCHIVE
    is_staged = pl.col("staged").is_not_null()
    is_copy = (is_put & is_get).fill_null(False)
    is_subsecond = is_ftp_subsecond(pl.col("duration_text"))
    says_failure = pl.col("status_text").str.contains(FAILURE, literal=True).fill_null(False)
    duration_s = pl.col("duration_s")
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            local=unitree_time("%H:%M:%S%.f"),
            size_bytes=whole_number(pl.col("size_text")),
            duration_s=decimal_number(pl.col("duration_text")),
            persona=whole_number(pl.col("persona_text")),
            status_text=text_or_null(pl.col("status_text")),
            user=pl.lit(None, dtype=pl.String),
        )
        .with_columns(
            interface=pl.lit("unitree"),
            operation=pl.coalesce("verb", "staged"),
            code_text=pl.col("status_text").str.extract("^(-?[0-9]+)(?: |$)"),
            is_failed=(pl.col("verb") == FAILURE).fill_null(False) | says_failure,
            direction=pl.when(~is_copy).then(
                pl.when(is_put).then(pl.lit("put")).when(is_get).then(pl.lit("get"))
            ),
            host=pl.when(~is_copy).then(pl.when(is_put).then("from").otherwise("to")),
            kind=pl.when(is_copy).then(pl.lit("copy")),
            is_duration_coarse=(is_subsecond | (duration_s == duration_s.floor())).fill_null(False),
            is_duration_below_clock=(is_subsecond | (duration_s < settings.clock_resolution_s)).fill_null(
                False
            ),
        )
        .with_columns(status_code=pl.col("code_text").cast(pl.Int32, strict=False))
    )
    is_code_out_of_range = pl.col("code_text").is_not_null() & pl.col("status_code").is_null()
    parsed = complete_records(
        len(lines),
        with_fates(
            records,
            # Only for transfers do we know what the text after the seconds means.
            is_line=pl.col("duration_text").is_not_null()
            & ~(is_staged & pl.col("status_text").is_not_null()),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=is_code_out_of_range
            | exceeds(duration_s, MAX_DURATION_S, text=pl.col("duration_text"))
            | exceeds(pl.col("persona"), MAX_PERSONA, text=pl.col("persona_text")),
            passed_over=pl.when(~is_staged & ~is_put & ~is_get).then(pl.lit(NO_ARCHIVE)),
            table=pl.when(is_staged)
            .then(pl.lit("stages"))
            .when(is_copy)
            .then(pl.lit("namespace_events"))
            .otherwise(pl.lit("transfers")),
        ),
    )
    return reject_joined(parsed, lines, LINE_START, partial(parse, settings=settings))


STAT = Format(
    name="stat",
    title="STAT transfer and staging log of UniTree",
    version=2,
    clock_resolution_s=0.001,
    examples=(
        "97/11/05 14:07:31.383 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds",
        "97/11/05 14:35:01.060 3298  File staged in 180 seconds",
        "97/11/05 14:35:09.417 3298  File transfer (s-w) 8388608 bytes in 2.204 seconds",
        "97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)",
        "97/11/05 15:55:10.630 12361 File transfer (s-s) 73400320 bytes in 12.350 seconds",
        "97/11/05 15:56:02.118 3880  File transfer (k-w) 524288 bytes in 0.730 seconds",
    ),
    parse=parse,
    failure_tables=("namespace_events", "transfers"),
    failures_as="nft",
)
