from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.reading.log_dates import LogDate, find_log_date
from tapewise.schema.errors import LogFileError

MAY_5 = date(1998, 5, 5)
COND, CLIENT, DCACHE = FORMATS["cond"], FORMATS["hsi-client"], FORMATS["dcache"]


@pytest.mark.parametrize(
    "name",
    [
        "cond.19980505",
        "cond.19980505.gz",
        "cond-1998-05-05",
        "cond_1998_05_05.log",
        "1998.05.05",
        "job.19980505T080000.out",
        "billing-1998-05-05T08:00",
        "srv-07-1998-05-05",
        # The first number is a job's number, not a date.
        "slurm-140916.1998-05-05.out",
        "slurm-19970229-19980505",
        # The part with separators between year, month and day is the date; the other is a job's number.
        "slurm-20140916-1998-05-05.out",
        "jobA190512B.1998_05_05",
    ],
)
@pytest.mark.parametrize("log_format", [COND, CLIENT, DCACHE], ids=["cond", "hsi-client", "dcache"])
def test_a_whole_part_of_the_name_with_a_four_digit_year_is_the_date(name, log_format):
    assert find_log_date(Path("/logs/970101") / name, log_format) == LogDate(MAY_5, "name")


@pytest.mark.parametrize(
    "name",
    [
        "cond.980505",
        "cond.98.05.05",
        "98-05-05-cond.zst",
        "cond980505",
        "cond.980505.1",
        "unitree2.cond.980505",
        "cond.980505.080000",
        "cond.980505-1998-05-05",
        "cond.980505 (copy of 980505)",
        "cond.980505.980230",
        "cond.123456.980505",
        # A date with a four-digit year is preferred.
        "cond.970101.1998-05-05",
        "cond.970101.19980505",
    ],
)
def test_names_like_conds_own_may_have_two_digit_years(name):
    assert find_log_date(Path("/logs/970101") / name, COND).day == MAY_5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cond.690101", date(1969, 1, 1)),
        ("cond.681231", date(2068, 12, 31)),
        ("cond.000229", date(2000, 2, 29)),
        ("cond.991231", date(1999, 12, 31)),
        # This could be a month of 2005, but is read as a day of 2020.
        ("cond.200505", date(2020, 5, 5)),
        ("cond.20050505", date(2005, 5, 5)),
        ("cond.19050505", date(1905, 5, 5)),
    ],
)
def test_years(name, expected):
    assert find_log_date(Path(name), COND).day == expected


@pytest.mark.parametrize(
    "name",
    [
        "slurm-140916.out",
        "slurm-300101.out",
        "jobA190512B.out",
        "jobA20190512B.out",
        "host-10.11.12.log",
        "010203.log",
        "980505",
        "98-05-05-second.zst",
        "second.980505",
        "hsi.980505.log",
    ],
)
@pytest.mark.parametrize("log_format", [COND, CLIENT, DCACHE], ids=["cond", "hsi-client", "dcache"])
def test_a_number_in_a_name_is_not_a_date(name, log_format):
    with pytest.raises(LogFileError, match="the name has no date") as raised:
        find_log_date(Path(name), log_format)
    assert "--date" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("cond", "no date"),
        ("cond.log", "no date"),
        ("cond.9805", "no date"),
        ("cond.1998-05", "no date"),
        ("cond.980230", "no date"),
        ("cond.980431", "no date"),
        ("cond.19980229", "no date"),
        ("cond.981305", "no date"),
        ("cond.980500", "no date"),
        ("cond.050598", "no date"),
        ("cond.05051998", "no date"),
        ("cond.5-5-98", "no date"),
        ("cond.98-5-5", "no date"),
        ("cond980505x", "no date"),
        ("cond.x980505", "no date"),
        # A date with further digits next to it is not read as a date.
        ("cond.9805051", "no date"),
        ("cond.1980505", "no date"),
        ("cond.199805051", "no date"),
        ("cond.19980505120000", "no date"),
        ("cond.21980505", "no date"),
        # Year, month and day must have the same single separator between them, or none.
        ("cond.98-0505", "no date"),
        ("cond.1998-05.05", "no date"),
        ("cond.1998--05--05", "no date"),
        ("cond.980505-980506", "several dates"),
        ("cond.980505.121110", "several dates"),
        # This may be 5 October 2003 or, on machine 3, 5 May 2010.
        ("cond-03-10-05-05", "several dates"),
        ("cond.1998-05-05-1998-05-06", "several dates"),
        ("cond.19980505-19980506", "several dates"),
    ],
)
def test_a_name_without_one_date_is_refused(name: str, what: str) -> None:
    with pytest.raises(LogFileError, match=f"the lines have no dates, and the name has {what}") as raised:
        find_log_date(Path("/logs/980505") / name, COND)
    assert "--date 1998-05-05" in (raised.value.hint or "")
    assert "cond.980505." in (raised.value.hint or "")


def test_the_error_says_what_is_missing():
    with pytest.raises(LogFileError, match="the dates have no year, and the name has no date") as raised:
        find_log_date(Path("b.log"), DCACHE)
    assert raised.value.hint == (
        "Give the date of each such file separately, --date 1998-05-05,"
        " or name it like dcache.1998-05-05.log. --date-from says where many days come from."
    )


@given(
    day=st.dates(date(1969, 1, 1), date(2068, 12, 31)),
    layout=st.sampled_from(["%y%m%d", "%Y%m%d", "%Y-%m-%d", "%y.%m.%d", "%Y_%m_%d"]),
    before=st.sampled_from(["cond.", "a1-cond-", "cond"]),
    after=st.sampled_from(["", ".gz", "-2", "_old"]),
)
def test_any_day_is_read_as_written(day: date, layout: str, before: str, after: str) -> None:
    written = day.strftime(layout)
    if before == "cond" and layout.startswith("%Y"):
        written = f".{written}"
    assert find_log_date(Path(f"{before}{written}{after}"), COND).day == day
