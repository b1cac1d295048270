"""Compare how fast lines of each format are parsed, in one run on one machine.

    python -m benchmarks.parsing --lines 100000

repeats each format's example lines until there are so many, and parses them in this process, each format
several times in turn. The best rate counts. It prints bytes and lines per second as ratios to NFT's, the
simplest format, because only ratios mean anything on another machine.

To compare how lines are written, and not what they report, the same made-up transfer is also written as a
row of CSV, as pairs, as a JSON object and for a pattern. JSON lines and rows of CSV should be read at half of
NFT's bytes per second at least.
"""

import argparse
import json
import time
from datetime import UTC, date, datetime
from itertools import cycle, islice

import polars as pl

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.layouts.files import find_layout, make_format
from tapewise.ingest.records.format import Format, LineSettings

VALUES = {
    "ended": "2024-03-05 09:14:22.250",
    "way": "get",
    "who": "kim",
    "machine": "n7.example.org",
    "size": "34713600",
    "took": "25.115",
    "path": "/archive/home/kim/run7/out.tar",
    "note": "a, b",
}
COLUMNS = """
[columns]
interface = "mover"
event_at = { group = "ended", layout = "%Y-%m-%d %H:%M:%S%.f" }
operation = { group = "way" }
direction = { group = "way", map = { get = "get", put = "put" } }
user = { group = "who" }
host = { group = "machine" }
size_bytes = { group = "size" }
duration_s = { group = "took" }
archive_path = { group = "path" }
[[lines]]
name = "transfer"
table = "transfers"
"""
WHEN = 'when = { way = ["get", "put"] }'
WAYS = {
    "CSV": (
        f"csv = {{ columns = {list(VALUES)} }}",
        WHEN,
        ",".join(VALUES.values()).replace("a, b", '"a, b"'),
    ),
    "CSV, plain": (
        f"csv = {{ columns = {list(VALUES)} }}",
        WHEN,
        ",".join(VALUES.values()).replace("a, b", "a"),
    ),
    "pairs": (
        "pairs = { is_quoted = true }",
        WHEN,
        " ".join(f'{name}="{value}"' for name, value in VALUES.items()),
    ),
    "JSON": ("json = true", WHEN, json.dumps(VALUES)),
    "pattern": (
        "",
        "pattern = '" + ",".join(f"(?<{name}>[^,]*)" for name in list(VALUES)[:-1]) + ",.*'",
        ",".join(VALUES.values()),
    ),
}
ROUNDS = 5
PEER = "nft"


def make_lines(log_format: Format, line_count: int) -> pl.Series:
    """The format's examples, again and again."""
    return pl.Series(islice(cycle(log_format.examples), line_count), dtype=pl.String)


def make_ways() -> dict[str, Format]:
    """Formats that read the same transfer from lines that are written in different ways."""
    return {
        f"as {way}": make_format(
            way, f"title = 'x'\nexamples = [{line!r}]\n{key}\n{COLUMNS}{known}", way, is_own=False
        )
        for way, (key, known, line) in WAYS.items()
    }


def measure(log_format: Format, lines: pl.Series) -> float:
    """The seconds that parsing the lines takes, with their further facts."""
    settings = LineSettings(
        "UTC",
        log_format.clock_resolution_s,
        datetime(1985, 1, 1, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
        log_date=date(2024, 3, 5) if log_format.is_dated_by_file else None,
    )
    begin = time.perf_counter()
    records = log_format.parse(lines, settings)
    if log_format.parse_further is not None:
        log_format.parse_further(lines, settings)
    taken_s = time.perf_counter() - begin
    assert not records["rejected"].is_not_null().any(), f"an example of {log_format.name} is rejected"
    return taken_s


def run(line_count: int) -> None:
    """Measure all formats that read line by line, and print the ratios."""
    logs = {
        name: (each, make_lines(each, line_count))
        for name, each in (FORMATS | make_ways()).items()
        if each.make_unfold is None
    }
    best_s = dict.fromkeys(logs, float("inf"))
    for _ in range(ROUNDS):
        for name, (log_format, lines) in logs.items():
            best_s[name] = min(best_s[name], measure(log_format, lines))
    rates = {name: int(lines.str.len_bytes().sum()) / best_s[name] for name, (_, lines) in logs.items()}
    print(f"{'format':<18} {'kind':<8} {'bytes a line':>12} {'bytes/s':>9} {'lines/s':>9}   (nft = 1)")
    for name, (log_format, lines) in sorted(logs.items(), key=lambda item: -rates[item[0]]):
        layout = find_layout(log_format)
        kind = "Python" if layout is None else "patterns"
        if layout is not None and layout.has_keys:
            kind = "JSON" if layout.json_objects else "pairs" if layout.pairs else "CSV"
        width = int(lines.str.len_bytes().sum()) / line_count
        shares = rates[name] / rates[PEER], best_s[PEER] / best_s[name]
        print(f"{name:<18} {kind:<8} {width:>12.0f} {shares[0]:>9.2f} {shares[1]:>9.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare how fast lines of each format are parsed.")
    parser.add_argument("--lines", type=int, default=100_000, help="how many lines of each format")
    run(parser.parse_args().lines)
