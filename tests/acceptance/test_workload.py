"""`tapewise workload` as users type it: output, messages, exit status."""

import json
import random

import pytest

from tapewise.simulator.demand.traces import check_trace, inventory_of, read_trace
from tapewise.simulator.machines import bundled_machine

pytestmark = pytest.mark.study("clustering", "sql")

# Two kinds of puts by two users: small ones by day and large ones at night, in batches of ten.
SMALL, LARGE = (10_000, 0.5), (200_000_000, 50.0)


def make_lines() -> str:
    dice = random.Random(1)
    lines = []
    for batch in range(40):
        size, seconds = SMALL if batch % 4 else LARGE
        for number in range(10):
            moment = f"97/10/{batch // 2 + 1:02} {9 + 12 * (batch % 2):02}:{number * 2:02}:00"
            spread = dice.uniform(0.9, 1.1)
            user = "005041" if batch % 4 else "001194"
            lines.append(f"{user} {moment} js {size * spread:.0f} {seconds * spread:.3f}\n")
    return "".join(lines)


@pytest.fixture
def archive(tapewise, tmp_path, request) -> str:
    """An archive for this test alone."""
    name = request.node.name
    (tmp_path / "a.log").write_text(make_lines() + "005041 97/10/30 00:00:00 js 0 0.1\n")
    result = tapewise(
        "ingest", "--archive", name, "--kind", "synthetic", "--format", "nft", "--timezone", "UTC", "a.log"
    )
    assert result.returncode == 0, result.stderr
    return name


def test_a_model_is_fitted_shown_exported_and_removed(tapewise, archive, tmp_path):
    result = tapewise("workload", "fit", "--archive", archive, "--name", "two kinds", "--idle", "120")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:6] == [
        f"Workload model 'two kinds' of {archive} (synthetic, UTC)",
        "  size and service time of requests that ended from 1997-10-01 to 1997-10-30; seed 1",
        "",
        "nft put: 400 requests in 2 classes; set apart: 1 zero size",
        "   1  small puts   75.0% of requests    0.0% of bytes   9.97 kB in 0.498 s",
        "   2  large puts   25.0% of requests  100.0% of bytes   199 MB in 49.7 s",
    ]
    assert lines[6].startswith("  silhouette by number of classes  2: 0.9")
    assert lines[7] == (
        "  bursts: 41 of 2 users; requests in one: median 10, 95 % 10; gap: median 120 s;"
        " the busiest user makes 75% of the requests"
    )
    assert tapewise("workload", "show", "two kinds").stdout == result.stdout

    listed = tapewise("workload", "list").stdout
    line = "two kinds: 400 requests of {} (synthetic) in 2 classes by size and service time, fitted 20"
    assert line.format(archive) in listed
    as_json = [json.loads(each) for each in tapewise("workload", "list", "--json").stdout.splitlines()]
    (found,) = [each for each in as_json if each["name"] == "two kinds"]
    assert (found["archive"], found["class_count"], found["request_count"]) == (archive, 2, 400)

    exported = tapewise("workload", "export", "two kinds").stdout
    assert (json.loads(exported)["format"], json.loads(exported)["format_version"]) == (
        "tapewise-workload",
        1,
    )
    assert "005041" not in exported
    written = tapewise("workload", "export", "two kinds", "--output", "two.json")
    assert written.stdout == "two.json: workload model 'two kinds' is written.\n"
    assert (tmp_path / "two.json").read_text() == exported

    query = (
        "SELECT class_name, count(*)"
        f" FROM mart.transfer_classes(model => 'two kinds', archive => '{archive}') GROUP BY 1 ORDER BY 2"
    )
    assert tapewise("sql", "--csv", query).stdout == "class_name,count\n,1\nlarge puts,100\nsmall puts,300\n"

    again = tapewise("workload", "fit", "--archive", archive, "--name", "two kinds")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        "tapewise: there is already a workload model called 'two kinds'.\n"
        "Choose another name, or remove that model: `tapewise workload remove 'two kinds'`.\n"
    )
    assert tapewise("workload", "remove", "two kinds").returncode == 1  # asks, but gets no answer
    removed = tapewise("workload", "remove", "two kinds", "--yes")
    assert removed.stdout == "Workload model 'two kinds' is removed.\n"
    assert tapewise("workload", "show", "two kinds").stderr == (
        "tapewise: no workload model is called 'two kinds'.\n`tapewise workload list` shows them.\n"
    )


def test_a_range_follows_the_archives_clock_and_is_kept(tapewise, archive):
    fit = ["workload", "fit", "--archive", archive, "--name", "few"]
    result = tapewise(*fit, "--since", "1997-10-02", "--until", "1997-10-04T09:10:00", "--seed", "5")
    assert "requests that ended from 1997-10-02 to 1997-10-04; seed 5" in result.stdout
    assert "nft put: 45 requests" in result.stdout
    exported = json.loads(tapewise("workload", "export", "few").stdout)
    assert (exported["since"], exported["until"]) == ("1997-10-02T00:00:00Z", "1997-10-04T09:10:00Z")
    # Dropping an archive drops its models too.
    assert tapewise("archives", "drop", archive, "--yes").returncode == 0
    assert tapewise("workload", "show", "few").returncode == 1


FIT = ["workload", "fit", "--archive", "nothing", "--name"]


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        ([*FIT, "x"], 1, "tapewise: no archive is called 'nothing'.\n`tapewise archives list` shows them.\n"),
        ([*FIT, " "], 2, "Invalid value for '--name': a name is printable text"),
        ([*FIT, "x", "--since", "1998-01-02", "--until", "1998-01-02"], 2, "must be later than --since"),
        ([*FIT, "x", "--measure", "rate"], 2, "'rate' is not one of 'service', 'open'"),
        ([*FIT, "x", "--seed", "-1"], 2, "--seed"),
        ([*FIT, "x", "--idle", "-1"], 2, "--idle"),
        ([*FIT, "x", "--idle", "nan"], 2, "--idle"),
        ([*FIT, "x", "--idle", "inf"], 2, "--idle"),
        (["workload", "export", "nothing"], 1, "no workload model is called 'nothing'"),
        (["workload", "remove", "nothing", "--yes"], 1, "no workload model is called 'nothing'"),
    ],
)
def test_errors_name_what_is_wrong(tapewise, arguments, status, message):
    result = tapewise(*arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert message in result.stderr


def test_requests_that_cannot_be_classified_are_reported(tapewise, archive):
    result = tapewise("workload", "fit", "--archive", archive, "--name", "none", "--measure", "open")
    assert result.returncode == 1
    assert result.stderr == (
        f"tapewise: no request of archive '{archive}' has a size and a time to sort it by.\n"
        "All are set apart: 400 unknown time, 1 zero size.\n"
    )
    assert "none" not in tapewise("workload", "list").stdout


TRACE = ["workload", "trace", "--archive"]
# A put, a get of 0 bytes, a large put, and two gets of the first file. NFT records no stages.
TRACE_LINES = """\
000001 97/10/01 10:00:10 js 1000 10.0
000001 97/10/01 10:01:00 sj 0 0.5
000007 97/10/01 11:00:00 js 5000000000 60.0
000007 97/10/01 12:00:00 sj 1000 2.5
000007 97/10/01 12:00:05 sj 1000 2.5
"""


@pytest.fixture
def requests(tapewise, tmp_path, request) -> str:
    """An archive of five requests."""
    name = request.node.originalname
    (tmp_path / "a.log").write_text(TRACE_LINES)
    zone = ["--timezone", "America/Denver"]
    load = tapewise("ingest", "--archive", name, "--kind", "synthetic", "--format", "nft", *zone, "a.log")
    assert load.returncode == 0, load.stderr
    return name


def test_a_trace_is_written(tapewise, requests, tmp_path):
    result = tapewise(*TRACE, requests, "--output", "all.csv")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        f"all.csv: 5 requests of {requests} (synthetic),"
        " submitted from 1997-10-01T16:00:00Z to 1997-10-01T18:00:02Z\n"
        "  2 puts; gets: 2 of files that were put or got before, 1 of files on disk at the start,"
        " 0 of files on tape\n"
        "  for 3 gets it is unknown where the file was: assumed to be on disk\n"
    )
    written = (tmp_path / "all.csv").read_text().splitlines()
    # The users' numbers are not fixed, as the session's tests share the warehouse.
    first, second = written[1].split(",")[4], written[3].split(",")[4]
    assert first != second
    assert written == [
        "submitted_s,submitted_at,direction,interface,user,file,size_bytes,origin",
        f"0.0,1997-10-01T16:00:00.000000Z,put,nft,{first},1,1000,put",
        f"59.5,1997-10-01T16:00:59.500000Z,get,nft,{first},2,1,disk",
        f"3540.0,1997-10-01T16:59:00.000000Z,put,nft,{second},3,5000000000,put",
        f"7197.5,1997-10-01T17:59:57.500000Z,get,nft,{second},1,1000,trace",
        f"7202.5,1997-10-01T18:00:02.500000Z,get,nft,{second},1,1000,trace",
    ]
    # Typed times follow the archive's clock, omitted requests are reported, and the file is replaced.
    options = ["--since", "1997-10-01T10:00:30", "--until", "1997-10-01T12:00:05", "--zero-sizes", "drop"]
    more = ["--unknown-origins", "tape", "--largest", "1000", "--direction", "get", "--interface", "nft"]
    result = tapewise(*TRACE, requests, *options, *more, "--output", "all.csv")
    assert result.stdout.splitlines()[1:] == [
        "  0 puts; gets: 0 of files that were put or got before, 0 of files on disk at the start,"
        " 1 of files on tape",
        "  left out: 1 zero size",
        "  for 1 get it is unknown where the file was: assumed to be on tape",
    ]
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", "all.csv"]


def test_the_simulator_reads_a_trace_in_parquet(tapewise, requests, tmp_path):
    result = tapewise(*TRACE, requests, "--largest", "4000000000", "--output", "all.parquet")
    assert "  left out: 1 too large\n" in result.stdout
    trace = read_trace(tmp_path / "all.parquet")
    demand = check_trace(trace, bundled_machine("llnl-unitree-1998"), inventory_of(trace))
    assert (demand.size_bytes.tolist(), demand.inventory.tolist()) == ([1000, 1, 1000, 1000], [0])


WRITE = [*TRACE, "nothing", "--output", "a.csv"]


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        (WRITE, 1, "tapewise: no archive is called 'nothing'.\n`tapewise archives list` shows them.\n"),
        ([*TRACE, "nothing"], 2, "Missing option '--output'"),
        ([*TRACE, "nothing", "--output", "a.json"], 2, "'--output': must end in .parquet or .csv"),
        ([*WRITE, "--since", "1998-01-02", "--until", "1998-01-02"], 2, "must be later than --since"),
        ([*WRITE, "--failed", "some"], 2, "'some' is not one of 'retried', 'all', 'none'"),
        ([*WRITE, "--files", "name"], 2, "'name' is not one of 'size', 'key'"),
        ([*WRITE, "--zero-sizes", "two"], 2, "'two' is not one of 'one', 'keep', 'drop'"),
        ([*WRITE, "--unknown-origins", "moon"], 2, "'moon' is not one of 'disk', 'tape', 'drop'"),
        ([*WRITE, "--direction", "up"], 2, "'up' is not one of 'put', 'get'"),
        ([*WRITE, "--retry-within", "-1"], 2, "--retry-within"),
        ([*WRITE, "--retry-within", "nan"], 2, "--retry-within"),
        ([*WRITE, "--largest", "-1"], 2, "--largest"),
    ],
)
def test_errors_of_a_trace_name_what_is_wrong(tapewise, tmp_path, arguments, status, message):
    result = tapewise(*arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_an_empty_trace_is_reported(tapewise, requests, tmp_path):
    drop = ["--unknown-origins", "drop", "--direction", "get", "--zero-sizes", "drop"]
    result = tapewise(*TRACE, requests, *drop, "--output", "a.csv")
    assert result.returncode == 1
    assert result.stderr == (
        f"tapewise: none of the selected requests of archive '{requests}' can be in a trace.\n"
        "All are left out: 2 unknown origin, 1 zero size.\n"
    )
    result = tapewise(*TRACE, requests, "--output", "nowhere/a.csv")
    assert result.returncode == 1
    assert result.stderr == "tapewise: nowhere/a.csv cannot be written: No such file or directory.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
