"""Layouts' files: read, checked, made into formats. Those that come with Tapewise lie beside this module."""

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

from tapewise.ingest.layouts.columns import columns_of_table
from tapewise.ingest.layouts.contradictions import check_layout
from tapewise.ingest.layouts.descriptions import Column, Layout
from tapewise.ingest.layouts.parsing import LayoutParser
from tapewise.ingest.layouts.records import said_columns
from tapewise.ingest.layouts.times import lacks_day, lacks_year
from tapewise.ingest.records.format import Format, LineSettings
from tapewise.schema.errors import LayoutError
from tapewise.schema.texts import escape_controls

SUFFIX = ".toml"
HOW_TO = "docs/how-to/own-format.md shows how a layout is written; `tapewise formats show xferlog` is one."
_FOLDER = files("tapewise.ingest.layouts")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
# Of examples that have no date.
_SOME_DAY = date(1997, 11, 5)


def is_layout_path(name: str) -> bool:
    """Whether that is the path of a layout's file, and no format's name."""
    return name.endswith(SUFFIX) or "/" in name


def load_layout(path: Path) -> Format:
    """The format that a site's file describes; it is called as the file is, without `.toml`.

    Raises LayoutError that names the file and the key.
    """
    label = escape_controls(str(path))
    if path.suffix != SUFFIX or not _NAME.fullmatch(path.stem):
        raise LayoutError(
            f"{label}: the file of a layout is called like the format, with .toml: letters, digits, - and _",
            hint=HOW_TO,
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise LayoutError(
            f"{label}: the layout cannot be read: {error.strerror}",
            hint="A relative path in tapewise.toml is from the folder of that file.",
        ) from None
    except UnicodeDecodeError:
        raise LayoutError(f"{label}: the layout is not UTF-8", hint="Save it as UTF-8.") from None
    return make_format(path.stem, text, label, is_own=True)


def read_shipped() -> dict[str, Format]:
    """The formats of the layouts that come with Tapewise, by name."""
    found = sorted(
        (each for each in _FOLDER.iterdir() if each.name.endswith(SUFFIX)), key=lambda each: each.name
    )
    names = [each.name.removesuffix(SUFFIX) for each in found]
    # Tests check them; here that would cost every command time.
    return {
        name: make_format(name, each.read_text(encoding="utf-8"), each.name, is_own=False, is_checked=True)
        for name, each in zip(names, found, strict=True)
    }


def show_layout(name: str) -> str:
    """The TOML text of a layout that comes with Tapewise."""
    return (_FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def make_format(name: str, text: str, label: str, *, is_own: bool, is_checked: bool = False) -> Format:
    """The format called `name` that the TOML `text` describes. Raises LayoutError, which begins with `label`.

    With `is_own` it is a site's, and the format keeps the text. What `is_checked` is not looked at again.
    """
    layout = _read_layout(text, label)
    if not is_checked:
        check_layout(layout, label)
    meaning = layout.meaning()
    columns = [
        value
        for kind in layout.lines
        if kind.table is not None
        for name_, value in layout.columns_of(kind).items()
        if isinstance(value, Column) and name_ in columns_of_table(kind.table)
    ]
    is_dayless = any(map(lacks_day, columns))
    log_format = Format(
        name=name,
        title=layout.title,
        # Whoever edits a layout need not think of it; and no two layouts have the same.
        version=int.from_bytes(sha256(meaning.encode()).digest()[:4]) >> 1,
        clock_resolution_s=layout.clock_resolution_s,
        examples=layout.examples,
        parse=LayoutParser(meaning, layout),
        is_dated_by_file=is_dayless or any(map(lacks_year, columns)),
        is_year_by_file=not is_dayless and any(map(lacks_year, columns)),
        is_of_parts=layout.of_parts,
        layout_text=text if is_own else None,
        failure_tables=_find_failure_tables(layout),
    )
    if not is_checked:
        _check_examples(log_format, label)
    return log_format


def _find_failure_tables(layout: Layout) -> tuple[str, ...]:
    """The tables of facts that some lines may say of that they failed."""
    found = set()
    for kind in layout.lines:
        # Not by polars: formats are made at import, and a process that forks later must not have its threads.
        groups = re.findall(r"(?<!\\)\(\?P?<(\w+)>", kind.regex)
        if kind.table is not None and said_columns(layout, kind, groups).get("is_failed", False) is not False:
            found.add(kind.table)
    return tuple(sorted(found))


def find_layout(log_format: Format) -> Layout | None:
    """The layout that the format is made of; None if it is written in Python."""
    return log_format.parse.layout if isinstance(log_format.parse, LayoutParser) else None


def _read_layout(text: str, label: str) -> Layout:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LayoutError(f"{label}: is no TOML: {error}", hint=HOW_TO) from None
    try:
        return Layout.model_validate(said)
    except ValidationError as error:
        raise LayoutError(f"{label}: {_tell_faults(error.errors(), said)}", hint=HOW_TO) from None


def _tell_faults(faults: Sequence[ErrorDetails], said: dict[str, Any]) -> str:
    told = {}
    for fault in faults:
        place = list(fault["loc"])
        value = place.index("columns") + 2 if "columns" in place else len(place)
        if len(place) > value:
            # A column is a constant or a table, and pydantic tells of each why it is none.
            is_of_table = "Column" in str(place.pop(value))
            is_table = isinstance(fault["input"], dict) or len(place) > value
            if is_of_table != is_table:
                continue
            if not is_table:
                told[".".join(map(str, place))] = "is neither a text, a number, true or false, nor a table"
                continue
        reason = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            reason = "there is no such key"
        elif fault["type"] == "missing":
            reason = "is missing"
        elif fault["type"] == "tuple_type":
            reason = "must be a list ([[lines]] begins one kind of lines, each time)"
        elif fault["type"] == "model_type":
            reason = "is no table"
        elif fault["type"] == "too_short" and len(faults) > 1:
            continue  # what is wrong with its items is told
        if place and place[0] == "lines" and len(place) > 1:
            kind = said["lines"][place[1]]
            name = kind.get("name", place[1]) if isinstance(kind, dict) else place[1]
            place[:2] = [f"lines[{name}]"]
        told[".".join(map(str, place))] = reason
    return escape_controls("; ".join(f"{key}: {reason}" for key, reason in told.items()))


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
