"""HMAC-SHA-256 of columns. Without the key, no one can make such a hash, or use one to check a guess."""

from typing import Any, cast

import polars as pl
import polars_hash  # noqa: F401  # registers the expressions `.chash`

_DIGITS = 16  # 64 bits


def make_hmac(column: pl.Expr, key: str) -> pl.Expr:
    """The HMAC of each value (Binary or String) as 64 hexadecimal digits; null stays null."""
    # polars_hash adds `chash` at run time, so type checkers do not know it.
    return cast(pl.Expr, cast(Any, column).chash.hmac_sha256(key=key))


def hash_with_key(column: pl.Expr, key: str) -> pl.Expr:
    """The first 64 bits of the HMAC of each value as a signed number (Int64); null stays null."""
    digits = make_hmac(column, key).str.head(_DIGITS)
    return digits.str.to_integer(base=16, dtype=pl.UInt64).reinterpret(signed=True)
