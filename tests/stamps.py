"""Replaces the times in a line, for tests of all formats."""

import csv
import io
import json
import re
from datetime import datetime
from typing import Any

from tapewise.ingest.layouts.columns import kind_of
from tapewise.ingest.layouts.descriptions import Column, Layout, Line
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.layouts.keys import split_path
from tapewise.ingest.records.format import Format

# The codes that chrono and Python spell differently.
_CODES = {"%.f": ".%f", "%e": "%d"}


def restamp(log_format: Format, line: str, at: datetime | str) -> str:
    """Return a line of a layout with all its times set to `at`.

    `at` is a datetime or, for a time that does not exist, a text `YYYY-MM-DD HH:MM:SS`. Lines without a time
    are returned unchanged. A time counted from 1970 can only be set to a datetime, which is taken as UTC.
    """
    layout = find_layout(log_format)
    assert layout is not None, f"{log_format.name} is no layout"
    for kind in layout.lines:
        if layout.csv is not None and kind.when is not None:
            row = read_row(layout, line)
            if row is not None and is_kind(kind, row[1]):
                head, cells = row
                changes = dict.fromkeys(_durations(layout, kind), "0") | {
                    group: _write(at, column.layout)
                    for name, column in _stamps(layout, kind, set(layout.csv.columns)).items()
                    for group in column.source_groups(name)
                    if column.layout and cells[group]
                }
                stamps = _stamps(layout, kind, set(head.groupdict()))
                line = line[: head.end()] + _write_row(layout, cells, changes)
                return _replace(line, head, {n: each for n, each in stamps.items() if not each.formula}, at)
            continue
        if layout.pairs is not None:
            read = read_pairs(layout, line)
            if read is not None and is_kind(kind, read[1]):
                found = read[0]
                return _replace(line, found, _stamps(layout, kind, set(found.groupdict())), at)
            continue
        if kind.when is not None:
            document = json.loads(line)
            if is_kind(kind, document):
                return _replace_keys(document, _stamps(layout, kind, set(layout.paths_of(kind))), at)
            continue
        found = python_regex(kind).match(line)
        if found is not None:
            return _replace(line, found, _stamps(layout, kind, set(found.groupdict())), at)
    raise AssertionError(f"no line of {log_format.name}: {line}")


def read_pairs(layout: Layout, line: str) -> tuple[re.Match[str], dict[str, str]] | None:
    """What precedes the quoted pairs of a line, and the values of all keys by the layout's names for them.

    None if nothing that precedes pairs begins the line.
    """
    found = re.match((layout.head or "").replace("(?<", "(?P<"), line)
    if found is None:
        return None
    names = {name: path for path, name in layout.names.items()}
    pairs = re.findall(r'([^ "=]+)="([^"]*)"', line[found.end() :])
    return found, {names.get(name, name): text for name, text in pairs} | found.groupdict()


def read_row(layout: Layout, line: str) -> tuple[re.Match[str], dict[str, str]] | None:
    """What precedes the cells of a line, and the cells by their columns; None if nothing does."""
    assert layout.csv is not None
    head = re.match((layout.head or "").replace("(?<", "(?P<"), line)
    if head is None:
        return None
    (cells,) = csv.reader([line[head.end() :]], delimiter=layout.csv.separator)
    names = [*layout.csv.columns, *(f"further {number}" for number in range(len(cells)))]
    return head, dict(zip(names, cells, strict=False))


def _write_row(layout: Layout, cells: dict[str, str], changes: dict[str, str]) -> str:
    assert layout.csv is not None
    text = io.StringIO()
    csv.writer(text, delimiter=layout.csv.separator, lineterminator="").writerow((cells | changes).values())
    return text.getvalue()


def _durations(layout: Layout, kind: Line) -> tuple[str, ...]:
    """The names of the cells from which the end of an event is computed."""
    columns = layout.columns_of(kind)
    column = columns.get("duration_s")
    event_at = columns.get("event_at")
    is_computed = isinstance(event_at, Column) and event_at.formula is not None
    return column.source_groups("duration_s") if is_computed and isinstance(column, Column) else ()


def owns(layout: Layout, kind: Line, line: str) -> bool:
    """Whether the line is of this kind of the layout, if it is of no earlier one."""
    if layout.csv is not None and kind.when is not None:
        row = read_row(layout, line)
        return row is not None and is_kind(kind, row[1])
    if layout.pairs is not None:
        read = read_pairs(layout, line)
        return read is not None and is_kind(kind, read[1])
    if kind.when is not None:
        return line.startswith("{") and is_kind(kind, json.loads(line))
    return python_regex(kind).match(line) is not None


def is_kind(kind: Line, document: Any) -> bool:
    """Whether an object has the values of this kind of line."""
    texts = {True: "true", False: "false"}
    return all(
        any(str(texts.get(value, value)) == wanted for wanted in wanteds)
        for path, wanteds in (kind.when or {}).items()
        for value in [_get(document, path)]
    )


def _get(document: Any, path: str) -> Any:
    for name in split_path(path) or ():
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _replace_keys(document: Any, stamps: dict[str, Column], at: datetime | str) -> str:
    for name, column in stamps.items():
        if column.formula:  # it follows from the others
            continue
        (path,) = column.source_groups(name)
        way = split_path(path)
        assert way is not None
        if column.epoch:
            assert isinstance(at, datetime)
            value: Any = int((at - datetime(1970, 1, 1)).total_seconds())
        else:
            value = _write(at, column.layout or "")
        inner = document
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = value
    return json.dumps(document)


def python_regex(kind: Line) -> re.Pattern[str]:
    """The pattern of this kind of line, in Python's syntax."""
    return re.compile(kind.regex.replace("(?<", "(?P<"))


def has_local_times(log_format: Format) -> bool:
    """Whether the times in this format depend on the source's zone."""
    layout = find_layout(log_format)
    if layout is None:
        return True
    stamps = [
        column
        for kind in layout.lines
        if kind.table
        for name, column in layout.columns_of(kind).items()
        if isinstance(column, Column) and kind_of(name) == "time" and not column.formula
    ]
    return all(column.layout and not column.zone and "%z" not in column.layout for column in stamps)


def _stamps(layout: Layout, kind: Line, groups: set[str]) -> dict[str, Column]:
    return {
        name: column
        for name, column in layout.columns_of(kind).items()
        if isinstance(column, Column)
        and kind_of(name) == "time"
        and not column.day_of_file
        and groups.issuperset(column.source_groups(name))
    }


def _replace(line: str, found: re.Match[str], stamps: dict[str, Column], at: datetime | str) -> str:
    pieces = []
    for name, column in stamps.items():
        own = column.groups or (column.group or name,)
        if column.fraction:
            digits = found[column.fraction.group]
            pieces.append((column.fraction.group, "0" * len(digits)))
        if column.formula:
            # The event's time is the start plus the duration, so a duration of zero makes both times equal.
            pieces.append(("duration_s", "0"))
            continue
        if column.epoch:
            assert isinstance(at, datetime)
            pieces.append((own[0], str(int((at - datetime(1970, 1, 1)).total_seconds()))))
            continue
        written = _write(at, column.layout or "")
        parts = written.rsplit(column.join, len(own) - 1) if len(own) > 1 else [written]
        pieces += zip(own, parts, strict=True)
    for group, text in sorted(pieces, key=lambda piece: -found.start(piece[0])):
        if found[group] is not None:
            line = line[: found.start(group)] + text + line[found.end(group) :]
    return line


def _write(at: datetime | str, layout: str) -> str:
    for code, ours in _CODES.items():
        layout = layout.replace(code, ours)
    layout = layout.replace("%z", "+00:00")
    if isinstance(at, datetime):
        return at.strftime(layout)
    day, clock = at.split(" ")
    year, month, day = day.split("-")
    hour, minute, second = clock.split(":")
    names = dict(zip("YmdHMSy", (year, month, day, hour, minute, second, year[2:]), strict=True))
    names |= {"f": "000000", "b": datetime(2000, int(month), 1).strftime("%b")}
    names |= {"T": clock, "F": f"{year}-{month}-{day}", "a": "Mon"}
    return re.sub("%([A-Za-z])", lambda code: names[code[1]], layout)
