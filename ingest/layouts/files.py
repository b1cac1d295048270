"""Reads and checks layout files, and makes formats from them. Tapewise's own files are in this folder."""

import re
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tapewise.ingest.layouts.columns import columns_of_fact
from tapewise.ingest.layouts.contradictions import check_layout
from tapewise.ingest.layouts.descriptions import Column, Layout
from tapewise.ingest.layouts.parsing import FurtherParser, LayoutParser
from tapewise.ingest.layouts.records import said_columns
from tapewise.ingest.layouts.times import lacks_day, lacks_year
from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.records.prefixed_lines import strip_prefix, with_prefix
from tapewise.schema.errors import LayoutError
from tapewise.schema.texts import escape_controls

SUFFIX = ".toml"
HOW_TO = "docs/how-to/own-format.md shows how to write a layout; `tapewise formats show xferlog` prints one."
_FOLDER = files("tapewise.ingest.layouts")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
# What a layout has from the one that it is `like`. Own columns replace others; own lines precede others.
_TAKEN_OVER = ("clock_resolution_s", "nulls", "of_parts", "columns", "lines")
# The date for example lines that contain none.
_SOME_DAY = date(1997, 11, 5)


def is_layout_path(name: str) -> bool:
    """Whether `name` is the path of a layout file rather than a format's name."""
    return name.endswith(SUFFIX) or "/" in name


def read_layout_file(path: Path) -> str:
    """The text of a site's layout file. Raises LayoutError, whose message names the file."""
    label = escape_controls(str(path))
    if path.suffix != SUFFIX or not _NAME.fullmatch(path.stem):
        raise LayoutError(
            f"{label}: a layout's file is named after its format, plus .toml: letters, digits, - and _",
            hint=HOW_TO,
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise LayoutError(
            f"{label}: the layout cannot be read: {error.strerror}",
            hint="A relative path in tapewise.toml is resolved against that file's folder.",
        ) from None
    except UnicodeDecodeError:
        raise LayoutError(f"{label}: the layout is not UTF-8", hint="Save it as UTF-8.") from None


def read_shipped() -> dict[str, Format]:
    """The formats of the layouts that come with Tapewise, by name."""
    found = sorted(
        (each for each in _FOLDER.iterdir() if each.name.endswith(SUFFIX)), key=lambda each: each.name
    )
    names = [each.name.removesuffix(SUFFIX) for each in found]
    # Tests check these layouts, because checking them here would slow down every command.
    return {
        name: make_format(name, each.read_text(encoding="utf-8"), each.name, is_own=False, is_checked=True)
        for name, each in zip(names, found, strict=True)
    }


def show_layout(name: str) -> str:
    """The TOML text of a layout that comes with Tapewise."""
    return (_FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def make_format(name: str, text: str, label: str, *, is_own: bool, is_checked: bool = False) -> Format:
    """Make the format called `name` that the TOML `text` describes. Raises LayoutError.

    The error message begins with `label`. With `is_own`, the format is a site's own and keeps the text. With
    `is_checked`, the layout has already been checked.
    """
    layout = _read_layout(text, label)
    if not is_checked:
        check_layout(layout, label)
    meaning = layout.meaning()
    parser = LayoutParser(meaning, layout)
    columns = [
        value
        for line in layout.lines
        for kind in line.list_facts()
        if kind.table is not None
        for name_, value in layout.columns_of(kind).items()
        if isinstance(value, Column) and name_ in columns_of_fact(kind)
    ]
    is_dayless = any(map(lacks_day, columns))
    log_format = Format(
        name=name,
        title=layout.title,
        # Derived from the layout, so nobody has to increase it after an edit, and layouts do not share one.
        version=int.from_bytes(sha256(meaning.encode()).digest()[:4]) >> 1,
        clock_resolution_s=layout.clock_resolution_s,
        # Formats are made at import, where polars would start threads.
        examples=tuple(strip_prefix(pl.Series(layout.examples), layout.prefix))
        if layout.prefix
        else layout.examples,
        parse=parser,
        parse_further=FurtherParser(parser) if any(kind.also for kind in layout.lines) else None,
        is_dated_by_file=is_dayless or any(map(lacks_year, columns)),
        is_year_by_file=not is_dayless and any(map(lacks_year, columns)),
        is_of_parts=layout.of_parts,
        layout_text=text if is_own else None,
        failure_tables=_find_failure_tables(layout),
    )
    if not is_checked:
        _check_examples(log_format, label)
    return log_format if layout.prefix is None else with_prefix(log_format, layout.prefix)


def _find_failure_tables(layout: Layout) -> tuple[str, ...]:
    """The fact tables in which this layout may report failures."""
    found = set()
    for kind in layout.lines:
        # Formats are made at import, and polars would start threads, which a process that forks later must
        # not have.
        groups = re.findall(r"(?<!\\)\(\?P?<(\w+)>", kind.regex) if kind.pattern else layout.paths_of(kind)
        for fact in kind.list_facts():
            is_failed = said_columns(layout, fact, groups).get("is_failed", False) if fact.table else False
            if fact.table is not None and is_failed is not False:
                found.add(fact.table)
    return tuple(sorted(found))


def find_layout(log_format: Format) -> Layout | None:
    """The layout that defines the format; None if the format is written in Python."""
    return log_format.parse.layout if isinstance(log_format.parse, LayoutParser) else None


def _read_layout(text: str, label: str) -> Layout:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LayoutError(f"{label}: is not valid TOML: {error}", hint=HOW_TO) from None
    said = _take_over(said, label)
    try:
        return Layout.model_validate(said)
    except ValidationError as error:
        raise LayoutError(f"{label}: {_describe_faults(error.errors(), said)}", hint=HOW_TO) from None


def _take_over(said: dict[str, Any], label: str) -> dict[str, Any]:
    """Return `said` with the columns, lines and some other keys of the layout that it is `like`."""
    if "like" not in said:
        return said
    name = said["like"]
    if not (isinstance(name, str) and _NAME.fullmatch(name) and (_FOLDER / f"{name}{SUFFIX}").is_file()):
        raise LayoutError(
            escape_controls(f"{label}: like: no layout {name!r} comes with Tapewise"),
            hint="`tapewise formats` lists the formats.",
        )
    base = _take_over(tomllib.loads(show_layout(name)), label)
    own = {key: value for key, value in said.items() if key != "like"}
    for key in ("columns", "lines"):
        # A value that is no table or list is a fault, which is reported where all faults are.
        if isinstance(own.get(key), dict):
            own[key] = base[key] | own[key]
        elif isinstance(own.get(key), list):
            own[key] = own[key] + base[key]
    return {key: base[key] for key in _TAKEN_OVER if key in base} | own


def _describe_faults(faults: Sequence[ErrorDetails], said: dict[str, Any]) -> str:
    reasons = {}
    for fault in faults:
        place = list(fault["loc"])
        value = place.index("columns") + 2 if "columns" in place else len(place)
        if len(place) > value:
            # A column is a constant or a table. For a value that is neither, pydantic reports two faults.
            is_of_table = "Column" in str(place.pop(value))
            is_table = isinstance(fault["input"], dict) or len(place) > value
            if is_of_table != is_table:
                continue
            if not is_table:
                reasons[".".join(map(str, place))] = "must be a string, a number, true, false or a table"
                continue
        reason = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            reason = "there is no such key"
        elif fault["type"] == "missing":
            reason = "is missing"
        elif fault["type"] == "tuple_type":
            reason = "must be a list (write [[lines]] before each kind of line)"
        elif fault["type"] == "model_type":
            reason = "is not a table"
        elif fault["type"] == "too_short" and len(faults) > 1:
            continue  # the faults in its items are reported instead
        if place and place[0] == "lines" and len(place) > 1:
            kind = said["lines"][place[1]]
            name = kind.get("name", place[1]) if isinstance(kind, dict) else place[1]
            place[:2] = [f"lines[{name}]"]
        reasons[".".join(map(str, place))] = reason
    return escape_controls("; ".join(f"{key}: {reason}" for key, reason in reasons.items()))


def _check_examples(log_format: Format, label: str) -> None:
    settings = LineSettings(
        "UTC",
        log_format.clock_resolution_s,
        datetime(1, 1, 2, tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        log_date=_SOME_DAY,
    )
    rejected = log_format.parse(pl.Series(log_format.examples, dtype=pl.String), settings)["rejected"]
    for number, reason in enumerate(rejected):
        if reason is not None:
            raise LayoutError(
                f"{label}: examples[{number}]: {reason}: {escape_controls(log_format.examples[number])}",
                hint="`tapewise formats check` shows how far a line matches.",
            )
