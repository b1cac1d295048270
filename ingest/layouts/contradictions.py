"""Checks that the groups, columns and tables of a well-formed layout fit together."""

from collections import Counter
from typing import NoReturn

import polars as pl

from tapewise.ingest.layouts.columns import (
    TABLES,
    allowed_values,
    columns_of_fact,
    columns_of_table,
    kind_of,
    needed_columns,
)
from tapewise.ingest.layouts.descriptions import FORMULAS, Column, Layout, Line, Value
from tapewise.ingest.layouts.keys import head_groups, make_schema, split_path
from tapewise.ingest.layouts.records import said_columns
from tapewise.ingest.layouts.times import lacks_day, lacks_year
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.prefixed_lines import check_prefix, strip_prefix
from tapewise.schema.errors import FormatError, LayoutError
from tapewise.schema.texts import escape_controls

# Which keys a column accepts depends on the kind of its values; all columns accept those of _COMMON.
_COMMON = frozenset({"group", "groups", "join", "find"})
_KEYS = {
    "time": _COMMON | {"layout", "epoch", "fraction", "zone", "day_of_file", "formula"},
    "number": _COMMON | {"unit", "thousands", "missing", "formula"},
    "text": _COMMON | {"first", "decode", "replace", "map", "otherwise", "missing"},
    "flag": _COMMON | {"replace", "map", "otherwise", "missing"},
}
# This flag means that only the day of a time is known.
DAY_ONLY = "is_time_of_day_unknown"
_PATHS = "A path names the keys on the way to a value: status.code, or '\"sec.app\"'."
_KNOWN = tuple(name for name in RECORD_SCHEMA if name not in ("table", "ignored", "rejected"))


def check_layout(layout: Layout, label: str) -> None:
    """Raise LayoutError, with a message that begins with `label`, if a pattern cannot make its records."""
    names = Counter(kind.name for kind in layout.lines)
    if doubles := [name for name, count in names.items() if count > 1]:
        _fail(label, f"lines[{doubles[0]}]", f"{names[doubles[0]]} of the lines have that name")
    for name, value in layout.columns.items():
        _check_column(f"{label}: columns.{name}", name, value)
    if layout.head is not None:
        _compile(label, "head", layout.head)
    if layout.prefix is not None:
        try:
            check_prefix(layout.prefix)
        except FormatError as error:
            _fail(label, "prefix", error.message)
    for kind in layout.lines:
        where = f"{label}: lines[{kind.name}]"
        groups = _find_groups(where, layout, kind)
        for number, fact in enumerate(kind.list_facts()):
            place = f"{where}.also[{number - 1}]" if number else where
            for name, value in fact.columns.items():
                _check_column(f"{place}.columns.{name}", name, value)
            if fact.table is not None:
                _check_table(place, layout, fact, groups)
        if kind.table is not None:
            _check_groups(where, layout, kind, groups)
    _check_dates(label, layout)
    if layout.line_start is not None:
        _check_line_start(label, layout, layout.line_start)


def _fail(where: str, key: str, reason: str, hint: str | None = None) -> NoReturn:
    message = (
        f"{where}.{key}: {reason}" if "lines[" in where or "columns" in where else f"{where}: {key}: {reason}"
    )
    raise LayoutError(escape_controls(message), hint=hint or "docs/reference/layouts.md describes every key.")


def _find_groups(where: str, layout: Layout, kind: Line) -> tuple[str, ...]:
    """The names of the groups of a pattern, or the paths of the keys of an object."""
    if kind.when is not None:
        paths = layout.paths_of(kind)
        of_head = head_groups(layout.head) if layout.head is not None else []
        names = {path: layout.names.get(path, path) for path in paths if path not in of_head}
        for path, name in names.items():
            key = "when" if path in kind.when else "columns"
            if (way := split_path(name)) is None:
                _fail(where, key, f"{name!r} is no path of keys", _PATHS)
            if layout.csv is not None and (len(way) > 1 or way[0] not in layout.csv.columns):
                hint = f"Its columns are {', '.join(layout.csv.columns)}."
                _fail(where, key, f"csv has no column {name!r}", hint)
        try:
            make_schema(way for name in names.values() if (way := split_path(name)) is not None)
        except ValueError as error:
            _fail(where, "columns", str(error), _PATHS)
        return paths
    found = _compile(where, "pattern", kind.regex)
    return tuple(name for name in found if name != "matched" and not name.isdecimal())


def _compile(where: str, key: str, pattern: str) -> list[str]:
    """The names of the pattern's groups."""
    try:
        return pl.Series([""]).str.extract_groups(pattern).struct.fields
    except pl.exceptions.ComputeError as error:
        # The reason comes last in polars' message, after the expression with a caret below it.
        reason = str(error).strip().rpartition("error: ")[2]
        hint = "Its dialect is Rust's: docs.rs/regex."
        _fail(where, key, f"is not a valid regular expression: {reason}", hint)


def _check_line_start(label: str, layout: Layout, line_start: str) -> None:
    if _compile(label, "line_start", line_start):
        _fail(label, "line_start", "has a group: write (?:...) instead of (...)")
    examples = strip_prefix(pl.Series(layout.examples), layout.prefix)
    for example in examples.filter(~examples.str.contains(line_start)):
        _fail(label, "line_start", f"is nowhere in the example {example!r}")


def _check_column(where: str, name: str, value: Value) -> None:
    if name not in _KNOWN:
        raise LayoutError(
            escape_controls(f"{where}: there is no such column"), hint=f"The columns are {', '.join(_KNOWN)}."
        )
    kind = kind_of(name)
    if not isinstance(value, Column):
        is_wanted = {"flag": type(value) is bool, "text": type(value) is str, "number": _is_number(value)}
        if not is_wanted.get(kind):
            expected = {"flag": "true or false", "text": "a string", "number": "a number", "time": "a table"}[
                kind
            ]
            raise LayoutError(escape_controls(f"{where}: expected {expected}, got {value!r}"))
        return
    for key in sorted(value.model_fields_set - _KEYS[kind]):
        _fail(where, key, f"is not a key of a column that holds a {kind}")
    if value.find is not None and len(_compile(where, "find", value.find)) != 1:
        _fail(where, "find", "needs one group, which is the part of the text to use")
    if kind == "time":
        _check_time(where, value)
    if value.formula and FORMULAS[value.formula] != name:
        _fail(where, "formula", f"gives {FORMULAS[value.formula]}, not {name}")
    values = [*(value.map or {}).values(), value.otherwise, value.missing]
    wanted_type = {"flag": bool, "text": str}.get(kind)
    for each in values:
        if each is not None and wanted_type is not None and not isinstance(each, wanted_type):
            _fail(where, "map", f"{each!r} is not a {kind}")
    if kind == "number" and value.missing is not None and not _is_number(value.missing):
        _fail(where, "missing", f"{value.missing!r} is not a number")
    if kind == "flag" and value.map is None:
        _fail(where, "map", "is needed: which texts are true, which false")


def _check_time(where: str, value: Column) -> None:
    ways = [key for key in ("layout", "epoch", "day_of_file", "formula") if getattr(value, key)]
    if len(ways) != 1:
        raise LayoutError(
            escape_controls(
                f"{where}: needs one of layout, epoch, day_of_file and formula, and has {len(ways)}"
            )
        )
    if value.fraction and not (value.layout or value.epoch):
        _fail(where, "fraction", "is for times with a layout or an epoch")
    if value.zone and not value.layout:
        _fail(where, "zone", "is for times with a layout: an epoch has no zone")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_table(where: str, layout: Layout, kind: Line, groups: tuple[str, ...]) -> None:
    table = kind.table or ""
    if table not in TABLES:
        _fail(where, "table", f"there is no table {table!r}", f"The tables are {', '.join(TABLES)}.")
    takes = columns_of_fact(kind)
    for name, value in kind.columns.items():
        if name not in takes:
            raise LayoutError(f"{where}.columns.{name}: {table} have no such column", hint=_takes(table))
        for group in value.source_groups(name) if isinstance(value, Column) else ():
            if group not in groups:
                raise LayoutError(f"{where}.columns.{name}: its pattern has no group {group!r}")
    said = said_columns(layout, kind, groups)
    for name, value in said.items():
        if name not in layout.columns:  # a group that is used unchanged
            _check_column(f"{where}: group {name!r}", name, value)
    for name in needed_columns(table):
        if name not in said and not (name == "event_at" and "started_at" in said):
            raise LayoutError(
                f"{where}: {table} need {name!r}", hint="Name a group after it, or define it in columns."
            )
    for name, value in said.items():
        _check_inputs(f"{where}: columns.{name}", name, value, said)
        _check_allowed(f"{where}: columns.{name}", allowed_values(table).get(name), value)


def _check_groups(where: str, layout: Layout, kind: Line, groups: tuple[str, ...]) -> None:
    """Check that every group of a pattern is used by one of the facts."""
    used = {
        group
        for fact in kind.list_facts()
        for name, value in said_columns(layout, fact, groups).items()
        if isinstance(value, Column)
        for group in value.source_groups(name)
    }
    for group in groups:
        if group not in used and kind.pattern is not None:
            _fail(
                where,
                "pattern",
                f"group {group!r} is not a column of {kind.table}, and no column uses it",
                f"{_takes(kind.table or '')} Write (?:...) around text that is only skipped.",
            )


def _check_inputs(where: str, made: str, value: Value, said: dict[str, Value]) -> None:
    if not isinstance(value, Column) or not value.formula:
        return
    for name in value.inputs:
        if name not in said:
            raise LayoutError(f"{where}.formula: it needs {name!r}, which is not defined")
        needed = said[name]
        if isinstance(needed, Column) and made in needed.inputs:
            raise LayoutError(f"{where}.formula: it needs {name!r}, whose own formula needs {made!r}")


def _check_allowed(where: str, allowed: tuple[str, ...] | None, value: Value) -> None:
    if allowed is None:
        return
    values: list[object] = [value]
    if isinstance(value, Column):
        values = [*(value.map or {}).values(), value.otherwise, value.missing]
    for each in values:
        if each is not None and each not in allowed:
            raise LayoutError(escape_controls(f"{where}: {each!r} is not one of {', '.join(allowed)}"))


def _check_dates(label: str, layout: Layout) -> None:
    """Check that the dates of all times come from the lines, or all of them from the file."""
    ways = {
        "no day" if lacks_day(value) else "no year" if lacks_year(value) else "a whole date"
        for line in layout.lines
        for kind in line.list_facts()
        if kind.table is not None
        for name, value in layout.columns_of(kind).items()
        if name in columns_of_fact(kind) and kind_of(name) == "time"
        if isinstance(value, Column) and not value.formula
    }
    for kind in layout.lines:
        is_of_file = any(
            isinstance(each, Column) and each.day_of_file for each in layout.columns_of(kind).values()
        )
        if kind.table is not None and is_of_file and DAY_ONLY not in columns_of_table(kind.table):
            _fail(f"{label}: lines[{kind.name}]", "table", f"{kind.table} need the time of day")
    if len(ways) > 1:
        raise LayoutError(
            f"{label}: columns: some times have {' and some '.join(sorted(ways))}",
            hint="Describe lines with dates and lines without in two layouts, for two sources.",
        )


def _takes(table: str) -> str:
    return f"The columns of {table} are {', '.join(sorted(columns_of_table(table)))}."
