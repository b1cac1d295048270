"""`tapewise sql` shows every value without loss in a table, in CSV and in JSON."""

import csv
import io
import json

import pytest

from tapewise.values import CELL_CHARACTERS, name_apart
from tests.acceptance.conftest import Run

LONG = "12345678901234567890123456789.12345678901"
# Each value as written in SQL, and as shown in a table, in CSV and in JSON.
VALUES = [
    ("'NaN'::float8", "NaN", "NaN", "NaN"),
    ("'infinity'::float8", "Infinity", "Infinity", "Infinity"),
    ("'-infinity'::numeric", "-Infinity", "-Infinity", "-Infinity"),
    ("'NaN'::numeric", "NaN", "NaN", "NaN"),
    ("1e-7::float8", "1e-07", "1e-07", 1e-7),
    (LONG, LONG, LONG, float(LONG)),
    ("2.50", "2.50", "2.50", 2.5),
    ("1::numeric / 3 * 3", "0.99999999999999999999", "0.99999999999999999999", 1.0),
    ("true", "yes", "true", True),
    ("false", "no", "false", False),
    ("NULL", "", "", None),
    ("''", "", "", ""),
    ("'infinity'::timestamptz", *["infinity"] * 3),
    ("'-infinity'::date", *["-infinity"] * 3),
    ("'0044-03-15'::date", *["0044-03-15"] * 3),
    ("'0044-03-15 BC'::date", *["0044-03-15 BC"] * 3),
    ("'12345-06-07'::date", *["12345-06-07"] * 3),
    (
        "'0044-03-15 12:00 BC'::timestamptz", "0044-03-15 12:00:00Z BC", "0044-03-15 12:00:00+00 BC",
        "0044-03-15T12:00:00+00:00 BC",
    ),
    (
        "'1998-10-25 01:30:00.25+00'::timestamptz", "1998-10-25 01:30:00.25Z", "1998-10-25 01:30:00.25+00",
        "1998-10-25T01:30:00.250000+00:00",
    ),
    ("'1998-10-25 01:30'::timestamp", *["1998-10-25 01:30:00"] * 2, "1998-10-25T01:30:00"),
    ("'24:00'::time", *["24:00:00"] * 3),
    ("'1 month 2 days'::interval", *["1 mon 2 days"] * 3),
    (r"'\x00ff'::bytea", *[r"\x00ff"] * 3),
    ("array[1.5, 'NaN', NULL]", *["{1.5,NaN,NULL}"] * 2, [1.5, "NaN", None]),
    ("array[['a', NULL], ['b', 'c d']]", *['{{a,NULL},{b,"c d"}}'] * 2, [["a", None], ["b", "c d"]]),
    ("array['infinity'::date]", *["{infinity}"] * 2, ["infinity"]),
    ("array[true]", *["{t}"] * 2, [True]),
    (
        """'{"a": [1, {"b": null}], "c": "é\\u001b"}'::json""",
        *['{"a": [1, {"b": null}], "c": "é\\u001b"}'] * 2, {"a": [1, {"b": None}], "c": "é\x1b"},
    ),
    (f"jsonb '[{LONG}]'", *[f"[{LONG}]"] * 2, [float(LONG)]),
    ("int4range(1, 5)", *["[1,5)"] * 3),
    ("row(1, 'x')", *["(1,x)"] * 3),
]  # fmt: skip
QUERY = "SELECT " + ", ".join(f"{value[0]} AS v{number}" for number, value in enumerate(VALUES))


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_json_has_every_value(tapewise: Run) -> None:
    done = tapewise("sql", "--json", QUERY)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout, parse_constant=refuse)
    assert list(row.values()) == [value[3] for value in VALUES]
    assert done.stdout.count(LONG) == 2  # all its digits


def test_csv_has_every_value(tapewise: Run) -> None:
    done = tapewise("sql", "--csv", QUERY)
    assert done.returncode == 0, done.stderr
    assert list(csv.reader(io.StringIO(done.stdout)))[1] == [value[2] for value in VALUES]


def test_a_table_has_every_value(tapewise: Run) -> None:
    done = tapewise("sql", QUERY)
    assert done.returncode == 0, done.stderr
    line = done.stdout.splitlines()[-1]
    for value in VALUES:
        assert value[1] in line
        line = line[line.index(value[1]) + len(value[1]) :]
    assert not line.strip()


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["a_2", "a", "a"], ["a_2", "a", "a_3"]),
        (["a", "a", "a", "b"], ["a", "a_2", "a_3", "b"]),
        (["a", "a", "a_2", "a_2"], ["a", "a_3", "a_2", "a_2_2"]),
        ([], []),
    ],
)
def test_no_two_columns_have_the_same_name(columns: list[str], named: list[str]) -> None:
    assert name_apart(columns) == named


def test_columns_with_the_same_name_lose_no_value(tapewise: Run) -> None:
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_2"
    assert json.loads(tapewise("sql", "--json", query).stdout) == [{"a": 1, "a_3": 2, "a_2": 3}]
    assert tapewise("sql", "--csv", query).stdout == "a,a_3,a_2\n1,2,3\n"
    assert tapewise("sql", query).stdout.splitlines()[0].split() == ["a", "a_3", "a_2"]
    assert tapewise("sql", "--csv", f"{query} WHERE false").stdout == "a,a_3,a_2\n"


def test_long_cells_are_cut_only_in_tables(tapewise: Run) -> None:
    query = "SELECT repeat('xé€', 1000000) AS t, array[repeat('x', 1500)] AS a, repeat('é', 1000) AS whole"
    table = tapewise("sql", query).stdout
    assert len(table) < 10 * CELL_CHARACTERS
    cells = table.splitlines()[-1].split("   ")
    assert cells[0].strip() == ("xé€" * CELL_CHARACTERS)[:CELL_CHARACTERS] + "... (2,999,000 more characters)"
    assert cells[1] == "{" + "x" * 999 + "... (502 more characters)"
    assert cells[2] == "é" * 1000
    [row] = json.loads(tapewise("sql", "--json", query).stdout)
    assert [len(row["t"]), len(row["a"][0])] == [3_000_000, 1500]
    csv.field_size_limit(2**30)
    assert len(list(csv.reader(io.StringIO(tapewise("sql", "--csv", query).stdout)))[1][0]) == 3_000_000


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT * FROM transfers", "Did you mean mart.transfers, which is a view?"),
        ("SELECT * FROM mart.cache_hit()", "Did you mean mart.cache_hits(), which is a function?"),
        ("SELECT * FROM mart.cache_hits", "Did you mean mart.cache_hits(), which is a function?"),
        ("SELECT * FROM mart.opens()", "Did you mean mart.opens, which is a view?"),
    ],
)
def test_a_name_that_does_not_exist_is_corrected(tapewise: Run, query: str, hint: str):
    result = tapewise("sql", query)
    assert result.returncode == 1
    assert hint in " ".join(result.stderr.split())


def test_no_name_is_suggested_for_one_that_is_like_none(tapewise: Run):
    assert "Did you mean" not in tapewise("sql", "SELECT * FROM xyzzy").stderr
