"""Adds to the line that ends a run of HTAR what earlier lines say about the run.

    + htar -cvf /home/k/run7.tar run7
    HTAR: a   run7/in
    ERROR: hpss_WriteList error -27, file offset 3298534883328 - aborting
    HTAR: HTAR FAILED

The last line becomes

    HTAR: HTAR FAILED (put) hpss_WriteList error -27, file offset 3298534883328 - aborting

The command, the last member or the last error shows whether the run was a `put`, a `get` or a `listing` (not
a transfer); otherwise it is `unknown`. Some sites run HTAR in a wrapper that prints its exit status,
`72 = /usr/bin/htar -cvf ...`. That line is marked if the run already had a result, because the earlier result
counts.
"""

import polars as pl

from tapewise.ingest.records.format import Unfold

PUT, GET, LISTING, UNKNOWN = "put", "get", "listing", "unknown"
FAILED = r"^HTAR:? HTAR FAILED *$"
RESULT = r"^HTAR:? (?:HTAR (?:FAILED|SUCCESSFUL)|(?:Create|Extract|Listing|Build Index) complete)"
EXIT_STATUS = r"^ *[0-9]+ = (?:[^ ]*/)?htar[^ /]* "
# A command that the shell echoes, or that follows a prompt; the options c, x, t, X and K select the action.
COMMAND = r"^(?:\++ (?:[^ ]+: )?|.*[$>%#] )(?:[^ ]*/)?htar(?: +-[^ ]+)*? +-?[BEhmopPqvw]*([cxtKX])"
WAYS = {"c": PUT, "x": GET, "t": LISTING, "K": LISTING, "X": LISTING}
MEMBER = r"^HTAR: ([axi]|[-bcdlps][-rwxsStT]{9}) "
ERROR = r"^(?:ERROR|\[FATAL\]):? +(.*[^ ]) *$"
ERROR_OF_PUT = r"^ERROR: .*(?:\(create\)|oversize member|generating filename list|hpss_Write)"
AFTER_RESULT = " (after the result)"


# What is known about a run so far: what it does and its last error (either may be ""), and whether it already
# had a result.
_NOTHING = pl.DataFrame({"way": [""], "error": [""], "has_result": [False]})


def make_unfold() -> Unfold:
    """Return a function that unfolds the lines of one file, block by block from its beginning."""
    known = _NOTHING

    def unfold(lines: pl.Series) -> pl.Series:
        nonlocal known
        block = lines.alias("line").to_frame()
        runs = pl.concat([known, block.select(**_read_runs())]).select(pl.all().forward_fill())
        known = runs.tail(1)
        return runs.head(-1).hstack(block).select(_end_run().alias(lines.name)).to_series()

    return unfold


def _read_runs() -> dict[str, pl.Expr]:
    """What a line says about its run, or null."""
    line = pl.col("line")
    member, option, error = (line.str.extract(each) for each in (MEMBER, COMMAND, ERROR))
    is_result, is_start = line.str.contains(RESULT), option.is_not_null() | member.is_not_null()
    ways = pl.coalesce(
        option.replace_strict(WAYS, default=None, return_dtype=pl.String),
        pl.when(member.is_not_null()).then(
            member.replace_strict({"a": PUT, "x": GET}, default=LISTING, return_dtype=pl.String)
        ),
    )
    return {
        "way": pl.when(is_result)
        .then(pl.lit(""))
        .when(is_start)
        .then(ways)
        .when(line.str.contains(ERROR_OF_PUT))
        .then(pl.lit(PUT)),
        "error": pl.when(is_result | is_start).then(pl.lit("")).otherwise(error),
        "has_result": pl.when(is_result | is_start | error.is_not_null()).then(is_result),
    }


def _end_run() -> pl.Expr:
    """The line, followed by what is known about its run if the line says how the run ended."""
    line, way, error = pl.col("line"), pl.col("way"), pl.col("error")
    known_way = pl.when(way == "").then(pl.lit(UNKNOWN)).otherwise(way)
    reason = pl.when(error == "").then(pl.lit("")).otherwise(pl.lit(" ") + error)
    is_marked = line.str.contains(EXIT_STATUS) & pl.col("has_result") & ~line.str.ends_with(AFTER_RESULT)
    return (
        pl.when(line.str.contains(FAILED))
        .then(line.str.strip_chars_end(" ") + pl.lit(" (") + known_way + pl.lit(")") + reason)
        .when(is_marked)
        .then(line + pl.lit(AFTER_RESULT))
        .otherwise(line)
    )
