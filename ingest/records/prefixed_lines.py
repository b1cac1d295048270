"""Removes what another program wrote before each line, such as syslog's time and host.

It is removed before lines are compared, so a line is the same line behind any prefix, or none.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

import polars as pl

from tapewise.ingest.records.format import Format, Unfold
from tapewise.schema.errors import FormatError


@dataclass(frozen=True)
class PrefixStripper:
    """The `make_unfold` of a format whose lines follow a prefix; `make_inner` is the format's own."""

    prefix: str
    make_inner: Callable[[], Unfold] | None = None

    def __call__(self) -> Unfold:
        """Return a function that removes the prefix from lines that have it."""
        inner = None if self.make_inner is None else self.make_inner()

        def unfold(lines: pl.Series) -> pl.Series:
            bare = strip_prefix(lines, self.prefix)
            return bare if inner is None else inner(bare)

        return unfold


def strip_prefix(lines: pl.Series, prefix: str | None) -> pl.Series:
    """Return the lines without what matches the regular expression `prefix` at their beginning."""
    return lines if prefix is None else lines.str.replace(f"^(?:{prefix})", "")


def check_prefix(prefix: str) -> None:
    """Raise FormatError unless `prefix` is a regular expression that matches some beginning of a line."""
    try:
        is_empty = pl.Series([""]).str.contains(f"^(?:{prefix})$")[0]
    except pl.exceptions.ComputeError as error:
        # The reason comes last in polars' message, after the expression with a caret below it.
        reason = str(error).strip().rpartition("error: ")[2]
        raise FormatError(
            f"{prefix!r} is not a valid regular expression: {reason}",
            hint="Its dialect is Rust's: docs.rs/regex.",
        ) from None
    if is_empty:
        raise FormatError(f"{prefix!r} matches nothing at all, so it is no prefix")


def strip_format(log_format: Format, prefix: str | None) -> Format:
    """Return the format for lines that follow `prefix`, if any, under the same name.

    Its `layout_text` says what it is made from, so the warehouse can restore it. Raises FormatError if the
    prefix is no regular expression, or if the format has another one.
    """
    if prefix is None or prefix == log_format.prefix:
        return log_format
    if log_format.prefix is not None:
        raise FormatError(
            f"lines of {log_format.name} already have a prefix: {log_format.prefix}",
            hint="Leave out --strip, or edit the layout.",
        )
    if log_format.layout_text is not None:
        raise FormatError(
            f"{log_format.name} is a layout of your own, which says itself what precedes its lines",
            hint=f"Write prefix = {json.dumps(prefix, ensure_ascii=False)} into it, and leave out --strip.",
        )
    check_prefix(prefix)
    text = f"like = {json.dumps(log_format.name)}\nprefix = {json.dumps(prefix, ensure_ascii=False)}\n"
    return replace(with_prefix(log_format, prefix), layout_text=text)


def with_prefix(log_format: Format, prefix: str) -> Format:
    """Return the format for lines that follow `prefix`, which is valid; only its version differs, too."""
    meaning = f"{log_format.version} {prefix}"
    return replace(
        log_format,
        prefix=prefix,
        version=int.from_bytes(sha256(meaning.encode()).digest()[:4]) >> 1,
        make_unfold=PrefixStripper(prefix, log_format.make_unfold),
    )
