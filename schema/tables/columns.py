"""What all definitions of tables share: their metadata, and the kinds of columns that recur.

Units are in the names of columns: `_s` seconds, `_us` microseconds, `_bytes` bytes, `_bytes_per_s`; `_at` is
a `timestamptz`; `is_`/`has_` are flags.
"""

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

Timestamp = sa.DateTime(timezone=True)


def instant(name: str, *, nullable: bool = False) -> sa.Column[object]:
    """A column of points in time."""
    return sa.Column(name, Timestamp, nullable=nullable)


def flag(name: str) -> sa.Column[bool]:
    """A column that is true or false, never null."""
    return sa.Column(name, sa.Boolean, nullable=False)


def identity() -> sa.Column[int]:
    """The column that numbers the rows of a small table."""
    return sa.Column("id", sa.Integer, sa.Identity(always=True), primary_key=True)
