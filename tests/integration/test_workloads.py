"""Workload models: fitted, stored, read back, exported, dropped; SQL assigns classes as `predict` does."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest

from tapewise.clustering.archives import find_archive
from tapewise.clustering.documents import WorkloadModel
from tapewise.clustering.estimators import CellKMeans
from tapewise.clustering.fits import FitRequest, fit_model
from tapewise.clustering.storage import check_name, list_models, load_model, remove_model, save_model
from tapewise.ingest.sources.archives import drop_archive
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import WorkloadError
from tests.conftest import NOW
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("clustering", "sql")

# For each class of gets and puts: log10 of bytes and of seconds, and its share. No two classes are close.
MIXTURES = {
    "get": (((4.0, -0.5), 0.5), ((6.0, 1.0), 0.3), ((8.0, 1.5), 0.2)),
    "put": (((5.0, 0.0), 0.7), ((9.0, 2.0), 0.3)),
}
SPREAD = 0.12
COUNT = 3000
BEGIN = datetime(2000, 1, 3, tzinfo=UTC)


def make_transfers(seed: int = 1) -> list[dict[str, object]]:
    """Draw requests from the mixtures, in bursts; each burst is by one of five users."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    moment = BEGIN
    for direction, mixture in MIXTURES.items():
        classes = rng.choice(len(mixture), COUNT, p=[share for _, share in mixture])
        for number, label in enumerate(classes):
            moment += timedelta(seconds=5) if number % 10 else timedelta(hours=1)
            size_log10, time_log10 = rng.normal(mixture[label][0], SPREAD)
            rows.append(
                {
                    "direction": direction,
                    "size_bytes": round(10**size_log10),
                    "duration_s": float(10**time_log10),
                    "ended_at": moment.isoformat(),
                    "user": f"secret-{number // 10 % 5}",
                    "client": "secret-host",
                    "archive_path": "/secret/path",
                }
            )
    return rows


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    apart = [
        {"size_bytes": 0}, {"size_bytes": None}, {"duration_s": 0.0}, {"duration_s": None},
        {"is_failed": True}, {"size_bytes": 2**31 - 1, "is_size_saturated": True},
        {"interface": "hsi", "size_bytes": 0},
    ]  # fmt: skip
    for each in apart:
        each["ended_at"] = BEGIN.isoformat()
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": [*make_transfers(), *apart]})
    return warehouse


def fit(warehouse: Warehouse, **changes) -> WorkloadModel:
    with warehouse.connect(Role.READER, autocommit=True) as connection:
        request = FitRequest(**{"name": "spring", "archive": "llnl"} | changes)
        return fit_model(connection, find_archive(connection, request.archive), request, now=NOW)


def test_a_known_mixture_is_recovered(filled: Warehouse):
    model = fit(filled)
    groups = {(group.interface, group.direction): group for group in model.groups}
    assert set(groups) == {("hsi", "get"), ("nft", "get"), ("nft", "put")}
    for direction, mixture in MIXTURES.items():
        group = groups["nft", direction]
        assert group.request_count == COUNT
        assert list(group.criterion_values) == [str(count) for count in range(2, 13)]
        assert len(group.classes) == len(mixture)
        for found, ((size_log10, time_log10), share) in zip(group.classes, mixture, strict=True):
            # Allow five standard errors: here of the mean of that many requests, and below of the share.
            error = 5 * SPREAD / np.sqrt(share * COUNT)
            assert found.size_log10 == pytest.approx(size_log10, abs=error)
            assert found.time_log10 == pytest.approx(time_log10, abs=error)
            assert found.centroid_size_bytes == pytest.approx(10**size_log10, rel=np.log(10) * error * 1.1)
            share_error = 5 * np.sqrt(share * (1 - share) / COUNT)
            assert found.request_count / COUNT == pytest.approx(share, abs=share_error)
            # The median of a normal law, to within the width of a bucket plus five standard errors.
            assert found.time_quantiles_s[4] == pytest.approx(10**time_log10, rel=0.09 + 4 * error)
            assert found.size_quantiles_bytes == sorted(found.size_quantiles_bytes)
    classes = [each for group in model.groups for each in group.classes]
    assert sum(each.request_ratio for each in classes) == pytest.approx(1)
    assert sum(each.size_ratio for each in classes) == pytest.approx(1)
    assert [each.name for each in groups["nft", "put"].classes] == ["small puts", "large puts"]


def test_requests_without_size_or_time_are_counted_and_not_guessed(filled: Warehouse):
    groups = {(group.interface, group.direction): group for group in fit(filled).groups}
    assert groups["nft", "get"].set_apart == {
        "failed": 1, "saturated size": 1, "unknown size": 1, "unknown time": 1, "zero size": 1,
        "zero time": 1,
    }  # fmt: skip
    assert (groups["hsi", "get"].set_apart, groups["hsi", "get"].classes) == ({"zero size": 1}, [])
    assert set(groups["hsi", "get"].criterion_values.values()) == {None}
    # Requests without a user are counted but belong to no burst. Failed ones, which were repeated, are not.
    assert groups["nft", "get"].bursts.unattributed_count == 5


def test_bursts_are_kept(filled: Warehouse):
    (bursts,) = (group.bursts for group in fit(filled, idle_s=600.0).groups if group.direction == "put")
    assert (bursts.burst_count, bursts.request_count, bursts.user_count) == (COUNT // 10, COUNT, 5)
    assert bursts.request_count_quantiles == [10.0] * 9
    assert [each.user_rank for each in bursts.user_shares] == [1, 2, 5]
    assert [each.running_ratio for each in bursts.user_shares] == pytest.approx([0.2, 0.4, 1])
    assert (sum(bursts.week_burst_counts), sum(bursts.week_request_counts)) == (COUNT // 10, COUNT)
    assert len(bursts.gap_quantiles_s) == 9


def test_how_often_a_class_repeats_in_a_burst(warehouse: Warehouse):
    rows = []
    for number in range(400):
        moment = BEGIN + timedelta(hours=number // 10, seconds=number % 10)
        # Five of one class, then five of the other: eight of nine successive pairs are of one class.
        for user, is_small in (("a", number % 10 < 5), ("b", number % 10 >= 5)):
            size_bytes, duration_s = (10_000, 0.5) if is_small else (100_000_000, 50.0)
            one = {"user": user, "size_bytes": size_bytes, "duration_s": duration_s}
            times = {
                "started_at": moment.isoformat(),
                "ended_at": (moment + timedelta(seconds=1)).isoformat(),
            }
            rows.append(one | times)
            # A request without a class is skipped and does not break the sequence.
            rows.append(one | times | {"size_bytes": 0})
        # Other bursts have only one request each, so they add no pair.
        rows.append(rows[-1] | {"user": f"c{number}", "size_bytes": 10_000, "duration_s": 0.5})
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": rows})
    (group,) = fit(warehouse).groups
    assert len(group.classes) == 2
    assert group.bursts.same_class_ratio == pytest.approx(8 / 9)


def test_no_class_repeats_if_no_burst_has_two_requests(warehouse: Warehouse):
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": [{}, {"user": "a"}, {"user": "b"}]})
    assert fit(warehouse).groups[0].bursts.same_class_ratio is None


def test_sql_assigns_what_the_estimator_predicts(filled: Warehouse):
    model = fit(filled)
    with filled.connect(autocommit=True) as connection:
        save_model(connection, model)
    for group in model.groups:
        if not group.classes:
            continue
        estimator = CellKMeans(len(group.classes), init=[[c.size_log10, c.time_log10] for c in group.classes])
        estimator.cluster_centers_ = np.array(estimator.init)
        estimator.n_clusters_, estimator.n_features_in_ = len(group.classes), 2
        with filled.connect(Role.READER) as connection:
            rows = connection.execute(
                "SELECT size_bytes, time_s, class_number FROM mart.transfer_classes(model => 'spring',"
                " interface => %s, direction => %s) WHERE set_apart IS NULL",
                [group.interface, group.direction],
            ).fetchall()
        found = np.array(rows)
        assert len(found) == group.request_count
        assert (estimator.predict(np.log10(found[:, :2])) + 1 == found[:, 2]).all()
        # No request is near a border between classes here, so each has the class of its cell.
        counts = np.bincount(found[:, 2].astype(int), minlength=len(group.classes) + 1)[1:]
        assert counts.tolist() == [each.request_count for each in group.classes]


def test_the_same_requests_and_seed_give_the_same_model(filled: Warehouse):
    first = fit(filled)
    with filled.connect(Role.OWNER) as connection:
        # Read the same rows in another order, and with only one process.
        connection.execute("CREATE TABLE core.kept AS SELECT * FROM core.transfers ORDER BY size_bytes")
        connection.execute("DELETE FROM core.transfers")
        connection.execute("INSERT INTO core.transfers SELECT * FROM core.kept")
        connection.execute("DROP TABLE core.kept")
    assert fit(filled) == first


def test_a_stored_model_is_read_back_unchanged(filled: Warehouse):
    model = fit(filled, since=BEGIN, seed=7)
    with filled.connect(autocommit=True) as connection:
        save_model(connection, model)
        assert load_model(connection, "spring") == model
        (summary,) = list_models(connection)
    assert (summary.name, summary.class_count, summary.request_count) == ("spring", 5, 2 * COUNT)
    text = model.model_dump_json()
    assert WorkloadModel.model_validate_json(text) == model
    assert "secret" not in text


def test_a_range_refers_to_the_ends(filled: Warehouse):
    until = BEGIN + timedelta(days=3)
    model = fit(filled, since=BEGIN + timedelta(seconds=1), until=until)
    assert BEGIN < model.first_ended_at < model.last_ended_at < until
    assert model.groups[0].set_apart == {}


def test_few_requests_make_few_classes(database: psycopg.Connection, warehouse: Warehouse):
    insert_rows(database, {"transfers": make_transfers()[:35]})
    database.commit()
    (group,) = fit(warehouse).groups
    assert [value is not None for value in group.criterion_values.values()] == [True, True] + [False] * 9
    assert len(group.classes) in (2, 3)


@pytest.mark.parametrize(
    "transfers, changes, hint",
    [
        ([], {}, "It is empty."),
        ([{}], {"until": BEGIN - timedelta(days=999)}, "Nothing was transferred in that time."),
        (
            [{"size_bytes": 0, "copies": 2}, {}], {"measure": "open"},
            "All are set apart: 1 unknown time, 2 zero size.",
        ),
    ],
)  # fmt: skip
def test_nothing_to_classify_is_reported(warehouse: Warehouse, transfers, changes, hint: str):
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": transfers})
    with pytest.raises(WorkloadError, match="no request of archive 'llnl' has a size and a time") as caught:
        fit(warehouse, **changes)
    assert caught.value.hint == hint


def test_names_can_be_used_once(filled: Warehouse):
    model = fit(filled)
    with filled.connect(autocommit=True) as connection:
        check_name(connection, "spring")
        save_model(connection, model)
        for action in (lambda: check_name(connection, "spring"), lambda: save_model(connection, model)):
            with pytest.raises(WorkloadError, match="there is already a workload model called 'spring'"):
                action()
        remove_model(connection, "spring")
        assert list_models(connection) == []
        for missing in (load_model, remove_model):
            with pytest.raises(WorkloadError, match="no workload model is called 'spring'"):
                missing(connection, "spring")
        save_model(connection, model)


def test_a_dropped_archive_takes_its_models_with_it(filled: Warehouse):
    model = fit(filled)
    with filled.connect(autocommit=True) as connection:
        save_model(connection, model)
    with filled.connect(Role.OWNER) as connection:
        insert_rows(connection, {"archives": [{"name": "other"}], "workload_models": [{"name": "autumn"}]})
        drop_archive(connection, "llnl")
    with filled.connect(autocommit=True) as connection:
        assert [each.name for each in list_models(connection)] == ["autumn"]
        with pytest.raises(WorkloadError, match="archive 'llnl' was dropped while"):
            save_model(connection, model)


def test_the_loader_may_not_change_a_model_nor_the_reader_see_behind_mart(filled: Warehouse):
    def refuse(role: Role, statement: str) -> None:
        with filled.connect(role) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode())

    refuse(Role.LOADER, "UPDATE studies.workload_models SET name = 'mine'")
    refuse(Role.LOADER, "TRUNCATE studies.workload_models CASCADE")
    refuse(Role.READER, "SELECT * FROM studies.workload_classes")


def test_the_schema_in_the_tree_describes_the_export(filled: Warehouse, read_schema: Callable[[], dict]):
    schema = read_schema()
    exported = json.loads(fit(filled).model_dump_json())
    assert exported["format"] == schema["properties"]["format"]["const"]
    assert exported["format_version"] == schema["properties"]["format_version"]["const"] == 1
    check(exported, schema, schema)
    exported["groups"][0]["owner"] = "somebody"
    with pytest.raises(AssertionError):
        check(exported, schema, schema)


@pytest.fixture
def read_schema(request: pytest.FixtureRequest) -> Callable[[], dict]:
    path = request.config.rootpath / "docs" / "reference" / "workload.schema.json"
    return lambda: json.loads(path.read_text())


def check(value: object, schema: dict, whole: dict) -> None:
    """Validate against the keywords of JSON Schema that our schema uses; fail on any other."""
    known = {
        "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "const", "default", "description",
        "enum", "format", "items", "maxItems", "maximum", "minItems", "minimum", "properties", "required",
        "title", "type",
    }  # fmt: skip
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        check(value, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in schema:
        assert any(fits(value, each, whole) for each in schema["anyOf"]), value
    if "const" in schema:
        assert value == schema["const"]
    assert value in schema.get("enum", [value])
    types = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    assert isinstance(value, types.get(schema.get("type"), object)), (value, schema)
    if isinstance(value, int | float):
        assert schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, list):
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        for each in value:
            check(each, schema.get("items", {}), whole)
    if isinstance(value, dict):
        assert set(schema.get("required", ())) <= set(value), set(schema["required"]) - set(value)
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            assert inner is not False, name
            check(each, inner, whole)


def fits(value: object, schema: dict, whole: dict) -> bool:
    try:
        check(value, schema, whole)
    except AssertionError:
        return False
    return True
