"""`tapewise simulate cache --waits` shows what runs of the machine with each disk give."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tests.acceptance.test_simulate_cache import load_pooled_log, make_log

pytestmark = pytest.mark.study("simulator")

WAITS = ("get_wait_p50_s", "get_wait_p95_s", "get_wait_p99_s")


def write_machine(tapewise, folder: Path, more: str = "") -> None:
    """Write m.toml: SDSC's machine with a disk and drives that suit the small logs of these tests."""
    machine = tapewise("simulate", "machine", "sdsc-hpss-1998").stdout
    for given, other in (
        ("largest_file_bytes = 20_000_000_000", "largest_file_bytes = 5000"),
        ("chain_count = 7", "chain_count = 1"),
        ("lv_bytes = 250_000_000_000", "lv_bytes = 100_000"),
        ("count = 18 ", "count = 40 "),
        # The logs are of two hours.
        ("keep_s = 3600", "keep_s = 60"),
        ("min_age_s = 3600", "min_age_s = 10"),
        ("interval_s = 1800", "interval_s = 10"),
    ):
        assert machine.count(given) == 1
        machine = machine.replace(given, other)
    (folder / "m.toml").write_text(machine + more)


def read_json(done: Any) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_is_the_run_of_a_machine_with_that_disk(tapewise, home: Path, tmp_path: Path) -> None:
    make_log(tmp_path)
    named = ("--archive", "waiting", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    write_machine(tapewise, tmp_path)
    command = ("simulate", "cache", "--archive", "waiting", "--machine", "m.toml", "--policies")
    rules = "lru,belady,size_age"
    rows = read_json(tapewise(*command, rules, "--sizes", "50kB,100kB", "--waits", "--jobs", "1", "--json"))
    names = (
        "staged_count",
        "mount_count",
        "drive_h",
        *WAITS,
        "left_out_get_count",
        "placement",
        "other_placement",
    )
    replayed = read_json(tapewise(*command, rules, "--sizes", "50kB,100kB", "--json"))
    assert [{name: row[name] for name in row if name not in names} for row in rows] == replayed
    assert [row["policy"] for row in rows] == [each for each in rules.split(",") for _ in range(2)]
    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.READER, autocommit=True) as reader,
    ):
        for row in rows:
            if row["policy"] == "belady":
                assert all(row[name] is None for name in names)
                continue
            assert (row["left_out_get_count"], row["placement"]) == (0, "time")
            ranked = (tmp_path / "m.toml").read_text().replace('"size_age"', f'"{row["policy"]}"')
            (tmp_path / "ranked.toml").write_text(ranked)
            into = f"{row['policy']}-{row['capacity_bytes']}"
            ran = tapewise(
                *("simulate", "run", "--machine", "ranked.toml", "--measured-on", "m.toml", "--trace"),
                *("waiting", "--disk", f"{row['capacity_bytes']}B", "--seed", "1", "--into", into),
            )
            assert ran.returncode == 0, ran.stderr
            ((tapes, other),) = reader.execute(
                "SELECT totals -> 'tapes', options -> 'other_placement' FROM mart.simulation_runs"
                " WHERE archive = %s",
                [into],
            )
            drive_s = sum(each for step, each in tapes["drive_s"].items() if step not in ("empty", "out"))
            assert (row["staged_count"], row["mount_count"]) == (tapes["recall_count"], tapes["mount_count"])
            assert row["drive_h"] == pytest.approx(drive_s / 3600)
            others = row["other_placement"]
            assert [others[name] for name in ("placement", "mount_count")] == ["user", other["mount_count"]]
            assert others["mount_count"] != row["mount_count"]
    studied = ("simulate", "study", "disk.capacity_bytes=50kB", "--machine", "m.toml", "--trace", "waiting")
    runs = read_json(tapewise(*studied, "--seeds", "1", "--no-keep", "--json"))
    for row, run in zip(rows[:-3:-1], runs, strict=True):  # size_age with 100 kB, as in the file, and 50 kB
        assert [row[name] for name in WAITS] == [run[name] for name in WAITS]
        assert 0 <= row["get_wait_p50_s"] < row["get_wait_p99_s"]
    staged = {(row["policy"], row["capacity_bytes"]): row["staged_count"] for row in rows}
    assert staged["lru", 100_000] < staged["lru", 50_000]
    assert staged["lru", 100_000] != staged["size_age", 100_000]
    shown = tapewise(*command, rules, "--sizes", "50kB", "--waits").stdout.splitlines()
    assert any("made up" in line for line in shown)
    assert shown[-6].endswith("placed by  stages  mounts  drive h  get p50 s  get p95 s  get p99 s")
    assert [line.split()[0] for line in shown[-5:]] == ["lru", "lru", "belady", "size_age", "size_age"]
    assert len(shown[-3].split()) < len(shown[-5].split())  # belady's cells are empty


def test_kept_curves_say_what_a_run_leaves_out(tapewise, home: Path, tmp_path: Path) -> None:
    make_log(tmp_path)
    named = ("--archive", "left", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    write_machine(tapewise, tmp_path)
    machine = (tmp_path / "m.toml").read_text()
    (tmp_path / "m.toml").write_text(
        machine.replace("largest_file_bytes = 5000", "largest_file_bytes = 4000")
    )
    command = ("simulate", "cache", "--archive", "left", "--machine", "m.toml", "--policies", "lru,belady")
    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.OWNER, autocommit=True) as owner,
    ):
        owner.execute(
            "INSERT INTO studies.simulation_studies (name, digest, demand, demand_name, demand_archive,"
            " demand_kind, options, machine_title, machine, program_version, created_at) VALUES"
            " ('left', 'left', 'archive', 'left', 'left', 'synthetic', '{}', 'a machine',"
            """ '{"disk": {"capacity_bytes": 100000}}', '0', now())"""
        )
        rows = read_json(tapewise(*command, "--sizes", "50kB", "--waits", "--keep", "left", "--json"))
        kept = owner.execute(
            "SELECT policy, capacity_bytes, too_large_count, left_out_get_count FROM mart.cache_curves"
            " WHERE study = 'left'"
        ).fetchall()
    names = ("policy", "capacity_bytes", "too_large_count", "left_out_get_count")
    assert sorted(kept) == sorted(tuple(row[name] for name in names) for row in rows)
    # No machine can follow belady, so nobody knows what it would leave out.
    assert {row["policy"]: bool(row["left_out_get_count"]) for row in rows} == {"lru": True, "belady": False}
    assert {row["left_out_get_count"] for row in rows if row["policy"] == "belady"} == {None}


def test_marks_and_pools_are_those_that_were_given(tapewise, tmp_path: Path) -> None:
    load_pooled_log(tapewise, tmp_path)
    pools = '[disk.pools.low]\nclasses_of_service = ["0", "1"]\ncapacity_bytes = 40000\nrank = "fifo"\n'
    write_machine(tapewise, tmp_path, pools + "[disk.pools.others]\n")
    command = ("simulate", "cache", "--archive", "pooled", "--machine", "m.toml", "--pool", "low", "--waits")
    small, large, others = read_json(tapewise(*command, "--sizes", "30kB,60kB", "--json"))
    assert small["staged_count"] > large["staged_count"] > 0
    assert (others["pool"], others["staged_count"]) == ("others", None)
    (lower,) = (
        row
        for row in read_json(
            tapewise(*command, "--sizes", "60kB", "--high-ratio", "0.3", "--low-ratio", "0.1", "--json")
        )
        if row["pool"] == "low"
    )
    assert lower["staged_count"] > large["staged_count"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--waits",), "--waits runs a machine, so give --machine"),
        (("--waits", "--machine", "sdsc-hpss-1998", "--since", "2000-01-01"), "without --since"),
        (("--waits", "--machine", "sdsc-hpss-1998", "--unstored-s", "60"), "without --unstored-s"),
        (("--waits", "--machine", "sdsc-hpss-1998", "--empty-start"), "neither a machine nor locks"),
        (
            ("--waits", "--machine", "sdsc-hpss-1998", "--pool", "any", "--empty-start"),
            "without --empty-start: its disk holds what the log implies",
        ),
        (("--jobs", "1"), "--measured-on and --jobs go with --waits"),
        (("--measured-on", "sdsc-hpss-1998"), "--measured-on and --jobs go with --waits"),
    ],
)
def test_wrong_usage(tapewise, options: tuple[str, ...], message: str) -> None:
    refused = tapewise("simulate", "cache", "--archive", "any", "--sizes", "1TB", *options)
    assert (refused.returncode, message in " ".join(refused.stderr.split())) == (2, True)


def test_a_disk_that_no_machine_can_have(tapewise, tmp_path: Path) -> None:
    """It is refused before anything is replayed, with the field."""
    write_machine(tapewise, tmp_path)
    refused = tapewise(
        *("simulate", "cache", "--archive", "none", "--sizes", "4kB", "--waits", "--machine", "m.toml")
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "disk: largest_file_bytes is more than the disk holds" in refused.stderr
    unknown = ("--machine", "m.toml", "--waits", "--measured-on", "nowhere")
    refused = tapewise("simulate", "cache", "--archive", "none", "--sizes", "1TB", *unknown)
    assert (refused.returncode, "nowhere" in refused.stderr) == (1, True)


def test_a_disk_on_which_requests_never_end_is_named(tapewise, tmp_path: Path) -> None:
    make_log(tmp_path)
    named = ("--archive", "stuck", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    write_machine(tapewise, tmp_path)
    asked = ("simulate", "cache", "--archive", "stuck", "--machine", "m.toml", "--waits", "--json")
    refused = tapewise(*asked, "--policies", "lru", "--sizes", "100kB,5kB")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.search("--policies=lru --sizes=5000B: [0-9]+ of [0-9]+ requests never end", refused.stderr)
