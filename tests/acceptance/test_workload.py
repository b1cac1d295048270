"""`tapewise workload` as users type it: output, messages, exit status."""

import json
import random

import pytest

# Two kinds of puts by two users: small ones by day, large ones at night, each in batches of ten.
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
    """An archive of the test's own."""
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
        "  size and service time of what ended from 1997-10-01 to 1997-10-30; seed 1",
        "",
        "nft put: 400 requests in 2 classes; set apart: 1 zero size",
        "   1  small puts   75.0% of requests    0.0% of bytes   9.97 kB in 0.498 s",
        "   2  large puts   25.0% of requests  100.0% of bytes   199 MB in 49.7 s",
    ]
    assert lines[6].startswith("  silhouette by number of classes  2: 0.9")
    assert lines[7] == (
        "  bursts: 41 of 2 users; requests in one: median 10, 95 % 10; gap: median 120 s;"
        " the first of the users asks for 75%"
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
        "SELECT class_name, count(*) FROM mart.transfer_classes(model => 'two kinds') GROUP BY 1 ORDER BY 2"
    )
    assert tapewise("sql", "--csv", query).stdout == "class_name,count\n,1\nlarge puts,100\nsmall puts,300\n"

    again = tapewise("workload", "fit", "--archive", archive, "--name", "two kinds")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == (
        "tapewise: a workload model is called 'two kinds' already.\n"
        "Choose another name, or remove that one: `tapewise workload remove 'two kinds'`.\n"
    )
    assert tapewise("workload", "remove", "two kinds").returncode == 1  # asks, and nobody answers
    removed = tapewise("workload", "remove", "two kinds", "--yes")
    assert removed.stdout == "Workload model 'two kinds' is removed.\n"
    assert tapewise("workload", "show", "two kinds").stderr == (
        "tapewise: no workload model is called 'two kinds'.\n`tapewise workload list` shows them.\n"
    )


def test_a_range_is_by_the_archives_clock_and_kept(tapewise, archive):
    fit = ["workload", "fit", "--archive", archive, "--name", "few"]
    result = tapewise(*fit, "--since", "1997-10-02", "--until", "1997-10-04T09:10:00", "--seed", "5")
    assert "what ended from 1997-10-02 to 1997-10-04; seed 5" in result.stdout
    assert "nft put: 45 requests" in result.stdout
    exported = json.loads(tapewise("workload", "export", "few").stdout)
    assert (exported["since"], exported["until"]) == ("1997-10-02T00:00:00Z", "1997-10-04T09:10:00Z")
    # A dropped archive takes its models along.
    assert tapewise("archives", "drop", archive, "--yes").returncode == 0
    assert tapewise("workload", "show", "few").returncode == 1


FIT = ["workload", "fit", "--archive", "nothing", "--name"]


@pytest.mark.parametrize(
    "arguments, status, message",
    [
        ([*FIT, "x"], 1, "tapewise: no archive is called 'nothing'.\n`tapewise archives list` shows them.\n"),
        ([*FIT, " "], 2, "Invalid value for '--name': a name is printable text"),
        ([*FIT, "x", "--since", "1998-01-02", "--until", "1998-01-02"], 2, "not before --since"),
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


def test_what_cannot_be_sorted_is_told(tapewise, archive):
    result = tapewise("workload", "fit", "--archive", archive, "--name", "none", "--measure", "open")
    assert result.returncode == 1
    assert result.stderr == (
        f"tapewise: no request of archive '{archive}' has a size and a time to sort it by.\n"
        "All are set apart: 400 unknown time, 1 zero size.\n"
    )
    assert "none" not in tapewise("workload", "list").stdout
