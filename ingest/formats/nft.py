"""NFT: the network file transfer log of Lawrence Livermore's UniTree archive.

    002718 97/11/05 14:07:31 ks 73400320 41.902

The fields are the user number, date and time at the end of the transfer, source and destination machine,
bytes, and seconds. `s` is the archive, so this is a put by machine `k`:

    event_at 1997-11-05 22:07:31 UTC (in California), direction put, operation ks, user 002718,
    host k, size_bytes 73400320, duration_s 41.902

We do not know which machine a letter means, so letters are kept as they are. Only the lower-case
`s` is the archive. A transfer from `s` to `s` is a copy inside the archive; if neither letter is `s`,
no archive is involved.

The file also contains FTP transfers, whose seconds are whole numbers, or 0.499 for less than a second.
Nothing else distinguishes them from NFT transfers. `is_duration_coarse` therefore describes only how a
duration is written, not that FTP was used: one NFT transfer in a thousand takes whole seconds by chance.
"""

from functools import partial

import polars as pl

from tapewise.ingest.records.fields import (
    DECIMAL,
    bare_lines,
    decimal_number,
    exceeds,
    is_ftp_subsecond,
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
    r"^(?<user>[0-9]{1,9}) +(?<year>[0-9]{2})/(?<day>[0-9]{2}/[0-9]{2}) +(?<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})"
    r" +(?<from>[A-Za-z])(?<to>[A-Za-z]) +(?<size_text>[0-9]+) +(?<duration_text>" + DECIMAL + r") *$"
)
LINE_START = "[0-9]{1,9} +[0-9]{2}/[0-9]{2}/[0-9]{2} +[0-9]{2}:[0-9]{2}:[0-9]{2} "
ARCHIVE = "s"


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse NFT lines into a record frame; the module's docstring shows a line and its record."""
    is_put, is_get = pl.col("to") == ARCHIVE, pl.col("from") == ARCHIVE
    is_copy = is_put & is_get
    is_subsecond = is_ftp_subsecond(pl.col("duration_text"))
    duration_s = pl.col("duration_s")
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            local=unitree_time("%H:%M:%S"),
            size_bytes=whole_number(pl.col("size_text")),
            duration_s=decimal_number(pl.col("duration_text")),
        )
        .with_columns(
            interface=pl.lit("nft"),
            operation=pl.col("from") + pl.col("to"),
            direction=pl.when(~is_copy).then(
                pl.when(is_put).then(pl.lit("put")).when(is_get).then(pl.lit("get"))
            ),
            host=pl.when(~is_copy).then(pl.when(is_put).then("from").otherwise("to")),
            kind=pl.when(is_copy).then(pl.lit("copy")),
            is_duration_coarse=is_subsecond | (duration_s == duration_s.floor()),
            is_duration_below_clock=is_subsecond | (duration_s < settings.clock_resolution_s),
        )
    )
    parsed = complete_records(
        len(lines),
        with_fates(
            records,
            is_line=pl.col("user").is_not_null(),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=exceeds(duration_s, MAX_DURATION_S, text=pl.col("duration_text")),
            passed_over=pl.when(~is_put & ~is_get).then(pl.lit(NO_ARCHIVE)),
            table=pl.when(is_copy).then(pl.lit("namespace_events")).otherwise(pl.lit("transfers")),
        ),
    )
    return reject_joined(parsed, lines, LINE_START, partial(parse, settings=settings), has_free_text=False)


NFT = Format(
    name="nft",
    title="NFT transfer log of the UniTree archive at Lawrence Livermore",
    version=2,
    clock_resolution_s=0.001,
    examples=(
        "002718 97/11/05 14:07:31 ks 73400320 41.902",
        "003141 97/11/05 14:09:02 sw 8388608 0.499",
        "002718 97/11/05 14:11:40 ss 73400320 12.350",
        "002718 97/11/05 14:12:03 kw 524288 0.730",
    ),
    parse=parse,
    is_host_in_operation=True,
)
