r"""The server log of HSI and HTAR, the command-line clients of HPSS.

Blanks separate the fields up to the process id, and TABs (shown as `|`) separate the others. An HSI line:

    Tue Mar  5 09:14:22 2019 n7.example.org hsi 507 2211|LH|0|0.03|7340032|24466.8|4|a 7|/home/k/a 7|m12

The fields are the end time (as ctime), client host, program, user id, process id, operation, return code (0
is success), seconds to open the file, bytes, rate in 1000 bytes a second, class of service, local path, HPSS
path (in this order for both directions), and account:

    event_at 2019-03-05 17:14:22 UTC (in California), interface hsi, direction put, operation LH,
    user 507, host n7.example.org, open_s 0.03, size_bytes 7340032,
    rate_bytes_per_s 24466800.0, duration_s 0.29999967 (bytes divided by rate, as the log has none),
    class_of_service 4, client_path a 7, archive_path /home/k/a 7, account m12

The operations are LH (local to HPSS), HL (HPSS to local), HH (a copy inside HPSS), FU (unlink, with one path
and the size of the deleted file as bytes), and FR (rename, with the old and the new path). The last three
move nothing between a client and the archive, so they are name-space events.

An HTAR line also has seconds, but only one path, which is in HPSS. The field before the class of service (the
host of an FTP server, usually empty) is not kept:

    Tue Mar  5 09:31:07 2019 n7.example.org htar 507 2304|create|LH|0|536870912|2.56|209715.2|/k/a.tar||5|m12
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
    text_or_null,
    whole_number,
    with_fates,
)
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    MAX_RATE_BYTES_PER_S,
    Format,
    LineSettings,
    complete_records,
    event_time,
)
from tapewise.ingest.records.joined_lines import reject_joined

_STATUS = r"(?<status_text>-?[0-9]+)"
_SIZE = r"(?<size_text>[0-9]+)"
_RATE = f"(?<rate_text>{DECIMAL})"
_ACCOUNT = r"(?<account>[^\t]*)"
_CLASS = r"(?<class_of_service>[^\t]*)"

# `_is_whole` checks the number of paths, which depends on the operation. The optional fields are nested, so
# that each TAB can match in only one way. This makes matching twice as fast.
HSI_LINE = (
    rf"^{CTIME} +(?<host>[^ \t]+) +hsi +(?<user>[^ \t]+) +[0-9]+\t(?<operation>LH|HL|HH|FU|FR)\t{_STATUS}"
    rf"\t(?<open_text>{DECIMAL})\t{_SIZE}\t{_RATE}\t{_CLASS}"
    rf"\t(?<first_path>[^\t]+)(?:\t(?<second_path>[^\t]*)(?:\t{_ACCOUNT})?)?$"
)
HTAR_LINE = (
    rf"^{CTIME} +(?<host>[^ \t]+) +htar +(?<user>[^ \t]+) +[0-9]+\t(?<verb>[A-Za-z]+)\t(?<way>LH|HL)"
    rf"\t{_STATUS}\t{_SIZE}\t(?<seconds_text>{DECIMAL})\t{_RATE}\t(?<tar_path>[^\t]+)\t[^\t]*\t{_CLASS}\t{_ACCOUNT}$"
)
# Only lines that contain this are matched with HTAR_LINE, because a match that fails late is slow.
HTAR_MARK = " htar "
EVENT_KINDS = {"HH": "copy", "FU": "delete", "FR": "rename"}
# Both programs count a kilobyte as 1000 bytes.
RATE_UNIT_BYTES = 1000
# How far a rate may deviate from bytes divided by seconds, beyond the effect of rounding.
RATE_TOLERANCE = 0.01

EITHER = ("time_text", "host", "user", "status_text", "size_text", "rate_text", "class_of_service", "account")
HSI_ONLY = ("open_text", "first_path", "second_path")
HTAR_ONLY = ("way", "seconds_text", "tar_path")


def _is_whole() -> pl.Expr:
    """Whether an HSI line has the paths that its operation needs, and the account where it is required."""
    operation, has_second = pl.col("operation"), (pl.col("second_path") != "").fill_null(False)
    return (
        pl.when(operation == "FU")
        .then(~has_second)
        .when(operation == "FR")
        .then(has_second)
        .otherwise(has_second & pl.col("account").is_not_null())
    )


def _rounding(text: pl.Expr) -> pl.Expr:
    """Half a unit of the last printed digit."""
    decimals = text.str.extract(r"\.([0-9]+)$").str.len_bytes().fill_null(0)
    return 0.5 * pl.lit(10.0).pow(-decimals.cast(pl.Float64))


def _is_rate_inconsistent() -> pl.Expr:
    """Whether an HTAR line's rate contradicts its bytes and seconds, even if all of them were rounded.

    If the seconds are zero, this cannot be checked, and the result is false.
    """
    seconds, size_bytes = pl.col("seconds"), pl.col("size_bytes")
    # Only the few lines that have seconds need the check; nulls cost nothing.
    rate_text = pl.when(seconds.is_not_null()).then("rate_text")
    rate, rate_error = pl.col("rate_bytes_per_s"), RATE_UNIT_BYTES * _rounding(rate_text)
    slowest = size_bytes / (seconds + _rounding(pl.col("seconds_text")))
    fastest = size_bytes / (seconds - _rounding(pl.col("seconds_text")))
    is_slower = rate + rate_error < slowest * (1 - RATE_TOLERANCE)
    is_faster = rate - rate_error > fastest * (1 + RATE_TOLERANCE)
    return ((seconds > 0) & (is_slower | is_faster)).fill_null(False)


def _direction() -> pl.Expr:
    way = pl.coalesce("way", "operation")
    return pl.when(way == "LH").then(pl.lit("put")).when(way == "HL").then(pl.lit("get"))


def _duration() -> pl.Expr:
    size_bytes, rate = pl.col("size_bytes"), pl.col("rate_bytes_per_s")
    return pl.coalesce("seconds", pl.when((size_bytes > 0) & (rate > 0)).then(size_bytes / rate))


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse HSI and HTAR lines into a record frame; the module's docstring shows lines and a record."""
    line, hsi, htar = pl.col("line"), pl.col("hsi").struct, pl.col("htar").struct
    is_hsi, is_htar = hsi.field("user").is_not_null(), htar.field("user").is_not_null()
    is_event = pl.col("kind").is_not_null()
    first_path, second_path = pl.col("first_path"), pl.col("second_path")
    records = (
        bare_lines(lines)
        .with_columns(
            hsi=line.str.extract_groups(HSI_LINE),
            htar=pl.when(line.str.contains(HTAR_MARK, literal=True)).then(line).str.extract_groups(HTAR_LINE),
        )
        .with_columns(
            *(pl.coalesce(hsi.field(name), htar.field(name)).alias(name) for name in EITHER),
            *(hsi.field(name) for name in HSI_ONLY),
            *(htar.field(name) for name in HTAR_ONLY),
            operation=pl.coalesce(
                hsi.field("operation"), pl.concat_str(htar.field("verb", "way"), separator=" ")
            ),
        )
        .with_columns(
            local=ctime(pl.col("time_text")),
            kind=pl.col("operation").replace_strict(EVENT_KINDS, default=None, return_dtype=pl.String),
            status_code=pl.col("status_text").cast(pl.Int32, strict=False),
            size_bytes=whole_number(pl.col("size_text")),
            open_s=decimal_number(pl.col("open_text")),
            seconds=decimal_number(pl.col("seconds_text")),
            rate_bytes_per_s=decimal_number(pl.col("rate_text")) * RATE_UNIT_BYTES,
        )
        .with_columns(duration_s=_duration())
    )
    is_status_out_of_range = pl.col("status_text").is_not_null() & pl.col("status_code").is_null()
    fated = with_fates(
        records,
        is_line=is_htar | (is_hsi & _is_whole()),
        time=event_time(pl.col("local"), settings),
        size_text=pl.col("size_text"),
        is_number_out_of_range=is_status_out_of_range
        | exceeds(pl.col("open_s"), MAX_DURATION_S, text=pl.col("open_text"))
        | exceeds(pl.col("rate_bytes_per_s"), MAX_RATE_BYTES_PER_S, text=pl.col("rate_text"))
        | exceeds(pl.col("seconds"), MAX_DURATION_S, text=pl.col("seconds_text"))
        | exceeds(pl.col("duration_s"), MAX_DURATION_S),
        table=pl.when(is_event).then(pl.lit("namespace_events")).otherwise(pl.lit("transfers")),
    )
    parsed = complete_records(
        len(lines),
        fated.with_columns(
            interface=pl.when(is_htar).then(pl.lit("htar")).otherwise(pl.lit("hsi")),
            class_of_service=text_or_null(pl.col("class_of_service")),
            account=text_or_null(pl.col("account")),
            is_failed=pl.col("status_code") != 0,
            direction=_direction(),
            archive_path=pl.coalesce("tar_path", pl.when(is_event).then(first_path).otherwise(second_path)),
            new_archive_path=pl.when(is_event).then(text_or_null(second_path)),
            client_path=pl.when(~is_event).then(first_path),
            open_s=pl.when(~is_event).then("open_s"),
            rate_bytes_per_s=pl.when(~is_event).then("rate_bytes_per_s"),
            is_duration_below_clock=(pl.col("seconds") < settings.clock_resolution_s).fill_null(False),
            is_rate_inconsistent=_is_rate_inconsistent(),
        ),
    )
    return reject_joined(parsed, lines, CTIME_START, partial(parse, settings=settings), has_free_text=False)


HSI = Format(
    name="hsi",
    title="HSI and HTAR server log of HPSS",
    version=2,
    clock_resolution_s=0.01,
    examples=(
        "Tue Mar  5 09:14:22 2019 n7.example.org hsi 507 2211\tLH\t0\t0.03\t7340032\t24466.8\t4"
        "\ta 7\t/home/k/a 7\tm12",
        "Tue Mar  5 09:15:40 2019 n7.example.org hsi 507 2219\tHL\t0\t18.40\t7340032\t73400.3\t0"
        "\t<stdout>\t/home/k/a 7\tm12",
        "Tue Mar  5 09:16:02 2019 n7.example.org hsi 507 2219\tHL\t-1\t0.02\t0\t0.0\t0"
        "\ta 8\t/home/k/a 8\tm12",
        "Tue Mar  5 09:17:30 2019 n7.example.org hsi 507 2219\tHH\t0\t0.05\t7340032\t36700.2\t4"
        "\t/home/k/a 7\t/home/k/safe/a 7\tm12",
        "Tue Mar  5 09:18:11 2019 n7.example.org hsi 507 2219\tFR\t0\t0.00\t0\t0.0\t0"
        "\t/home/k/a 7\t/home/k/old/a 7",
        "Tue Mar  5 09:18:25 2019 n7.example.org hsi 507 2219\tFU\t0\t0.00\t7340032\t0.0\t0"
        "\t/home/k/safe/a 7\t",
        "Tue Mar  5 09:31:07 2019 n7.example.org htar 507 2304\tcreate\tLH\t0\t536870912\t2.56"
        "\t209715.2\t/k/a.tar\t\t5\tm12",
    ),
    parse=parse,
    failure_tables=("namespace_events", "transfers"),
)
