"""Where the days of files come from: `--date-from`."""

import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.reading.log_dates import DateRule, LogDate, read_date_rule
from tapewise.schema.errors import LogFileError

COND = FORMATS["cond"]
PATTERN = r"/(?P<year>[0-9]{4})/(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})/"


def find(rule: DateRule, path: Path | str, zone: str = "UTC") -> LogDate:
    return rule.find(Path(path), COND, zone)


def test_the_day_of_a_change_is_that_of_the_logs_clock(tmp_path: Path):
    path = tmp_path / "cond.log"
    path.touch()
    at = datetime(2024, 3, 5, 2, 30, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))
    rule = read_date_rule("mtime")
    assert find(rule, path) == LogDate(date(2024, 3, 5), "time of change")
    assert find(rule, path, "America/Los_Angeles").day == date(2024, 3, 4)
    with pytest.raises(LogFileError, match=r"gone\.log: No such file or directory"):
        find(rule, tmp_path / "gone.log")


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("/logs/2024/03/05/cond.log", date(2024, 3, 5)),
        ("/logs/2024/3/5/cond.log", date(2024, 3, 5)),
        ("/logs/2024/02/30/cond.log", None),
        ("/logs/cond.2024-03-05.log", None),
    ],
)
def test_a_pattern_is_looked_for_in_the_path(path: str, day: date | None):
    rule = read_date_rule(PATTERN)
    if day is not None:
        assert find(rule, path) == LogDate(day, "pattern")
    else:
        with pytest.raises(LogFileError, match="the pattern of --date-from finds no day in its path"):
            find(rule, path)


def test_a_pattern_is_looked_for_in_the_whole_path_of_a_relative_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "2024" / "03" / "05"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert find(read_date_rule(PATTERN), "cond.log").day == date(2024, 3, 5)


@pytest.mark.parametrize(("year", "found"), [("98", 1998), ("69", 1969), ("68", 2068), ("1998", 1998)])
def test_a_pattern_may_have_years_of_two_digits(year: str, found: int):
    rule = read_date_rule(r"cond\.(?P<year>[0-9]+)-(?P<month>..)-(?P<day>..)")
    assert find(rule, f"/cond.{year}-05-05").day == date(found, 5, 5)


@pytest.mark.parametrize("text", ["/cond.198-05-05", "/cond.98-0x-05", "/cond.98-13-05"])
def test_what_is_no_day_is_refused(text: str):
    rule = read_date_rule(r"cond\.(?P<year>[0-9]+)-(?P<month>..)-(?P<day>..)")
    with pytest.raises(LogFileError):
        find(rule, text)


def test_a_list_has_the_days_of_its_paths(tmp_path: Path):
    (tmp_path / "logs").mkdir()
    for name in ("a.out", "b, c.out", "d.out"):
        (tmp_path / "logs" / name).touch()
    (tmp_path / "link.out").symlink_to("logs/a.out")
    days = tmp_path / "logs" / "days.csv"
    days.write_text('note,path,date\n,a.out,1998-05-05\nx,"b, c.out",1998-05-06\n', encoding="utf-8-sig")
    rule = read_date_rule(str(days))
    assert find(rule, tmp_path / "logs" / "a.out") == LogDate(date(1998, 5, 5), "list")
    assert find(rule, tmp_path / "logs" / "b, c.out").day == date(1998, 5, 6)
    assert find(rule, tmp_path / "link.out").day == date(1998, 5, 5)
    with pytest.raises(LogFileError, match=r"d\.out: has no day in .*days\.csv"):
        find(rule, tmp_path / "logs" / "d.out")
    assert read_date_rule("days.csv", tmp_path / "logs").days == rule.days
    narrow = rule.narrow(tmp_path / "link.out")
    assert len(narrow.days) == 1
    assert find(narrow, tmp_path / "link.out") == find(rule, tmp_path / "link.out")
    with pytest.raises(LogFileError, match="has no day"):
        find(rule.narrow(tmp_path / "gone.out"), tmp_path / "gone.out")
    assert read_date_rule("mtime").narrow(days) == read_date_rule("mtime")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("path;date\na;1998-05-05\n", "the first line must name the columns path and date"),
        ("", "the first line must name the columns path and date"),
        ("path,date\na,5 May\n", "line 2: needs a path, and a day like 1998-05-05"),
        ("path,date\na,1998-05-05\n,1998-05-06\n", "line 3: needs a path, and a day like 1998-05-05"),
        ("path,date\na\n", "line 2: needs a path, and a day like 1998-05-05"),
        ("path,date\na,1998-05-05\n./a,1998-05-06\n", "line 3: ./a had another day before"),
    ],
)
def test_a_wrong_line_of_a_list_is_named(tmp_path: Path, text: str, said: str):
    (tmp_path / "days.csv").write_text(text)
    with pytest.raises(ValueError, match=f"days.csv: {said}"):
        read_date_rule(str(tmp_path / "days.csv"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gone.csv", "gone.csv: No such file or directory"),
        ("(?P<year>[0-9]", "is not a valid pattern"),
        ("mtimes", "is neither name, mtime, the name of a .csv file nor a pattern with the groups"),
        ("(?P<year>....)(?P<month>..)", "is neither name, mtime"),
    ],
)
def test_other_texts_are_no_rule(text: str, said: str):
    with pytest.raises(ValueError, match=said):
        read_date_rule(text)


def test_without_a_rule_the_day_is_in_the_name():
    assert find(read_date_rule("name"), "cond.980505") == LogDate(date(1998, 5, 5), "name")
