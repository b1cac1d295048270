"""Limits and priorities of a machine file, by columns of the trace.

    [limits.client]
    default_count = 25          # active transfers of one client machine
    exceptions = { cray = 40 }

    [priorities.class_of_service]
    exceptions = { "3" = 1 }    # goes before all others

A value that is unknown (null in the trace) is called `unknown`. It has no limit unless `exceptions` name it,
because its requests need not belong together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from tapewise.schema.errors import TraceError
from tapewise.simulator.kernel.tables import Integers
from tapewise.simulator.parts import Count, Part

UNKNOWN = "unknown"
# The columns that only some traces have; a request takes the tokens of its limits in this order.
COLUMNS = ("account", "client", "class_of_service")

_Rank = Annotated[int, Field(ge=-1000, le=1000)]


class Limit(Part):
    """The most active transfers for one value of a column: `default_count`, other than for `exceptions`."""

    default_count: Count | None = None
    exceptions: Annotated[dict[str, Count], Field(default_factory=dict)]

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if self.default_count is None and not self.exceptions:
            raise ValueError("default_count is missing (or exceptions)")
        return self

    def of(self, value: str) -> int | None:
        """Return the limit for a value, or None."""
        return self.exceptions.get(value, None if value == UNKNOWN else self.default_count)


class Limits(Part):
    """Limits besides that of `[users]`; `user` has only exceptions from it."""

    user: Limit | None = None
    account: Limit | None = None
    client: Limit | None = None
    class_of_service: Limit | None = None

    @model_validator(mode="after")
    def _check_user(self) -> Self:
        if self.user is not None and self.user.default_count is not None:
            raise ValueError("user.default_count cannot be given: users.limit_count is the default")
        return self


class Priority(Part):
    """How much before others the requests with a value go; those with the highest priority go first."""

    default: _Rank = 0
    exceptions: Annotated[dict[str, _Rank], Field(default_factory=dict)]

    def of(self, value: str) -> int:
        """Return the priority of a value."""
        return self.exceptions.get(value, self.default)


class Priorities(Part):
    """Priorities by column. Those of several columns are added."""

    user: Priority | None = None
    account: Priority | None = None
    client: Priority | None = None
    class_of_service: Priority | None = None


@dataclass(frozen=True)
class Gates:
    """The limits of a trace's requests as numbers.

    A gate is one value of a limited column, such as one client. `of_jobs` has, for each request and limited
    column, the number of its gate, or -1; `limits` has the limit of each gate. `unknown_counts` says how many
    requests have no known value, by column, and `absent` which exceptions no request is concerned by.
    """

    user_limits: Integers
    of_jobs: Integers
    limits: Integers
    priorities: Integers
    unknown_counts: Mapping[str, int] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The gates of all users and of all other limits."""
        return len(self.user_limits) + len(self.limits)


def list_columns(limits: Limits | None, priorities: Priorities | None) -> list[str]:
    """Return the columns that a trace must have for these limits and priorities."""
    return [
        column
        for column in COLUMNS
        if any(each is not None and getattr(each, column) is not None for each in (limits, priorities))
    ]


def find_gates(
    trace: pl.DataFrame, user_limit: int, limits: Limits | None, priorities: Priorities | None
) -> Gates:
    """Number the limits of a trace whose users are checked. Raises TraceError if it lacks a column."""
    limits, priorities = limits or Limits(), priorities or Priorities()
    absent: list[str] = []
    user_limits = np.full(trace["user"].n_unique(), user_limit, np.int64)
    gates: list[Integers] = []
    counts: list[int] = []
    ranks, unknown_counts = np.zeros(trace.height, np.int64), {}
    for column in ("user", *COLUMNS):
        limit, priority = getattr(limits, column), getattr(priorities, column)
        if limit is None and priority is None:
            continue
        if column != "user":
            values = read_values(trace, column, f"{'limits' if limit else 'priorities'}.{column}")
            trace = trace.with_columns(values)
        names, codes = _number_values(trace[column])
        if priority is not None:
            ranks += np.array([priority.of(name) for name in names], np.int64)[codes]
            absent += _find_absent(f"priorities.{column}", priority.exceptions, names)
        if limit is None:
            continue
        absent += _find_absent(f"limits.{column}", limit.exceptions, names)
        if column == "user":
            user_limits[:] = [limit.exceptions.get(name, user_limit) for name in names]
            continue
        if limit.of(UNKNOWN) is None and trace[column].null_count():
            unknown_counts[column] = trace[column].null_count()
        numbers = np.full(len(names), -1, np.int64)
        for place, name in enumerate(names):
            if (count := limit.of(name)) is not None:
                numbers[place] = len(counts)
                counts.append(count)
        gates.append(numbers[codes])
    of_jobs = np.column_stack(gates) if gates else np.empty((trace.height, 0), np.int64)
    return Gates(
        user_limits,
        np.ascontiguousarray(of_jobs),
        np.array(counts, np.int64),
        ranks,
        unknown_counts,
        tuple(absent),
    )


def _number_values(values: pl.Series) -> tuple[list[str], Integers]:
    """Return the different values, sorted, as texts, and the number of each row's value."""
    rows = values.fill_null(UNKNOWN).alias("value") if values.dtype == pl.String else values.alias("value")
    names = rows.unique().sort().to_frame().with_row_index("code")
    codes = rows.to_frame().join(names, on="value", how="left", maintain_order="left")["code"]
    return [str(name) for name in names["value"]], codes.cast(pl.Int64).to_numpy()


def read_values(trace: pl.DataFrame, column: str, field: str) -> pl.Series:
    """Return a column of a trace as texts; `field` of a machine file needs it.

    Raises TraceError if the trace has no such column, or no value in it: the field would do nothing.
    """
    if column not in trace.columns or trace[column].null_count() == trace.height:
        lack = "has no column" if column not in trace.columns else "does not say of any request its"
        is_written = column in trace.columns or column not in ("client", "class_of_service")
        option = "" if is_written else f" (`tapewise workload trace --with {column}`)"
        raise TraceError(
            f"the trace {lack} {column}, but the machine file has {field}",
            hint=f"Remove {field} from the machine file, or run requests that have it{option}.",
        )
    dtype = trace.schema[column]
    if dtype != pl.String and not dtype.is_integer():
        raise TraceError(f"the trace's {column} is of type {dtype}, neither whole numbers nor strings")
    return trace[column].cast(pl.String)


def _find_absent(place: str, exceptions: Mapping[str, int], names: list[str]) -> Iterator[str]:
    """Yield the exceptions whose value is in no request; it may be misspelt."""
    yield from (f"{place}.exceptions.{name}" for name in exceptions if name not in names)
