"""Workload models from which streams are generated, read from the warehouse or from an exported file.

Both sources give the same `Model`, which contains only what a stream needs. The exported document has more
fields; docs/reference/workload.schema.json describes it.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import psycopg
from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from tapewise.schema.errors import WorkloadError

FORMAT, FORMAT_VERSION = "tapewise-workload", 1
HOURS_OF_WEEK = 168
# The levels of all quantiles in format version 1.
QUANTILE_LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)

Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
Ratio = Annotated[float, Field(ge=0, le=1)]
Week = Annotated[tuple[Count, ...], Field(min_length=HOURS_OF_WEEK, max_length=HOURS_OF_WEEK)]


@dataclass(frozen=True)
class RequestClass:
    """A class of requests. `cached_count` and `uncached_count` count gets known to be from disk and tape."""

    class_number: int
    name: str
    request_count: Count
    size_bytes: Count
    cached_count: Count
    uncached_count: Count
    size_quantiles_bytes: tuple[Number, ...]

    def __post_init__(self) -> None:
        """Check that the quantiles are in order."""
        _check_quantiles("size_quantiles_bytes", self.size_quantiles_bytes)
        if self.request_count and not self.size_quantiles_bytes:
            raise ValueError("size_quantiles_bytes is empty")


@dataclass(frozen=True)
class UserShare:
    """The share of the requests that come from the `user_rank` busiest users."""

    user_rank: Annotated[int, Field(ge=1)]
    running_ratio: Ratio


@dataclass(frozen=True)
class Bursts:
    """Statistics of bursts (batches of requests from one user): sizes, gaps, users and hours of the week."""

    burst_count: Count
    request_count: Count
    unattributed_count: Count
    request_count_quantiles: tuple[Number, ...]
    gap_quantiles_s: tuple[Number, ...]
    same_class_ratio: Ratio | None
    user_shares: tuple[UserShare, ...]
    week_burst_counts: Week
    week_request_counts: Week

    def __post_init__(self) -> None:
        """Check that the values are complete, in order and consistent."""
        for name in ("request_count_quantiles", "gap_quantiles_s"):
            _check_quantiles(name, getattr(self, name))
        _check_rising("user_shares", [share.running_ratio for share in self.user_shares])
        if any(after.user_rank <= before.user_rank for before, after in pairwise(self.user_shares)):
            raise ValueError("the user_rank of user_shares does not increase")
        if self.request_count < self.burst_count:
            raise ValueError(f"{self.request_count} requests cannot form {self.burst_count} bursts")
        if sum(self.week_burst_counts) != self.burst_count:
            raise ValueError(f"week_burst_counts do not add up to burst_count, {self.burst_count}")
        for name, count in (
            ("request_count_quantiles", self.burst_count),
            ("user_shares", self.burst_count),
            ("gap_quantiles_s", self.request_count - self.burst_count),
        ):
            if count and not getattr(self, name):
                raise ValueError(f"{name} is empty")


@dataclass(frozen=True)
class Group:
    """The requests of one interface and direction; `request_count` counts those that are in classes."""

    interface: str
    direction: Literal["put", "get"]
    request_count: Count
    classes: tuple[RequestClass, ...]
    bursts: Bursts

    def __post_init__(self) -> None:
        """Check that the counts of classes and of bursts agree with `request_count`."""
        if sum(one.request_count for one in self.classes) != self.request_count:
            raise ValueError(f"the classes' requests do not add up to request_count, {self.request_count}")
        asked_count = self.bursts.request_count + self.bursts.unattributed_count
        if self.request_count > asked_count:
            raise ValueError(
                f"{self.request_count} requests are in classes, of {asked_count} that did not fail"
            )


@dataclass(frozen=True)
class Model:
    """A workload model of requests that ended from `first_ended_at` to `last_ended_at`."""

    name: str
    archive: str
    kind: Literal["measured", "synthetic", "simulated"]
    timezone: str
    first_ended_at: AwareDatetime
    last_ended_at: AwareDatetime
    groups: tuple[Group, ...]

    def __post_init__(self) -> None:
        """Check the zone and the range."""
        try:
            ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"timezone '{self.timezone}' is unknown on this machine") from error
        if self.last_ended_at < self.first_ended_at:
            raise ValueError("last_ended_at is before first_ended_at")

    @property
    def zone(self) -> ZoneInfo:
        """The archive's time zone."""
        return ZoneInfo(self.timezone)


_MODEL = TypeAdapter(Model)

# A single statement reads a single snapshot.
_QUERY = """
    SELECT jsonb_build_object(
        'name', models.name, 'archive', archives.name, 'kind', archives.kind,
        'timezone', archives.timezone,
        'first_ended_at', models.first_ended_at, 'last_ended_at', models.last_ended_at,
        'groups', coalesce((
            SELECT jsonb_agg(to_jsonb(groups) || jsonb_build_object('classes', coalesce((
                SELECT jsonb_agg(to_jsonb(classes) ORDER BY classes.class_number)
                FROM studies.workload_classes AS classes
                WHERE (classes.model_id, classes.interface, classes.direction)
                    = (groups.model_id, groups.interface, groups.direction)
            ), '[]')) ORDER BY groups.interface, groups.direction)
            FROM studies.workload_groups AS groups
            WHERE groups.model_id = models.id
        ), '[]')
    )
    FROM studies.workload_models AS models
    INNER JOIN core.archives ON models.archive_id = archives.id
    WHERE models.name = %(name)s
"""


def read_model(connection: psycopg.Connection, name: str) -> Model:
    """Read the workload model called `name`; `connection` must have the loader's role.

    Raises:
        WorkloadError: there is no model of that name, or it cannot be used.
    """
    row = connection.execute(_QUERY, {"name": name}).fetchone()
    if row is None:
        raise WorkloadError(
            f"no workload model is called '{name}'", hint="`tapewise workload list` shows them."
        )
    return _check(row[0], f"workload model '{name}'")


def load_model_file(path: Path) -> Model:
    """Read a model that `tapewise workload export` wrote.

    Raises:
        WorkloadError: the file cannot be read, is not a workload model, has another version, or has a missing
            or wrong field; the message names the file and the field.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise WorkloadError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise WorkloadError(f"{path}: not valid JSON: {error}") from error
    hint = "`tapewise workload export` writes such files."
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise WorkloadError(f"{path}: format is not '{FORMAT}'", hint=hint)
    if document.get("format_version") != FORMAT_VERSION:
        found = document.get("format_version")
        raise WorkloadError(
            f"{path}: format_version is {found!r}, and this program reads {FORMAT_VERSION}",
            hint="Export the model again with this version of Tapewise.",
        )
    if document.get("quantile_levels") != list(QUANTILE_LEVELS):
        raise WorkloadError(f"{path}: quantile_levels are not those of format version {FORMAT_VERSION}")
    return _check(document, str(path))


def _check(document: dict[str, Any], what: str) -> Model:
    try:
        return _MODEL.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "model"
        reason = first["msg"].removeprefix("Value error, ")
        raise WorkloadError(
            f"{what}: {field}: {reason}", hint="Fit the model again, and do not edit such files by hand."
        ) from error


def _check_quantiles(name: str, values: tuple[float, ...]) -> None:
    if len(values) not in (0, len(QUANTILE_LEVELS)):
        raise ValueError(f"{name} has length {len(values)}, not {len(QUANTILE_LEVELS)}")
    _check_rising(name, values)


def _check_rising(name: str, values: tuple[float, ...] | list[float]) -> None:
    if any(after < before for before, after in pairwise(values)):
        raise ValueError(f"{name} must not decrease")
