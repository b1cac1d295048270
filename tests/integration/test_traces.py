"""The trace of the example's logs has the same content as the logs, and it runs."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg
import pytest

from tapewise.clustering.archives import find_archive
from tapewise.clustering.traces import METADATA_KEY, Trace, TraceRequest, read_requests, write_trace
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import TraceError, WorkloadError
from tapewise.simulator.demand.traces import check_trace, inventory_of, read_trace
from tapewise.simulator.machines import bundled_machine, parse_machine
from tapewise.simulator.runs import run_trace
from tests.conftest import Site
from tests.integration.example_archive import LOGS, load_example
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("ingest", "simulator", "sql")

MACHINE = bundled_machine("llnl-unitree-1998")
# The example has a few files larger than LLNL's machine accepted.
LARGEST_BYTES = MACHINE.disk.largest_file_bytes


@dataclass(frozen=True)
class Example:
    reader: psycopg.Connection[Any]
    truth: dict[str, Any]

    def make(self, **changes: Any) -> Trace:
        request = TraceRequest("example", **changes)
        return read_requests(self.reader, find_archive(self.reader, "example"), request)

    def fetch(self, query: str) -> list[tuple[Any, ...]]:
        return self.reader.execute(query.encode()).fetchall()


@pytest.fixture(scope="module")
def example(site: Site) -> Iterator[Example]:
    with site.clone() as warehouse:
        load_example(warehouse)
        truth = json.loads((LOGS / "truth.json").read_bytes())
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            yield Example(reader, truth)


@pytest.fixture(scope="module")
def nft(example: Example) -> Trace:
    """The trace of NFT's successful transfers; STAT reports the stages of its gets."""
    return example.make(interface="nft", failed="none")


def test_every_request_is_in_the_trace_or_counted(example: Example):
    trace = example.make()
    ((count,),) = example.fetch("SELECT count(*) FROM mart.requests")
    assert trace.rows.height + sum(trace.left_out_counts.values()) == count
    reasons = dict(
        example.fetch(
            "SELECT CASE WHEN transfer_id IS NULL THEN 'no transfer' ELSE 'saturated size' END, count(*)"
            " FROM mart.requests WHERE transfer_id IS NULL OR (is_size_saturated AND NOT is_failed)"
            " GROUP BY 1"
        )
    )
    assert set(trace.left_out_counts) == {"failed", "no transfer", "saturated size", "unknown time"}
    assert {name: trace.left_out_counts[name] for name in reasons} == reasons
    # Further columns come from transfers, which not all that is left out has.
    more = example.make(further=("client", "class_of_service"))
    assert (more.rows.height, more.left_out_counts) == (trace.rows.height, trace.left_out_counts)


def test_puts_and_stages_are_those_of_the_requests(example: Example, nft: Trace):
    facts = example.truth["files"]["nft.log"]["loaded"]["transfers"]
    expected = dict(
        example.fetch(
            "SELECT direction || coalesce(' ' || cache_evidence, ''), count(*) FROM mart.requests"
            " WHERE interface = 'nft' AND transfer_id IS NOT NULL AND NOT is_failed GROUP BY 1"
        )
    )
    origins = Counter(nft.rows["origin"].to_list())
    assert origins["put"] == expected["put"] == facts["put"]["succeeded"]
    assert origins["tape"] == expected["get stage"]
    assert origins["disk"] + origins["trace"] == expected["get no stage"] + expected["get"]
    assert nft.unknown_origin_count == expected["get"]
    gets = example.truth["unitree"]["gets"]
    assert expected["get"] == sum(gets["of_these_without_transfer_in_stat"].values())
    assert nft.rows.height == facts["put"]["succeeded"] + facts["get"]["succeeded"]
    assert nft.left_out_counts == {"failed": example.truth["unitree"]["failures"]["failed_attempts"]}


def test_attempts_are_in_the_trace_if_their_job_succeeded_later(example: Example, nft: Trace):
    """NFT's log reports no failures. Those in STAT's log have the job that tried again."""
    jobs: dict[bool, list[tuple[int | None, datetime]]] = {True: [], False: []}
    for is_failed, job_id, ended_at in example.fetch(
        "SELECT is_failed, job_id, ended_at FROM mart.requests"
        " WHERE interface = 'nft' AND transfer_id IS NOT NULL"
    ):
        jobs[is_failed].append((job_id, ended_at))
    succeeded: dict[int | None, datetime] = {}
    for job_id, ended_at in jobs[False]:
        succeeded[job_id] = max(ended_at, succeeded.get(job_id, ended_at))
    retried = [
        job_id
        for job_id, ended_at in jobs[True]
        if job_id is not None and job_id in succeeded and succeeded[job_id] >= ended_at
    ]
    trace = example.make(interface="nft")
    assert len(jobs[True]) > len(retried) > 100
    assert trace.rows.height == nft.rows.height + len(retried)
    assert trace.left_out_counts == {"failed": len(jobs[True]) - len(retried)}


def test_files_are_generated_as_in_the_paper(nft: Trace):
    rows = nft.rows.with_row_index("row")
    puts, gets = rows.filter(pl.col("origin") == "put"), rows.filter(pl.col("direction") == "get")
    assert puts["file"].is_unique().all()
    staged = gets.filter(pl.col("origin") == "tape")
    assert staged["file"].is_unique().all()  # without failed attempts, a stage has one get
    assert not staged["file"].is_in(puts["file"].to_list()).any()
    on_disk = gets.filter(pl.col("origin") == "disk").unique("file")
    assert on_disk["size_bytes"].is_unique().all()
    assert not on_disk["file"].is_in(puts["file"].to_list()).any()
    again = gets.filter(pl.col("origin") == "trace").join(puts, on="file", suffix="_put")
    assert again.height == gets.filter(pl.col("origin") == "trace").height > 500
    assert (again["size_bytes"] == again["size_bytes_put"]).all()
    assert (again["row"] > again["row_put"]).all()


def test_a_get_is_of_the_last_put_of_its_size_that_had_ended(example: Example):
    """Repeat the rule without window functions, in a loop over the requests in order of submission."""
    rows = example.fetch(
        "SELECT place, direction, origin, size_bytes, file_number, submitted_at, ended_at"
        " FROM mart.trace_requests(archive => 'example')"
        " WHERE left_out IS NULL AND NOT is_failed ORDER BY place"
    )
    puts: dict[int, list[tuple[datetime, int]]] = {}
    on_disk: dict[int, int] = {}
    for place, direction, origin, size_bytes, file_number, submitted_at, ended_at in rows:
        if direction == "put":
            assert (file_number, origin) == (place, "put")
            puts.setdefault(size_bytes, []).append((ended_at, place))
        elif origin != "tape":
            found = [put for put_ended_at, put in puts.get(size_bytes, []) if put_ended_at <= submitted_at]
            expected = (found[-1], "trace") if found else (on_disk.setdefault(size_bytes, place), "disk")
            assert (file_number, origin) == expected
    assert len(on_disk) > 1000


def test_keys_give_a_file_one_history(example: Example):
    """Repeat the rule without window functions. Only a file's first request says where the file was."""
    rows = example.fetch(
        "SELECT place, trace.direction, origin, file_key, trace.size_bytes, file_number, trace.submitted_at,"
        " trace.ended_at, trace.is_cached FROM mart.trace_requests(archive => 'example', files => 'key',"
        " unknown_origins => 'tape', failed => 'none') AS trace JOIN mart.requests USING (transfer_id)"
        " WHERE left_out IS NULL AND file_key IS NOT NULL ORDER BY place"
    )
    puts: dict[Any, list[tuple[datetime, int]]] = {}
    firsts: dict[Any, int] = {}
    origins: Counter[str] = Counter()
    for (
        place,
        direction,
        origin,
        file_key,
        size_bytes,
        file_number,
        submitted_at,
        ended_at,
        is_cached,
    ) in rows:
        file = file_key, size_bytes or 1
        origins[origin] += 1
        if direction == "put":
            assert (file_number, origin) == (place, "put")
            puts.setdefault(file, []).append((ended_at, place))
            continue
        found = [put for put_ended_at, put in puts.get(file, []) if put_ended_at <= submitted_at]
        if found:
            assert (file_number, origin) == (found[-1], "trace")
        elif file in firsts:
            assert (file_number, origin) == (firsts[file], "trace")
        else:
            firsts[file] = place
            assert (file_number, origin) == (place, "disk" if is_cached else "tape")
    assert min(origins[name] for name in ("trace", "disk", "tape")) > 100


def test_the_order_and_the_times_are_right(nft: Trace):
    rows = nft.rows
    assert rows["submitted_s"][0] == 0
    assert rows["submitted_s"].is_sorted()
    since_first = (rows["submitted_at"] - rows["submitted_at"][0]).dt.total_microseconds() / 1e6
    assert since_first.equals(rows["submitted_s"], check_names=False)
    assert rows["submitted_at"][0] == datetime(1998, 10, 18, 7, 7, 37, tzinfo=UTC)


def test_parquet_and_csv_are_the_same_demand(example: Example, tmp_path: Path):
    for changes in ({}, {"interface": "nft"}, {"files": "key", "failed": "all", "unknown_origins": "tape"}):
        trace = example.make(**changes, largest_bytes=LARGEST_BYTES)
        demands = []
        for suffix in ("parquet", "csv"):
            path = tmp_path / f"trace.{suffix}"
            write_trace(trace, path)
            found = read_trace(path)
            demands.append(check_trace(found, MACHINE, inventory_of(found)))
        parquet, csv = demands
        for one, other in ((vars(parquet), vars(csv)), (vars(parquet.gates), vars(csv.gates))):
            assert all(np.array_equal(one[name], other[name]) for name in one if name != "gates")
        assert len(parquet.submitted_s) == trace.rows.height
        assert len(parquet.inventory) == trace.rows.filter(pl.col("origin") == "disk")["file"].n_unique()
        assert len(list(tmp_path.iterdir())) == 2


def test_what_limits_and_pools_go_by_comes_back_from_the_file(example: Example, tmp_path: Path):
    """From both kinds of file, the columns are those of the transfers, and a machine uses them."""
    both = ("class_of_service", "client")
    trace = example.make(interface="hsi", largest_bytes=LARGEST_BYTES, further=both)
    assert trace.rows.columns[-2:] == ["client", "class_of_service"]
    plain = example.make(interface="hsi", largest_bytes=LARGEST_BYTES)
    assert trace.rows.drop(both).equals(plain.rows)
    for name in both:
        one = example.make(interface="hsi", largest_bytes=LARGEST_BYTES, further=(name,))
        assert one.rows.equals(trace.rows.drop(set(both) - {name}))
    expected = example.fetch(
        "SELECT client, class_of_service, count(*) FROM mart.transfers WHERE interface = 'hsi'"
        f" AND NOT is_failed AND size_bytes <= {LARGEST_BYTES} GROUP BY 1, 2"
    )
    succeeded = example.make(interface="hsi", largest_bytes=LARGEST_BYTES, further=both, failed="none")
    transfers = Counter({(client, each): count for client, each, count in expected})
    written = Counter(succeeded.rows.select("client", "class_of_service").rows())
    # A transfer whose beginning is unknown is in no trace.
    assert written <= transfers
    assert (transfers - written).total() == succeeded.left_out_counts["unknown time"]
    assert trace.rows["class_of_service"].n_unique() > 1
    names = sorted({each for _, each, _ in expected if each is not None})
    limits = {"client": {"default_count": 2}, "class_of_service": {"default_count": 3}}
    tables = MACHINE.model_dump(exclude_unset=True) | {"limits": limits}
    tables["disk"] = tables["disk"] | {
        "pools": {"first": {"classes_of_service": names[:1], "capacity_bytes": 10**11}, "others": {}}
    }
    machine = parse_machine(tables, "limited")
    runs = []
    for name in ("trace.parquet", "trace.csv"):
        write_trace(trace, tmp_path / name)
        read = read_trace(tmp_path / name)
        assert read["class_of_service"].cast(pl.String).equals(trace.rows["class_of_service"])
        assert read["client"].equals(trace.rows["client"])
        runs.append(run_trace(machine, read, seed=1, inventory=inventory_of(read)))
    assert runs[0].jobs.equals(runs[1].jobs)
    assert 0 < runs[0].totals.disk_pools[0].request_count < trace.rows.height
    with pytest.raises(TraceError, match="class_of_service"):
        run_trace(machine, plain.rows, seed=1)


def test_the_machine_stages_what_came_from_tape(example: Example, nft: Trace, tmp_path: Path):
    trace = example.make(interface="nft", failed="none", largest_bytes=LARGEST_BYTES)
    too_large = {"too large": nft.rows.height - trace.rows.height}
    assert trace.left_out_counts == nft.left_out_counts | too_large
    write_trace(trace, tmp_path / "nft.parquet")
    found = read_trace(tmp_path / "nft.parquet")
    run = run_trace(MACHINE, found, seed=1, inventory=inventory_of(found))
    staged = set(np.flatnonzero(run.jobs["is_staged"].to_numpy()).tolist())
    # A file that was put may be purged before it is requested, so more is staged than came from tape.
    assert staged >= set(np.flatnonzero((found["origin"] == "tape").to_numpy()).tolist())


def test_the_file_says_how_it_was_made(nft: Trace, tmp_path: Path):
    write_trace(nft, tmp_path / "nft.parquet")
    said = json.loads(pl.read_parquet_metadata(tmp_path / "nft.parquet")[METADATA_KEY])
    assert (said["archive"], said["kind"], said["interface"]) == ("example", "synthetic", "nft")
    assert (said["retry_s"], said["files"], said["since"]) == (86_400, "size", None)
    assert said["unknown_origin_count"] == nft.unknown_origin_count


def test_a_range_refers_to_the_ends(example: Example):
    since = datetime(1998, 10, 20, 7, tzinfo=UTC)
    trace = example.make(since=since, until=since + timedelta(days=1))
    assert trace.rows["submitted_at"].max() < since + timedelta(days=1)
    ((count,),) = example.fetch(
        "SELECT count(*) FROM mart.requests"
        " WHERE ended_at >= '1998-10-20 07:00' AND ended_at < '1998-10-21 07:00'"
    )
    assert trace.rows.height + sum(trace.left_out_counts.values()) == count


@pytest.mark.parametrize(
    ("transfers", "changes", "hint"),
    [
        ([], {}, None),
        ([{}], {"interface": "hsi"}, None),
        ([{"is_failed": True, "copies": 2}, {"size_bytes": None}, {}], {},
         "All are left out: 2 failed, 1 unknown size, 1 unknown time."),
    ],
)  # fmt: skip
def test_a_trace_without_requests_is_refused(warehouse: Warehouse, transfers, changes, hint):
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": transfers})
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        llnl = find_archive(reader, "llnl")
        with pytest.raises(WorkloadError, match="none of the selected requests of archive 'llnl'") as caught:
            read_requests(reader, llnl, TraceRequest("llnl", **changes))
    assert caught.value.hint == hint


def test_users_and_paths_are_numbers(warehouse: Warehouse, tmp_path: Path):
    secret = {
        "user": "canary",
        "client": "canary",
        "archive_path": "/canary",
        "started_at": "2000-01-15T11:59:59Z",
    }
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"transfers": [secret, {**secret, "user": None, "copies": 2}]})
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        trace = read_requests(reader, find_archive(reader, "llnl"), TraceRequest("llnl"))
    users = trace.rows["user"].to_list()
    assert sorted(users)[:2] == [-3, -2]
    assert sorted(users)[2] > 0
    for name in ("trace.csv", "trace.parquet"):
        write_trace(trace, tmp_path / name)
        assert b"canary" not in (tmp_path / name).read_bytes()


def test_a_trace_is_written_completely_or_not_at_all(
    nft: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "trace.csv"
    path.write_text("older")

    def fill_the_disk(self: pl.DataFrame, file: Any, **_: Any) -> None:
        file.write(b"submitted_s")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", fill_the_disk)
    with pytest.raises(WorkloadError, match=r"trace\.csv cannot be written: No space left on device"):
        write_trace(nft, path)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(WorkloadError, match=r"trace\.csv cannot be written: No such file or directory"):
        write_trace(nft, tmp_path / "nowhere" / "trace.csv")
