"""The demanding log of the shared data (`make.py`), as a trace, read without any code of Tapewise."""

import contextlib
import io
import sys
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

_WEEKS = {  # what another number of weeks changes in the script
    4: (),
    8: (("T=28*86400", "T=56*86400"), ("range(28)", "range(56)"), ("(7,20)", "(7,20),(5,33),(2,47)")),
}


def make_demanding(script: Path, into: Path, *, seed: int, weeks: int = 4) -> pl.DataFrame:
    """Run the script and read its xferlog. A request is made when its transfer begins."""
    source = script.read_text(encoding="utf-8")
    for before, after in _WEEKS[weeks]:
        assert before in source
        source = source.replace(before, after)
    given = sys.argv
    try:
        sys.argv = [str(script), str(into), str(seed)]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, str(script), "exec"), {})  # a script of our own
    finally:
        sys.argv = given
    rows = []
    for line in into.read_text(encoding="utf-8").splitlines():
        words = line.split()
        ended = datetime.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y")  # all UTC
        asked = ended - timedelta(seconds=int(words[5]))
        rows.append((asked, "put" if words[11] == "i" else "get", words[13], words[8], int(words[7])))
    rows.sort()
    first, files, users = rows[0][0], {}, {}
    return pl.DataFrame(
        [
            (
                (asked - first).total_seconds(),
                direction,
                users.setdefault(user, len(users)),
                files.setdefault(path, len(files) + 1),
                size,
            )
            for asked, direction, user, path, size in rows
        ],
        schema=["submitted_s", "direction", "user", "file", "size_bytes"],
        orient="row",
    ).with_columns(
        origin=pl.when(pl.col("direction") == "put").then(pl.lit("put")).otherwise(pl.lit("tape")),
        is_file_known=pl.lit(value=True),
        is_cached=pl.lit(None, pl.Boolean),
    )
