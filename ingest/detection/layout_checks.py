"""Checks how a layout reads a log, for `tapewise formats check`. Needs no database."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from tapewise.ingest.layouts.columns import FATES, columns_of_table, kind_of
from tapewise.ingest.layouts.parsing import LayoutParser
from tapewise.ingest.layouts.prefixes import find_failure
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.line_context import unfold_blocks
from tapewise.ingest.records.columns import NULLABLE_FLAGS, RECORD_SCHEMA
from tapewise.ingest.records.format import UNRECOGNISED, Format, LineSettings
from tapewise.ingest.records.further_facts import settle_further
from tapewise.ingest.records.joined_lines import JOINED
from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.schema.errors import FormatError

SAMPLE_COUNT = 3


@dataclass
class FieldCount:
    """How many facts have a value in the column (or the flag set), and some of these values."""

    count: int = 0
    samples: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class FailedLine:
    """A line that could not become a record; `hints` say how far each pattern matches it."""

    line_number: int
    text: str
    reason: str
    hints: tuple[str, ...]


@dataclass
class LayoutCheck:
    """What became of a log's lines.

    `patterns` counts lines by the name of their kind, `tables` facts by table, and `ignored` and `rejected`
    lines by reason. `fields` is keyed by table and column; `failed` holds the first rejected
    lines.
    """

    line_count: int = 0
    patterns: Counter[str] = field(default_factory=Counter)
    tables: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    fields: dict[str, dict[str, FieldCount]] = field(default_factory=dict)
    failed: list[FailedLine] = field(default_factory=list)


def check_log(
    log_format: Format, path: Path, timezone: str, log_date: date | None, failed_count: int
) -> LayoutCheck:
    """Read the log with the layout, and explain the first `failed_count` rejected lines.

    Raises FormatError if the format has no layout, and LogFileError if the log cannot be read.
    """
    parser = log_format.parse
    if not isinstance(parser, LayoutParser):
        raise FormatError(
            f"{log_format.name} is not defined by a layout",
            hint="`tapewise detect` and `tapewise ingest --dry-run` show what it makes of a log.",
        )
    settings = LineSettings(
        timezone, log_format.clock_resolution_s, EARLIEST_AT, datetime.max.replace(tzinfo=UTC), log_date
    )
    check = LayoutCheck()
    with open_log(path, is_complete=True) as reader:
        for block in unfold_blocks(reader.blocks(), log_format):
            lines = block.lines
            records, owners = parser.find_owners(lines["text"], settings)
            if log_format.parse_further is not None:
                further = log_format.parse_further(lines["text"], settings)
                records, further = settle_further(records, further, settings)
                _count_facts(check, further)
            records = lines.hstack(records).with_columns(owner=owners)
            _count(check, parser, records, failed_count)
    return check


def _count(check: LayoutCheck, parser: LayoutParser, records: pl.DataFrame, failed_count: int) -> None:
    check.line_count += records.height
    for index, count in _count_by(records, "owner"):
        check.patterns[parser.layout.lines[index].name] += count
    for fate, counter in zip(FATES[1:], (check.ignored, check.rejected), strict=True):
        counter.update(dict(_count_by(records, fate)))
    _count_facts(check, records)
    failed = records.filter(pl.col("rejected").is_not_null()).head(failed_count - len(check.failed))
    for row in failed.iter_rows(named=True):
        hints = _explain(parser, row["text"].removesuffix("\r"), row["rejected"], row["owner"])
        check.failed.append(FailedLine(row["line_number"], row["text"], row["rejected"], hints))


def _count_facts(check: LayoutCheck, records: pl.DataFrame) -> None:
    for table, count in _count_by(records, "table"):
        check.tables[table] += count
        facts = records.filter(pl.col("table") == table)
        fields = check.fields.setdefault(table, {})
        for name in RECORD_SCHEMA:
            if name in columns_of_table(table):
                # A flag that may be null says something if it is false.
                is_flag = kind_of(name) == "flag" and name not in NULLABLE_FLAGS
                _count_field(fields.setdefault(name, FieldCount()), facts[name], is_flag=is_flag)


def _explain_keys(parser: LayoutParser, when: Mapping[str, Collection[str]], text: str) -> str:
    """Say which value of `when` the line lacks."""
    keys, has_keys = parser.read_keys(pl.Series([text]))
    if not has_keys[0]:
        return f"the line is not {parser.layout.key_kind}"
    for path, texts in when.items():
        found = keys[0][path]
        if found not in texts:
            has = "the line has none" if found is None else f"the line has {found!r}"
            return f"{path} must be {' or '.join(map(repr, texts))}; {has}"
    raise AssertionError("a kind whose values the line has owns it")


def _count_by(records: pl.DataFrame, column: str) -> list[tuple[Any, int]]:
    return records[column].drop_nulls().value_counts(sort=True).rows()


def _count_field(found: FieldCount, values: pl.Series, *, is_flag: bool) -> None:
    there = values.filter(values) if is_flag else values.drop_nulls()
    found.count += there.len()
    if not is_flag and len(found.samples) < SAMPLE_COUNT:
        new = [
            each for each in there.unique(maintain_order=True).head(SAMPLE_COUNT) if each not in found.samples
        ]
        found.samples += new[: SAMPLE_COUNT - len(found.samples)]


def _explain(parser: LayoutParser, text: str, reason: str, owner: int | None) -> tuple[str, ...]:
    if reason == JOINED:
        return ("`line_start` occurs in it twice, and what begins at the second one is a line of its own",)
    if owner is not None:
        name = parser.layout.lines[owner].name
        if reason == UNRECOGNISED:
            return (f"{name} matches, but a value is missing, is not a number, or is not in its map",)
        return (f"{name} matches",)
    hints = []
    for kind in parser.layout.lines:
        if kind.mark is not None and kind.mark not in text:
            hints.append(f"{kind.name}: the line lacks its mark {kind.mark!r}")
            continue
        if kind.when is not None:
            hints.append(f"{kind.name}: {_explain_keys(parser, kind.when, text)}")
            continue
        failure = find_failure("".join(kind.pattern or ()), text)
        group = f" (group {failure.group})" if failure.group else ""
        here = text[failure.length : failure.length + 20]
        found = f"found '{here}'" if here else "the line ends there"
        place = f"matches up to character {failure.length}, then expects '{failure.wanted}'{group}"
        hints.append(f"{kind.name}: {place}; {found}")
    return tuple(hints)
