"""`tapewise ingest --date-from`: the days of many files whose lines have none."""

import json
import os
from datetime import UTC, datetime

import pytest

pytestmark = pytest.mark.study("ingest", "tapewise")

PUT = "put  '{0}' : '/home/u/{0}' ( 1024000000 bytes, 250138.1 KBS (cos=11))\n"
FILES = 5


@pytest.fixture
def folder(tmp_path, tapewise):
    """Five outputs of HTAR's client, written on 1 to 5 March 2019, as only their times of change say."""
    for number in range(FILES):
        path = tmp_path / "logs" / f"job{number}.out"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PUT.format(f"a{number}"))
        change(path, number + 1)
    yield tmp_path / "logs"
    tapewise("archives", "drop", "undated", "--yes")


def change(path, day):
    at = datetime(2019, 3, day, 20, 0, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))


def ingest(tapewise, *arguments):
    about = ["--archive", "undated", "--kind", "synthetic", "--format", "hsi-client", "--timezone", "UTC"]
    return tapewise("ingest", *about, *map(str, arguments))


def read_days(tapewise):
    query = (
        "SELECT substring(path, '[^/]*$') AS name, log_date, log_date_from, loaded_count"
        " FROM mart.log_files WHERE archive = 'undated' ORDER BY 1"
    )
    done = tapewise("sql", "--json", query)
    return {row.pop("name"): tuple(row.values()) for row in json.loads(done.stdout)}


def test_the_day_of_the_last_change_is_kept_when_a_file_grows(tapewise, folder):
    done = ingest(tapewise, "--date-from", "mtime", "-r", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("  as of 2019-03-01: when it was last changed\n") == 1
    days = {f"job{n}.out": (f"2019-03-0{n + 1}", "time of change", 1) for n in range(FILES)}
    assert read_days(tapewise) == days
    # Nothing is new, also if a copy changed the time of a file.
    change(folder / "job0.out", 9)
    again = ingest(tapewise, "--date-from", "mtime", "-r", folder)
    assert (again.returncode, again.stdout.count("nothing is counted twice")) == (0, FILES)
    with (folder / "job1.out").open("a") as file:
        file.write(PUT.format("b1"))
    grown = ingest(tapewise, "--date-from", "mtime", folder / "job1.out")
    assert grown.returncode == 0, grown.stderr
    assert "as of 2019-03-02: the date of its last reading" in grown.stdout
    assert read_days(tapewise) == days | {"job1.out": ("2019-03-02", "time of change", 2)}
    # Reading all of it again keeps where the days came from.
    done = tapewise("sources", "replace", "undated", "hsi-client", "--timezone", "UTC", "--yes")
    assert done.returncode == 0, done.stderr
    assert read_days(tapewise) == days | {"job1.out": ("2019-03-02", "time of change", 2)}


def test_a_list_gives_days_and_what_it_lacks_is_one_complaint(tapewise, folder):
    (folder / "days.csv").write_text("path,date\njob0.out,2020-02-29\n")
    files = [folder / f"job{number}.out" for number in range(FILES)]
    done = ingest(tapewise, "--date-from", folder / "days.csv", *files)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{folder}/job0.out: 1 line = 1 loaded")
    names = ", ".join(f"{folder}/job{number}.out" for number in (1, 2, 3))
    assert done.stderr.splitlines() == [
        f"tapewise: 4 files ({names}, ...): has no day in {folder}/days.csv",
        "tapewise: 4 of 5 files not loaded.",
        "Add a line: its path, the day.",
        "The others were read; see above.",
    ]
    assert read_days(tapewise) == {"job0.out": ("2020-02-29", "list", 1)}


def test_without_a_rule_all_are_refused_in_one_line(tapewise, folder):
    done = ingest(tapewise, "--json", "-r", folder)
    assert done.returncode == 1
    assert [json.loads(line)["path"] for line in done.stdout.splitlines()] == [
        f"{folder}/job{number}.out" for number in range(FILES)
    ]
    first = done.stderr.splitlines()[0]
    assert first.startswith("tapewise: 5 files (")
    assert first.endswith(": the lines have no dates, and the name has no date whose year is certain")


def test_a_pattern_is_kept_as_the_origin_in_the_nightly_job(tapewise, folder, tmp_path):
    for number in range(FILES):
        (folder / "2019" / "03" / f"0{number + 1}").mkdir(parents=True)
        (folder / f"job{number}.out").rename(folder / "2019" / "03" / f"0{number + 1}" / "job.out")
    config = tmp_path / "tapewise.toml"
    pattern = "/(?P<year>[0-9]{4})/(?P<month>[0-9]{2})/(?P<day>[0-9]{2})/job"
    text = f"""
    [[archives]]
    name = "undated"
    timezone = "UTC"
    kind = "synthetic"
      [[archives.sources]]
      format = "hsi-client"
      paths = ["logs/**/*.out"]
      date_from = '{pattern}'
    """
    config.write_text(text)
    environment = {"TAPEWISE_CONFIG": str(config)}
    for read, untouched, loaded in ((5, 0, 5), (0, 5, 0)):
        done = tapewise("ingest", env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(
            f"undated/hsi-client: {read} files read, {untouched} untouched; {loaded} lines"
        )
    query = "SELECT log_date, log_date_from FROM mart.log_files WHERE archive = 'undated' ORDER BY 1"
    assert json.loads(tapewise("sql", "--json", query).stdout) == [
        {"log_date": f"2019-03-0{number + 1}", "log_date_from": "pattern"} for number in range(FILES)
    ]
    config.write_text(text.replace(pattern, "mtimes"))
    done = tapewise("ingest", env=environment)
    assert done.returncode == 2
    assert "sources[hsi-client].date_from: is neither name, mtime" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--date-from", "mtimes"], "Invalid value for '--date-from': is neither name, mtime"),
        (["--date-from", "gone.csv"], "Invalid value for '--date-from': gone.csv: No such file or directory"),
        (["--date-from", "mtime", "--date", "2019-03-05"], "--date and --date-from exclude each other."),
    ],
)
def test_wrong_rules_are_wrong_usage(tapewise, folder, arguments, said):
    done = ingest(tapewise, *arguments, folder / "job0.out")
    assert done.returncode == 2
    assert said in done.stderr


def test_lines_with_dates_need_no_rule(tapewise, tmp_path):
    (tmp_path / "nft.log").write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    done = tapewise("report", "--format", "nft", "--date-from", "mtime", "nft.log")
    assert done.returncode == 2
    assert "lines of format nft have dates" in done.stderr


def test_a_report_takes_days_from_the_same_places(tapewise, folder):
    done = tapewise("report", "--json", "--format", "hsi-client", "--date-from", "mtime", "-r", str(folder))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["first_event_on"], document["last_event_on"]) == ("2019-03-01", "2019-03-05")
