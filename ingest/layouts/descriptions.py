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

If lines are JSON objects, keys take the place of patterns and groups:

    json = true
    examples = ['{"time": 1709630062.25, "what": {"type": "read"}, "bytes": 1024}']

    [[lines]]
    name = "read"
    table = "transfers"
    when = { what.type = "read" }                       # all of these have one of these texts
    [lines.columns]
    event_at = { group = "time", epoch = "s" }
    operation = { group = "what.type" }
    size_bytes = { group = "bytes" }

If they are pairs, such as `bytes="1024" who="kim"`, `pairs` says how they are written, and `head` what
precedes them, whose groups are values, too:

    pairs = { between = " ", is_quoted = true }
    head = '(?<time>[0-9.]+) (?<host>[^ ]+): '

If they are rows of a table (CSV), `csv` has the names of its columns, which are used like keys:

    csv = { columns = ["time", "who", "bytes"], separator = ";" }
"""

import json
import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from tapewise.ingest.layouts.forms import Csv, Pairs

# Increase this when an unchanged layout makes different records than before.
ENGINE_VERSION = 3
# The size of each unit in the column's own unit (bytes, seconds or bytes a second). ISO 8601 writes durations
# as PT1H2M0.5S, which are read as seconds.
UNITS: dict[str, float] = {
    "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
    "h": 3600, "min": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
    "ISO 8601": 1,
}  # fmt: skip
Unit = Literal[
    "B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "h", "min", "s", "ms", "us", "ns", "ISO 8601"
]  # fmt: skip
TimeUnit = Literal["s", "ms", "us", "ns"]
Formula = Literal[
    "event_at - started_at",
    "started_at + duration_s",
    "size_bytes / rate_bytes_per_s",
    "event_at - duration_s",
]
# The duration that this formula takes is an age, which may be unknown, or older than anything that is timed.
FROM_AGE = "event_at - duration_s"
FORMULAS: dict[str, str] = {
    "event_at - started_at": "duration_s",
    "started_at + duration_s": "event_at",
    "size_bytes / rate_bytes_per_s": "duration_s",
    FROM_AGE: "started_at",
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
    text that is present is used. `find` is a pattern whose only group is the part of the text to use; a text
    that it does not match counts as missing. `decode` turns `%2F`, or base64's `Lw==`, into `/` before
    `replace` applies. `map` maps texts to values, `otherwise` is the value for any other text, and `missing`
    the value if the group did not match.
    """

    group: str | None = None
    groups: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    join: str = " "
    first: StrictBool = False
    find: str | None = None
    decode: Literal["percent", "base64"] | None = None
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

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns from which the formula computes this one."""
        return tuple(re.findall("[a-z_]+", self.formula or ""))

    @model_validator(mode="after")
    def _check_groups(self) -> Self:
        if self.group is not None and self.groups is not None:
            raise ValueError("has both group and groups")
        if self.otherwise is not None and self.map is None:
            raise ValueError("has otherwise without map")
        return self


Value = StrictBool | int | float | str | Column


class Fact(Part):
    """A further fact that a line reports. The columns of the layout apply to it, too, but not the line's."""

    table: str
    columns: dict[str, Value] = {}


class Line(Part):
    """A kind of line: how to know it, and its fact's table or the reason to ignore it.

    It is known by a `pattern` for the complete line, which may be a list of pieces that are concatenated.
    With a `mark`, only lines that contain this text are matched, because a match that fails late is slow. A
    JSON object can also be known by values: `when` maps paths of keys to the texts of which each has one.

    `also` has further facts that the line reports, none of them later than its own. The line counts once. A
    further fact is left out of lines that lack one of the values that it needs.
    """

    name: Annotated[str, Field(min_length=1)]
    pattern: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    when: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] | None = None
    table: str | None = None
    ignored: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    mark: str | None = None
    columns: dict[str, Value] = {}
    also: tuple[Fact, ...] = ()

    def list_facts(self) -> list["Line"]:
        """Return this kind of line once for each fact that it reports, with the fact's table and columns."""
        further = [
            self.model_copy(update={"table": fact.table, "columns": fact.columns, "also": ()})
            for fact in self.also
        ]
        return [self, *further]

    @property
    def regex(self) -> str:
        """The expression to match; its last group, `matched`, shows a match even without other groups."""
        return f"^(?:{''.join(self.pattern or ())})(?<matched>)$"

    @field_validator("pattern", mode="before")
    @classmethod
    def _take_one_piece(cls, pattern: object) -> object:
        return (pattern,) if isinstance(pattern, str) else pattern

    @field_validator("when", mode="before")
    @classmethod
    def _take_texts(cls, when: object) -> object:
        return _flatten(when) if isinstance(when, dict) else when

    @model_validator(mode="after")
    def _check_fate(self) -> Self:
        if (self.table is None) == (self.ignored is None):
            raise ValueError("needs either table or ignored")
        if (self.pattern is None) == (self.when is None):
            raise ValueError("needs either pattern or when")
        if self.mark is not None and self.pattern is None:
            raise ValueError("has a mark without a pattern")
        if self.also and self.table is None:
            raise ValueError("has further facts (also), but is ignored")
        return self


def _flatten(when: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Map paths to lists of texts. TOML reads an unquoted path as nested tables."""
    found: dict[str, Any] = {}
    for key, value in when.items():
        path = prefix + (f'"{key}"' if prefix and "." in key else key)
        if isinstance(value, dict):
            found |= _flatten(value, f"{path}.")
        else:
            values = value if isinstance(value, list) else [value]
            found[path] = tuple(
                str(each).lower() if isinstance(each, bool) else str(each) if isinstance(each, int) else each
                for each in values
            )
    return found


class Layout(Part):
    """The description of a log format. `nulls` lists texts that mean "no value"; `about` is for people.

    `line_start` is a pattern for the beginning of every line, used to find lines whose newline was lost.
    `json` says that lines are JSON objects, `pairs` how lines of pairs are written, and `csv` what the cells
    of lines are. All may follow a `head`, a pattern whose groups are values like those of keys. `names` has
    what the log calls keys, where the layout calls them otherwise. `prefix` is a pattern for what another
    program writes before each line; it is removed first. `of_parts` says that transfers are reads and writes
    within files.
    """

    title: Annotated[str, Field(min_length=1)]
    about: str = ""
    clock_resolution_s: Annotated[float, Field(gt=0, le=86400, allow_inf_nan=False)] = 1.0
    examples: Annotated[tuple[str, ...], Field(min_length=1)]
    nulls: tuple[str, ...] = ()
    line_start: Annotated[str, Field(min_length=1)] | None = None
    prefix: Annotated[str, Field(min_length=1)] | None = None
    json_objects: Annotated[StrictBool, Field(alias="json")] = False
    pairs: Pairs | None = None
    csv: Csv | None = None
    head: Annotated[str, Field(min_length=1)] | None = None
    names: dict[str, str] = {}
    of_parts: StrictBool = False
    columns: dict[str, Value] = {}
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]

    def columns_of(self, line: Line) -> dict[str, Value]:
        """The columns described for this kind of line: its own, and those described for all lines."""
        return {**self.columns, **line.columns}

    def paths_of(self, line: Line) -> tuple[str, ...]:
        """The paths of the keys that `when` and the columns of this kind of line name, sorted."""
        named = {
            path
            for fact in line.list_facts()
            for name, value in self.columns_of(fact).items()
            if isinstance(value, Column)
            for path in value.source_groups(name)
        }
        return tuple(sorted(named | (line.when or {}).keys()))

    @property
    def has_keys(self) -> bool:
        """Whether values have names, as in JSON objects, pairs and CSV."""
        return self.json_objects or self.pairs is not None or self.csv is not None

    @property
    def key_kind(self) -> str:
        """What lines with named values are."""
        if self.json_objects:
            return "a JSON object"
        if self.csv is None:
            return "a line of pairs"
        return f"a row of {len(self.csv.columns)} {'or more ' if self.csv.has_more else ''}cells"

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        has_when = any(kind.when is not None for kind in self.lines)
        if self.json_objects and self.pairs is not None:
            raise ValueError("json is true, but there are also pairs")
        if self.csv is not None and (self.json_objects or self.pairs is not None):
            raise ValueError(f"there is csv, but {'also pairs' if self.pairs else 'json is true, too'}")
        if has_when and not self.has_keys:
            raise ValueError("lines have when, but json is not true, and there are no pairs and no csv")
        if self.has_keys and not has_when:
            said = (
                "json is true" if self.json_objects else "there are pairs" if self.pairs else "there is csv"
            )
            raise ValueError(f"{said}, but no lines have when")
        if not self.has_keys and (self.head is not None or self.names):
            raise ValueError("head and names are for JSON objects and pairs, and for csv")
        return self

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
