"""The transfer log of HPSS's FTP daemon, which serves FTP and parallel FTP (PFTP).

    Tue Mar 5 09:14:22 2019 12.480 n7.example.org 1073741824 /home/k/run 7/out.tar b i PSTO_Cmd r ftp kim fd 0

The fields are the end time of the transfer (as ctime), seconds, client host, bytes, path, type of transfer,
direction (`i` into the archive, `o` out of it), command, access mode, service, user, and sometimes a file
descriptor:

    event_at 2019-03-05 17:14:22 UTC (in California), interface pftp, direction put,
    operation PSTO_Cmd, user kim, host n7.example.org, archive_path /home/k/run 7/out.tar,
    size_bytes 1073741824, duration_s 12.48

HPSS 7.4 also logs when a file is opened. The line has neither seconds nor bytes. The `r` or `w` before the
access mode shows whether the file was opened for reading or writing:

    Tue Mar 5 09:14:09 2019 n7.example.org /home/k/run 7/out.tar b POPN_Cmd w r ftp kim fd 0

Paths may contain blanks and text that looks like the fields after the path, so the rightmost match counts.
Commands that begin with P or LF are parallel. If the direction contradicts a known command, the line is
rejected as not a line of this format, because one of the two does not mean what we think. For unknown
commands, the direction alone decides. The log has no status because it lists only completed transfers.
"""

from functools import partial

import polars as pl

from tapewise.ingest.records.fields import (
    CTIME,
    CTIME_START,
    DECIMAL,
    bare_lines,
    ctime,
    decimal_number,
    exceeds,
    whole_number,
    with_fates,
)
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    SATURATED_BYTES,
    Format,
    LineSettings,
    complete_records,
    event_time,
)
from tapewise.ingest.records.joined_lines import reject_joined

_USER = r" (?<access>[a-z]) ftp (?<user>[^ ]+)(?: fd -?[0-9]+| \[fd -?[0-9]+\])? *$"
TRANSFER = (
    f"^{CTIME} (?<duration_text>{DECIMAL}) (?<host>[^ ]+) (?<size_text>[0-9]+) (?<archive_path>.+)"
    f" [ab] (?<way>[io]) (?<operation>[A-Za-z0-9]+_Cmd){_USER}"
)
OPEN = f"^{CTIME} (?<host>[^ ]+) (?<archive_path>.+) [ab] (?<operation>POPN_Cmd) (?<mode>[a-z][a-z+]*){_USER}"
# Only lines that contain this are matched with OPEN, because a match that fails late is slow.
OPEN_MARK = " POPN_Cmd "
KNOWN_WAYS = {
    "STOR_Cmd": "i",
    "PSTO_Cmd": "i",
    "LFSTO_Cmd": "i",
    "RETR_Cmd": "o",
    "PRTR_Cmd": "o",
    "LFRTR_Cmd": "o",
}


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse the FTP daemon's lines into a record frame; the module's docstring shows lines and a record."""
    line, transfer, opening = pl.col("line"), pl.col("transfer").struct, pl.col("opening").struct
    is_transfer, is_open = transfer.field("user").is_not_null(), opening.field("user").is_not_null()
    way, mode = pl.col("way"), opening.field("mode")
    known_way = pl.col("operation").replace_strict(KNOWN_WAYS, default=None, return_dtype=pl.String)
    is_parallel = pl.col("operation").str.contains("^(?:P|LF)")
    size_bytes, duration_s = pl.col("size_bytes"), pl.col("duration_s")
    either = ("time_text", "host", "archive_path", "operation", "user")
    records = (
        bare_lines(lines)
        .with_columns(
            transfer=line.str.extract_groups(TRANSFER),
            opening=pl.when(line.str.contains(OPEN_MARK, literal=True)).then(line).str.extract_groups(OPEN),
        )
        .with_columns(
            *(pl.coalesce(transfer.field(name), opening.field(name)).alias(name) for name in either),
            *(transfer.field(name) for name in ("way", "size_text", "duration_text")),
        )
        .with_columns(
            local=ctime(pl.col("time_text")),
            size_bytes=whole_number(pl.col("size_text")),
            duration_s=decimal_number(pl.col("duration_text")),
        )
        .with_columns(
            interface=pl.when(is_parallel).then(pl.lit("pftp")).otherwise(pl.lit("ftp")),
            direction=pl.when((way == "i") | (mode == "w"))
            .then(pl.lit("put"))
            .when((way == "o") | (mode == "r"))
            .then(pl.lit("get")),
            is_duration_below_clock=(duration_s < settings.clock_resolution_s).fill_null(False),
            is_size_saturated=(size_bytes == SATURATED_BYTES).fill_null(False),
        )
    )
    parsed = complete_records(
        len(lines),
        with_fates(
            records,
            is_line=is_open | (is_transfer & (way == known_way).fill_null(True)),
            time=event_time(pl.col("local"), settings),
            size_text=pl.col("size_text"),
            is_number_out_of_range=exceeds(duration_s, MAX_DURATION_S, text=pl.col("duration_text")),
            table=pl.when(is_open).then(pl.lit("opens")).otherwise(pl.lit("transfers")),
        ),
    )
    return reject_joined(parsed, lines, CTIME_START, partial(parse, settings=settings))


PFTP = Format(
    name="pftp",
    title="FTP and PFTP daemon transfer log of HPSS",
    version=2,
    clock_resolution_s=0.01,
    examples=(
        "Tue Mar 5 09:14:09 2019 n7.example.org /home/k/run 7/out.tar b POPN_Cmd w r ftp kim fd 0",
        "Tue Mar 5 09:14:22 2019 12.480 n7.example.org 1073741824 /home/k/run 7/out.tar b i PSTO_Cmd"
        " r ftp kim fd 0",
        "Tue Mar 5 09:20:50 2019 web2.example.org /home/w/index.dat b POPN_Cmd r r ftp www",
        "Tue Mar 5 09:20:51 2019 0.310 web2.example.org 524288 /home/w/index.dat b o RETR_Cmd r ftp www",
    ),
    parse=parse,
)
