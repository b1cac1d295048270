"""A model fitted to the example logs is read in both ways; its streams are loaded, fitted again, and run."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tapewise.clustering.archives import find_archive
from tapewise.clustering.documents import WorkloadModel
from tapewise.clustering.fits import FitRequest, fit_model
from tapewise.clustering.storage import save_model
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import WorkloadError
from tapewise.simulator.demand.models import Model, load_model_file, read_model
from tapewise.simulator.demand.streams import make_stream, spread_arrivals
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.runs import run_trace
from tests.conftest import NOW, Site, register
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("clustering")

LOGS = Path(__file__).resolve().parents[2] / "examples" / "logs"
ZONE = "America/Los_Angeles"
FILES = [(LOGS / "nft.log", "nft"), (LOGS / "pftp.log.gz", "pftp"), (LOGS / "hsi.log", "hsi")]
# The example's two weeks, including 25 October with its extra hour.
BEGAN_AT, DURATION_S = datetime(1998, 10, 18, 7, tzinfo=UTC), 14 * 86_400 + 3600.0


@pytest.fixture(scope="module")
def example(site: Site) -> Iterator[Warehouse]:
    with site.clone() as warehouse:
        for path, name in FILES:
            request = SourceRequest("example", "synthetic", find_format(name), ZONE, name, True)
            load_file(warehouse, register(warehouse, request), path, now=NOW)
        yield warehouse


def fit(warehouse: Warehouse, archive: str) -> WorkloadModel:
    with warehouse.connect(Role.READER, autocommit=True) as connection:
        request = FitRequest(name=archive, archive=archive)
        return fit_model(connection, find_archive(connection, archive), request, now=NOW)


@pytest.fixture(scope="module")
def fitted(example: Warehouse) -> WorkloadModel:
    document = fit(example, "example")
    with example.connect(autocommit=True) as connection:
        save_model(connection, document)
    return document


@pytest.fixture(scope="module")
def model(example: Warehouse, fitted: WorkloadModel) -> Model:
    with example.connect() as connection:
        return read_model(connection, fitted.name)


def test_both_ways_give_the_same_model(model: Model, fitted: WorkloadModel, tmp_path: Path):
    path = tmp_path / "example.json"
    path.write_text(fitted.model_dump_json())
    assert load_model_file(path) == model
    assert len(model.groups) == len(fitted.groups)
    for group, given in zip(model.groups, fitted.groups, strict=True):
        assert group.bursts.same_class_ratio == given.bursts.same_class_ratio
        assert [one.size_bytes for one in group.classes] == [one.size_bytes for one in given.classes]


def test_a_missing_model_is_reported(example: Warehouse):
    with (
        example.connect() as connection,
        pytest.raises(WorkloadError, match="no workload model is called 'none'") as caught,
    ):
        read_model(connection, "none")
    assert caught.value.hint == "`tapewise workload list` shows them."


def serve(stream: pl.DataFrame, fitted: WorkloadModel) -> list[dict[str, object]]:
    """Make transfers of archive `again` from the stream, each with a duration drawn from its class."""
    quantiles = {
        (group.interface, group.direction, one.class_number): np.log(one.time_quantiles_s)
        for group in fitted.groups
        for one in group.classes
    }
    rng = np.random.default_rng(1)
    rows: list[dict[str, object]] = []
    for request in stream.iter_rows(named=True):
        logarithms = quantiles[request["interface"], request["direction"], request["class_number"]]
        duration_s = float(np.exp(np.interp(rng.random(), fitted.quantile_levels, logarithms)))
        rows.append(
            {name: request[name] for name in ("interface", "direction", "size_bytes")}
            | {
                "archive": "again",
                "user": f"user {request['user']}",
                "duration_s": duration_s,
                "started_at": request["submitted_at"].isoformat(),
                "ended_at": (request["submitted_at"] + timedelta(seconds=duration_s)).isoformat(),
            }
        )
    return rows


def test_a_fitted_stream_reproduces_the_model(model: Model, fitted: WorkloadModel, warehouse: Warehouse):
    stream = make_stream(model, began_at=BEGAN_AT, duration_s=DURATION_S, seed=1)
    with warehouse.connect(Role.OWNER) as connection:
        archive = {"name": "again", "timezone": ZONE}
        insert_rows(connection, {"archives": [archive], "transfers": serve(stream, fitted)})
    groups = {(group.interface, group.direction): group for group in fit(warehouse, "again").groups}
    assert set(groups) == {(group.interface, group.direction) for group in fitted.groups}
    for group in fitted.groups:
        again = groups[group.interface, group.direction]
        given, found = group.bursts, again.bursts
        # Bursts are a Poisson process. The standard deviation of their sizes is about the mean, so the
        # relative error of the number of requests may be 1.5 times that of the number of bursts.
        error = 5 / np.sqrt(given.burst_count)
        # In the model, a gap longer than the idle time follows a long transfer. Here the transfer may be
        # short, so that the gap ends the burst.
        gap_count = given.request_count - given.burst_count
        long_count = gap_count * (1 - np.interp(fitted.idle_s, given.gap_quantiles_s, fitted.quantile_levels))
        least, most = given.burst_count * (1 - error), given.burst_count * (1 + error) + long_count
        assert least < found.burst_count < most
        assert again.request_count == pytest.approx(group.request_count, rel=1.5 * error)
        assert found.unattributed_count == 0
    # These statistics need many requests, so only the interface with many requests is compared.
    for direction in ("put", "get"):
        (group,) = (one for one in fitted.groups if (one.interface, one.direction) == ("nft", direction))
        again = groups["nft", direction]
        assert len(again.classes) == len(group.classes) == 2
        for one, other in zip(again.classes, group.classes, strict=True):
            assert one.size_log10 == pytest.approx(other.size_log10, abs=0.1)
            assert one.time_log10 == pytest.approx(other.time_log10, abs=0.1)
            share = other.request_count / group.request_count
            assert one.request_count / again.request_count == pytest.approx(share, abs=0.05)
            assert one.size_quantiles_bytes[4] == pytest.approx(other.size_quantiles_bytes[4], rel=0.25)
        given, found = group.bursts, again.bursts
        assert found.same_class_ratio == pytest.approx(given.same_class_ratio, abs=0.03)
        # Drawing each class independently would give another ratio.
        assert given.same_class_ratio > 0.7
        # Compare the quantiles at 50, 75 and 90 %, to within a quarter plus one request or 0.1 s.
        for level in (4, 5, 6):
            count, gap_s = given.request_count_quantiles[level], given.gap_quantiles_s[level]
            assert found.request_count_quantiles[level] == pytest.approx(count, abs=1 + count / 4)
            assert found.gap_quantiles_s[level] == pytest.approx(gap_s, abs=0.1 + gap_s / 4)
        shares = [[each.running_ratio for each in one.user_shares[:4]] for one in (given, found)]
        assert shares[1] == pytest.approx(shares[0], abs=0.1)
        # Nights and weekends have as few bursts as in the example.
        weeks = [np.array(one.week_burst_counts).reshape(7, 24) for one in (given, found)]
        nights, weekends = ([each[:, :6].sum() / each.sum() for each in weeks],
                            [each[5:].sum() / each.sum() for each in weeks])  # fmt: skip
        assert nights[1] == pytest.approx(nights[0], abs=0.06)
        assert weekends[1] == pytest.approx(weekends[0], abs=0.06)


@pytest.mark.parametrize("seed", range(4))
def test_a_steady_stream_of_the_same_requests_hardly_waits(model: Model, seed: int):
    """LLNL's appendix B, section 6: "a steady stream of requests may not yield reasonable results"."""
    machine = bundled_machine("llnl-unitree-1998")
    stream = make_stream(model, began_at=BEGAN_AT, duration_s=DURATION_S, seed=seed)
    is_for_it = (pl.col("interface") == "nft") & (pl.col("size_bytes") <= machine.disk.largest_file_bytes)
    stream = stream.filter(is_for_it)
    held = stream.filter(origin="disk").select("file", "size_bytes", age_s=pl.lit(86_400.0))
    waits_s = [
        run_trace(machine, trace, seed=seed, inventory=held)
        .jobs[["user_wait_s", "port_wait_s"]]
        .mean()
        .row(0)
        for trace in (stream, spread_arrivals(stream, seed))
    ]
    for bursty_s, steady_s in zip(*waits_s, strict=True):
        assert bursty_s > 0.05
        assert steady_s < bursty_s / 20
