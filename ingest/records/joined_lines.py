"""Rejects lines that contain two records because the newline between them was lost.

The end of the first record may be lost too, because a writer that is killed leaves half a line, which the
next writer continues:

    Thu Apr 19 09:14:22 2018 2.250 mThu Apr 19 09:14:25 2018 n7.example.org /home/k/a b POPN_Cmd w r ftp kim

A pattern that contains free text would match this as one record, with the time of the first record and the
rest of the second. The contents of the first record are lost, so the line is rejected, with its own reason.
"""

from collections.abc import Callable

import polars as pl

from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import UNRECOGNISED

JOINED = "two lines run together"
# A second object is looked for behind so many braces.
MOST_BRACES = 16


def reject_joined(
    records: pl.DataFrame,
    lines: pl.Series,
    line_start: str,
    parse: Callable[[pl.Series], pl.DataFrame],
    *,
    has_free_text: bool = True,
) -> pl.DataFrame:
    """Return the `records` of `lines`, but reject lines that contain a second line that `parse` can read.

    `line_start` is a regular expression for the start of a line in the format. Because a name may look like
    the start of a line, everything that follows it must also be a line of the format. Without
    `has_free_text`, the format never reads two lines as one, so only the reason for rejecting them changes.
    """
    two_starts = f"(?:{line_start}).*(?:{line_start})"
    if has_free_text:
        rows = lines.str.contains(two_starts).arg_true()
    else:
        unread = (records["rejected"] == UNRECOGNISED).arg_true()
        rows = unread.filter(lines.gather(unread).str.contains(two_starts))
    if rows.is_empty():
        return records
    second = lines.gather(rows).str.extract(f"(?:{line_start}).*?((?:{line_start}).*)$", 1)
    rows, second = rows.filter(second.is_not_null()), second.drop_nulls()
    is_line = (parse(second)["rejected"] != UNRECOGNISED).fill_null(True)
    return _reject(records, rows.filter(is_line))


def reject_joined_objects(
    records: pl.DataFrame, lines: pl.Series, parse: Callable[[pl.Series], pl.DataFrame]
) -> pl.DataFrame:
    """Return the `records` of `lines`, but reject lines that end with a second JSON object, with that reason.

    No line of two objects is read as one. What begins with a brace inside an object is no object to the end
    of the line, so the first that is one was a line of its own.
    """
    rows = (records["rejected"] == UNRECOGNISED).arg_true()
    found = []
    for place in range(1, MOST_BRACES):
        second = lines.gather(rows).str.extract(rf"^(?:[^{{]*\{{){{{place}}}[^{{]*(\{{.*)$", 1)
        rows, second = rows.filter(second.is_not_null()), second.drop_nulls()
        if rows.is_empty():
            break
        is_line = (parse(second)["rejected"] != UNRECOGNISED).fill_null(True)
        found.append(rows.filter(is_line))
        rows = rows.filter(~is_line)
    return _reject(records, pl.concat(found)) if found else records


def _reject(records: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    if rows.is_empty():
        return records
    is_joined = pl.int_range(pl.len()).is_in(rows.cast(pl.Int64).implode())
    return records.with_columns(pl.when(~is_joined).then(name) for name in RECORD_SCHEMA).with_columns(
        rejected=pl.when(is_joined).then(pl.lit(JOINED)).otherwise("rejected")
    )
