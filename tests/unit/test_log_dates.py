from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.log_dates import find_log_date
from schema.errors import LogFileError

MAY_5 = date(1998, 5, 5)


@pytest.mark.parametrize(
    "name",
    [
        "cond.980505",
        "cond.19980505",
        "cond.19980505.gz",
        "cond-1998-05-05",
        "cond_1998_05_05.log",
        "cond.1998.05.05",
        "cond.98.05.05",
        "98-05-05-cond.zst",
        "980505",
        "cond980505x",
        "cond.980505.1",
        "unitree2.cond.980505",
        "cond.980505.080000",
        "srv-07-1998-05-05",
        "cond.980505-1998-05-05",
        "cond.980505 (copy of 980505)",
        # What is beside it is no day.
        "cond.980505.980230",
        "cond.970229-19980505",
        "cond.123456.980505",
    ],
)
def test_the_date_in_a_name_is_found(name: str) -> None:
    assert find_log_date(Path("/logs/970101") / name) == MAY_5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cond.690101", date(1969, 1, 1)),
        ("cond.681231", date(2068, 12, 31)),
        ("cond.000229", date(2000, 2, 29)),
        ("cond.991231", date(1999, 12, 31)),
        # The year 2005 without a day, or a day of the year 2020.
        ("cond.200505", date(2020, 5, 5)),
        ("cond.20050505", date(2005, 5, 5)),
        ("cond.19050505", date(1905, 5, 5)),
    ],
)
def test_years(name: str, expected: date) -> None:
    assert find_log_date(Path(name)) == expected


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
        # Digits beside it: another number.
        ("cond.9805051", "no date"),
        ("cond.1980505", "no date"),
        ("cond.199805051", "no date"),
        ("cond.19980505120000", "no date"),
        ("cond.21980505", "no date"),
        # One kind of sign between year, month and day.
        ("cond.98-0505", "no date"),
        ("cond.1998-05.05", "no date"),
        ("cond.1998--05--05", "no date"),
        ("cond.980505-980506", "several dates"),
        ("cond.980505.121110", "several dates"),
        # 5 October 2003, or 5 May 2010 of machine 3.
        ("cond-03-10-05-05", "several dates"),
    ],
)
def test_a_name_without_one_date_is_refused(name: str, what: str) -> None:
    with pytest.raises(LogFileError) as raised:
        find_log_date(Path("/logs/980505") / name)
    assert raised.value.message.endswith(f"its lines have no dates, and its name has {what}")
    assert "--date" in (raised.value.hint or "")


@given(
    day=st.dates(date(1969, 1, 1), date(2068, 12, 31)),
    layout=st.sampled_from(["%y%m%d", "%Y%m%d", "%Y-%m-%d", "%y.%m.%d", "%Y_%m_%d"]),
    before=st.sampled_from(["", "cond.", "a1-"]),
    after=st.sampled_from(["", ".gz", "-2", "_old"]),
)
def test_any_day_is_read_as_it_is_written(day: date, layout: str, before: str, after: str) -> None:
    assert find_log_date(Path(f"{before}{day.strftime(layout)}{after}")) == day
