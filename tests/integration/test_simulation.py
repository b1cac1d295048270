"""Simulated archives: one archive's requests, run on a machine, become another archive in the same tables."""

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest, make_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SimulationError, SourceError, TapewiseError, TraceError
from tapewise.schema.settings import Settings
from tapewise.simulator.archives import Outcome
from tapewise.simulator.cli import list_command
from tapewise.simulator.comparisons_cli import compare
from tapewise.simulator.demand.trace_files import complete_trace
from tapewise.simulator.descriptions import describe_plan, describe_run, get_run, list_runs, style_warning
from tapewise.simulator.failures import Failures
from tapewise.simulator.inputs import Requests, place_in_time, read_archive, read_archive_requests
from tapewise.simulator.limits import Limits
from tapewise.simulator.machines import Machine, bundled_machine
from tapewise.simulator.plans import keep_run, plan_run
from tapewise.simulator.results import STORED_TIMES
from tests.conftest import NOW
from tests.integration.evidence import check_warehouse, count_for_the_planner
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("simulator", "schema", "sql")

BEGIN = datetime(2000, 1, 3, 8, tzinfo=UTC)
ZONE = "America/Los_Angeles"
FIELDS = ", ".join(STORED_TIMES)


def make_transfers(count: int = 400) -> list[dict[str, Any]]:
    """Make bursts of twenty requests, each burst by one user. A quarter of the gets waited for a tape."""
    rng = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    moment = BEGIN
    for number in range(count):
        moment += timedelta(seconds=1 if number % 20 else 1800)
        size_bytes = int(rng.lognormal(15, 1.5))
        is_get = number % 2 == 1
        rows.append(
            {
                "direction": "get" if is_get else "put",
                "size_bytes": size_bytes,
                "duration_s": size_bytes / 4e6 + 1,
                "open_s": (100.0 if number % 8 == 1 else 0.5) if is_get else None,
                "started_at": moment.isoformat(),
                "ended_at": (moment + timedelta(seconds=size_bytes / 4e6 + 1)).isoformat(),
                "user": f"user{number // 20 % 3}",
                "interface": "hsi",
            }
        )
    return rows


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    """A warehouse with the measured archive `llnl`."""
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(
            connection,
            {"archives": [{"name": "llnl", "timezone": ZONE}], "transfers": make_transfers()},
        )
    return warehouse


def change(machine: Machine, **tables: dict[str, Any]) -> Machine:
    values = machine.model_dump()
    for table, fields in tables.items():
        values[table] |= fields
    return Machine.model_validate(values)


def read(warehouse: Warehouse, archive: str = "llnl", **options: Any) -> Requests:
    with warehouse.connect(Role.READER) as connection:
        return read_archive_requests(connection, archive, **options)


def simulate(
    warehouse: Warehouse, name: str = "rebuilt", machine: Machine | None = None, **plan: Any
) -> Outcome:
    machine = machine or bundled_machine("llnl-unitree-1998")
    given = plan.pop("given", None) or read(warehouse)
    return keep_run(warehouse, name, plan_run(given, machine, **{"seed": 1} | plan), now=NOW)


def ask(warehouse: Warehouse, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with warehouse.connect(Role.READER) as connection:
        return connection.execute(query.encode(), values).fetchall()


def test_a_simulated_archive_is_in_the_same_tables(filled: Warehouse) -> None:
    outcome = simulate(filled)
    jobs = outcome.run.jobs
    staged = int(jobs["is_staged"].sum())
    assert staged > 0
    ((archive, kind, zone, count),) = ask(
        filled,
        "SELECT archive, kind, timezone, loaded_count FROM mart.log_files"
        " JOIN mart.archives USING (archive, kind) WHERE archive = 'rebuilt'",
    )
    assert (archive, kind, zone, count) == ("rebuilt", "simulated", ZONE, jobs.height + staged)
    columns = "SELECT direction, size_bytes, interface, submitted_at FROM"
    simulated = f"{columns} mart.requests WHERE archive = 'rebuilt' ORDER BY 4, 2"
    asked = f"{columns} mart.trace_requests(archive => 'llnl') WHERE left_out IS NULL ORDER BY 4, 2"
    assert ask(filled, simulated) == ask(filled, asked)
    # Hits and misses agree with the run.
    ((hits, misses, unknown),) = ask(
        filled,
        "SELECT cached_count, uncached_count, unknown_count FROM mart.cache_hits(archive => 'rebuilt')",
    )
    gets = int((jobs["direction"] == "get").sum())
    joined = jobs["joined_row"].count()
    assert (hits, misses, unknown) == (gets - staged - joined, staged + joined, 0)
    # Each user's requests still belong to one user.
    users = "SELECT count(*) FROM mart.requests WHERE archive = %s GROUP BY user_id ORDER BY 1"
    assert ask(filled, users, "rebuilt") == ask(filled, users, "llnl")
    # The ledger accounts for every fact, as for facts from logs.
    with filled.connect(Role.OWNER) as connection:
        drop_archive(connection, "llnl")  # its rows were inserted without a ledger
    check_warehouse(filled)


def test_limits_and_priorities_read_their_columns_from_the_log(warehouse: Warehouse) -> None:
    rows = make_transfers(3)
    rows[0] |= {"client": "cray", "class_of_service": "3", "account": "physics"}
    rows[1] |= {"client": "sp2", "account": None}
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"archives": [{"name": "llnl", "timezone": ZONE}], "transfers": rows})
    tables = {"client": {"default_count": 1}, "account": {"exceptions": {"physics": 2}}}
    machine = bundled_machine("llnl-unitree-1998").model_copy(
        update={"limits": Limits.model_validate(tables)}
    )
    assert machine.trace_columns == ["account", "client"]
    given = read_archive(warehouse, "llnl", columns=[*machine.trace_columns, "class_of_service"])
    assert {*given.trace.select("account", "client", "class_of_service").iter_rows()} == {
        ("physics", "cray", "3"),
        (None, "sp2", None),
        (None, None, None),
    }
    plan = plan_run(given, machine, seed=1)
    described = list(describe_plan(plan))
    assert "  the client of 1 request is unknown: limits.client does not limit them" in described
    keep_run(warehouse, "rebuilt", plan, now=NOW)
    with pytest.raises(TraceError, match="the trace has no column account, but the"):
        plan_run(read(warehouse, columns=["client"]), machine, seed=1)


def test_failures_as_measured_replace_those_of_the_log(warehouse: Warehouse) -> None:
    rows = make_transfers(80)
    for number, row in enumerate(rows):
        # FTP's log reports no failures, so nobody knows which of its transfers failed.
        row["source"] = row["interface"] = "hsi" if number < 60 else "ftp"
        row["is_failed"] = number % 4 == 0 and number < 60
    sources = [{"name": "hsi"}, {"name": "ftp", "failure_tables": []}]
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(
            connection,
            {"archives": [{"name": "llnl", "timezone": ZONE}], "sources": sources, "transfers": rows},
        )
    failures = Failures.model_validate({"ratio": "as measured", "retry_after_s": 60, "most_retries": 1})
    machine = bundled_machine("llnl-unitree-1998").model_copy(update={"failures": failures})
    assert read(warehouse).failed_ratio is None
    given = read_archive(warehouse, "llnl", are_failures_simulated=True)
    assert (given.failed_ratio, given.trace.height) == (0.25, 65)
    ftp = read_archive(warehouse, "llnl", interface="ftp", are_failures_simulated=True)
    assert (ftp.failed_ratio, ftp.trace.height) == (None, 20)
    outcome = simulate(warehouse, machine=machine, given=given)
    totals = outcome.run.totals
    assert totals.given_up_count > 0
    ((failed, counted),) = ask(
        warehouse,
        "SELECT count(*) FILTER (WHERE is_failed), count(*) FROM mart.requests WHERE archive = 'rebuilt'",
    )
    assert (failed, counted) == (totals.given_up_count, 65)
    ((lost_s,),) = ask(warehouse, "SELECT sum(transfer_s) FROM mart.request_waits WHERE archive = 'rebuilt'")
    assert lost_s == pytest.approx(
        outcome.run.jobs.select(pl.col("transfer_s") + pl.col("retry_s")).sum().item()
    )
    with warehouse.connect(Role.READER) as connection:
        described = "\n".join(describe_run(connection, get_run(connection, "rebuilt")))
    assert (
        f"  {totals.failed_try_count:,} tries of transfers failed; {totals.given_up_count:,} req" in described
    )


def with_company(given: Requests) -> Requests:
    """Add a request one second after each get from tape: another user asks for the same file."""
    again = given.trace.filter(pl.col("origin") == "tape").with_columns(
        pl.col("submitted_s") + 1, pl.col("submitted_at") + timedelta(seconds=1), pl.col("user") + 100
    )
    return given.with_trace(pl.concat([given.trace, again]).sort("submitted_s", maintain_order=True))


def test_a_get_that_waits_for_the_stage_of_another_has_joined_it(filled: Warehouse) -> None:
    jobs = simulate(filled, given=with_company(read(filled))).run.jobs
    joined = jobs.filter(pl.col("joined_row").is_not_null())
    assert joined.height > 20
    assert joined["file_wait_s"].min() > 1
    rows = ask(
        filled,
        "SELECT count(*), count(DISTINCT stage_id), bool_or(is_cached), count(stage_s), min(cache_evidence),"
        " bool_and(staged_at > submitted_at AND staged_at <= ended_at)"
        " FROM mart.requests WHERE archive = 'rebuilt' AND is_joined",
    )
    assert rows == [(joined.height, joined["joined_row"].n_unique(), False, 0, "stage", True)]
    # Each shares its stage with exactly one get that did not join: the one that started the stage.
    shared = ask(
        filled,
        "SELECT joined.file_key = stager.file_key AND NOT stager.is_joined AND stager.stage_s > 0, count(*)"
        " FROM mart.requests AS joined JOIN mart.requests AS stager USING (archive, stage_id)"
        " WHERE archive = 'rebuilt' AND joined.is_joined AND NOT stager.is_joined GROUP BY 1",
    )
    assert shared == [(True, joined.height)]
    ((staged,),) = ask(filled, "SELECT count(stage_s) FROM mart.requests WHERE archive = 'rebuilt'")
    assert staged == jobs["is_staged"].sum()


@pytest.mark.parametrize("has_warm_up", [False, True])
def test_every_view_shows_the_same_hit_ratio(filled: Warehouse, has_warm_up: bool) -> None:
    machine = bundled_machine("llnl-unitree-1998")
    given = with_company(read(filled))
    if has_warm_up:
        small = change(machine, disk={"lv_bytes": 12_000_000, "largest_file_bytes": 10**9})
        outcome = simulate(filled, machine=small, given=given, fill_ratio=0.0)
    else:
        outcome = simulate(filled, machine=machine, given=given)
    steady_s = outcome.run.totals.steady_s
    assert steady_s is not None
    assert (steady_s > 0) == has_warm_up
    # Count again from the jobs.
    gets = outcome.run.jobs.filter(pl.col("direction") == "get", pl.col("submitted_s") >= steady_s)
    joined, missed = int(gets["joined_row"].count()), int(gets["is_staged"].sum())
    hits = gets.height - joined - missed
    assert min(hits, joined, missed) > 10
    if has_warm_up:  # otherwise the test would not notice if the warm-up were counted
        assert gets.height < outcome.run.jobs.filter(pl.col("direction") == "get").height - 10
    assert ask(
        filled,
        "SELECT get_count, cached_count, joined_count, uncached_count, hit_ratio"
        " FROM mart.cache_hits(archive => 'rebuilt')",
    ) == [(gets.height, hits, joined, joined + missed, hits / gets.height)]
    with filled.connect(Role.READER) as connection:
        lines = list(describe_run(connection, get_run(connection, "rebuilt")))
    shown = (
        f"  Hit ratio {hits / gets.height:.1%}: {hits} gets found their file on disk,"
        f" {joined} joined a stage of another, {missed} started one"
    )
    assert shown in lines
    table = {line[:16].strip(): int(line[16:].split()[0]) for line in lines if line.startswith("  get")}
    assert table == {"get from disk": hits, "get, joined": joined, "get from tape": missed}
    compared = ask(
        filled,
        "SELECT quantity, a_value, a_count FROM mart.compare_archives('rebuilt', 'rebuilt')"
        " WHERE quantity IN ('found on disk', 'joined a stage') ORDER BY 1",
    )
    assert compared == [
        ("found on disk", pytest.approx(hits / gets.height), gets.height),
        ("joined a stage", pytest.approx(joined / gets.height), gets.height),
    ]


def test_the_planner_knows_a_simulated_archive_at_once(filled: Warehouse) -> None:
    assert count_for_the_planner(filled) < 2
    simulate(filled)
    assert count_for_the_planner(filled) == 2


def test_the_time_of_every_request_is_split_by_cause(filled: Warehouse) -> None:
    simulate(filled)
    rows = ask(
        filled,
        "SELECT extract(EPOCH FROM ended_at - submitted_at)::float8, duration_s, stage_s,"
        f" is_cached IS FALSE AND NOT is_joined, {FIELDS}"
        " FROM mart.requests JOIN mart.request_waits USING (archive, transfer_id)"
        " WHERE archive = 'rebuilt'",
    )
    assert len(rows) == 400
    for total_s, duration_s, stage_s, is_miss, *causes in rows:
        assert min(causes) >= 0
        assert sum(causes) == pytest.approx(total_s, abs=3e-6)  # times are in whole microseconds
        times_s = dict(zip(STORED_TIMES, causes, strict=True))
        assert (stage_s is not None) == bool(is_miss)
        waited_s = times_s["user_wait_s"] + times_s["port_wait_s"] + times_s["file_wait_s"] + (stage_s or 0)
        assert duration_s == pytest.approx(total_s - waited_s, abs=3e-6)


def test_the_same_requests_and_seed_give_the_same_archive(filled: Warehouse) -> None:
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        simulate(filled, name, change(bundled_machine("llnl-unitree-1998"), tapes={"load": LAW}), seed=seed)
    query = (
        f"SELECT submitted_at, ended_at, size_bytes, {FIELDS} FROM mart.requests"
        " JOIN mart.request_waits USING (archive, transfer_id) WHERE archive = %s ORDER BY 1, 3"
    )
    one, two, three = (ask(filled, query, name) for name in ("one", "two", "three"))
    assert one == two
    assert one != three


LAW = {
    "law": "two_exponentials", "short_ratio": 0.224, "short_s": 60, "short_mean_s": 21, "long_s": 120,
    "long_mean_s": 30,
}  # fmt: skip


def test_the_run_is_kept_with_the_archive(filled: Warehouse) -> None:
    outcome = simulate(filled, seed=7)
    with filled.connect(Role.READER) as connection:
        (run,) = list_runs(connection)
        assert run == get_run(connection, "rebuilt")
        lines = "\n".join(describe_run(connection, run))
    assert (run.demand, run.demand_name, run.demand_kind, run.seed) == ("archive", "llnl", "measured", 7)
    assert (run.job_count, run.unfinished_count, run.is_circular) == (400, 0, False)
    assert run.steady_at == run.began_at == outcome.given.began_at
    assert run.totals["staged_count"] == outcome.run.totals.staged_count
    ((machine,),) = ask(filled, "SELECT machine FROM mart.simulation_runs")
    assert Machine.model_validate_json(json.dumps(machine)) == outcome.machine  # it can be run again
    assert "get from tape" in lines
    assert "circular" not in lines
    samples = ask(
        filled, "SELECT sampled_at, value FROM mart.simulation_samples WHERE quantity = 'disk_fill_ratio'"
    )
    assert len(samples) == outcome.run.samples.height
    assert "mart.simulation_samples has the machine's state every 600 s" in lines
    # A mean needs an earlier sample, so the first sample has none.
    ((first,),) = ask(
        filled,
        "SELECT min(sampled_at) FROM mart.simulation_samples WHERE quantity = 'network_in_utilisation_ratio'",
    )
    assert first == outcome.given.began_at + timedelta(minutes=10)
    assert min(at for at, _ in samples) == outcome.given.began_at


def test_nothing_is_written_into_an_existing_archive(filled: Warehouse) -> None:
    simulate(filled)
    before = ask(filled, "SELECT count(*) FROM mart.transfers")
    for name, reason in (("llnl", "measured: a simulation never writes"), ("rebuilt", "already")):
        with pytest.raises(SimulationError, match=reason):
            simulate(filled, name, given=read(filled))
    assert ask(filled, "SELECT count(*) FROM mart.transfers") == before
    request = SourceRequest("rebuilt", "measured", find_format("nft"), ZONE, "nft")
    with filled.connect() as connection, pytest.raises(SourceError, match="is simulated") as raised:
        make_source(connection, request)
    assert "choose another name" in str(raised.value.hint)


def test_dropping_it_leaves_nothing(filled: Warehouse) -> None:
    outcome = simulate(filled)
    fact_count = 400 + outcome.run.totals.staged_count
    with filled.connect(Role.OWNER) as connection:
        assert drop_archive(connection, "rebuilt") == fact_count
        for table in (
            "core.requests",
            "studies.simulation_runs",
            "studies.simulation_samples",
            "studies.request_waits",
        ):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert ask(filled, "SELECT archive FROM mart.archives") == [("llnl",)]


def test_a_disk_that_is_never_in_use_has_no_means(filled: Warehouse) -> None:
    outcome = simulate(filled, fill_ratio=0.0)
    assert outcome.run.totals.steady_s is None
    with filled.connect(Role.READER) as connection:
        run = get_run(connection, "rebuilt")
        lines = "\n".join(describe_run(connection, run))
    assert run.steady_at is None
    assert "no means are shown" in lines
    assert "get from" not in lines
    # A disk that fills up during the run has means from then on.
    small = change(
        bundled_machine("llnl-unitree-1998"), disk={"lv_bytes": 12_000_000, "largest_file_bytes": 10**9}
    )
    outcome = simulate(filled, "small", small, fill_ratio=0.0)
    assert outcome.run.totals.steady_s is not None
    assert outcome.run.totals.steady_s > 0
    assert outcome.run.totals.purge_count > 0


def test_a_run_of_an_earlier_version_that_got_stuck_has_no_means(filled: Warehouse) -> None:
    simulate(filled)
    with filled.connect(Role.OWNER) as connection:
        connection.execute("UPDATE studies.simulation_runs SET unfinished_count = 399")
    with filled.connect(Role.READER) as connection:
        lines = "\n".join(describe_run(connection, get_run(connection, "rebuilt")))
    assert "399 never ended, so no means are shown" in lines
    assert "get from" not in lines


def test_a_run_that_gets_stuck_is_not_stored(filled: Warehouse) -> None:
    small = change(
        bundled_machine("llnl-unitree-1998"), disk={"lv_bytes": 2_000_000, "largest_file_bytes": 300_000_000}
    )
    small = Machine.model_validate(small.model_dump() | {"purge": None})
    with pytest.raises(SimulationError, match="for room on disk") as caught:
        simulate(filled, machine=small)
    assert "Nothing was stored" in str(caught.value.hint)
    assert ask(filled, "SELECT archive FROM mart.archives") == [("llnl",)]


def test_files_beyond_the_disk_are_on_tape_and_counted(filled: Warehouse) -> None:
    machine = bundled_machine("llnl-unitree-1998")
    plan = plan_run(read(filled), machine, seed=1)
    assert plan.held.displaced_files.is_empty()
    small = change(machine, disk={"lv_bytes": 1_000_000, "largest_file_bytes": 190_000_000})
    plan = plan_run(read(filled), small, seed=1)
    there = plan.given.trace.filter(pl.col("origin") == "disk")["file"].unique()
    assert len(plan.held.displaced_files) == len(there) - plan.held.trace_count > 0
    assert plan.held.inventory["size_bytes"].sum() <= 0.8 * small.disk.capacity_bytes


def test_files_without_space_head_the_results(filled: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = change(
        bundled_machine("llnl-unitree-1998"), disk={"lv_bytes": 4_000_000, "largest_file_bytes": 190_000_000}
    )
    plan = plan_run(read(filled), machine, seed=1)
    displaced = plan.held.displaced_files.to_list()
    staged = keep_run(filled, "small", plan, now=NOW).run.jobs.filter("is_staged")["file"].to_list()
    # Count again from the jobs, using the first stage of each file.
    first_count = len({file for file in staged if file in displaced})
    assert 0 < first_count < len(staged)
    warning = (
        f"{len(displaced)} files that were on disk at the start found no room on the machine's disk and began"
        f" on tape; {first_count} of {len(staged)} stages are the first of such a file"
    )
    assert "find no room on the machine's disk" in next(iter(describe_plan(plan)))
    with filled.connect(Role.READER) as connection:
        run = get_run(connection, "small")
        assert run.warnings == [warning]
        assert next(iter(describe_run(connection, run))) == style_warning(warning)
    simulate(filled)
    for module in ("tapewise.simulator.cli", "tapewise.simulator.comparisons_cli"):
        monkeypatch.setattr(f"{module}.open_ready_warehouse", lambda _settings: nullcontext(filled))
    compared = CliRunner().invoke(compare, ["rebuilt", "small"], catch_exceptions=False).output
    assert compared.splitlines()[0] == f"WARNING: small: {warning}."
    listed = CliRunner().invoke(list_command, ["--json"], catch_exceptions=False, obj=Settings()).output
    said = [json.loads(line)["warnings"] for line in listed.splitlines()]
    assert said == [[], [warning]]
    compared = CliRunner().invoke(compare, ["small", "small", "--json"], catch_exceptions=False).output
    assert json.loads(compared)["warnings"] == [f"small: {warning}"]


def test_requests_beyond_the_machine_are_counted(filled: Warehouse) -> None:
    machine = change(bundled_machine("llnl-unitree-1998"), disk={"largest_file_bytes": 1_000_000})
    plan = plan_run(read(filled), machine, seed=1)
    largest = "larger than the machine accepts (1,000,000 bytes)"
    assert plan.given.left_out[largest] == 400 - plan.given.trace.height > 0
    assert plan.given.trace["size_bytes"].max() <= 1_000_000


def test_a_range_follows_the_archives_clock(filled: Warehouse) -> None:
    whole, part = read(filled), read(filled, since=datetime(2000, 1, 3, 6))
    assert part.trace.height < whole.trace.height
    assert part.trace["submitted_at"].min() >= datetime(2000, 1, 3, 13, 55, tzinfo=UTC)


def test_a_trace_with_only_the_required_columns_begins_at_the_epoch(filled: Warehouse) -> None:
    bare = read(filled).trace.select("submitted_s", "direction", "user", "file", "size_bytes")
    trace, began_at = complete_trace(bare.with_columns(file=pl.col("file").cast(pl.String)))
    given = Requests(trace, began_at, "UTC", "file", "bare.csv")
    simulate(filled, given=given)
    rows = ask(
        filled, "SELECT min(submitted_at), min(interface) FROM mart.requests WHERE archive = 'rebuilt'"
    )
    assert rows == [(datetime(1970, 1, 1, tzinfo=UTC), "simulated")]


@pytest.mark.parametrize("archive", ["nobody", "empty"])
def test_unreadable_files_are_reported(filled: Warehouse, archive: str) -> None:
    with filled.connect(Role.OWNER) as connection:
        connection.execute(
            "INSERT INTO core.archives (name, kind, timezone) VALUES ('empty', 'measured', 'UTC')"
        )
    with pytest.raises(TapewiseError, match=archive):
        read(filled, archive)


def test_seconds_count_from_the_given_begin() -> None:
    frame = pl.DataFrame({"submitted_at": [BEGIN, BEGIN + timedelta(seconds=1.5)]}).cast(
        pl.Datetime("us", "UTC")
    )
    assert place_in_time(frame, BEGIN)["submitted_s"].to_list() == [0, 1.5]


def test_an_end_after_ten_years_gives_no_archive(filled: Warehouse) -> None:
    machine = change(bundled_machine("llnl-unitree-1998"), network={"in_bytes_per_s": 1.0})
    with pytest.raises(SimulationError, match="years after the run began"):
        simulate(filled, machine=machine)
    assert ask(filled, "SELECT archive FROM mart.archives") == [("llnl",)]


def test_a_long_trace_has_fewer_samples(filled: Warehouse) -> None:
    given = read(filled)
    far = given.trace.with_columns(submitted_s=pl.col("submitted_s") * 1000)
    outcome = simulate(filled, given=replace(given, trace=far))
    assert far["submitted_s"][-1] > 10_000 * 600
    assert outcome.run.samples.height == 10_001


def test_outages_as_measured_are_those_that_people_recorded(filled: Warehouse) -> None:
    given = read(filled)
    last_at = given.began_at + timedelta(seconds=float(given.trace["submitted_s"][-1]))
    hours = [(-9, -8), (-1, 1), (2, 3), (4, None)]
    rows = [
        (given.began_at + timedelta(hours=start), end and given.began_at + timedelta(hours=end))
        for start, end in hours
    ]
    rows.append((last_at + timedelta(seconds=1), None))
    with filled.connect(Role.OWNER) as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO core.outages (archive_id, kind, note, started_at, ended_at)"
            " SELECT id, 'unscheduled', 'made up', %s, %s FROM core.archives WHERE name = 'llnl'",
            rows,
        )
    outages = [{"what": "archive", "when": "as measured"}]
    machine = Machine.model_validate(bundled_machine("llnl-unitree-1998").model_dump() | {"outages": outages})
    outcome = simulate(filled, machine=machine)
    last_s = (last_at - given.began_at).total_seconds()
    assert [(one.begins_s, one.lasts_s) for one in outcome.machine.outages] == [
        (0, 3600),
        (7200, 3600),
        (14400, last_s - 14400),
    ]
    assert outcome.run.totals.outages[0].outage_count == 3
    with filled.connect(Role.READER) as connection:
        text = "\n".join(describe_run(connection, get_run(connection, "rebuilt")))
    assert "archive out of service 3 times" in text
    with pytest.raises(TapewiseError, match='"as measured" needs the requests of an archive, not of file '):
        plan_run(replace(given, demand="file", outages_s=None), machine, seed=1)


def test_made_up_requests_stay_made_up_through_another_simulation(filled: Warehouse) -> None:
    with filled.connect(Role.OWNER) as connection:
        connection.execute("UPDATE core.archives SET kind = 'synthetic'")
    simulate(filled, "first")
    simulate(filled, "second", given=read(filled, "first"))
    columns = "SELECT demand_name, demand_archive, demand_kind, is_circular"
    runs = ask(filled, f"{columns} FROM mart.simulation_runs WHERE archive = 'second'")
    assert runs == [("first", "llnl", "synthetic", True)]


def test_a_machine_that_takes_no_request_is_reported(filled: Warehouse) -> None:
    machine = change(bundled_machine("llnl-unitree-1998"), disk={"largest_file_bytes": 1})
    with pytest.raises(SimulationError, match="every request of archive 'llnl' is larger"):
        plan_run(read(filled), machine, seed=1)
