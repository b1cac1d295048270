"""Layouts of lines that are pairs, what may precede them, and layouts that are like others."""

import tomllib
from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.layouts.files import find_layout, show_layout
from tapewise.ingest.layouts.forms import Pairs
from tapewise.ingest.layouts.keys import read_pairs
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import settings_of
from tests.unit.layouts.made_up import make, read

HEAD = "2024-03-05 09:14:22.250 n7 mover: "
EXAMPLE = HEAD + 'MSG="file read" who="kim" bytes="1024" path="/a b=c&d"'
SITE = f"""\
title = "a made-up mover that writes pairs"
clock_resolution_s = 0.001
pairs = {{ is_quoted = true }}
head = '(?<time>[0-9-]+ [0-9:.]+) (?<machine>[^ ]+) (?:mover): '
names = {{ message = "MSG" }}
examples = ['{EXAMPLE}']

[columns]
interface = "mover"
event_at = {{ group = "time", layout = "%Y-%m-%d %H:%M:%S%.f" }}
host = {{ group = "machine" }}
user = {{ group = "who" }}

[[lines]]
name = "read"
table = "transfers"
when = {{ message = "file read" }}
[lines.columns]
direction = "get"
operation = {{ group = "message" }}
size_bytes = {{ group = "bytes" }}
archive_path = {{ group = "path" }}

[[lines]]
name = "other"
ignored = "another message"
when = {{ machine = ["n7", "n8"] }}

[[lines]]
name = "comment"
ignored = "a comment"
pattern = '#.*'
"""
RECORD = {
    **{"table": "transfers", "interface": "mover", "operation": "file read", "direction": "get"},
    **{"user": "kim", "host": "n7", "size_bytes": 1024, "archive_path": "/a b=c&d"},
    "event_at": datetime(2024, 3, 5, 9, 14, 22, 250_000, tzinfo=UTC),
}


def test_pairs_become_a_record_in_any_order(tmp_path):
    site = make(tmp_path, SITE)
    shuffled = HEAD + 'path="/a b=c&d"   bytes="1024" unknown="" who="kim" MSG="file read"  '
    assert read(site, EXAMPLE, shuffled, EXAMPLE + "\r") == [RECORD] * 3


def test_lines_without_the_head_or_with_broken_pairs_are_rejected_alone(tmp_path):
    site = make(tmp_path, SITE)
    lines = {
        EXAMPLE: "transfers",
        HEAD + 'MSG="file opened"': "another message",
        HEAD.replace("n7", "n9") + 'MSG="file opened"': None,
        EXAMPLE.removeprefix("2024-03-05 "): None,
        EXAMPLE.removesuffix('"'): None,
        EXAMPLE.replace('kim" ', 'kim"'): None,
        EXAMPLE.replace("kim", 'k"im'): None,
        HEAD: None,
        HEAD + '{"MSG":"file read"}': None,
        "# began": "a comment",
    }
    for found, expected in zip(read(site, *lines), lines.values(), strict=True):
        assert (found.get("table") or found.get("ignored")) == expected
        assert ("rejected" in found) == (expected is None)


def test_a_group_of_the_head_replaces_a_key_of_its_name(tmp_path):
    (found,) = read(make(tmp_path, SITE), EXAMPLE + ' machine="elsewhere" time="never"')
    assert found == RECORD


def test_values_keep_what_json_would_escape(tmp_path):
    (found,) = read(make(tmp_path, SITE), EXAMPLE.replace("/a b=c&d", "a\\nb\\\t{}'é\x01"))
    assert found["archive_path"] == "a\\nb\\\t{}'é\ufffd"


@pytest.mark.parametrize("text", ["a2lt=", "=", "==", " kim", ", kim", "k\\", "", "k=", "=k"])
@pytest.mark.parametrize("between", [" ", ", "])
def test_values_may_look_like_what_is_between_them(text, between):
    line = between.join(f'{key}="{each}"' for key, each in (("a", "1"), ("b", text), ("c", text)))
    keys, is_of_pairs = read_pairs(pl.Series([line]), ["a", "b", "c"], Pairs(between=between, is_quoted=True))
    assert is_of_pairs.to_list() == [True]
    assert keys.to_list() == [{"a": "1", "b": text, "c": text}]


def test_pairs_without_quotation_marks_end_with_the_text_between_them():
    lines = ['a=1&b=x="y\\&c=', "a=1&", "a=1&&b=2", "a", "=1", "a=1&b", "a=&b=2", "a=1&a=2"]
    keys, is_of_pairs = read_pairs(pl.Series(lines), ["a", "b", "c"], Pairs(between="&"))
    none = {"a": None, "b": None, "c": None}
    assert is_of_pairs.to_list() == [True, True, True, False, False, False, True, True]
    assert keys.to_list() == [
        {"a": "1", "b": 'x="y\\', "c": ""},
        none | {"a": "1"},
        none | {"a": "1", "b": "2"},
        *[none] * 3,
        none | {"a": "", "b": "2"},
        none | {"a": "1"},
    ]


_KEYS = st.text(
    st.characters(exclude_characters='"=&', exclude_categories=["Z", "C"]), min_size=1, max_size=5
)
_TEXTS = st.text(st.characters(exclude_characters='"&\n\r', exclude_categories=["C"]), max_size=8)


@given(st.dictionaries(_KEYS, _TEXTS, min_size=1, max_size=5), st.booleans())
def test_written_pairs_are_read_back(said, is_quoted):
    pairs = Pairs(is_quoted=True) if is_quoted else Pairs(between="&")
    line = " ".join(f'{key}="{text}"' for key, text in said.items())
    if not is_quoted:
        line = "&".join(f"{key}={text}" for key, text in said.items())
    paths = {key: f'"{key}"' for key in said}
    keys, is_of_pairs = read_pairs(pl.Series([line]), paths.values(), pairs)
    assert is_of_pairs.to_list() == [True]
    assert {key: keys[0][path] for key, path in paths.items()} == said


@given(st.lists(st.text('ab="& \\{}\t\x01') | st.just(EXAMPLE) | st.text(), min_size=1, max_size=8))
def test_what_becomes_of_a_line_does_not_depend_on_the_lines_around_it(site, lines):
    lines = [line.replace("\n", " ") for line in lines] + [HEAD + lines[0].replace("\n", " ")]
    settings = settings_of(site, "UTC")
    together = site.parse(pl.Series(lines, dtype=pl.String), settings)
    alone = pl.concat(site.parse(pl.Series([line]), settings) for line in lines)
    assert together.equals(alone)
    fates = together.select(pl.sum_horizontal(pl.col("table", "ignored", "rejected").is_not_null()))
    assert fates.to_series().to_list() == [1] * len(lines)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return make(tmp_path_factory.mktemp("layouts"), SITE)


def test_an_object_may_follow_a_head(tmp_path):
    text = SITE.replace("pairs = { is_quoted = true }", "json = true").replace(
        f"'{EXAMPLE}'", f"""'{HEAD}{{"MSG":"file read","who":"kim","bytes":1024,"path":"/a b=c&d"}}'"""
    )
    site = make(tmp_path, text)
    assert read(site, site.examples[0], site.examples[0].removeprefix(HEAD))[0] == RECORD


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("pairs = {", "json = true\npairs = {", "json is true, but there are also pairs"),
        ("is_quoted = true", 'between = "&&"', "between is one sign"),
        ("is_quoted = true", 'between = "="', "between is one sign"),
        ("is_quoted = true", 'between = ""', "pairs.between"),
        ("is_quoted = true", "quoted = true", "pairs.quoted: there is no such key"),
        ("pairs = { is_quoted = true }", "", "lines have when, but json is not true, and there are no pairs"),
        ("(?<time>", "(?<time>(", "head: is not a valid regular expression"),
        ('{ message = "MSG" }', '{ message = "a..b" }', "'a..b' is no path of keys"),
        ('title = "a', 'like = "nothing"\ntitle = "a', "like: no layout 'nothing' comes with Tapewise"),
        ('title = "a', 'like = 5\ntitle = "a', "like: no layout 5 comes with Tapewise"),
        ('title = "a', 'like = "hsi"\ntitle = "a', "like: no layout 'hsi' comes with Tapewise"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(tmp_path, old, new, reason):
    assert SITE.count(old) == 1
    with pytest.raises(LayoutError) as caught:
        make(tmp_path, SITE.replace(old, new))
    assert reason in caught.value.message


def test_a_head_is_only_for_lines_that_name_their_values(tmp_path):
    text = "title = 'x'\nexamples = ['a']\nhead = 'a'\n[[lines]]\nname = 'a'\nignored = 'b'\npattern = 'a'"
    with pytest.raises(LayoutError, match="head and names are for JSON objects and pairs"):
        make(tmp_path, text)


def test_a_layout_has_what_the_one_that_it_is_like_has():
    cta, text, syslog = (find_layout(FORMATS[name]) for name in ("cta", "cta-text", "cta-syslog"))
    assert text.lines == syslog.lines == cta.lines
    assert text.columns == cta.columns | {"event_at": text.columns["event_at"]}
    assert (text.nulls, text.clock_resolution_s) == (cta.nulls, cta.clock_resolution_s)
    assert (text.json_objects, text.title == cta.title) == (False, False)


def test_own_lines_precede_those_of_the_other_layout(tmp_path):
    base = tomllib.loads(show_layout("xferlog"))
    text = f"""\
title = "like xferlog"
like = "xferlog"
examples = ['# a comment', '{base["examples"][0]}']
[columns]
account = "everybody"
[[lines]]
name = "remark"
ignored = "a remark"
pattern = '#.*'
"""
    like = make(tmp_path, text)
    found = find_layout(like)
    assert [line.name for line in found.lines] == ["remark", *(line["name"] for line in base["lines"])]
    remark, record = read(like, *like.examples)
    assert (remark["ignored"], record["account"]) == ("a remark", "everybody")
    (shipped,) = read(FORMATS["xferlog"], base["examples"][0])
    assert record == shipped | {"account": "everybody"}
