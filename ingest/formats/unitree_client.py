"""UniTree's FTP server at the German climate computing centre (DKRZ): the events of a client's transfer.

We defined this layout ourselves, because the centre's paper (Fichtel, DKRZ Workload Analysis) names events
and fields but shows no line. One line (wrapped):

    1996-02-14 09:12:03.417 uftpd start op=RETR cache=miss cap=4f21.0007 uid=2718 gid=310 family=7
        copies=1 host=cray net=hippi size=34713600 path=/run 7/out.tar

The fields are the date and time of the event, the server, the event with its own fields, and the fields that
all events share: FTP operation code, the file's capability (an identifier that is never reused), user, group,
family, number of copies, client machine, network, size, and path (the rest of the line, which may contain
blanks). `-` means an unknown value. Three events make up one transfer:

- `start` is a row of `transfer_starts`; `cache` says whether the file is on disk (hit or miss; `-` for a put)
- `stage` is a row of `stages`: the file has been staged to disk; `tape_s` says how long that took
- `end` is a row of `transfers`; `disk_s` says how long moving the file to or from the disk took, and `rc` how
  the transfer ended (0: successfully)

The group becomes the `account`, and the family the `class_of_service`. Events of any other kind are rejected.
"""

from functools import partial

import polars as pl

from tapewise.ingest.formats.unitree_events import (
    MAX_NUMBER,
    NUMBER,
    STAMP,
    STAMP_LAYOUT,
    STAMP_START,
    WORD,
    name_unknown_events,
    value_or_null,
)
from tapewise.ingest.records.fields import (
    DECIMAL,
    bare_lines,
    clock_time,
    decimal_number,
    exceeds,
    text_or_null,
    whole_number,
    with_fates,
)
from tapewise.ingest.records.format import MAX_DURATION_S, Format, LineSettings, complete_records, event_time
from tapewise.ingest.records.joined_lines import reject_joined

LINE = (
    rf"^{STAMP} uftpd (?<event>start|stage|end) op=(?<operation>RETR|STOR|STOU|APPE)"
    rf"(?: cache=(?<cache>hit|miss|-)| tape_s=(?<tape_text>{DECIMAL})"
    rf"| disk_s=(?<disk_text>{DECIMAL}) rc=(?<code_text>-?[0-9]+))"
    rf" cap=(?<capability>{WORD}) uid=(?<user>{WORD}) gid=(?<account>{WORD}) family=(?<family>{WORD})"
    rf" copies=(?<copies_text>{NUMBER}) host=(?<host>{WORD}) net=(?<network>{WORD})"
    rf" size=(?<size_text>{NUMBER}) path=(?<archive_path>.+)$"
)
EVENTS = ("start", "stage", "end")
HEAD = rf"^{STAMP} uftpd (?<event>[^ ]+)(?: |$)"
LINE_START = f"{STAMP_START} uftpd "
TABLES = {"start": "transfer_starts", "stage": "stages", "end": "transfers"}


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse the lines into a record frame; the module's docstring shows a line and explains its record."""
    event = pl.col("event")
    names = ("capability", "user", "account", "family", "host", "network")
    records = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(LINE).alias("groups"))
        .unnest("groups")
        .with_columns(
            *(value_or_null(pl.col(name)).alias(name) for name in names),
            local=clock_time(pl.col("time_text"), STAMP_LAYOUT),
            size_text=value_or_null(pl.col("size_text")),
            copies_text=value_or_null(pl.col("copies_text")),
            duration_text=pl.coalesce("tape_text", "disk_text"),
            archive_path=text_or_null(pl.col("archive_path")),
        )
        .with_columns(
            size_bytes=whole_number(pl.col("size_text")),
            copy_count=whole_number(pl.col("copies_text")),
            duration_s=decimal_number(pl.col("duration_text")),
            status_code=pl.col("code_text").cast(pl.Int32, strict=False),
            interface=pl.lit("unitree"),
            class_of_service=pl.col("family"),
            direction=pl.when(pl.col("operation") == "RETR").then(pl.lit("get")).otherwise(pl.lit("put")),
            is_cached=pl.col("cache").replace_strict(
                {"hit": True, "miss": False}, default=None, return_dtype=pl.Boolean
            ),
        )
        .with_columns(
            is_failed=(pl.col("status_code") != 0).fill_null(False),
            is_duration_below_clock=(pl.col("duration_s") < settings.clock_resolution_s).fill_null(False),
        )
    )
    # Each event has fields that no other event has.
    has_own_fields = (
        (event == "start").eq(pl.col("cache").is_not_null())
        & (event == "stage").eq(pl.col("tape_text").is_not_null())
        & (event == "end").eq(pl.col("disk_text").is_not_null())
    )
    # A put stages no file from tape. User and host are needed to match the events of a transfer.
    is_possible = ~((event == "stage") & (pl.col("direction") == "put"))
    is_complete = pl.col("user").is_not_null() & pl.col("host").is_not_null()
    is_code_out_of_range = pl.col("code_text").is_not_null() & pl.col("status_code").is_null()
    fated = with_fates(
        records,
        is_line=(has_own_fields & is_possible & is_complete).fill_null(False),
        time=event_time(pl.col("local"), settings),
        size_text=pl.col("size_text"),
        is_number_out_of_range=is_code_out_of_range
        | exceeds(pl.col("duration_s"), MAX_DURATION_S, text=pl.col("duration_text"))
        | exceeds(pl.col("copy_count"), MAX_NUMBER, text=pl.col("copies_text")),
        table=event.replace_strict(TABLES, default=None, return_dtype=pl.String),
    )
    parsed = complete_records(len(lines), name_unknown_events(fated, HEAD, EVENTS))
    return reject_joined(parsed, lines, LINE_START, partial(parse, settings=settings))


UNITREE_CLIENT = Format(
    name="unitree-client",
    title="FTP server's events of UniTree, as DKRZ describes them (the layout is ours)",
    version=2,
    clock_resolution_s=0.001,
    examples=(
        "1996-02-14 09:12:03.417 uftpd start op=RETR cache=miss cap=4f21.0007 uid=2718 gid=310 family=7"
        " copies=1 host=cray net=hippi size=34713600 path=/run 7/out.tar",
        "1996-02-14 09:14:41.002 uftpd stage op=RETR tape_s=157.4 cap=4f21.0007 uid=2718 gid=310 family=7"
        " copies=1 host=cray net=hippi size=34713600 path=/run 7/out.tar",
        "1996-02-14 09:14:59.120 uftpd end op=RETR disk_s=18.101 rc=0 cap=4f21.0007 uid=2718 gid=310 family=7"
        " copies=1 host=cray net=hippi size=34713600 path=/run 7/out.tar",
        "1996-02-14 09:15:00.004 uftpd start op=STOR cache=- cap=4f21.0008 uid=2718 gid=310 family=3"
        " copies=2 host=w4 net=fddi size=- path=/run 7/log",
    ),
    parse=parse,
    failure_tables=("transfers",),
)
