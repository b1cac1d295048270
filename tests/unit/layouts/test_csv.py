"""Layouts of rows of CSV."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.layouts.descriptions import Csv
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.layouts.rows import find_headers, read_rows
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import settings_of
from tests.unit.layouts.made_up import make, read

EXAMPLE = '2024-03-05 09:14:22,read,kim,"/a, b ""c""",1024'
SITE = f"""\
title = "a made-up mover that writes CSV"
csv = {{ columns = ["Time", "What", "User name", "path", "bytes"] }}
nulls = [""]
examples = ['{EXAMPLE}']

[columns]
interface = "mover"
event_at = {{ group = "Time", layout = "%Y-%m-%d %H:%M:%S" }}

[[lines]]
name = "read"
table = "transfers"
when = {{ What = "read" }}
[lines.columns]
direction = "get"
operation = {{ group = "What" }}
user = {{ group = "User name" }}
archive_path = {{ group = "path" }}
size_bytes = {{ group = "bytes" }}

[[lines]]
name = "other"
ignored = "another message"
when = {{}}
"""
HEADER = "Time,What,User name,path,bytes"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make(tmp_path_factory.mktemp("layouts"), SITE)


def test_a_row_becomes_a_record(site):
    first, second = read(site, EXAMPLE, EXAMPLE.replace("kim", "") + "\r")
    assert first["archive_path"] == '/a, b "c"'
    assert (first["user"], first["size_bytes"], "user" in second) == ("kim", 1024, False)


@pytest.mark.parametrize("header", [HEADER, '"Time","What",User name,path,bytes', "\ufeff" + HEADER])
def test_the_names_of_the_columns_are_ignored(site, header):
    assert [found["ignored"] for found in read(site, header)] == ["names of the columns"]


def test_a_name_that_csv_has_to_quote_is_no_header_without_quotation_marks():
    said = Csv.model_validate({"columns": ["a,b", 'c"d']})
    lines = ['"a,b","c""d"', 'a,b,"c""d"', '"a,b",c"d', "a,b"]
    assert find_headers(pl.Series(lines), said).to_list() == [True, False, False, False]


@pytest.mark.parametrize(
    "line",
    [
        EXAMPLE.replace("kim", "k\rim"),
        EXAMPLE.replace("1024", "1024\r\r"),
        EXAMPLE + ",",
        EXAMPLE.removesuffix(",1024"),
        EXAMPLE.replace('c"""', "c"),
        EXAMPLE.replace("kim", 'k"im'),
        EXAMPLE.replace("kim", '"k"im'),
        EXAMPLE.replace("kim", ' "kim"'),
        '2024-03-05 09:14:22,read,kim,"/a',
    ],
)
def test_a_line_that_is_no_row_is_rejected_alone(site, line):
    before, found, after = read(site, EXAMPLE, line, EXAMPLE)
    assert (before, "rejected" in found) == (after, True)


def test_a_row_has_the_columns_of_the_list_of_its_length():
    rows, is_row = read_rows(
        pl.Series(["1;2", "1;2;3", "1", "1;2;3;4"]),
        ["a", "c"],
        Csv.model_validate({"columns": [["a", "b"], ["a", "b", "c"]], "separator": ";"}),
    )
    none = {"a": None, "c": None}
    assert is_row.to_list() == [True, True, False, False]
    assert rows.to_list() == [{"a": "1", "c": None}, {"a": "1", "c": "3"}, none, none]


def test_a_nul_is_replaced_because_postgresql_cannot_store_it():
    rows, _ = read_rows(pl.Series(["a\x00,1"]), ["a"], Csv.model_validate({"columns": ["a", "b"]}))
    assert rows.to_list() == [{"a": "a\ufffd"}]


_CELLS = st.text(st.characters(exclude_characters="\n\x00", exclude_categories=["Cs"]), max_size=8)


@given(
    st.lists(st.lists(_CELLS | st.text('", ;\r\ufeff#'), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(",;\t|"),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_written_rows_are_read_back(rows, separator, quoting):
    lines = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text, delimiter=separator, quoting=quoting, lineterminator="\r").writerow(row)
        lines.append(text.getvalue().removesuffix("\r"))
    columns = {"columns": ["a", "b", "c"], "separator": separator}
    found, is_row = read_rows(pl.Series(lines), ["a", "b", "c"], Csv.model_validate(columns))
    assert is_row.all()
    assert [list(each.values()) for each in found] == rows


_LINES = st.text('a",\r \x00\ufeff') | st.just(EXAMPLE) | st.just(HEADER) | st.text()


@given(st.lists(_LINES, min_size=1, max_size=8))
def test_what_becomes_of_a_line_does_not_depend_on_the_lines_around_it(site, lines):
    lines = [line.replace("\n", " ") for line in lines]
    settings = settings_of(site, "UTC")
    together = site.parse(pl.Series(lines, dtype=pl.String), settings)
    alone = pl.concat(site.parse(pl.Series([line]), settings) for line in lines)
    assert together.equals(alone)
    fates = together.select(pl.sum_horizontal(pl.col("table", "ignored", "rejected").is_not_null()))
    assert fates.to_series().to_list() == [1] * len(lines)


@pytest.mark.parametrize("columns", [["a", "b"], [["a", "b"], ["a", "b", "c"]]])
@given(st.lists(st.text('ab",\r \x00\ufeff'), min_size=1, max_size=8))
def test_cells_do_not_depend_on_the_rows_around_them(columns, lines):
    said = Csv.model_validate({"columns": columns})
    together = read_rows(pl.Series(lines), ["b", "a"], said)
    alone = [read_rows(pl.Series([line]), ["b", "a"], said) for line in lines]
    assert together[0].to_list() == [rows[0] for rows, _ in alone]
    assert together[1].to_list() == [is_row[0] for _, is_row in alone]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("csv =", "json = true\ncsv =", "there is csv, but also json = true"),
        ("csv =", "pairs = {}\ncsv =", "there is csv, but also pairs"),
        ("when = {}", "pattern = '#.*'", "there is csv, but lines have a pattern"),
        ("when = { What", "when = { Who", "csv has no column 'Who'"),
        ('group = "path"', 'group = "Path"', "csv has no column 'Path'"),
        ('"path", "bytes"] }', '"bytes", "bytes"] }', "columns has 'bytes' twice"),
        ('["Time", "What", "User name", "path", "bytes"]', '["Time"]', "fewer than two names"),
        (
            '["Time", "What", "User name", "path", "bytes"]',
            '[["a","b"],["b","a"]]',
            "lists of the same length",
        ),
        ('"bytes"] }', '"bytes"], separator = "\'" }'.replace("'", '\\"'), "one ASCII sign"),
    ],
)
def test_contradictions_are_refused(tmp_path, old, new, reason):
    assert old in SITE
    with pytest.raises(LayoutError, match=reason):
        make(tmp_path, SITE.replace(old, new))


def test_a_row_may_follow_a_head_and_a_prefix(tmp_path):
    text = SITE.replace("csv =", "head = '(?<host>[a-z0-9]+) [|] '\nprefix = '[0-9]+: '\ncsv =", 1)
    text = text.replace("examples = ['", "examples = ['n7 | ").replace(
        "[lines.columns]", '[lines.columns]\nhost = { group = "host" }'
    )
    site = make(tmp_path, text)
    layout = find_layout(site)
    assert layout is not None and layout.csv is not None
    found, header = read(site, "n7 | " + EXAMPLE, HEADER)
    assert (found["host"], found["user"]) == ("n7", "kim")
    assert header["ignored"] == "names of the columns"
