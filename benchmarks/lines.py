"""Make up NFT, HSI and PFTP lines by the million, and say what a warehouse must contain after reading them.

The lines cover eight weeks (or as many as asked for) of one archive, with 2,000 users (a few make most of the
requests), a dozen machines, and repeated lines. NFT has copies inside the archive (`ss`), transfers that do
not involve it (`kw`), and, in one line in a hundred, a size that Fortran could not print. HSI has deletes,
renames, failures and HTAR's archives. PFTP has two lines for each transfer, as HPSS 7.4 writes them, and is
the only one of the three for which requests must be derived.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

ZONE = "America/Los_Angeles"
# Daylight saving time has ended by then, so every local time of the eight weeks is unambiguous. In longer
# logs, lines in the hour that clocks skip each spring are rejected, and lines in the hour that comes twice in
# autumn are ambiguous.
BEGINS_AT = datetime(1997, 11, 3)
WEEKS = 8
USERS = 2_000
MACHINES = "abcdefghjkmw"
COPY_RATIO, FOREIGN_RATIO = 0.01, 0.005
REPEAT_RATIO = 0.02
UNREADABLE_RATIO = 0.01
UNREADABLE_SIZE = "**********"
# NFT's log also contains FTP transfers, timed in whole seconds.
FTP_RATIO = 0.2
DELETE_RATIO, RENAME_RATIO, HTAR_RATIO, FAILED_RATIO = 0.04, 0.01, 0.03, 0.02

BLOCK_LINES = 250_000


@dataclass(frozen=True)
class Made:
    """The lines written: their number, the number of facts among them, and the sum of the facts' sizes."""

    line_count: int
    fact_count: int
    size_bytes: int


# Makes a block of lines, with columns `line` and `size` (the size of a fact; null for other lines).
MakeBlock = Callable[[np.random.Generator, int, float, float], pl.DataFrame]


def write_lines(
    path: Path,
    line_count: int,
    format_name: str = "nft",
    *,
    seed: int = 1997,
    weeks: float = WEEKS,
    weeks_later: int = 0,
) -> Made:
    """Write `line_count` lines to `path` in chronological order, using 0.3 GB of memory.

    The lines fill `weeks`, which begin `weeks_later` weeks after `BEGINS_AT`.
    """
    rng = np.random.default_rng(seed)
    span_s, later_s = (each * 7 * 86_400 for each in (weeks, weeks_later))
    facts = size_bytes = 0
    with path.open("wb") as file:
        for begin in range(0, line_count, BLOCK_LINES):
            end = min(begin + BLOCK_LINES, line_count)
            since_s, until_s = (later_s + span_s * edge / line_count for edge in (begin, end))
            block = MAKE_BLOCK[format_name](rng, end - begin, since_s, until_s)
            facts += block["size"].count()
            size_bytes += int(block["size"].sum())
            file.write("\n".join(block["line"]).encode() + b"\n")
    return Made(line_count, facts, size_bytes)


def _draw(rng: np.random.Generator, count: int, since_s: float, until_s: float) -> pl.DataFrame:
    """Draw the values of lines of any format, from `since_s` to `until_s` after `BEGINS_AT`.

    Some lines repeat the previous line.
    """
    size = np.exp(rng.normal(15.5, 2, count)).astype(np.int64) + 1
    drawn = pl.DataFrame(
        {
            "second": np.sort(rng.integers(int(since_s), int(until_s), count)),
            "user": rng.zipf(1.3, count) % USERS,
            "machine": np.array(list(MACHINES))[rng.integers(0, len(MACHINES), count)],
            "kind": rng.random(count),
            "is_put": rng.random(count) < 0.6,
            "size": size,
            "seconds": 0.4 + size / rng.uniform(5e5, 5e6, count),
            "chance": rng.random(count),
            "number": rng.integers(0, 10**6, count),
        }
    )
    chosen = np.arange(count)
    chosen[1:] -= rng.random(count - 1) < REPEAT_RATIO
    return drawn[chosen].with_columns(at=pl.lit(BEGINS_AT) + pl.duration(seconds=pl.col("second")))


def _make_nft(rng: np.random.Generator, count: int, since_s: float, until_s: float) -> pl.DataFrame:
    is_copy, is_foreign = pl.col("kind") < COPY_RATIO, pl.col("kind") > 1 - FOREIGN_RATIO
    is_unreadable = pl.col("chance") < UNREADABLE_RATIO
    is_ftp = pl.col("chance") > 1 - FTP_RATIO
    seconds = pl.when(is_ftp).then(pl.max_horizontal(pl.col("seconds").round(), 0.499)).otherwise("seconds")
    milliseconds = (seconds * 1000).round().cast(pl.Int64)
    inside = pl.when(is_copy).then(pl.lit("s")).otherwise("machine")
    pair = (
        pl.when(is_foreign)
        .then(pl.col("machine") + "w")
        .when("is_put")
        .then(inside + "s")
        .otherwise("s" + inside)
    )
    texts = [
        pl.col("user").cast(pl.String).str.zfill(6),
        pl.col("at").dt.strftime("%y/%m/%d %H:%M:%S"),
        pair,
        pl.when(is_unreadable).then(pl.lit(UNREADABLE_SIZE)).otherwise(pl.col("size").cast(pl.String)),
        pl.format("{}.{}", (milliseconds // 1000), (milliseconds % 1000).cast(pl.String).str.zfill(3)),
    ]
    return _draw(rng, count, since_s, until_s).select(
        line=pl.concat_str(texts, separator=" "),
        size=pl.when(pair.str.contains("s") & ~is_unreadable).then("size"),
    )


def _make_hsi(rng: np.random.Generator, count: int, since_s: float, until_s: float) -> pl.DataFrame:
    kind, size = pl.col("kind"), pl.col("size")
    is_failed = pl.col("chance") < FAILED_RATIO
    status = pl.when(is_failed).then(pl.lit("-5")).otherwise(pl.lit("0"))
    way = pl.when("is_put").then(pl.lit("LH")).otherwise(pl.lit("HL"))
    rate = pl.format("{}", (size / pl.col("seconds") / 1000).round(1))
    path = pl.format("/home/u{}/run {}/out.{}.tar", "user", pl.col("number") // 1000, "number")
    head = pl.format("{} {}{}.example.org", _ctime("at"), "machine", pl.col("user") % 40)
    process = pl.format("{} {}", "user", pl.col("number") % 32768)
    moved = pl.concat_str(
        pl.format("{} hsi {}", head, process),
        way,
        status,
        pl.format("{}", (pl.col("chance") * 20).round(2)),
        size.cast(pl.String),
        rate,
        pl.lit("4"),
        pl.format("out.{}.tar", "number"),
        path,
        pl.lit("m12"),
        separator="\t",
    )
    deleted = pl.format("{} hsi {}\tFU\t{}\t0.00\t{}\t0.0\t0\t{}\t", head, process, status, size, path)
    renamed = pl.format(
        "{} hsi {}\tFR\t{}\t0.00\t{}\t0.0\t0\t{}\t{}.old", head, process, status, size, path, path
    )
    tarred = pl.format(
        "{} htar {}\tcreate\tLH\t{}\t{}\t{}\t{}\t{}\t\t5\tm12",
        head,
        process,
        status,
        size,
        pl.col("seconds").round(2),
        rate,
        path,
    )
    return _draw(rng, count, since_s, until_s).select(
        line=pl.when(kind < DELETE_RATIO)
        .then(deleted)
        .when(kind < DELETE_RATIO + RENAME_RATIO)
        .then(renamed)
        .when(kind < DELETE_RATIO + RENAME_RATIO + HTAR_RATIO)
        .then(tarred)
        .otherwise(moved),
        size="size",
    )


def _make_pftp(rng: np.random.Generator, count: int, since_s: float, until_s: float) -> pl.DataFrame:
    path = pl.format("/home/u{}/run {}/out.{}.tar", "user", pl.col("number") // 1000, "number")
    host = pl.format("{}{}.example.org", "machine", pl.col("user") % 40)
    ended_at = pl.col("at") + pl.duration(seconds=pl.col("seconds").round().cast(pl.Int64))
    mode, way = (pl.when("is_put").then(pl.lit(put)).otherwise(pl.lit(get)) for put, get in ("wr", "io"))
    command = pl.when("is_put").then(pl.lit("PSTO")).otherwise(pl.lit("PRTR"))
    opened = pl.format("{} {} {} b POPN_Cmd {} r ftp u{} fd 0", _ctime("at"), host, path, mode, "user")
    moved = pl.format(
        "{} {} {} {} {} b {} {}_Cmd r ftp u{} fd 0",
        _ctime("ended_at"),
        pl.col("seconds").round(2),
        host,
        "size",
        path,
        way,
        command,
        "user",
    )
    drawn = _draw(rng, -(-count // 2), since_s, until_s).with_columns(ended_at=ended_at)
    lines = pl.concat(
        [
            drawn.select("at", line=opened, size=pl.lit(0, pl.Int64)),
            drawn.select(at="ended_at", line=moved, size="size"),
        ]
    )
    return lines.sort("at", maintain_order=True).head(count).drop("at")


def _ctime(column: str) -> pl.Expr:
    return pl.col(column).dt.strftime("%a %b %e %H:%M:%S %Y")


MAKE_BLOCK: dict[str, MakeBlock] = {"nft": _make_nft, "hsi": _make_hsi, "pftp": _make_pftp}
