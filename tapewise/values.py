"""Reads the values of a query as PostgreSQL writes them, and formats them for tables, CSV and JSON.

Python's own types lose some of what PostgreSQL can express (months of an interval, digits of a number), or
refuse it (infinite times, years before 1 and after 9999).
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.string import TextLoader

# How much of a value a terminal shows. A longer one could take minutes to lay out, and nobody would read it.
CELL_CHARACTERS = 1000

_TYPES = psycopg.adapters.types


def _find(*names: str) -> set[int]:
    return {_TYPES[name].oid for name in names}


_BOOLS = _find("bool")
_NUMBERS = _find("int2", "int4", "int8", "float4", "float8", "numeric", "oid")
_DOCUMENTS = _find("json", "jsonb")
_MOMENTS = _find("timestamp", "timestamptz")


class _CutLoader(Loader):
    """Loads a value as text. Cuts long text, and appends the number of characters left out."""

    def load(self, data: Buffer) -> str:
        if len(data) <= CELL_CHARACTERS:
            return bytes(data).decode()
        # A character has up to four bytes; the last one in this slice may be cut in two.
        begin = bytes(data[: 4 * CELL_CHARACTERS]).decode(errors="ignore")[:CELL_CHARACTERS]
        left = _count_characters(data) - len(begin)
        return f"{begin}... ({left:,} more characters)" if left else begin


class _MomentLoader(TextLoader):
    """Loads a time as text with its offset, or with Z for UTC."""

    def load(self, data: Buffer) -> str:
        return re.sub(r"\+00(?=$| BC$)", "Z", bytes(data).decode())


def _count_characters(data: Buffer) -> int:
    """Count the characters of UTF-8 bytes without copying all of them."""
    step = 2**20
    parts = (bytes(data[begin : begin + step]) for begin in range(0, len(data), step))
    # Every character has exactly one byte that is not a continuation byte.
    return sum(len(part.translate(None, _CONTINUING)) for part in parts)


_CONTINUING = bytes(range(0x80, 0xC0))


def load_texts(adapters: AdaptersMap) -> None:
    """Make a cursor with these adapters return each value as text, even arrays."""
    for info in _TYPES:
        for oid in filter(None, (info.oid, info.array_oid)):
            adapters.register_loader(oid, TextLoader)


def load_elements(adapters: AdaptersMap) -> None:
    """Make a cursor with these adapters return each value as text, and an array as a list of texts."""
    for info in _TYPES:
        adapters.register_loader(info.oid, TextLoader)


def load_cells(adapters: AdaptersMap) -> None:
    """Make a cursor with these adapters return numbers and booleans as such, and the rest as short text."""
    for info in _TYPES:
        kept = info.oid in _BOOLS | _NUMBERS
        for oid in filter(None, (0 if kept else info.oid, info.array_oid)):
            adapters.register_loader(oid, _CutLoader)
    adapters.register_loader(0, _CutLoader)  # types that are not PostgreSQL's own
    adapters.register_loader("timestamptz", _MomentLoader)


def name_apart(columns: Sequence[str]) -> list[str]:
    """Return `columns` with a number appended to repeated names, so all names differ."""
    taken = set(columns)
    seen: set[str] = set()
    named = []
    for column in columns:
        name, number = column, 1
        while name in seen or (number > 1 and name in taken):
            number += 1
            name = f"{column}_{number}"
        seen.add(name)
        named.append(name)
    return named


def is_moment(oid: int) -> bool:
    """Whether values of the type `oid` are times with an offset, or arrays of them."""
    info = _TYPES["timestamptz"]
    return oid in (info.oid, info.array_oid)


def make_csv_writer(oid: int) -> Callable[[Any], Any]:
    """Return a function that converts values from `load_texts`, of the type `oid`, into fields of CSV."""
    if oid in _BOOLS:
        return lambda text: text and _write_bool(text)
    return lambda text: text


def make_json_writer(oid: int) -> Callable[[Any], str]:
    """Return a function that converts values from `load_elements`, of the type `oid`, into JSON."""
    info = _TYPES.get(oid)
    write_one = _choose_json_writer(info.oid if info is not None else oid)

    def write(value: Any) -> str:
        if value is None:
            return "null"
        if isinstance(value, list):
            return f"[{', '.join(map(write, value))}]"
        return write_one(value)

    return write


def _choose_json_writer(oid: int) -> Callable[[str], str]:
    if oid in _BOOLS:
        return _write_bool
    if oid in _NUMBERS:
        return _write_number
    if oid in _DOCUMENTS:
        return _write_document
    if oid in _MOMENTS:
        return _write_moment
    return json.dumps


def _write_bool(text: str) -> str:
    return "true" if text == "t" else "false"


def _write_number(text: str) -> str:
    """Keep all digits. NaN and infinities, which JSON lacks, become strings, as in PostgreSQL's to_json."""
    return text if text[-1].isdigit() else json.dumps(text)


def _write_document(text: str) -> str:
    # Outside its strings, JSON is ASCII, and any white space there can become a blank.
    return re.sub(r"[^\x20-\x7e]", lambda found: json.dumps(found[0])[1:-1], re.sub(r"[\t\n\r]", " ", text))


def _write_moment(text: str) -> str:
    """Write ISO 8601 in the form of Python's `isoformat`, which other commands use."""
    text = re.sub(r"\.\d+", lambda found: found[0].ljust(7, "0"), text.replace(" ", "T", 1))
    return json.dumps(re.sub(r"([+-]\d\d)(?=$| BC$)", r"\1:00", text))
