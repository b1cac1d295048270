"""The definition of a workload model: the document that `tapewise workload export` writes.

`format_version` increases with each change to the document that an old reader would misread. `make docs`
generates the document's JSON Schema, docs/reference/workload.schema.json, from this module. The document
contains no user or file names; users appear as ranks and counts.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

QUANTILE_LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
HOURS_OF_WEEK = 168
IDLE_S = 60.0

Count = Annotated[int, Field(ge=0)]
Ratio = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
Quantiles = Annotated[
    list[float],
    Field(max_length=len(QUANTILE_LEVELS), description="At quantile_levels; none where there are no values"),
]
Week = Annotated[
    list[Count],
    Field(
        min_length=HOURS_OF_WEEK,
        max_length=HOURS_OF_WEEK,
        description="By hour of the week, in the archive's zone, from Monday 00:00",
    ),
]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkloadClass(_Document):
    """A class of requests."""

    class_number: Annotated[int, Field(ge=1)]
    name: str
    request_count: Count
    size_bytes: Annotated[int, Field(ge=0, description="Of all its requests together")]
    request_ratio: Annotated[Ratio, Field(description="Share of the requests in all classes of the model")]
    size_ratio: Annotated[Ratio, Field(description="Share of the bytes in all classes of the model")]
    cached_count: Annotated[Count, Field(description="Gets that found their file on disk")]
    uncached_count: Annotated[Count, Field(description="Gets whose file had to come from tape")]
    centroid_size_bytes: float
    centroid_time_s: float
    size_log10: Annotated[float, Field(description="Of centroid_size_bytes; used for distances")]
    time_log10: Annotated[float, Field(description="Of centroid_time_s; used for distances")]
    size_quantiles_bytes: Quantiles
    time_quantiles_s: Quantiles


def make_class(values: Mapping[str, Any], totals: tuple[int, int]) -> WorkloadClass:
    """Make a class, and derive its centre in bytes and seconds and its shares of `totals`."""
    requests, size_bytes = totals
    return WorkloadClass(
        **values,
        request_ratio=values["request_count"] / requests,
        size_ratio=values["size_bytes"] / size_bytes,
        centroid_size_bytes=10 ** values["size_log10"],
        centroid_time_s=10 ** values["time_log10"],
    )


class UserShare(_Document):
    """The share of the requests that come from the users with the most requests."""

    user_rank: Annotated[int, Field(ge=1)]
    running_ratio: Ratio


class Bursts(_Document):
    """What makes a stream bursty: batches from one user, a few busy users, and the hours of the week."""

    burst_count: Count
    request_count: Annotated[Count, Field(description="In bursts: requests of known users that did not fail")]
    unattributed_count: Annotated[Count, Field(description="Requests that did not fail, of unknown users")]
    user_count: Count
    request_count_quantiles: Annotated[Quantiles, Field(description="Requests of a burst")]
    size_quantiles_bytes: Annotated[Quantiles, Field(description="Bytes of a burst")]
    gap_quantiles_s: Annotated[Quantiles, Field(description="From one request to the next within a burst")]
    same_class_ratio: Annotated[
        Ratio | None,
        Field(
            description="How often a request in a burst has the class of the one before it; requests in no"
            " class are skipped; null where no burst has two requests in classes"
        ),
    ]
    user_shares: list[UserShare]
    week_burst_counts: Week
    week_request_counts: Week


class WorkloadGroup(_Document):
    """The requests of one interface and direction."""

    interface: str
    direction: Literal["put", "get"]
    request_count: Annotated[Count, Field(description="In classes")]
    set_apart: Annotated[dict[str, Count], Field(description="In no class, by reason")]
    criterion_values: Annotated[
        dict[str, float | None],
        Field(description="By number of classes; null where there were too few requests for that many"),
    ]
    classes: list[WorkloadClass]
    bursts: Bursts


class WorkloadModel(_Document):
    """A workload model of Tapewise: classes of requests, and what makes their stream bursty."""

    format: Literal["tapewise-workload"] = "tapewise-workload"
    format_version: Literal[1] = 1
    name: str
    archive: str
    kind: Literal["measured", "synthetic", "simulated"]
    timezone: str
    measure: Annotated[
        Literal["service", "open"],
        Field(description="The time used besides the size: the transfer's own, or until the file was open"),
    ]
    since: datetime | None
    until: datetime | None
    first_ended_at: datetime
    last_ended_at: datetime
    criterion: str
    quantile_levels: list[Ratio] = list(QUANTILE_LEVELS)
    idle_s: Annotated[
        Seconds,
        Field(description="A user without any request in progress for longer than this begins another burst"),
    ]
    seed: int
    program_version: str
    fitted_at: datetime
    groups: list[WorkloadGroup]
