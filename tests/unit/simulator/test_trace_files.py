"""Traces in files, Parquet and CSV: errors name the file; and the inventory that a trace brings."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from schema.errors import TraceError
from simulator.runs import run_trace
from simulator.traces import Demand, check_trace, inventory_of, read_trace
from tests.unit.simulator.builders import make_machine, make_tapes, make_trace

HEADINGS = "submitted_s,direction,user,file,size_bytes"
MACHINE = make_machine(tapes=make_tapes())


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def are_equal(one: Demand, other: Demand) -> bool:
    return all(np.array_equal(value, getattr(other, name)) for name, value in vars(one).items())


def test_a_trace_is_the_same_from_csv_and_from_parquet(tmp_path: Path):
    trace = make_trace((0, "put", -1, 1, 10), (1.25, "get", 2, 1, 10), (1.25, "get", 2, 3, 10))
    trace = trace.with_columns(origin=pl.Series(["put", "trace", "disk"]))
    trace.write_parquet(tmp_path / "trace.parquet")
    trace.write_csv(tmp_path / "trace.csv")
    (tmp_path / "trace.csv.gz").write_bytes(gzip.compress((tmp_path / "trace.csv").read_bytes()))
    for name in ("trace.parquet", "trace.csv", "trace.csv.gz"):
        found = read_trace(tmp_path / name)
        assert found.equals(trace)
        assert found.schema == trace.schema
        assert are_equal(
            check_trace(found, MACHINE, inventory_of(found)),
            check_trace(trace, MACHINE, inventory_of(trace)),
        )


def test_texts_in_csv_stay_texts(tmp_path: Path):
    found = read_trace(write(tmp_path / "a.csv", HEADINGS, "0,put,007,7,10", '1,put,7,"a, ""b""",10'))
    assert found["user"].to_list() == ["007", "7"]
    assert found["file"].to_list() == ["7", 'a, "b"']
    assert check_trace(found, MACHINE).user_count == 2
    # As numbers, where all are.
    found = read_trace(write(tmp_path / "b.csv", HEADINGS, "0,put,-3,7,10"))
    assert (found["user"].to_list(), found["file"].to_list()) == ([-3], [7])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "a.csv: no CSV file: empty CSV"),
        ([HEADINGS.replace(",", ";"), "0;put;1;1;10"], "a.csv: there is no column submitted_s"),
        (["submitted_s,direction,user,file,bytes", "0,put,1,1,10"], "a.csv: there is no column size_bytes"),
        (["submitted_s,direction,user,size_bytes", "0,put,1,10"], "the trace has no column file"),
        ([HEADINGS, "0,put,1,1,10", "noon,put,1,2,10"], "a.csv: row 2: submitted_s 'noon' is no number"),
        ([HEADINGS, "0,put,1,1,ten"], "a.csv: row 1: size_bytes 'ten' is no number"),
        ([HEADINGS, "0,put,1,1,1.5"], "a.csv: row 1: size_bytes '1.5' is no number"),
        ([HEADINGS, "0,put,1,1"], "row 1 of the trace: size_bytes is missing"),
        ([HEADINGS, "0,put,,1,10"], "row 1 of the trace: user is missing"),
        ([HEADINGS, "0,put,1,1,10,x,y"], "a.csv: no CSV file: found more fields"),
        ([HEADINGS, "1,put,1,1,10", "0,put,1,2,10"], "row 2 of the trace: submitted_s 0.0 is before that of"),
        ([HEADINGS, "0,put,1,1,2001"], "row 1 of the trace: size_bytes 2001 is more than the machine takes"),
        ([HEADINGS, "0,get,1,1,10", "1,put,1,1,10"], "row 1 of the trace: file 1 is got before it is put"),
        ([HEADINGS, "nan,put,1,1,10"], "row 1 of the trace: submitted_s nan is no time"),
    ],
)  # fmt: skip
def test_wrong_csv_is_named(tmp_path: Path, lines: list[str], message: str):
    path = write(tmp_path / "a.csv", *lines)
    with pytest.raises(TraceError) as caught:
        check_trace(read_trace(path), MACHINE)
    assert caught.value.message.replace(f"{tmp_path}/", "").startswith(message)


@pytest.mark.parametrize("name", ["trace.csv", "trace.csv.gz", "trace.parquet"])
def test_what_is_no_file_is_named(tmp_path: Path, name: str):
    (tmp_path / name).mkdir()
    with pytest.raises(TraceError, match=f"{name}: Is a directory"):
        read_trace(tmp_path / name)
    with pytest.raises(TraceError, match=f"no{name}: No such file"):
        read_trace(tmp_path / f"no{name}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"submitted_s,direction,user,file,size_bytes\n0,put,\xff\xfe,1,10\n"),
        ("a.csv.gz", b"submitted_s"),
        ("a.csv.gz", gzip.compress(b"submitted_s,direction\n" * 10)[:-9]),
        ("a.parquet", b""),
        ("a.parquet", b"submitted_s,direction,user,file,size_bytes\n"),
    ],
)
def test_what_is_no_such_file_is_named(tmp_path: Path, name: str, content: bytes):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TraceError, match=f"{name}: "):
        read_trace(tmp_path / name)


def make_origins(*origins: str | None) -> pl.DataFrame:
    files = [4, 4, 2, 2, 7]
    trace = make_trace(*((number, "get", 1, files[number], 10 + files[number]) for number in range(5)))
    return trace.with_columns(origin=pl.Series(origins, dtype=pl.String))


def test_a_trace_says_what_was_on_disk():
    held = inventory_of(make_origins("disk", "disk", "tape", "trace", "disk"))
    assert held.rows() == [(4, 14, 0.0, True), (7, 17, 0.0, True)]
    assert held.columns == ["file", "size_bytes", "age_s", "is_stored"]
    assert inventory_of(make_origins("disk", "disk", "tape", "trace", "disk").clear()).height == 0


def test_what_was_on_disk_needs_no_tape():
    trace = make_origins("disk", "disk", "tape", "trace", "disk")
    run = run_trace(MACHINE, trace, seed=1, inventory=inventory_of(trace))
    assert run.totals.staged_count == 1
    assert run_trace(MACHINE, trace, seed=1).totals.staged_count == 3


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (make_trace((0, "put", 1, 1, 10)), "the trace has no column origin"),
        (make_origins("disk", "nfs", "tape", "trace", "disk"), "row 2 of the trace: origin nfs is none of"),
        (make_origins("disk", None, "tape", "trace", "disk"), "row 2 of the trace: origin is missing"),
    ],
)
def test_a_wrong_origin_is_named(trace: pl.DataFrame, message: str):
    with pytest.raises(TraceError) as caught:
        inventory_of(trace)
    assert caught.value.message.startswith(message)


def test_the_disk_must_hold_what_was_on_it():
    trace = make_trace(*((number, "get", 1, number, 2000) for number in range(6)))
    trace = trace.with_columns(origin=pl.lit("disk"))
    with pytest.raises(TraceError, match="the inventory's 12000 bytes are more than the disk holds"):
        check_trace(trace, MACHINE, inventory_of(trace))
