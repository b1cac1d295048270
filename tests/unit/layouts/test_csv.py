"""Layouts of lines that are rows of a table with named columns (CSV)."""

import csv
import io
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.layouts.cells import HEADER, header_pattern, read_csv
from tapewise.ingest.layouts.forms import Csv
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import settings_of
from tests.unit.layouts.made_up import make, read

HEAD = "ended,way,kim's name,bytes,sec.app,path"
EXAMPLE = '2024-03-05 09:14:22.250,get,kim,1024,x,"/a ""b"", c"'
SITE = f"""\
title = "a made-up mover that writes CSV"
clock_resolution_s = 0.001
nulls = [""]
csv = {{ columns = ["ended", "way", "kim's name", "bytes", "sec.app", "path"] }}
names = {{ user = "kim's name" }}
examples = ['''{EXAMPLE}''']

[columns]
interface = "mover"
event_at = {{ group = "ended", layout = "%Y-%m-%d %H:%M:%S%.f" }}
user = {{}}

[[lines]]
name = "read"
table = "transfers"
when = {{ way = ["get", 'g"et, 2'] }}
[lines.columns]
direction = "get"
operation = {{ group = "way" }}
class_of_service = {{ group = '"sec.app"' }}
size_bytes = {{ group = "bytes" }}
archive_path = {{ group = "path" }}
[[lines.also]]
table = "opens"
[lines.also.columns]
operation = {{ group = "way" }}
archive_path = {{ group = "path" }}

[[lines]]
name = "other"
ignored = "another operation"
when = {{ way = ["list", "help"] }}

[[lines]]
name = "comment"
ignored = "a comment"
pattern = '#.*'
"""
RECORD = {
    **{"table": "transfers", "interface": "mover", "operation": "get", "direction": "get"},
    **{"user": "kim", "size_bytes": 1024, "class_of_service": "x", "archive_path": '/a "b", c'},
    "event_at": datetime(2024, 3, 5, 9, 14, 22, 250_000, tzinfo=UTC),
}


def write_row(cells: list[str], csv_columns: Csv, *, is_all_quoted: bool = False) -> str:
    """The line that Python's csv module writes for these cells."""
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if is_all_quoted else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=csv_columns.separator, quoting=quoting, lineterminator="").writerow(cells)
    return text.getvalue()


def test_cells_become_a_record_with_or_without_quotation_marks(tmp_path):
    site = make(tmp_path, SITE)
    quoted = EXAMPLE.replace(",get,kim,1024,x", '","get","kim","1024","x"').replace("2024-", '"2024-')
    assert read(site, EXAMPLE, quoted, EXAMPLE + "\r") == [RECORD] * 3


def test_each_line_has_its_own_fate(tmp_path):
    site = make(tmp_path, SITE)
    lines = {
        EXAMPLE: "transfers",
        EXAMPLE.replace(",get,", ",list,"): "another operation",
        EXAMPLE.replace(",get,", ",post,"): None,
        EXAMPLE.replace("kim", ""): "transfers",
        EXAMPLE.replace("1024", "many"): None,
        EXAMPLE.replace(",x,", ","): None,
        EXAMPLE + ",": None,
        EXAMPLE.removesuffix('"'): None,
        EXAMPLE.replace("kim", 'k"i"m'): None,
        EXAMPLE.replace("kim", ' "kim"'): None,
        EXAMPLE.replace("kim", '"kim" '): None,
        "# began": "a comment",
        HEAD: HEADER,
        '"ended","way",kim\'s name,bytes,"sec.app","path"': HEADER,
        HEAD + ",more": None,
        HEAD.replace("ended", "begun"): None,
        "": "blank line",
    }
    for found, expected in zip(read(site, *lines), lines.values(), strict=True):
        assert (found.get("table") or found.get("ignored")) == expected
        assert ("rejected" in found) == (expected is None)


def test_a_cell_that_contains_a_newline_is_rejected_with_its_lines(tmp_path):
    first, second = EXAMPLE.replace('"/a ', '"/a\n').split("\n")
    found = read(make(tmp_path, SITE), EXAMPLE, first, second, EXAMPLE)
    assert [each.get("table") for each in found] == ["transfers", None, None, "transfers"]


def test_further_facts_are_found_behind_doubled_quotation_marks(tmp_path):
    site = make(tmp_path, SITE)
    lines = [EXAMPLE.replace(",list,", ",get,"), EXAMPLE.replace(",get,", ',"g""et, 2",')]
    further = site.parse_further(pl.Series(lines), settings_of(site, "UTC"))
    assert further["operation"].to_list() == ["get", 'g"et, 2']
    assert further["archive_path"].to_list() == ['/a "b", c'] * 2


def test_further_cells_are_not_used(tmp_path):
    columns = 'csv = { columns = ["ended", "way", "kim\'s name", "bytes", "sec.app", "path"]'
    site = make(tmp_path, SITE.replace(columns, f"{columns}, has_more = true"))
    longer = EXAMPLE + ',7,"8,"""'
    lines = (longer, EXAMPLE, f"{HEAD},life,", longer + '"', EXAMPLE.replace(",x,", ","))
    assert [each.get("table") or each.get("ignored") for each in read(site, *lines)] == [
        *("transfers", "transfers", HEADER, None, None)
    ]
    assert read(site, longer) == [RECORD]


def test_a_head_and_a_prefix_precede_cells(tmp_path):
    text = SITE.replace("nulls", "prefix = '<[0-9]+>'\nhead = '(?<host>[^ ]+) '\nnulls", 1)
    text = text.replace("'''2024", "'''<13>n7 2024").replace("user = {}", "user = {}\nhost = {}")
    site = make(tmp_path, text)
    assert read(site, f"n7 {EXAMPLE}", EXAMPLE)[0] == RECORD | {"host": "n7"}


def test_cells_without_quotation_marks_keep_them(tmp_path):
    text = SITE.replace('"path"] }', '"path"], separator = "\\t", is_quoted = false }', 1)
    line = '2024-03-05 09:14:22.25\tget\tkim\t1024\tx\t"/a, b"" '
    (found,) = read(make(tmp_path, text.replace(EXAMPLE, line)), line)
    assert found == RECORD | {"archive_path": '"/a, b"" '}


_SEPARATORS = st.sampled_from(",;|\t:^]\\- .")
_CELLS = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=8) | st.text(
    '"," ;|\t\ufeff#\\', max_size=6
)


@given(st.lists(_CELLS, min_size=2, max_size=6), _SEPARATORS, st.booleans())
def test_cells_that_csv_writes_are_read_back(cells, separator, is_all_quoted):
    columns = Csv(columns=[f"c{number}" for number in range(len(cells))], separator=separator)
    line = write_row(cells, columns, is_all_quoted=is_all_quoted)
    found, is_row = read_csv(pl.Series([line, line]), columns.columns, columns)
    assert is_row.to_list() == [True, True]
    assert found.to_list() == [dict(zip(columns.columns, cells, strict=True))] * 2


@given(st.lists(_CELLS, min_size=2, max_size=6, unique=True), _SEPARATORS, st.booleans())
def test_names_that_csv_writes_are_a_header(names, separator, is_all_quoted):
    columns = Csv(columns=names, separator=separator)
    lines = [
        write_row(each, columns, is_all_quoted=is_all_quoted) for each in (names, names[:-1], [*names, ""])
    ]
    assert pl.Series(lines).str.contains(header_pattern(columns)).to_list() == [True, False, False]


@given(
    st.lists(
        st.text('",a\\ \t\ufeff') | st.sampled_from([EXAMPLE, HEAD, EXAMPLE[:-1]]) | st.text(),
        min_size=1,
        max_size=8,
    )
)
def test_what_becomes_of_a_line_does_not_depend_on_the_lines_around_it(site, lines):
    lines = [line.replace("\n", " ") for line in lines]
    settings = settings_of(site, "UTC")
    together = site.parse(pl.Series(lines, dtype=pl.String), settings)
    alone = pl.concat(site.parse(pl.Series([line]), settings) for line in lines)
    assert together.equals(alone)
    fates = together.select(pl.sum_horizontal(pl.col("table", "ignored", "rejected").is_not_null()))
    assert fates.to_series().to_list() == [1] * len(lines)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make(tmp_path_factory.mktemp("layouts"), SITE)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("csv = {", "json = true\ncsv = {", "there is csv, but json is true, too"),
        ("csv = {", "pairs = {}\ncsv = {", "there is csv, but also pairs"),
        ('"path"] }', '"path"], separator = ";;" }', "csv: separator is one ASCII sign"),
        ('"path"] }', '"path"], separator = "é" }', "csv: separator is one ASCII sign"),
        ('"path"] }', '"path"], separator = "\\"" }', "csv: separator is one ASCII sign"),
        ('"path"] }', '"path", "way"] }', "csv: 2 of the columns are called 'way'"),
        ('"path"] }', '"path"], quote = true }', "csv.quote: there is no such key"),
        ('"path"] }', '"way"] }', "csv: 2 of the columns are called 'way'"),
        ('"sec.app", "path"] }', '"path"] }', "columns: csv has no column '\"sec.app\"'"),
        ('{ way = ["get"', '{ Way = ["get"', "when: csv has no column 'Way'"),
        ('group = "path" }\n[[lines.also', 'group = "path.a" }\n[[lines.also', "csv has no column 'path.a'"),
        ('"ended", "way", "kim\'s name", "bytes", "sec.app", "path"', '"ended"', "csv.columns"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(tmp_path, old, new, reason):
    assert SITE.count(old) == 1
    with pytest.raises(LayoutError) as caught:
        make(tmp_path, SITE.replace(old, new))
    assert reason in caught.value.message


def test_csv_without_a_kind_that_has_when_is_refused(tmp_path):
    text = "title = 'x'\nexamples = ['a']\ncsv = { columns = ['a', 'b'] }\n"
    text += "[[lines]]\nname = 'a'\nignored = 'b'\npattern = 'a'"
    with pytest.raises(LayoutError, match="there is csv, but no lines have when"):
        make(tmp_path, text)
