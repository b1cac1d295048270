"""Stores workload models in the warehouse (schema `studies`) and reads them back."""

import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg import errors
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from tapewise.clustering.documents import WorkloadGroup, WorkloadModel, make_class
from tapewise.schema.errors import WorkloadError

_MODEL_COLUMNS = (
    "measure", "since", "until", "criterion", "idle_s", "seed", "program_version", "fitted_at",
    "first_ended_at", "last_ended_at",
)  # fmt: skip
_CLASS_COLUMNS = (
    "class_number", "name", "request_count", "size_bytes", "cached_count", "uncached_count",
    "size_log10", "time_log10", "size_quantiles_bytes", "time_quantiles_s",
)  # fmt: skip


@dataclass(frozen=True)
class ModelSummary:
    """One line of the list of workload models."""

    name: str
    archive: str
    kind: str
    measure: str
    class_count: int
    request_count: int
    fitted_at: datetime


def list_models(connection: psycopg.Connection) -> list[ModelSummary]:
    """Return all workload models, sorted by name."""
    with connection.cursor(row_factory=class_row(ModelSummary)) as cursor:
        return cursor.execute(
            "SELECT models.name, archives.name AS archive, archives.kind, measure,"
            " count(class_number) AS class_count,"
            " coalesce(sum(request_count), 0)::bigint AS request_count, fitted_at"
            " FROM studies.workload_models AS models JOIN core.archives ON archive_id = archives.id"
            " LEFT JOIN studies.workload_classes ON model_id = models.id"
            " GROUP BY models.id, archives.id ORDER BY models.name"
        ).fetchall()


def check_name(connection: psycopg.Connection, name: str) -> None:
    """Raise WorkloadError if there is already a workload model called `name`."""
    row = connection.execute("SELECT FROM studies.workload_models WHERE name = %s", [name]).fetchone()
    if row is not None:
        raise _name_taken(name)


def save_model(connection: psycopg.Connection, model: WorkloadModel) -> None:
    """Store `model` in one transaction. Raises WorkloadError if its name is taken or its archive is gone."""
    try:
        with connection.transaction():
            _insert_model(connection, model)
    except errors.UniqueViolation:
        raise _name_taken(model.name) from None
    except (errors.ForeignKeyViolation, errors.NotNullViolation):
        raise WorkloadError(
            f"archive '{model.archive}' was dropped while the model was being fitted"
        ) from None


def load_model(connection: psycopg.Connection, name: str) -> WorkloadModel:
    """Read the workload model called `name`, from one snapshot. Raises WorkloadError if there is none."""
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        found = cursor.execute(
            "SELECT models.*, archives.name AS archive, kind, timezone"
            " FROM studies.workload_models AS models JOIN core.archives ON archive_id = archives.id"
            " WHERE models.name = %s",
            [name],
        ).fetchone()
        if found is None:
            raise _no_such_model(name)
        groups = cursor.execute(
            "SELECT interface, direction, request_count, set_apart, criterion_values, bursts"
            " FROM studies.workload_groups WHERE model_id = %s ORDER BY interface, direction",
            [found["id"]],
        ).fetchall()
        classes = cursor.execute(
            "SELECT * FROM studies.workload_classes WHERE model_id = %s"
            " ORDER BY interface, direction, class_number",
            [found["id"]],
        ).fetchall()
    return _make_model(found, groups, classes)


def remove_model(connection: psycopg.Connection, name: str) -> None:
    """Remove the workload model called `name`. Raises WorkloadError if there is none."""
    with connection.transaction():
        row = connection.execute("SELECT id FROM studies.workload_models WHERE name = %s", [name]).fetchone()
        if row is None:
            raise _no_such_model(name)
        connection.execute("DELETE FROM studies.workload_classes WHERE model_id = %s", row)
        connection.execute("DELETE FROM studies.workload_groups WHERE model_id = %s", row)
        connection.execute("DELETE FROM studies.workload_models WHERE id = %s", row)


def _insert_model(connection: psycopg.Connection, model: WorkloadModel) -> None:
    row = connection.execute(
        f"INSERT INTO studies.workload_models (archive_id, name, {', '.join(_MODEL_COLUMNS)})"  # noqa: S608  # our own names
        f" VALUES ((SELECT id FROM core.archives WHERE name = %s), %s{', %s' * len(_MODEL_COLUMNS)})"
        " RETURNING id".encode(),
        [model.archive, model.name, *(getattr(model, column) for column in _MODEL_COLUMNS)],
    ).fetchone()
    assert row is not None
    for group in model.groups:
        connection.execute(
            "INSERT INTO studies.workload_groups (model_id, interface, direction, request_count, set_apart,"
            " criterion_values, bursts) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [
                row[0], group.interface, group.direction, group.request_count, Jsonb(group.set_apart),
                Jsonb(group.criterion_values), Jsonb(group.bursts.model_dump()),
            ],
        )  # fmt: skip
        for each in group.classes:
            connection.execute(
                "INSERT INTO studies.workload_classes"  # noqa: S608  # our own names
                f" (model_id, interface, direction, {', '.join(_CLASS_COLUMNS)})"
                f" VALUES (%s, %s, %s{', %s' * len(_CLASS_COLUMNS)})".encode(),
                [row[0], group.interface, group.direction]
                + [getattr(each, column) for column in _CLASS_COLUMNS],
            )


def _make_model(
    found: dict[str, Any], groups: list[dict[str, Any]], classes: list[dict[str, Any]]
) -> WorkloadModel:
    totals = sum(each["request_count"] for each in classes), sum(int(each["size_bytes"]) for each in classes)
    return WorkloadModel(
        name=found["name"],
        archive=found["archive"],
        kind=found["kind"],
        timezone=found["timezone"],
        groups=[
            WorkloadGroup(
                **group,
                classes=[
                    make_class(
                        {column: each[column] for column in _CLASS_COLUMNS}
                        | {"size_bytes": int(each["size_bytes"])},
                        totals,
                    )
                    for each in classes
                    if (each["interface"], each["direction"]) == (group["interface"], group["direction"])
                ],
            )
            for group in groups
        ],
        **{column: found[column] for column in _MODEL_COLUMNS},
    )


def _name_taken(name: str) -> WorkloadError:
    return WorkloadError(
        f"there is already a workload model called '{name}'",
        hint=f"Choose another name, or remove that model: `tapewise workload remove {shlex.quote(name)}`.",
    )


def _no_such_model(name: str) -> WorkloadError:
    return WorkloadError(f"no workload model is called '{name}'", hint="`tapewise workload list` shows them.")
