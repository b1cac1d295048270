"""A made-up site's layout, and functions that load it and read lines with it."""

from pathlib import Path
from typing import Any

import polars as pl

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.records.format import Format
from tests.unit.formats.test_every_format import settings_of

SITE = """\
title = "movers of a made-up site"
clock_resolution_s = 0.1
nulls = ["-"]
examples = ["2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7"]

[columns]
interface = "mover"
event_at = { layout = "%Y-%m-%d %H:%M:%S" }
direction = { group = "operation", map = { put = "put", get = "get" } }
size_bytes = { group = "kbytes", unit = "KiB" }

[[lines]]
name = "transfer"
table = "transfers"
pattern = [
    '(?<event_at>.{19}) (?<operation>[a-z]+) (?<user>[^ ]+) (?<host>[^ ]+)',
    ' (?<duration_s>[^ ]+) (?<kbytes>[^ ]+) (?<archive_path>.+)',
]
"""
DELETE = """
[[lines]]
name = "delete"
table = "namespace_events"
pattern = 'gone (?<event_at>.{19}) (?<operation>rm) (?<archive_path>.+)'
columns = { kind = "delete" }
"""


def make(folder: Path, text: str = SITE, name: str = "site") -> Format:
    """Return the format that the text describes."""
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return find_format(str(path))


def read(log_format: Format, *lines: str, zone: str = "UTC") -> list[dict[str, Any]]:
    """Return the records of the lines, without null or false values."""
    records = log_format.parse(pl.Series(lines, dtype=pl.String), settings_of(log_format, zone))
    return [
        {name: value for name, value in row.items() if value is not None and value is not False}
        for row in records.iter_rows(named=True)
    ]
