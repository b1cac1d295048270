"""Reads lines that name their values: JSON objects."""

import io
import re
from collections.abc import Iterable
from typing import Any

import polars as pl

# A name in a path; one that contains a point is in quotation marks.
_NAME = r'(?:"[^"]+"|[^."]+)'
_PATH = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_NUL = "\x00"


def split_path(path: str) -> tuple[str, ...] | None:
    """The names on the way to a value: `status.code`, `"sec.app"`. None if `path` is written otherwise."""
    if not _PATH.fullmatch(path):
        return None
    return tuple(name.strip('"') for name in re.findall(_NAME, path))


def read_json(lines: pl.Series, paths: Iterable[str]) -> tuple[pl.Series, pl.Series]:
    """Read lines as JSON objects.

    Returns, for each line, a struct with the text at each of `paths`, and whether the line is an object.
    Numbers, flags, arrays and objects become texts; null, and what is missing, become null. Of several equal
    keys, the first counts. NUL, which PostgreSQL cannot store, is replaced.
    """
    if not (paths := set(paths)):
        paths.add("-")  # a frame without columns would have no rows
    ways = {path: way for path in sorted(paths) if (way := split_path(path)) is not None}
    # Judged line by line, and not by whether a block can be read, in which all lines would share a fault.
    # XRootD ends an object with NUL.
    lines = lines.str.strip_chars(f" \t{_NUL}")
    is_object = lines.str.starts_with("{") & lines.str.json_path_match("$").is_not_null()
    objects = "\n".join(lines.filter(is_object)).encode()
    found = pl.read_ndjson(io.BytesIO(objects), schema=make_schema(ways.values()), ignore_errors=True)
    texts = found.select(
        _get(way).str.replace_all(_NUL, "\ufffd", literal=True).alias(path) for path, way in ways.items()
    )
    if not is_object.all():
        objects_at = pl.DataFrame({"place": is_object.arg_true()}).hstack(texts)
        places = pl.DataFrame({"place": pl.int_range(len(lines), dtype=pl.UInt32, eager=True)})
        texts = places.join(objects_at, on="place", how="left", maintain_order="left")
    return texts.select(pl.struct(*ways).alias("keys"))["keys"], is_object


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


def _get(way: tuple[str, ...]) -> pl.Expr:
    value = pl.col(way[0])
    for name in way[1:]:
        value = value.struct.field(name)
    return value
