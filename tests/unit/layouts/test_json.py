"""Layouts of lines that are JSON objects."""

import json
import pickle
import re
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.layouts.keys import read_json, split_path
from tapewise.ingest.layouts.parsing import LayoutParser
from tapewise.ingest.records.further_facts import settle_further
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import settings_of
from tests.unit.layouts.made_up import make, read

EXAMPLE = (
    '{"at":1709630062.25,"what":{"type":"read","code":0},"who":"kim","bytes":1024,"ms":250,'
    '"path":"\\/a\\u00e9"}'
)
SITE = f"""\
title = "a made-up mover that writes JSON"
clock_resolution_s = 0.001
json = true
examples = ['{EXAMPLE}']

[columns]
interface = "mover"
event_at = {{ group = "at", epoch = "s" }}
operation = {{ group = "what.type" }}
user = {{ group = "who" }}
is_failed = {{ group = "what.code", map = {{ 0 = false }}, otherwise = true }}

[[lines]]
name = "read"
table = "transfers"
when = {{ what.type = ["read", "readv"] }}
[lines.columns]
direction = "get"
size_bytes = {{ group = "bytes" }}
duration_s = {{ group = "ms", unit = "ms" }}
archive_path = {{ group = "path" }}

[[lines]]
name = "copy"
ignored = "a copy between disks"
when = {{ what.type = "write", is_copy = true }}

[[lines]]
name = "write"
table = "transfers"
when = {{ what.type = "write" }}
columns = {{ direction = "put", size_bytes = {{ group = "bytes" }}, archive_path = {{ group = "path" }} }}

[[lines]]
name = "head"
ignored = "a comment"
pattern = '#.*'

[[lines]]
name = "other"
ignored = "another message"
when = {{}}
"""


def write_line(**changes):
    return json.dumps(json.loads(EXAMPLE) | changes)


def test_a_line_becomes_a_record_whatever_the_order_of_its_keys(tmp_path):
    site = make(tmp_path, SITE)
    expected = {
        **{"table": "transfers", "interface": "mover", "operation": "read", "direction": "get"},
        **{"user": "kim", "size_bytes": 1024, "duration_s": 0.25, "archive_path": "/aé"},
        "event_at": datetime(2024, 3, 5, 9, 14, 22, 250_000, tzinfo=UTC),
    }
    shuffled = json.dumps(dict(reversed(json.loads(EXAMPLE).items())))
    assert read(site, EXAMPLE, shuffled, f" {EXAMPLE} \r") == [expected] * 3


def test_the_first_kind_whose_values_a_line_has_owns_it(tmp_path):
    site = make(tmp_path, SITE)
    types = [{"what": {"type": each}} for each in ("readv", "write", "open", None, 5, "READ")]
    found = read(
        site,
        *(write_line(**each) for each in types),
        write_line(what={"type": "write"}, is_copy=True),
        write_line(what={"type": "write"}, is_copy="true"),
        write_line(what={"type": "write"}, is_copy=False),
        write_line(what="write"),
        "{}",
        "# began",
    )
    assert [each.get("direction") or each.get("ignored") for each in found] == [
        *("get", "put", *["another message"] * 4),
        *("a copy between disks", "a copy between disks", "put"),
        *("another message", "another message", "a comment"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("{", "}", "[]", "null", "5", '"{}"', "x[]", EXAMPLE[:-1], EXAMPLE + ","),
        *('{"at":01}', "{'at':1}", '{"at":NaN}', '{"at":"\\ud800"}', '{"at":"a\tb"}', "{" * 5000),
        '{"at":' + "[" * 100_000 + "]" * 100_000 + "}",
        write_line(bytes="many"),
        write_line(ms={"s": 1}),
    ],
)
def test_other_lines_are_rejected_and_change_nothing_for_their_neighbours(tmp_path, line):
    site = make(tmp_path, SITE)
    before, found, after = read(site, EXAMPLE, line, write_line(who="lee"))
    assert found == {"rejected": "not a line of this format"}
    assert (before["user"], after["user"]) == ("kim", "lee")
    assert read(site, line) == [found]


@pytest.mark.parametrize("cut", [1, 30, 40, 60, len(EXAMPLE) - 1, len(EXAMPLE)])
@pytest.mark.parametrize("second", [EXAMPLE, write_line(what={"type": "write"}), "{}", write_line(at=None)])
def test_two_lines_that_run_together_are_rejected_for_that(tmp_path, cut, second):
    assert read(make(tmp_path, SITE), EXAMPLE[:cut] + second) == [{"rejected": "two lines run together"}]


@pytest.mark.parametrize("at", [None, "noon", {}, [1], True])
def test_a_line_without_a_time_says_so(tmp_path, at):
    assert read(make(tmp_path, SITE), write_line(at=at)) == [{"rejected": "no such date or time"}]


def test_texts_of_numbers_keep_what_a_clock_shows_and_all_digits_of_a_count(tmp_path):
    site = make(tmp_path, SITE)
    found = read(
        site,
        EXAMPLE.replace("1709630062.25", "1709630062.996426313").replace("1024", "4503599627370497"),
        EXAMPLE.replace("1709630062.25", '"1709630062.000001"').replace("1024", '"1024"'),
        EXAMPLE.replace("250,", "1e-06,"),
    )
    assert found[0]["event_at"].microsecond == 996_426
    assert found[0]["size_bytes"] == 2**52 + 1
    assert (found[1]["event_at"].microsecond, found[1]["size_bytes"]) == (1, 1024)
    assert found[2]["duration_s"] == 1e-9


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('{"at":1755411389.996426313}', "1755411389.996426313"),
        ('{"b":1,"at" :1.5,"at":1755411389.996426313, "c":2}', "1.5"),
        ('{"at": 1755411389.996426313 ,"c":2}', "1755411389.996426313"),
        ('{"b":{"at":1},"at":1755411389.100000000}', "1755411389.100000000"),
        ('{"at":1755411389.25}', "1755411389.25"),
        ('{"at":"x,\\"n\\":1755411389.996426313,"}', 'x,"n":1755411389.996426313,'),
        ('{"a,":"","at":":1755411389.996426313,"}', ":1755411389.996426313,"),
        ('{"b":"\\"n","at":"1755411389.996426313,"}', "1755411389.996426313,"),
    ],
)
def test_numbers_keep_the_digits_that_a_float_would_lose(line: str, text: str):
    keys, is_object = read_json(pl.Series([line]), ["at"])
    assert is_object.to_list() == [True]
    assert keys.struct.field("at").to_list() == [text]


def test_a_number_with_a_leading_zero_is_no_json():
    line = '{"at":01755411389.996426313}'
    assert read_json(pl.Series([line]), ["at"])[1].to_list() == [False]


def test_a_nul_is_replaced_because_postgresql_cannot_store_it(tmp_path):
    found = read(make(tmp_path, SITE), write_line(who="a\0b", path="c\n\td"))[0]
    assert (found["user"], found["archive_path"]) == ("a\ufffdb", "c\n\td")


def test_nulls_apply_to_values(tmp_path):
    site = make(tmp_path, SITE.replace("json = true", 'json = true\nnulls = ["", "-1"]'))
    assert read(site, write_line(bytes=-1, who=""))[0].keys() & {"size_bytes", "user"} == set()


def test_durations_of_iso_8601_and_base64_are_decoded(tmp_path):
    text = SITE.replace('unit = "ms"', 'unit = "ISO 8601"').replace(
        'user = { group = "who" }', 'user = { group = "who", decode = "base64" }'
    )
    site = make(tmp_path, text.replace('"ms":250', '"ms":"PT0.25S"'))
    durations = {
        **{"PT0.31S": 0.31, "PT1H2M3.5S": 3723.5, "P1DT1S": 86401, "P2D": 172800, "PT1M": 60, "PT0S": 0},
        **{"PT1,5S": 1.5, "+PT1S": 1},
    }
    found = read(site, *(write_line(ms=each) for each in durations))
    assert [each["duration_s"] for each in found] == list(durations.values())
    for wrong in ("PT", "P", "P1Y", "1S", "PT1S ", "PT.5S", "T1S", "P1DT"):
        assert read(site, write_line(ms=wrong)) == [{"rejected": "not a line of this format"}], wrong
    assert "rejected" in read(site, write_line(ms="-PT1S"))[0]
    users = {"a2lt": "kim", "w6k=": "é", "kim": "kim", "/w==": "/w==", "AA==": "AA==", "": None}
    found = read(site, *(write_line(ms="PT1S", who=each) for each in users))
    assert [each.get("user") for each in found] == list(users.values())


@pytest.mark.parametrize(
    ("path", "way"),
    [
        *(("a", ("a",)), ("a.b c.d", ("a", "b c", "d")), ('"sec.app".x', ("sec.app", "x"))),
        *(("", None), (".a", None), ("a.", None), ("a..b", None), ('"a', None), ('"a"b', None)),
    ],
)
def test_a_path_names_keys(path, way):
    assert split_path(path) == way


def test_a_key_may_contain_a_point(tmp_path):
    site = make(tmp_path, SITE.replace('group = "who"', "group = '\"sec.app\"'"))
    assert read(site, write_line(**{"sec.app": "kim"}))[0]["user"] == "kim"
    other = make(tmp_path, SITE.replace("is_copy = true", 'x."y.z" = 5'))
    line = write_line(what={"type": "write"}, x={"y.z": 5})
    assert read(other, line)[0]["ignored"] == "a copy between disks"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('group = "who"', "group = 'who', find = 'x'", "columns.user.find: needs one group"),
        ('group = "who"', "group = 'who', find = '(x)(y)'", "columns.user.find: needs one group"),
        ('group = "who"', "group = 'who', find = '(x'", "columns.user.find: is not a valid regular"),
        ("json = true\n", "", "lines have when, but json is not true"),
        ("when = {}", "", "lines[other]: needs either pattern or when"),
        ("when = {}", "when = {}\npattern = 'x'", "lines[other]: needs either pattern or when"),
        ("when = {}", "when = {}\nmark = 'x'", "lines[other]: has a mark without a pattern"),
        ("when = {}", "when = { a = [] }", "lines[other].when.a: Tuple should have at least 1 item"),
        ("when = {}", "when = { a = 0.5 }", "lines[other].when.a.0: Input should be a valid string"),
        ('group = "who"', 'group = "who."', "lines[read].columns: 'who.' is no path of keys"),
        ("is_copy = true", '"a..b" = 1', "lines[copy].when: 'a..b' is no path of keys"),
        ('group = "who"', 'group = "what"', "what is used as a value, too"),
        ('group = "path"', 'group = "what.type.x"', "type is used as a value, too"),
        ('operation = { group = "what.type" }', "", "lines[read]: transfers need 'operation'"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, reason):
    assert SITE.count(old) >= 1
    with pytest.raises(LayoutError) as caught:
        make(tmp_path, SITE.replace(old, new, 1))
    assert reason in caught.value.message
    assert "site.toml" in caught.value.message


def test_a_layout_of_objects_needs_a_kind_of_objects(tmp_path):
    text = "title = 'x'\njson = true\nexamples = ['a']\n[[lines]]\nname = 'x'\nignored = 'x'\npattern = '.*'"
    with pytest.raises(LayoutError, match="json is true, but no lines have when"):
        make(tmp_path, text)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_LINES = st.one_of(
    st.text(),
    st.dictionaries(st.sampled_from(["at", "what", "who", "bytes", "ms", "path"]), _VALUES).map(json.dumps),
    st.sampled_from([EXAMPLE, EXAMPLE[:40], "{}", '{"at":"\\ud800"}', '{"at":1e999}', '{"at":1,"at":2}']),
    st.text('{}[]",:\\eE0123.-+ntu \t\r\x00'),
).map(lambda text: text.replace("\n", " "))


@given(st.lists(_LINES, min_size=1, max_size=8))
def test_what_becomes_of_a_line_does_not_depend_on_the_lines_around_it(site_parser, lines):
    settings = settings_of(site_parser, "UTC")
    together = site_parser.parse(pl.Series(lines, dtype=pl.String), settings)
    alone = pl.concat(site_parser.parse(pl.Series([line]), settings) for line in lines)
    assert together.equals(alone)
    assert together.select(pl.sum_horizontal(pl.col("table", "ignored", "rejected").is_not_null()) == 1)[
        :, 0
    ].all()


@pytest.fixture(scope="module")
def site_parser(tmp_path_factory):
    found = make(tmp_path_factory.mktemp("layouts"), SITE)
    assert isinstance(found.parse, LayoutParser)
    return found


def test_a_value_is_read_from_the_first_of_equal_keys():
    keys, is_object = read_json(pl.Series(['{"a":1,"a":2}', "x", '{"a":[1,{"b":true}]}']), ["a", "c"])
    assert is_object.to_list() == [True, False, True]
    assert [None if each is None else each["a"] for each in keys] == ["1", None, '[1, {"b": true}]']


def test_names_that_look_like_patterns_are_names():
    keys, _ = read_json(pl.Series(['{"*":1,"^a$":{"*":2},"a":3}']), ["*", "^a$.*", "a"])
    assert keys.to_list() == [{"*": "1", "^a$.*": "2", "a": "3"}]


def test_a_layout_may_look_at_no_value_at_all(tmp_path):
    text = "title = 'x'\njson = true\nexamples = ['{}']\n[[lines]]\nname = 'any'\nignored = 'any'\nwhen = {}"
    found = read(make(tmp_path, text), "{}", '{"a": 1}', "a")
    assert [each.get("ignored") for each in found] == ["any", "any", None]


ALSO = SITE.replace(
    'archive_path = { group = "path" }\n',
    """archive_path = { group = "path" }
[[lines.also]]
table = "tape_events"
[lines.also.columns]
kind = "transferred"
task = "stage"
capability = { group = "path" }
drive = { group = "drive" }
[[lines.also]]
table = "stages"
columns = { duration_s = { group = "staged_s" }, archive_path = { group = "path" } }
""",
    1,
)


def read_further(site, *lines):
    """The further facts, by line, without null or false values, and the reasons to reject lines."""
    texts = pl.Series(lines, dtype=pl.String)
    settings = settings_of(site, "UTC")
    records, further = settle_further(
        site.parse(texts, settings), site.parse_further(texts, settings), settings
    )
    facts = [
        {name: value for name, value in row.items() if value is not None and value is not False}
        for row in further.iter_rows(named=True)
    ]
    return facts, records["rejected"].to_list()


def test_a_line_may_report_several_facts(tmp_path):
    site = make(tmp_path, ALSO)
    facts, rejected = read_further(site, "{}", write_line(drive="d1", staged_s=5), "x")
    assert rejected == [None, None, "not a line of this format"]
    tape, stage = facts
    common = {
        "row": 1,
        "event_at": tape["event_at"],
        "interface": "mover",
        "operation": "read",
        "user": "kim",
    }
    assert tape == common | {
        **{"ordinal": 1, "table": "tape_events", "kind": "transferred", "task": "stage"},
        **{"capability": "/aé", "drive": "d1"},
    }
    assert stage == common | {
        **{"ordinal": 2, "table": "stages", "duration_s": 5.0, "archive_path": "/aé"},
    }


def test_a_layout_without_further_facts_has_no_parser_for_them(tmp_path):
    assert make(tmp_path, SITE).parse_further is None
    assert pickle.loads(pickle.dumps(make(tmp_path, ALSO))).parse_further is not None


def test_a_further_fact_without_what_it_needs_is_left_out(tmp_path):
    text = ALSO.replace('kind = "transferred"', 'kind = { group = "kind" }')
    site = make(
        tmp_path, text.replace('archive_path = { group = "path" } }', 'operation = { group = "op" } }')
    )
    facts, rejected = read_further(site, write_line(), write_line(kind="transferred"), write_line(op="o"))
    assert rejected == [None] * 3
    assert [(each["row"], each["table"]) for each in facts] == [(1, "tape_events"), (2, "stages")]


def test_a_line_with_an_impossible_further_fact_is_rejected_for_it(tmp_path):
    facts, rejected = read_further(make(tmp_path, ALSO), write_line(staged_s=1e12), write_line(staged_s=1))
    assert rejected == ["number out of range", None]
    assert {each["row"] for each in facts} == {1}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('table = "tape_events"', 'table = "tapes"', "lines[read].also[0].table: there is no table 'tapes'"),
        ('kind = "transferred"', "", "lines[read].also[0]: tape_events need 'kind'"),
        ('kind = "transferred"', 'kind = "moved"', "'moved' is not one of received"),
        ("{ duration_s = {", '{ direction = "get", duration_s = {', "lines[read].also[1].columns.direction"),
        ('group = "drive"', 'group = "drive."', "lines[read].columns: 'drive.' is no path of keys"),
        ('ignored = "another message"', 'ignored = "x"\nalso = [{ table = "stages" }]', "has further facts"),
    ],
)
def test_errors_about_further_facts_name_them(tmp_path, old, new, reason):
    assert ALSO.count(old) >= 1
    with pytest.raises(LayoutError) as caught:
        make(tmp_path, ALSO.replace(old, new, 1))
    assert reason in caught.value.message


@pytest.mark.parametrize(
    "odd",
    [
        '{"at":"\\ud800"}',
        '{"at":"\\uD83D\\uDE00"}',
        '{"at":' + "[" * 99 + "]" * 99 + "}",
        '{"at":' + "[" * 150 + "]" * 150 + "}",
        '{"at":' + '{"a":' * 1100 + "1" + "}" * 1101,
        '{"at":1',
        f'{{"at":{2**128 - 1}}}',
        f'{{"at":1,"x":[1, -{2**128} ]}}',
        f'{{"at":{10**40}.5}}',
        f'{{"at":"{10**40}"}}',
    ],
)
def test_a_disputed_line_changes_nothing_for_others(odd):
    good = '{"at":5,"what":{"type":"x"}}'
    alone = read_json(pl.Series([odd]), ["at", "what.type"])
    keys, is_object = read_json(pl.Series([good, odd, good]), ["at", "what.type"])
    assert is_object.to_list() == [True, alone[1][0], True]
    assert keys.to_list() == [{"at": "5", "what.type": "x"}, alone[0][0], {"at": "5", "what.type": "x"}]
    # As the slower of the two parsers says, except that it reads numbers of more than 128 bits.
    is_read = pl.Series([odd]).str.json_path_match("$")[0] is not None
    assert alone[1][0] == (is_read and not re.search(r"[:\[,] ?-?\d{39,} ?[],}]", odd))
