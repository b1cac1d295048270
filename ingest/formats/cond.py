"""COND: the job log of UniTree, one file per day.

    002718 14:06:48 14:07:31 2360 102     17 put -d /scratch/k/run 7/out.tar

The fields are the user number, the start and end of the job, the persona, the session (100 is session 0), the
number of the job in the session, and the request. They are in the fixed columns 1-6, 8-15, 17-24, 26-30,
31-33, 35-40, and 41 onwards; some logs separate all fields with blanks instead. The lines have no date, so
the file's date is taken as the day on which the job ended (here 5 November 1997, in California):

    event_at 1997-11-05 22:07:31 UTC, interface unitree, direction put, operation put, user 002718,
    persona 2360, session_number 2, job_number 17, started_at 1997-11-05 22:06:48 UTC,
    duration_s 43.0, description put -d /scratch/k/run 7/out.tar

The persona links a job to its lines in the STAT log. Occasionally, a persona is reused within a day. If the
logged start is after the end, the job was either logged incorrectly or ran past midnight. The line does not
show which, so the job is kept as logged, without a duration, and flagged. We do not know how a completion
status is written. It therefore stays at the end of the description, and nothing shows whether a job failed.

The operation is the first word of the description if that word is a command. Otherwise the word may be the
name of a file, and the operation is `other`.
"""

from functools import partial

import polars as pl

from tapewise.ingest.records.fields import (
    bare_lines,
    clock_time,
    exceeds,
    text_or_null,
    whole_number,
    with_fates,
)
from tapewise.ingest.records.format import EventTime, Format, LineSettings, complete_records, event_time
from tapewise.ingest.records.joined_lines import reject_joined
from tapewise.schema.errors import FormatError

_CLOCK = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
# A persona of five digits leaves no blank before the session. A digit in column 41 means that a number was
# too long for its columns, so the line is not in fixed columns.
FIXED = (
    rf"^(?<user>[ 0-9]{{6}}) (?<start_text>{_CLOCK}) (?<end_text>{_CLOCK}) (?<persona_text>[ 0-9]{{5}})"
    r"(?<session_text>[1-9][0-9]{2}) (?<job_text>[ 0-9]{6})(?<description>(?:[^0-9].*)?)$"
)
SEPARATED = (
    rf"^ *(?<user>[0-9]{{1,9}}) +(?<start_text>{_CLOCK}) +(?<end_text>{_CLOCK}) +(?<persona_text>[0-9]+)"
    r" +(?<session_text>[1-9][0-9]{2,}) +(?<job_text>[0-9]+) +(?<description>.*)$"
)
LINE_STARTS = tuple(rf"{user} +{_CLOCK} +{_CLOCK} +[0-9]+" for user in ("[ 0-9]{5}[0-9]", "[0-9]{1,9}"))
FIELDS = ("user", "start_text", "end_text", "persona_text", "session_text", "job_text", "description")
NUMBERS = ("persona", "session", "job")
# How the log writes session 0.
SESSION_BASE = 100
MOVES = ("put", "get")
MAX_NUMBER = 2**31 - 1
WORD = r"^([^ \t]+)"
# The FTP commands that UniTree accepts. Any other word may be a name.
OPERATIONS = (
    "put", "get", "mput", "mget", "append", "dir", "ls", "cd", "pwd", "del", "delete", "mdelete", "rm",
    "mkdir", "rmdir", "ren", "rename", "mv", "cp", "copy", "chmod", "chown", "chgrp", "stage", "stat",
    "open", "close", "quit",
)  # fmt: skip
OTHER_OPERATION = "other"


def _is_in_columns() -> pl.Expr:
    """Whether each fixed column contains one number without inner blanks."""
    texts = (pl.col("fixed").struct.field(f"{name}_text").str.strip_chars(" ") for name in NUMBERS)
    user = pl.col("fixed").struct.field("user").str.strip_chars(" ")
    return pl.all_horizontal(text.str.contains("^[0-9]+$") for text in (user, *texts)).fill_null(False)


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """Parse COND lines into a record frame; the module's docstring shows a line and its record.

    Raises FormatError without `settings.log_date`.
    """
    if settings.log_date is None:
        raise FormatError("lines of format cond have no date", hint="Give the date of the file.")
    day = pl.lit(f"{settings.log_date:%Y-%m-%d} ")
    start, end = event_time(pl.col("start"), settings), event_time(pl.col("end"), settings)
    line, fixed, separated = pl.col("line"), pl.col("fixed").struct, pl.col("separated").struct
    records = (
        bare_lines(lines)
        .with_columns(fixed=line.str.extract_groups(FIXED), separated=line.str.extract_groups(SEPARATED))
        .with_columns(is_in_columns=_is_in_columns())
        .with_columns(
            pl.when("is_in_columns")
            .then(fixed.field(name))
            .otherwise(separated.field(name))
            .str.strip_chars(" \t")
            .alias(name)
            for name in FIELDS
        )
        .with_columns(
            start=clock_time(day + pl.col("start_text"), "%Y-%m-%d %H:%M:%S"),
            end=clock_time(day + pl.col("end_text"), "%Y-%m-%d %H:%M:%S"),
            **{name: whole_number(pl.col(f"{name}_text")) for name in NUMBERS},
            description=text_or_null(pl.col("description")),
            size_bytes=pl.lit(None, dtype=pl.Int64),
            host=pl.lit(None, dtype=pl.String),
        )
        .with_columns(
            started_at=start.at,
            operation=pl.col("description").str.extract(WORD),
        )
        .with_columns(
            operation=pl.when(pl.col("operation").is_in(OPERATIONS))
            .then("operation")
            .otherwise(pl.lit(OTHER_OPERATION)),
        )
    )
    too_large = [exceeds(pl.col(name), MAX_NUMBER, text=pl.col(f"{name}_text")) for name in NUMBERS]
    fated = with_fates(
        records,
        is_line=pl.col("user").is_not_null() & pl.col("description").is_not_null(),
        time=EventTime(
            at=end.at,
            is_ambiguous=start.is_ambiguous | end.is_ambiguous,
            rejected=pl.coalesce(end.rejected, start.rejected),
        ),
        size_text=pl.lit(None, dtype=pl.String),
        is_number_out_of_range=pl.any_horizontal(too_large),
        table=pl.lit("unitree_jobs"),
    )
    is_start_after_end = (pl.col("started_at") > pl.col("event_at")).fill_null(False)
    duration_s = (pl.col("event_at") - pl.col("started_at")).dt.total_seconds().cast(pl.Float64)
    parsed = complete_records(
        len(lines),
        fated.with_columns(
            interface=pl.lit("unitree"),
            direction=pl.when(pl.col("operation").is_in(MOVES)).then("operation"),
            is_failed=pl.lit(None, dtype=pl.Boolean),
            session_number=pl.col("session") - SESSION_BASE,
            job_number=pl.col("job"),
            is_start_after_end=is_start_after_end,
            duration_s=pl.when(~is_start_after_end).then(duration_s),
        ),
    )
    for line_start in LINE_STARTS:
        parsed = reject_joined(parsed, lines, line_start, partial(parse, settings=settings))
    return parsed


COND = Format(
    name="cond",
    title="COND job log of UniTree, dated by its file",
    version=2,
    clock_resolution_s=1.0,
    examples=(
        "002718 14:06:48 14:07:31 2360 102     17 put -d /scratch/k/run 7/out.tar",
        "003141 14:09:02 14:12:40 12361100      1 get /archive/w/out.dat",
        "003141 14:13:00 14:13:00 2362 100 2 dir /archive/w",
        "002718 23:59:41 00:00:07 2399 102     18 put -d /scratch/k/run 8/out.tar",
    ),
    parse=parse,
    is_dated_by_file=True,
    dated_name="cond",
)
