"""`tapewise simulate` as users type it: output, messages, exit status."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

HEADER = "submitted_s,direction,user,file,size_bytes\n"
TRACE = HEADER + "".join(
    f"{40 * number},{'get' if number % 3 else 'put'},1,{number},{1_000_000 * (number + 1)}\n"
    for number in range(60)
)
MACHINE = "llnl-unitree-1998"
RUN = ["run", "--machine", MACHINE, "--into"]


@pytest.fixture
def machine_text(tapewise) -> str:
    result = tapewise("simulate", "machine", MACHINE)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture
def trace(tmp_path: Path) -> str:
    (tmp_path / "trace.csv").write_text(TRACE)
    return "trace.csv"


@pytest.mark.study("simulator")
def test_a_trace_is_run_listed_shown_and_queried(tapewise, trace, request) -> None:
    name = request.node.name
    made = ("simulate", "run", "--machine", MACHINE, "--trace-file", trace, "--seed", "3", "--into", name)
    result = tapewise(*made)
    assert (result.returncode, result.stderr) == (0, "")
    first, *lines = result.stdout.splitlines()
    assert re.fullmatch(
        r"60 requests on LLNL UniTree 1998; its disk is 75% full at the start: 0 requested files,"
        r" [\d,]+ made-up ones\.",
        first,
    )
    assert lines[:2] == [
        f"Simulated archive '{name}': LLNL UniTree 1998, seed 3",
        "  60 requests of trace trace.csv, 1970-01-01 00:00 to 1970-01-01 00:41 UTC",
    ]
    assert [line.split()[:2] for line in lines[-3:-1]] == [["put", "20"], ["get", "from"]]
    assert tapewise("simulate", "show", name).stdout.splitlines() == lines
    assert (
        f"{name}: 60 requests of file trace.csv on LLNL UniTree 1998, seed 3"
        in tapewise("simulate", "list").stdout
    )
    runs = [json.loads(line) for line in tapewise("simulate", "list", "--json").stdout.splitlines()]
    assert name in [run["archive"] for run in runs]
    asked = tapewise("sql", f"SELECT count(*) AS n FROM mart.requests WHERE archive = '{name}'", "--json")
    assert json.loads(asked.stdout) == [{"n": 60}]
    again = tapewise(*made)
    assert (again.returncode, again.stdout) == (1, "")
    assert f"there is already an archive called '{name}'" in again.stderr
    assert tapewise("archives", "drop", name, "--yes").returncode == 0
    assert tapewise(*made).stdout == result.stdout  # the same seed


@pytest.mark.study("simulator")
def test_a_custom_machine_file_starts_from_a_bundled_one(
    tapewise, trace, machine_text, tmp_path, request
) -> None:
    assert "llnl-unitree-1998" in tapewise("simulate", "machine").stdout.splitlines()
    assert tomllib.loads(machine_text)["users"] == {"limit_count": 10}
    changed = machine_text.replace('title = "LLNL UniTree 1998"', 'title = "mine"').replace(
        "load_s = 60 ", "load_s = 120 "
    )
    assert changed.count("120 ") == machine_text.count("120 ") + 1
    (tmp_path / "mine.toml").write_text(changed)
    result = tapewise(
        "simulate", "run", "--machine", "mine.toml", "--trace-file", trace, "--into", request.node.name
    )
    assert result.returncode == 0, result.stderr
    loads = [line.split() for line in result.stdout.splitlines() if line.startswith("  get from tape")]
    assert loads[0][10] == "120.00"


def test_an_invalid_machine_is_reported_with_file_and_field(tapewise, trace, machine_text, tmp_path) -> None:
    changed = machine_text.replace("in_bytes_per_s = 7_500_000", "in_bytes_per_s = -1")
    (tmp_path / "mine.toml").write_text(changed)
    result = tapewise("simulate", "run", "--machine", "mine.toml", "--trace-file", trace, "--into", "broken")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("tapewise: mine.toml: network.in_bytes_per_s: ")


def test_a_machine_file_is_checked_as_a_whole(tapewise, machine_text, tmp_path) -> None:
    for name in (MACHINE, "same.toml"):
        (tmp_path / "same.toml").write_text(machine_text)
        good = tapewise("simulate", "check-machine", name)
        assert (good.returncode, good.stderr) == (0, "")
        first, *summary = good.stdout.splitlines()
        assert first == f"{name}: ok"
        assert "  purge: from 80% to 70%, by size_age; files stay 3600 s after each use" in summary
    wrong = machine_text.replace("limit_count = 10", "limit = 10").replace("load_s = 60", "load_s = -1")
    (tmp_path / "wrong.toml").write_text(wrong.replace('rank = "size_age"', 'rank = "age / weight"'))
    bad = tapewise("simulate", "check-machine", "wrong.toml")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert [line.split(": ")[1:3] for line in bad.stderr.splitlines()[:-1]] == [
        ["wrong.toml", field]
        for field in ("users.limit", "users.limit_count", "purge.rank", "tapes.load.load_s")
    ]
    missing = tapewise("simulate", "check-machine", "missing.toml")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("tapewise: missing.toml: No such file")


def test_an_invalid_trace_is_reported_with_row_and_column(tapewise, tmp_path) -> None:
    (tmp_path / "broken.csv").write_text(HEADER + "10,put,1,1,5\n5,put,1,2,5\n")
    result = tapewise("simulate", *RUN, "broken", "--trace-file", "broken.csv")
    assert (result.returncode, result.stdout) == (1, "")
    assert "row 2 of the trace: submitted_s 5.0 is before" in result.stderr


def test_a_run_that_gets_stuck_fails_and_names_the_resource(
    tapewise, machine_text, tmp_path, request
) -> None:
    """The files do not all fit on disk, and without tapes none can be purged, so some requests never end."""
    kept = machine_text[: machine_text.index("[purge]")].replace(
        "lv_bytes = 2_000_000_000", "lv_bytes = 1_000_000"
    )
    kept = kept.replace("largest_file_bytes = 4_000_000_000", "largest_file_bytes = 100_000_000")
    (tmp_path / "small.toml").write_text(kept)
    puts = "".join(f"{number},put,{number},{number},90000000\n" for number in range(5))
    (tmp_path / "puts.csv").write_text(HEADER + puts + "5,get,1,4,90000000\n")
    name = request.node.name
    result = tapewise(
        "simulate", "run", "--machine", "small.toml", "--trace-file", "puts.csv", "--into", name
    )
    assert result.returncode == 1
    assert "Where the time went" not in result.stdout
    assert result.stderr.splitlines()[0] == (
        "tapewise: 4 of 6 requests never end: at 1970-01-01 00:00, after the last event, they wait"
        " (3 for room on disk, 1 for another request for the same file), and nothing more can happen."
    )
    assert name not in tapewise("archives", "list").stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([*RUN, "a"], 2, "one of --trace, --model and --trace-file"),
        ([*RUN, "a", "--trace", "b", "--model", "c"], 2, "one of --trace"),
        ([*RUN, " ", "--trace", "b"], 2, "a name is printable text"),
        ([*RUN, "a", "--trace", "b", "--rate", "2"], 2, "--rate goes with --model"),
        ([*RUN, "a", "--trace", "nobody"], 1, "no archive is called 'nobody'"),
        ([*RUN, "a", "--model", "nothing"], 1, "no workload model is called"),
        (["run", "--machine", "none.toml", "--into", "a", "--trace", "b"], 1, "none.toml: No such file"),
        ([*RUN, "a", "--trace-file", "none.csv"], 1, "none.csv: No such file"),
        (["show", "nobody"], 1, "no simulated archive is called 'nobody'"),
        (["machine", "nobody"], 1, "no machine is called 'nobody'"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(
    tapewise: Callable, arguments: list[str], status: int, message: str
) -> None:
    result = tapewise("simulate", *arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert message in result.stderr
