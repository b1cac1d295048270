"""The contents of a layout's TOML file.

    title = "a site's own transfer log"
    clock_resolution_s = 0.001
    examples = ["2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7"]
    line_start = "[0-9]{4}-[0-9]{2}-[0-9]{2} "

    [columns]                                           # of all lines
    interface = "site"                                  # a constant
    event_at = { layout = "%Y-%m-%d %H:%M:%S" }         # the group `event_at`, as a time
    direction = { map = { put = "put", get = "get" } }
    size_bytes = { group = "size", unit = "KiB" }

    [[lines]]
    name = "transfer"
    table = "transfers"                                 # or: ignored = "why such lines report no traffic"
    pattern = '(?<event_at>.{19}) (?<direction>[a-z]+) ...'
    columns = { operation = "copy" }                    # of these lines

The first pattern that matches a complete line determines its record. A group whose name is that of a column
is used unchanged, unless `columns` describes that column.
"""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

# Increase this when an unchanged layout makes different records than before.
ENGINE_VERSION = 2
# The size of each unit in the column's own unit (bytes, seconds or bytes a second).
UNITS: dict[str, float] = {
    "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    "h": 3600, "min": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
}  # fmt: skip
Unit = Literal["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "h", "min", "s", "ms", "us", "ns"]
TimeUnit = Literal["s", "ms", "us", "ns"]
Formula = Literal["event_at - started_at", "started_at + duration_s", "size_bytes / rate_bytes_per_s"]
FORMULAS: dict[str, str] = {
    "event_at - started_at": "duration_s",
    "started_at + duration_s": "event_at",
    "size_bytes / rate_bytes_per_s": "duration_s",
}


class Part(BaseModel):
    """A table in a layout file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Fraction(Part):
    """The fraction of a second of a time, if it is in a separate group."""

    group: str
    unit: TimeUnit


class Column(Part):
    """How a column is made from a pattern's groups; `group` defaults to the column's own name.

    With several `groups`, numbers are added up, and texts are joined with `join`. With `first`, the first
    text that is present is used. `decode` turns `%2F` into `/` before `replace` applies. `map` maps texts to
    values, `otherwise` is the value for any other text, and `missing` the value if the group did not match.
    """

    group: str | None = None
    groups: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    join: str = " "
    first: StrictBool = False
    decode: Literal["percent"] | None = None
    replace: dict[str, str] = {}
    map: dict[str, StrictBool | str] | None = None
    otherwise: StrictBool | str | None = None
    missing: StrictBool | int | float | str | None = None
    unit: Unit | None = None
    thousands: str = ""
    layout: str | None = None
    epoch: TimeUnit | None = None
    fraction: Fraction | None = None
    zone: Literal["UTC"] | None = None
    day_of_file: StrictBool = False
    formula: Formula | None = None

    def source_groups(self, column: str) -> tuple[str, ...]:
        """The groups from which the column called `column` is made."""
        if self.formula or self.day_of_file:
            return ()
        own = self.groups or (self.group or column,)
        return (*own, self.fraction.group) if self.fraction else own

    @model_validator(mode="after")
    def _check_groups(self) -> Self:
        if self.group is not None and self.groups is not None:
            raise ValueError("has both group and groups")
        if self.otherwise is not None and self.map is None:
            raise ValueError("has otherwise without map")
        return self


Value = StrictBool | int | float | str | Column


class Line(Part):
    """A kind of line: a pattern for the complete line, and its fact's table or the reason to ignore it.

    A `pattern` may be a list of pieces, which are concatenated. With a `mark`, only lines that contain this
    text are matched, because a match that fails late is slow.
    """

    name: Annotated[str, Field(min_length=1)]
    pattern: Annotated[tuple[str, ...], Field(min_length=1)]
    table: str | None = None
    ignored: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    mark: str | None = None
    columns: dict[str, Value] = {}

    @property
    def regex(self) -> str:
        """The expression to match; its last group, `matched`, shows a match even without other groups."""
        return f"^(?:{''.join(self.pattern)})(?<matched>)$"

    @field_validator("pattern", mode="before")
    @classmethod
    def _take_one_piece(cls, pattern: object) -> object:
        return (pattern,) if isinstance(pattern, str) else pattern

    @model_validator(mode="after")
    def _check_fate(self) -> Self:
        if (self.table is None) == (self.ignored is None):
            raise ValueError("needs either table or ignored")
        return self


class Layout(Part):
    """The description of a log format. `nulls` lists texts that mean "no value"; `about` is for people.

    `line_start` is a pattern for the beginning of every line, used to find lines whose newline was lost.
    `of_parts` says that transfers are reads and writes within files.
    """

    title: Annotated[str, Field(min_length=1)]
    about: str = ""
    clock_resolution_s: Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)] = 1.0
    examples: Annotated[tuple[str, ...], Field(min_length=1)]
    nulls: tuple[str, ...] = ()
    line_start: Annotated[str, Field(min_length=1)] | None = None
    of_parts: StrictBool = False
    columns: dict[str, Value] = {}
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]

    def columns_of(self, line: Line) -> dict[str, Value]:
        """The columns described for this kind of line: its own, and those described for all lines."""
        return {**self.columns, **line.columns}

    def meaning(self) -> str:
        """A text with everything that affects records; equivalent layouts have the same text.

        Defaults are left out, so adding a new key to this class does not change the text of existing layouts.
        """
        said: dict[str, Any] = self.model_dump(
            mode="json", exclude={"title", "about", "examples"}, exclude_defaults=True
        )
        return json.dumps({"engine": ENGINE_VERSION, **said}, sort_keys=True)

    def extends(self, other: "Layout") -> bool:
        """Whether this layout is `other` plus patterns at the end, so that old records stay the same."""
        count = len(other.lines)
        mine, theirs = (
            each.model_dump(exclude={"title", "about", "examples", "lines"}) for each in (self, other)
        )
        return mine == theirs and self.lines[:count] == other.lines
