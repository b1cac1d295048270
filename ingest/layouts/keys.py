"""Reads lines that name their values: JSON objects, and pairs such as `key="value"`."""

import io
import re
from collections.abc import Iterable
from typing import Any

import polars as pl

from tapewise.ingest.layouts.forms import Pairs

# A name in a path; one that contains a point is in quotation marks.
_NAME = r'(?:"[^"]+"|[^."]+)'
_PATH = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_NUL = "\x00"
# polars reads blocks of objects five times faster than it checks single lines. The two agree about what is an
# object, except about half a surrogate pair, objects within more than a hundred others, and whole numbers of
# more than 128 bits. An object with such a number counts as none.
_HUGE = r"[:\[,][ \t]*-?[0-9]{39,}[ \t]*[,\]}]"
_DISPUTED = rf"\\u[dD][89a-fA-F]|(?:[\[{{][^\[{{]*){{100}}|{_HUGE}"

# A number that a float cannot hold, such as a time with nine decimals: polars would lose its digits.
# After a quotation mark within a text, these characters can never be followed by the end of a key.
_PRECISE = r'("[A-Za-z0-9_.-]+":[ \t]*)([1-9][0-9]{7,}\.[0-9]{6,})([ \t]*[,}])'

# What a value of a pair may contain that JSON would escape.
_ESCAPED = r'"\\\x00-\x1f'


def split_path(path: str) -> tuple[str, ...] | None:
    """The names on the way to a value: `status.code`, `"sec.app"`. None if `path` is written otherwise."""
    if not _PATH.fullmatch(path):
        return None
    return tuple(name.strip('"') for name in re.findall(_NAME, path))


def head_groups(head: str) -> list[str]:
    """The names of the groups of the pattern that precedes an object or pairs."""
    return [name for name in pl.Series([""]).str.extract_groups(head).struct.fields if not name.isdecimal()]


def read_json(lines: pl.Series, paths: Iterable[str]) -> tuple[pl.Series, pl.Series]:
    """Read lines as JSON objects.

    Returns, for each line, a struct with the text at each of `paths`, and whether the line is an object.
    Numbers, flags, arrays and objects become texts; null, and what is missing, become null. Of several equal
    keys, the first counts. NUL, which PostgreSQL cannot store, is replaced.
    """
    if not (paths := set(paths)):
        paths.add("-")  # a frame without columns would have no rows
    ways = {path: way for path in sorted(paths) if (way := split_path(path)) is not None}
    # XRootD ends an object with NUL.
    lines = lines.str.strip_chars(f" \t{_NUL}").str.replace_all(_PRECISE, '${1}"${2}"${3}')
    is_object = lines.str.starts_with("{")
    objects = lines.filter(is_object)
    found = None if objects.str.contains(_DISPUTED).any() else _read_objects(objects, ways.values())
    if found is None:
        # Each line is judged by itself, and not by whether the block can be read.
        is_object &= lines.str.json_path_match("$").is_not_null() & ~lines.str.contains(_HUGE)
        found = _read_objects(lines.filter(is_object), ways.values())
        assert found is not None, "both parsers agree about what is an object"
    texts = pl.DataFrame(
        _get(found, way).str.replace_all(_NUL, "\ufffd", literal=True).alias(path)
        for path, way in ways.items()
    )
    return put_back(texts, is_object).to_struct("keys"), is_object


def put_back(texts: pl.DataFrame, is_own: pl.Series) -> pl.DataFrame:
    """Return a row for each of `is_own`: the next of `texts` where it is true, nulls where it is false."""
    if is_own.all():
        return texts
    own = pl.DataFrame({"place": is_own.arg_true()}).hstack(texts)
    places = pl.DataFrame({"place": pl.int_range(len(is_own), dtype=pl.UInt32, eager=True)})
    return places.join(own, on="place", how="left", maintain_order="left").drop("place")


def read_pairs(lines: pl.Series, paths: Iterable[str], pairs: Pairs) -> tuple[pl.Series, pl.Series]:
    """Read lines of pairs as `read_json` reads objects; a path is a key, whatever the order of the pairs.

    Between pairs, and after the last one, the text `between` may be repeated. A value in quotation marks
    contains none. Without these, the first sign of equality ends the key, and `between` ends the value.
    """
    end = rf"(?:(?:{re.escape(pairs.between)})+|$)"
    is_plain, objects = pl.repeat(False, len(lines), eager=True), lines
    if pairs.is_quoted:
        # If no value begins with what ends a pair, and none ends with a sign of equality, each `="` begins a
        # value, and every other quotation mark ends one. Then pairs are rewritten three times faster.
        no_first = rf"{_ESCAPED}\s{re.escape(pairs.between[0])}"
        value = rf"(?:[^{no_first}=]|[^{no_first}][^{_ESCAPED}]*[^{_ESCAPED}=])?"
        is_plain = lines.str.contains(rf'^(?:[^=\s{_ESCAPED}]+="{value}"{end})+$')
        members = '"' + lines.str.replace_all('="', '":"', literal=True).str.replace_all(rf'"{end}', '","')
        objects = "{" + members.str.strip_suffix(',"') + "}"
    if not is_plain.all():
        others = _write_objects(lines.filter(~is_plain), end, pairs)
        objects = objects.scatter((~is_plain).arg_true(), others)
    return read_json(objects, paths)


def _write_objects(lines: pl.Series, end: str, pairs: Pairs) -> pl.Series:
    """Rewrite lines of pairs as JSON objects; other lines become empty. `end` matches what ends a pair."""
    between = re.escape(pairs.between)
    pair = r'([^"=\s]+)="([^"]*)"' if pairs.is_quoted else rf"([^={between}]+)=([^{between}]*)"
    is_of_pairs = lines.str.contains(rf"^(?:{pair}{end})+$")
    texts = lines.str.replace_all("\\", "\\\\", literal=True)
    if not pairs.is_quoted:
        texts = texts.str.replace_all('"', '\\"', literal=True)
    # JSON has no control characters in texts.
    texts = texts.str.replace_all("\t", "\\t", literal=True).str.replace_all(r"[\x00-\x1f]", "\ufffd")
    members = texts.str.replace_all(rf"{pair}{end}", '"${1}":"${2}",').str.strip_suffix(",")
    objects = pl.when(is_of_pairs).then("{" + members + "}").otherwise(pl.lit(""))
    return pl.select(objects).to_series()


def _read_objects(lines: pl.Series, ways: Iterable[tuple[str, ...]]) -> pl.DataFrame | None:
    """Read the values of objects, a row each; None if a line is not an object."""
    text = io.BytesIO("\n".join(lines).encode())
    try:
        found = pl.read_ndjson(text, schema=make_schema(ways), ignore_errors=True)
    except pl.exceptions.ComputeError:
        return None
    return found if len(found) == len(lines) else None


def make_schema(ways: Iterable[tuple[str, ...]]) -> dict[str, pl.DataType]:
    """The nested objects that contain these values. Raises ValueError if a value is also an object."""
    tree: dict[str, Any] = {}
    for way in ways:
        inner = tree
        for name in way[:-1]:
            inner = inner.setdefault(name, {})
            if inner is None:
                raise ValueError(f"{'.'.join(way)}: {name} is used as a value, too")
        if inner.setdefault(way[-1], None) is not None:
            raise ValueError(f"{'.'.join(way)}: values within it are used, too")
    return _make_types(tree)


def _make_types(tree: dict[str, Any]) -> dict[str, pl.DataType]:
    return {
        name: pl.String() if inner is None else pl.Struct(_make_types(inner)) for name, inner in tree.items()
    }


def _get(objects: pl.DataFrame, way: tuple[str, ...]) -> pl.Series:
    """The values on the way. An expression would take a name such as `*` or `^a$` for a pattern."""
    for name in way[:-1]:
        objects = objects.get_column(name).struct.unnest()
    return objects.get_column(way[-1])
