"""Streams of requests agree with their model to within five standard errors."""

from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tapewise.schema.errors import SimulationError, TraceError
from tapewise.simulator.demand.bursts import draw_requests
from tapewise.simulator.demand.models import QUANTILE_LEVELS, Group, Model, UserShare
from tapewise.simulator.demand.streams import count_unknown_origins, make_stream, spread_arrivals
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.machines import bundled_machine
from tests.unit.simulator.builders import make_trace
from tests.unit.simulator.workloads import FIRST, WEEKS, make_class, make_group, make_model

SPAN_S = WEEKS * 7 * 86_400.0
SEEDS = range(8)
# If every burst has one request, requests form a Poisson process, which determines the variance of counts.
ONES = {"request_count_quantiles": (1.0,) * 9, "gap_quantiles_s": ()}


def make_singles(**changes) -> Group:
    """Make a group of 1344 bursts of one request each, with every request in a class."""
    classes = (make_class(1, 806), make_class(3, 538))
    return make_group(**(ONES | {"in_bursts": 1344, "classes": classes} | changes))


def draw(*groups: Group, seeds=SEEDS, **changes) -> pl.DataFrame:
    """Draw a stream for each seed, each as long as the model's range."""
    model = make_model(*groups)
    arguments = {"began_at": FIRST, "duration_s": SPAN_S} | changes
    return pl.concat(
        make_stream(model, seed=seed, **arguments).with_columns(seed=pl.lit(seed)) for seed in seeds
    )


def count_by_hour(stream: pl.DataFrame) -> np.ndarray:
    at = stream["submitted_at"].to_list()
    return np.bincount([24 * each.weekday() + each.hour for each in at], minlength=168)


def expect_shares(found: list[int], shares: list[float]) -> None:
    total = sum(found)
    for count, share in zip(found, shares, strict=True):
        assert count / total == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / total) + 1e-12)


def test_a_stream_has_the_columns_that_its_module_documents():
    stream = make_stream(make_model(), began_at=FIRST, duration_s=86_400, seed=1)
    assert stream.schema == {
        "submitted_at": pl.Datetime("us", "UTC"),
        "submitted_s": pl.Float64,
        "direction": pl.String,
        "interface": pl.String,
        "user": pl.Int64,
        "file": pl.Int64,
        "size_bytes": pl.Int64,
        "origin": pl.String,
        "class_number": pl.Int64,
    }
    assert stream["file"].to_list() == list(range(1, stream.height + 1))
    since = (stream["submitted_at"] - FIRST).dt.total_microseconds() / 1e6
    assert since.to_list() == stream["submitted_s"].to_list()


def test_the_number_of_requests_is_right_in_expectation():
    # Of the 6720 requests in bursts, 6000 are in classes.
    counts = draw(make_group()).group_by("seed").len()["len"].to_numpy()
    assert counts.mean() == pytest.approx(6000, abs=5 * counts.std(ddof=1) / np.sqrt(len(counts)))
    assert counts.std(ddof=1) / np.sqrt(len(counts)) < 100


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_the_rate_factor_multiplies_the_number(factor):
    count = draw(make_singles(), rate_factor=factor).height
    mean = factor * 1344 * len(SEEDS)
    assert count == pytest.approx(mean, abs=5 * np.sqrt(mean))


def test_bursts_begin_in_the_hours_that_the_model_says():
    hours = np.arange(168)
    begun = 3 * (hours % 24) * (hours < 120) + 4
    group = make_singles(week_burst_counts=tuple(begun.tolist()), in_bursts=int(begun.sum()))
    # Requests that are set apart are not drawn, but each hour's share must be right.
    found = count_by_hour(draw(group))
    assert stats.chisquare(found, begun * found.sum() / begun.sum()).pvalue > 1e-3


def test_bursts_are_as_large_and_as_dense_as_in_the_model():
    bursts = make_group().bursts
    found = draw_requests(bursts, np.arange(50_000) * 1e6, np.random.default_rng(1))
    counts = np.bincount(found.burst)
    assert counts.mean() == pytest.approx(5, abs=5 * counts.std() / np.sqrt(len(counts)))
    for level, value in zip(QUANTILE_LEVELS, bursts.request_count_quantiles, strict=True):
        # Each whole number covers half a request on either side.
        assert np.mean(counts <= value) >= level - 0.01
        assert np.mean(counts < value) <= level + 0.01
    gaps = np.diff(found.asked_s)[np.diff(found.burst) == 0]
    for level, value in zip(QUANTILE_LEVELS, bursts.gap_quantiles_s, strict=True):
        assert np.mean(gaps <= value + 0.02) >= level - 0.01
        assert np.mean(gaps < value - 0.02) <= level + 0.01
    # A burst belongs to one user.
    users = (
        pl.DataFrame({"burst": found.burst, "user": found.user})
        .group_by("burst")
        .agg(pl.col("user").n_unique())
    )
    assert users["user"].max() == 1


def test_a_few_users_make_most_requests():
    users = draw(make_singles())["user"]
    counts = np.bincount(users, minlength=11)[1:].tolist()
    assert users.min() == 1
    assert len(counts) == 10
    # The model lists only some ranks of users; those between two listed ranks have equal shares.
    expect_shares(counts, [0.4, 0.2, 0.1, 0.1, 0.1, 0.02, 0.02, 0.02, 0.02, 0.02])


def test_classes_have_their_shares_sizes_and_origins():
    stream = draw(
        make_singles(classes=(make_class(1, 806, cached_count=75, uncached_count=25), make_class(3, 538)))
    )
    classes = stream.sort("class_number").partition_by("class_number")
    expect_shares([each.height for each in classes], [806 / 1344, 538 / 1344])
    for each, number, tape_share in zip(classes, (1, 3), (0.25, 0.5), strict=True):
        expect_shares(
            [each.filter(origin="tape").height, each.filter(origin="disk").height],
            [tape_share, 1 - tape_share],
        )
        sizes, want = each["size_bytes"], make_class(number, 1000)
        mean = want.size_bytes / want.request_count
        assert sizes.mean() == pytest.approx(mean, abs=5 * sizes.std() / np.sqrt(len(sizes)))
        below = [(sizes <= value + 1).mean() for value in want.size_quantiles_bytes]
        error = 5 * np.sqrt(np.array(QUANTILE_LEVELS) * (1 - np.array(QUANTILE_LEVELS)) / len(sizes))
        assert (np.abs(np.array(below) - QUANTILE_LEVELS) < error + 1 / 1000).all()


@pytest.mark.parametrize("said, wanted", [(0.9, 0.9), (None, 0.52), (0.3, 0.52), (1.0, 1.0)])
def test_classes_repeat_in_a_burst_as_often_as_the_model_says(said, wanted):
    # With a billion users, each burst has its own user, so the bursts can be told apart.
    shares = (UserShare(1_000_000_000, 1.0),)
    stream = draw(make_group(same_class_ratio=said, user_shares=shares, in_bursts=6720)).sort(
        "seed", "user", "file"
    )
    same = stream.filter(
        (pl.col("user") == pl.col("user").shift(1)) & (pl.col("seed") == pl.col("seed").shift(1))
    )
    pairs = stream.with_columns(last=pl.col("class_number").shift(1).over("seed", "user")).drop_nulls("last")
    assert same.height == pairs.height
    ratio = (pairs["class_number"] == pairs["last"]).mean()
    # Only bursts are independent, not the pairs within one, so the error is based on the number of bursts.
    error = 5 * np.sqrt(wanted * (1 - wanted) / (1344 * len(SEEDS)))
    assert ratio == pytest.approx(wanted, abs=error + 1e-12)
    # In the worst case each burst has only one class, and large bursts count for more.
    lengths = stream.group_by("seed", "user").len()["len"].to_numpy()
    error = 5 * np.sqrt(0.24 * (lengths**2).sum()) / stream.height
    assert (stream["class_number"] == 1).mean() == pytest.approx(0.6, abs=error)


def test_requests_without_a_user_come_singly_and_by_the_hours_of_the_others():
    group = make_singles(unattributed_count=1344, classes=(make_class(1, 2688),))
    stream = draw(group)
    nobody = stream.filter(pl.col("user") < 0)
    assert nobody.height == pytest.approx(1344 * len(SEEDS), abs=5 * np.sqrt(1344 * len(SEEDS)))
    assert nobody.group_by("seed", "user").len()["len"].max() == 1
    assert not set(nobody["submitted_at"].dt.hour()) - set(range(8, 20))


def test_without_known_users_requests_come_evenly():
    group = make_singles(
        week_burst_counts=(0,) * 168, week_request_counts=(0,) * 168, in_bursts=0, unattributed_count=2016,
        user_shares=(), request_count_quantiles=(), classes=(make_class(1, 2016),),
    )  # fmt: skip
    found = count_by_hour(draw(group))
    assert found.sum() == pytest.approx(2016 * len(SEEDS), abs=5 * np.sqrt(2016 * len(SEEDS)))
    assert stats.chisquare(found).pvalue > 1e-3


def test_an_hour_of_the_local_clock_occurs_twice_or_never():
    zone = ZoneInfo("America/Los_Angeles")
    begun = [0] * 168
    begun[6 * 24 + 1], begun[6 * 24 + 2] = 800, 800
    group = make_singles(week_burst_counts=tuple(begun), week_request_counts=tuple(begun), in_bursts=1600,
                         classes=(make_class(1, 1600),))  # fmt: skip
    model = make_model(group, timezone=zone.key)
    # Each such hour has 100 bursts. A Sunday of 24, 25 or 23 hours has two, three or one of these hours.
    for day, hours in ((datetime(1998, 10, 18), 2), (datetime(1998, 10, 25), 3), (datetime(1998, 4, 5), 1)):
        begin = day.replace(tzinfo=zone)
        stream = make_stream(model, began_at=begin, duration_s=86_400, seed=1)
        assert stream.height == pytest.approx(100 * hours, abs=5 * np.sqrt(100 * hours))
        assert stream["submitted_at"][0] > begin


def test_gets_of_unknown_origin_are_on_disk_and_counted():
    unknown = make_class(1, 806, cached_count=0, uncached_count=0)
    known = make_class(3, 538, cached_count=0, uncached_count=5)
    model = make_model(
        make_singles(classes=(unknown, known)), make_singles(direction="put", classes=(unknown,))
    )
    stream = make_stream(model, began_at=FIRST, duration_s=SPAN_S, seed=1)
    origins = stream.select("direction", "class_number", "origin").unique().sort(pl.all()).rows()
    assert origins == [("get", 1, "disk"), ("get", 3, "tape"), ("put", 1, "put")]
    is_unknown = (pl.col("direction") == "get") & (pl.col("class_number") == 1)
    assert count_unknown_origins(model, stream) == stream.filter(is_unknown).height > 0


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    model = make_model(make_group(same_class_ratio=0.9), make_group(direction="put", unattributed_count=99))
    first, again, other = (
        make_stream(model, began_at=FIRST, duration_s=86_400, seed=seed) for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert first.height > 100
    assert not set(first["submitted_s"]) & set(other["submitted_s"])
    # An additional group does not change the requests of the others.
    alone = make_stream(replace(model, groups=model.groups[:1]), began_at=FIRST, duration_s=86_400, seed=1)
    columns = ["submitted_at", "user", "size_bytes", "class_number", "origin"]
    assert first.filter(direction="get").select(columns).equals(alone.select(columns))


def test_the_zone_of_the_beginning_makes_no_difference():
    local = FIRST.astimezone(ZoneInfo("Asia/Kolkata"))
    one, other = (make_stream(make_model(), began_at=at, duration_s=86_400, seed=1) for at in (FIRST, local))
    assert one.equals(other)


@st.composite
def models(draw_one) -> Model:
    """Draw small models of any shape, with files that the bundled machine accepts."""
    groups = []
    for interface in draw_one(st.lists(st.sampled_from(["nft", "ftp", "hsi"]), unique=True, max_size=2)):
        begun = draw_one(st.lists(st.integers(0, 2), min_size=168, max_size=168))
        each = draw_one(st.integers(1, 4)) if sum(begun) else 1
        quantiles = sorted(draw_one(st.lists(st.floats(1, 9), min_size=9, max_size=9)))
        sizes = sorted(draw_one(st.lists(st.floats(1, 1e8), min_size=9, max_size=9)))
        count = draw_one(st.integers(1, 50))
        groups.append(
            make_group(
                interface=interface,
                direction=draw_one(st.sampled_from(["put", "get"])),
                week_burst_counts=tuple(begun),
                in_bursts=each * sum(begun),
                unattributed_count=draw_one(st.integers(0, 30)) + count,
                request_count_quantiles=tuple(quantiles),
                same_class_ratio=draw_one(st.none() | st.floats(0, 1)),
                classes=(
                    make_class(1, count, size_quantiles_bytes=tuple(sizes), size_bytes=int(sizes[4]) * count),
                    make_class(2, 0, size_quantiles_bytes=(), size_bytes=0),
                ),
            )
        )
    hours = draw_one(st.integers(0, 500))
    return make_model(*groups, last_ended_at=FIRST + timedelta(hours=hours), timezone="Europe/Berlin")


@settings(max_examples=60, deadline=None)
@given(models(), st.integers(0, 2**63), st.floats(1, 1e6))
def test_every_stream_is_a_valid_trace(model, seed, duration_s):
    stream = make_stream(model, began_at=FIRST, duration_s=duration_s, seed=seed)
    demand = check_trace(stream, bundled_machine("llnl-unitree-1998"))
    assert len(demand.submitted_s) == stream.height
    check_trace(spread_arrivals(stream, seed), bundled_machine("llnl-unitree-1998"))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"began_at": datetime(1998, 1, 1)}, "began_at is 1998-01-01 00:00:00, which has no time zone"),
        ({"duration_s": 0.0}, "duration_s is 0.0, not above 0"),
        ({"duration_s": float("nan")}, "duration_s is nan"),
        ({"seed": -1}, "the seed is -1, not a whole number from 0"),
        ({"rate_factor": 0.0}, "rate_factor is 0.0, not above 0"),
        ({"rate_factor": float("inf")}, "rate_factor is inf"),
        ({"rate_factor": 1e10}, "more than 50,000,000"),
        ({"duration_s": 1e10, "rate_factor": 100.0}, "more than 50,000,000"),
    ],
)
def test_wrong_arguments_are_reported(changes, message):
    arguments = {"began_at": FIRST, "duration_s": 60.0, "seed": 1} | changes
    with pytest.raises(SimulationError, match=message):
        make_stream(make_model(), **arguments)


def test_spread_requests_are_the_same_at_even_times():
    stream = make_stream(make_model(), began_at=FIRST, duration_s=SPAN_S, seed=1)
    spread = spread_arrivals(stream, seed=1)
    others = pl.exclude("submitted_s", "submitted_at")
    assert spread.select(others).equals(stream.select(others))
    assert spread.columns == stream.columns
    first, last = stream["submitted_s"][0], stream["submitted_s"][-1]
    times = spread["submitted_s"].to_numpy()
    assert (np.diff(times) >= 0).all()
    assert stats.kstest((times - first) / (last - first), "uniform").pvalue > 1e-3
    since = (spread["submitted_at"] - FIRST).dt.total_microseconds() / 1e6
    assert since.to_list() == pytest.approx(times.tolist(), abs=2e-6)
    # The spread requests have the gaps of a Poisson process, unlike the stream.
    mean_s = (last - first) / stream.height
    assert stats.kstest(np.diff(times) / mean_s, "expon").pvalue > 1e-3
    assert stats.kstest(np.diff(stream["submitted_s"].to_numpy()) / mean_s, "expon").pvalue < 1e-9
    assert spread.equals(spread_arrivals(stream, seed=1))
    assert not spread.equals(spread_arrivals(stream, seed=2))


def test_any_trace_can_be_spread():
    trace = make_trace((5, "put", 1, 1, 10), (5, "get", 1, 1, 10), (25, "get", 2, 2, 7))
    spread = spread_arrivals(trace, seed=1)
    assert spread.drop("submitted_s").equals(trace.drop("submitted_s"))
    assert spread["submitted_s"].is_between(5, 25).all()
    assert spread_arrivals(trace.clear(), seed=1).equals(trace.clear())
    with pytest.raises(TraceError, match="the trace has no column submitted_s"):
        spread_arrivals(trace.drop("submitted_s"), seed=1)
    with pytest.raises(SimulationError, match="the seed is -1"):
        spread_arrivals(trace, seed=-1)
