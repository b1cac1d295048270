"""Fits a workload model: reads the cells and bursts of an archive, and sorts the cells into classes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Literal

import psycopg

from tapewise.clustering.archives import Archive
from tapewise.clustering.bursts import make_no_bursts, read_bursts
from tapewise.clustering.cells import Cells, FittedClass, fit_classes, read_cells
from tapewise.clustering.documents import IDLE_S, Bursts, WorkloadGroup, WorkloadModel, make_class
from tapewise.clustering.estimators import CRITERION
from tapewise.schema.errors import WorkloadError


@dataclass(frozen=True)
class FitRequest:
    """The parameters of a model; `since` and `until` are moments, or None for no limit.

    `has_bursts` is whether bursts are read, which takes longer than everything else. Without them, the model
    shows classes, but nothing can be generated from it.
    """

    name: str
    archive: str
    measure: Literal["service", "open"] = "service"
    since: datetime | None = None
    until: datetime | None = None
    idle_s: float = IDLE_S
    seed: int = 1
    has_bursts: bool = True


def fit_model(
    connection: psycopg.Connection, archive: Archive, request: FitRequest, *, now: datetime
) -> WorkloadModel:
    """Fit a model to the contents of the warehouse, without writing anything.

    `connection` must have the reader's role and no open transaction; everything is read from one snapshot.
    Raises WorkloadError if no request can be put into a class.
    """
    asked_for = asdict(request)
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cells = read_cells(connection, asked_for)
        fitted = {key: fit_classes(key[1], group, request.seed) for key, group in cells.items()}
        classes = {key: classes for key, (classes, _) in fitted.items()}
        bursts = read_bursts(connection, asked_for, classes) if request.has_bursts else {}
    if not any(len(group.positions) for group in cells.values()):
        raise WorkloadError(
            f"no request of archive '{request.archive}' has a size and a time to sort it by",
            hint=_explain_nothing(cells, request),
        )
    every_class = [each for found in classes.values() for each in found]
    totals = sum(each.request_count for each in every_class), sum(each.size_bytes for each in every_class)
    return WorkloadModel(
        name=request.name,
        archive=archive.name,
        kind=archive.kind,
        timezone=archive.timezone,
        measure=request.measure,
        since=request.since,
        until=request.until,
        first_ended_at=min(group.first_ended_at for group in cells.values()),
        last_ended_at=max(group.last_ended_at for group in cells.values()),
        criterion=CRITERION,
        idle_s=request.idle_s,
        seed=request.seed,
        program_version=version("tapewise"),
        fitted_at=now,
        groups=[
            _make_group(key, group, *fitted[key], bursts.get(key) or make_no_bursts(), totals)
            for key, group in cells.items()
        ],
    )


def _explain_nothing(cells: Mapping[tuple[str, str], Cells], request: FitRequest) -> str:
    if not cells:
        return "Nothing was transferred in that time." if request.since or request.until else "It is empty."
    reasons: dict[str, int] = {}
    for group in cells.values():
        for reason, count in group.set_apart.items():
            reasons[reason] = reasons.get(reason, 0) + count
    return (
        "All are set apart: "
        + ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        + "."
    )


def _make_group(
    key: tuple[str, str],
    cells: Cells,
    classes: list[FittedClass],
    values: Mapping[int, float | None],
    bursts: Bursts,
    totals: tuple[int, int],
) -> WorkloadGroup:
    interface, direction = key
    return WorkloadGroup.model_validate(
        {
            "interface": interface,
            "direction": direction,
            "request_count": sum(each.request_count for each in classes),
            "set_apart": cells.set_apart,
            "criterion_values": {str(count): value for count, value in values.items()},
            "classes": [make_class(asdict(each), totals) for each in classes],
            "bursts": bursts,
        }
    )
