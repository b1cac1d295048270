"""Trace files may omit columns, and give times in different ways."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tapewise.schema.errors import TraceError
from tapewise.simulator.demand.trace_files import EPOCH, complete_trace
from tapewise.simulator.demand.traces import read_origin
from tapewise.simulator.inputs import read_file_requests
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.plans import plan_run
from tests.unit.simulator.builders import make_trace

BEGIN = datetime(1998, 10, 18, 7, 6, 25, 500_000, tzinfo=UTC)
BARE = make_trace((0.0, "put", 1, 1, 10), (1.5, "get", 2, 1, 10), (2.0, "get", 2, 7, 10))


def with_times(trace: pl.DataFrame = BARE, begin: datetime = BEGIN) -> pl.DataFrame:
    passed = pl.duration(microseconds=(pl.col("submitted_s") * 1e6).cast(pl.Int64))
    return trace.with_columns(submitted_at=pl.lit(begin).cast(pl.Datetime("us", "UTC")) + passed)


def test_omitted_columns_are_filled_in():
    trace, began_at = complete_trace(BARE)
    assert began_at == EPOCH
    assert trace["interface"].to_list() == ["simulated"] * 3
    assert trace["origin"].to_list() == ["put", "tape", "tape"]
    texts, _ = complete_trace(BARE.with_columns(file=pl.Series(["b", "b", "a"])))
    assert texts["file"].to_list() == [2, 2, 1]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("first_s", [0.0, 100.0])
def test_a_file_with_times_begins_at_its_zero_second(tmp_path: Path, suffix: str, first_s: float):
    trace = with_times(BARE.with_columns(pl.col("submitted_s") + first_s))
    path = tmp_path / f"trace.{suffix}"
    if suffix == "csv":
        trace.write_csv(path, datetime_format="%Y-%m-%dT%H:%M:%S%.6fZ")  # as `workload trace` writes
    else:
        trace.write_parquet(path)
    given = read_file_requests(path)
    assert given.began_at == BEGIN
    assert given.trace["submitted_at"].to_list() == trace["submitted_at"].to_list()


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pl.Series(["1998-10-18 07:06:25"] * 3),
            "row 1 of the trace: submitted_at 1998-10-18 07",
        ),
        (
            pl.Series(["1998-10-18T07:06:25.5Z", "noon", "noon"]),
            "row 2 of the trace: submitted_at noon is",
        ),
        (pl.Series([datetime(1998, 10, 18)] * 3), "has no time zone"),
        (pl.Series([1, 2, 3]), "has no time zone"),
        (
            pl.Series(["1998-10-18T07:06:25Z", "1999-10-18T07:06:26.5Z", "1998-10-18T07:06:27Z"]),
            "row 2 of the trace: submitted_at 1999-10-18 07:06:26.500000",
        ),
    ],
)
def test_unclear_or_inconsistent_times_are_refused(column: pl.Series, message: str):
    with pytest.raises(TraceError, match=message):
        complete_trace(BARE.with_columns(submitted_at=column))


def test_whole_seconds_do_not_contradict_fractional_times():
    texts = pl.Series(["1998-10-18T00:06:25-07:00", "1998-10-18T07:06:26Z", "1998-10-18T07:06:27Z"])
    _, began_at = complete_trace(BARE.with_columns(submitted_at=texts))
    assert began_at == datetime(1998, 10, 18, 7, 6, 25, tzinfo=UTC)


def test_an_empty_trace_is_refused():
    with pytest.raises(TraceError, match="no requests"):
        complete_trace(BARE.clear())


def test_invalid_seconds_are_left_to_the_check():
    _, began_at = complete_trace(with_times().with_columns(submitted_s=pl.lit(float("nan"))))
    assert began_at == EPOCH


HEADER = "submitted_s,direction,user,file,size_bytes\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "10,put,1,1,5\n5,put,1,2,5\n", "row 2 of the trace: submitted_s 5.0 is before"),
        (HEADER + "10,put,1,1,5000000000\n", "row 1 of the trace: size_bytes 5000000000 is more than"),
        (HEADER + "10,send,1,1,5\n", "direction send is neither put nor get"),
        (HEADER + "10,put,1,1,-5\n", "size_bytes -5 is below 0"),
        ("submitted_s,direction,user,file\n10,put,1,1\n", "column size_bytes is missing"),
        (HEADER + "soon,put,1,1,5\n", "submitted_s 'soon' is not a number"),
    ],
)  # fmt: skip
def test_errors_name_row_and_column(tmp_path: Path, text: str, message: str):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(TraceError, match=message):
        plan_run(read_file_requests(path), bundled_machine("llnl-unitree-1998"), seed=1)


@pytest.mark.parametrize(
    ("changes", "is_whole"),
    [
        ({}, True),
        ({"timezone": "Mars/Olympus"}, False),
        ({"timezone": None}, False),
        ({"kind": "odd"}, False),
    ],
)
def test_an_origin_counts_only_if_it_is_whole(tmp_path: Path, changes: dict[str, Any], is_whole: bool):
    origin = {"archive": "llnl", "kind": "measured", "timezone": "America/Los_Angeles"} | changes
    path = tmp_path / "trace.parquet"
    BARE.write_parquet(path, metadata={"tapewise_trace": json.dumps(origin)})
    assert read_origin(path) == (origin if is_whole else {})
