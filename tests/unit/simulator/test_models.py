"""The simulator reads exported workload models; errors name the file and the field."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tapewise.clustering import documents
from tapewise.schema.errors import WorkloadError
from tapewise.simulator.demand import models
from tapewise.simulator.demand.models import load_model_file
from tests.unit.simulator.workloads import make_group, make_model

MODEL = make_model(make_group(), make_group(direction="put"))


def make_document() -> dict[str, Any]:
    document = json.loads(json.dumps(asdict(MODEL), default=str))
    return {
        "format": "tapewise-workload",
        "format_version": 1,
        "quantile_levels": list(models.QUANTILE_LEVELS),
        "something else": 1,
    } | document


def test_both_packages_describe_the_same_document():
    fields = documents.WorkloadModel.model_fields
    assert (fields["format"].default, fields["format_version"].default) == (
        models.FORMAT,
        models.FORMAT_VERSION,
    )
    assert documents.QUANTILE_LEVELS == models.QUANTILE_LEVELS
    assert documents.HOURS_OF_WEEK == models.HOURS_OF_WEEK
    assert set(models.Bursts.__dataclass_fields__) < set(documents.Bursts.model_fields)
    assert set(models.RequestClass.__dataclass_fields__) < set(documents.WorkloadClass.model_fields)


def test_a_file_is_read(tmp_path: Path):
    path = tmp_path / "spring.json"
    path.write_text(json.dumps(make_document()))
    assert load_model_file(path) == MODEL


def change(*place: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    def apply(document: dict[str, Any]) -> None:
        inner: Any = document
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = to

    return apply


BURSTS = ("groups", 1, "bursts")


@pytest.mark.parametrize(
    "apply, message",
    [
        (change("format", to="other"), "format is not 'tapewise-workload'"),
        (change("format_version", to=2), "format_version is 2, and this program reads 1"),
        (change("quantile_levels", to=[0.5]), "quantile_levels are not those of format version 1"),
        (change("timezone", to="Mars/Olympus"), "model: timezone 'Mars/Olympus' is unknown on this machine"),
        (change("timezone", to="/etc/passwd"), "model: timezone '/etc/passwd' is unknown on this machine"),
        (change("last_ended_at", to="1990-01-01T00:00:00Z"), "model: last_ended_at is before first_ended_at"),
        (
            change("first_ended_at", to="1990-01-01T00:00:00"),
            "first_ended_at: Input should have timezone info",
        ),
        (change("groups", 1, "direction", to="copy"), "groups.1.direction: Input should be 'put' or 'get'"),
        (
            change("groups", 1, "request_count", to=7),
            "groups.1: the classes' requests do not add up to request_count",
        ),
        (
            change("groups", 1, "classes", 0, "size_quantiles_bytes", to=[1.0]),
            "groups.1.classes.0: size_quantiles_bytes has length 1, not 9",
        ),
        (
            change("groups", 1, "classes", 0, "size_quantiles_bytes", to=[]),
            "groups.1.classes.0: size_quantiles_bytes is empty",
        ),
        (
            change("groups", 1, "classes", 0, "size_bytes", to=-1),
            "groups.1.classes.0.size_bytes: Input should be greater",
        ),
        (
            change(*BURSTS, "gap_quantiles_s", to=[2.0, 1.0] + [3.0] * 7),
            "groups.1.bursts: gap_quantiles_s must not decrease",
        ),
        (change(*BURSTS, "gap_quantiles_s", to=[]), "groups.1.bursts: gap_quantiles_s is empty"),
        (
            change(*BURSTS, "gap_quantiles_s", 8, to=float("inf")),
            "groups.1.bursts.gap_quantiles_s.8: Input should be",
        ),
        (
            change(*BURSTS, "request_count_quantiles", to=[]),
            "groups.1.bursts: request_count_quantiles is empty",
        ),
        (change(*BURSTS, "user_shares", to=[]), "groups.1.bursts: user_shares is empty"),
        (
            change(*BURSTS, "user_shares", 1, "user_rank", to=1),
            "groups.1.bursts: the user_rank of user_shares does not increase",
        ),
        (
            change(*BURSTS, "user_shares", 1, "running_ratio", to=0.1),
            "groups.1.bursts: user_shares must not decrease",
        ),
        (change(*BURSTS, "request_count", to=5), "groups.1.bursts: 5 requests cannot form 1344 bursts"),
        (
            change(*BURSTS, "week_burst_counts", 0, to=5),
            "groups.1.bursts: week_burst_counts do not add up to burst_count",
        ),
        (
            change(*BURSTS, "week_burst_counts", to=[1]),
            "groups.1.bursts.week_burst_counts: Tuple should have at least 168",
        ),
        (lambda document: document.pop("archive"), "archive: Field required"),
        (
            change(*BURSTS, "request_count", to=1344),
            "groups.1: 6000 requests are in classes, of 1344 that did not fail",
        ),
    ],
)
def test_errors_name_what_is_wrong(tmp_path: Path, apply, message: str):
    document = make_document()
    apply(document)
    path = tmp_path / "spring.json"
    path.write_text(json.dumps(document))
    with pytest.raises(WorkloadError) as caught:
        load_model_file(path)
    assert caught.value.message.startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    "text, message", [("{", "not valid JSON: "), ("[]", "format is not"), ("\xff", "not valid JSON: ")]
)
def test_a_file_that_is_not_a_model_is_reported(tmp_path: Path, text: str, message: str):
    path = tmp_path / "spring.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(WorkloadError) as caught:
        load_model_file(path)
    assert caught.value.message.startswith(f"{path}: {message}")


def test_a_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(WorkloadError, match=r"none\.json: No such file or directory"):
        load_model_file(tmp_path / "none.json")
