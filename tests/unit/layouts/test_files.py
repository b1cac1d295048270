"""Messages about a layout file give the file and the key. Its version is derived from its meaning alone."""

import pickle

import pytest

from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.layouts.edits import check_layouts
from tapewise.ingest.layouts.files import find_layout, show_layout
from tapewise.schema.errors import LayoutError, SourceError
from tests.stamps import owns
from tests.unit.layouts.made_up import DELETE, SITE, make


def change(old: str, new: str) -> str:
    assert old in SITE
    return SITE.replace(old, new, 1)


def test_a_layout_is_named_after_its_file(tmp_path):
    found = make(tmp_path, name="our-movers")
    assert (found.name, found.title, found.clock_resolution_s) == (
        "our-movers",
        "movers of a made-up site",
        0.1,
    )
    assert found.layout_text == SITE
    assert not found.is_dated_by_file and not found.is_year_by_file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title = ", "is not valid TOML: Invalid value (at end of document)"),
        (change('title = "movers of a made-up site"\n', ""), "title: is missing"),
        (change("title", "titel"), "title: is missing; titel: there is no such key"),
        (change("unit", "units"), "columns.size_bytes.units: there is no such key"),
        (
            change("[[lines]]", "[lines]"),
            "lines: must be a list (write [[lines]] before each kind of line)",
        ),
        ("lines = [3]\n" + SITE[: SITE.index("[[lines]]")], "lines[0]: is not a table"),
        (change("table =", "tabel ="), "lines[transfer].tabel: there is no such key"),
        (change('"KiB"', '"KX"'), "columns.size_bytes.unit: Input should be 'B', "),
        (
            change('interface = "mover"', "interface = 2024-03-05"),
            "columns.interface: must be a string, a number",
        ),
        (
            change('interface = "mover"', "interface = 7"),
            "columns.interface: expected a string, got 7",
        ),
        (change("size_bytes", "size_byte"), "columns.size_byte: there is no such column"),
        (
            change('table = "transfers"', 'table = "transfer"'),
            "lines[transfer].table: there is no table 'transfer'",
        ),
        (change('table = "transfers"\n', ""), "lines[transfer]: needs either table or ignored"),
        (
            change(".{19})", ".{19}"),
            "lines[transfer].pattern: is not a valid regular expression: unclosed group",
        ),
        (
            change("(?<host>", "(?<hots>"),
            "lines[transfer].pattern: group 'hots' is not a column of transfers",
        ),
        (change('interface = "mover"\n', ""), "lines[transfer]: transfers need 'interface'"),
        (
            change('get = "get"', 'get = "fetch"'),
            "lines[transfer]: columns.direction: 'fetch' is not one of put, get",
        ),
        (
            change('layout = "%Y-%m-%d %H:%M:%S"', 'group = "event_at"'),
            "columns.event_at: needs one of layout, epoch",
        ),
        (
            change("{ layout", '{ epoch = "s", layout'),
            "columns.event_at: needs one of layout, epoch, day_of_file",
        ),
        (
            change('unit = "KiB"', 'layout = "%d"'),
            "columns.size_bytes.layout: is not a key of a column that holds a number",
        ),
        (SITE + SITE[SITE.index("[[lines]]") :], "lines[transfer]: 2 of the lines have that name"),
        (
            SITE + DELETE.replace("kind =", "direction ="),
            "columns.direction: namespace_events have no such column",
        ),
        (
            SITE + 'columns = { duration_s = { group = "s" } }',
            "columns.duration_s: its pattern has no group 's'",
        ),
        (
            change("(?<duration_s>", "(?:")
            + 'columns = { duration_s = { formula = "size_bytes / rate_bytes_per_s" } }',
            "columns.duration_s.formula: it needs 'rate_bytes_per_s', which is not defined",
        ),
        (SITE + 'columns = { is_failed = { group = "user" } }', "columns.is_failed.map: is needed"),
        (SITE + DELETE.replace("columns =", "columns.event_at = { layout = '%m-%d' }\ncolumns.kind ="), None),
        (
            "line_start = '['\n" + SITE,
            "line_start: is not a valid regular expression: unclosed character class",
        ),
        ("line_start = '(2024)'\n" + SITE, "line_start: has a group: write (?:...) instead of (...)"),
        ("line_start = '2025'\n" + SITE, "line_start: is nowhere in the example '2024-03-05 09:14:22 put"),
        (change("09:14:22", "9:14:22"), "examples[0]: not a line of this format: 2024-03-05 9:14:22 put"),
        (change("2024-03-05 09", "2024-13-05 09"), "examples[0]: no such date or time: 2024-13-05"),
    ],
)
def test_errors_name_file_and_key(tmp_path, text, expected):
    with pytest.raises(LayoutError) as raised:
        make(tmp_path, text)
    assert raised.value.message.startswith(f"{tmp_path}/site.toml: ")
    assert expected is None or expected in raised.value.message
    assert raised.value.hint is None or raised.value.hint.endswith(".")


def test_times_with_and_without_dates_do_not_mix(tmp_path):
    odd = DELETE.replace("columns = { kind", "columns = { event_at = { layout = '%H:%M:%S' }, kind")
    with pytest.raises(LayoutError, match="some times have a whole date and some no day"):
        make(tmp_path, SITE + odd)


@pytest.mark.parametrize(
    ("layout", "is_dated_by_file", "is_year_by_file"),
    [
        ("%Y-%m-%d %H:%M:%S", False, False),
        ("%m.%d %H:%M:%S", True, True),
        ("%H:%M:%S", True, False),
        ("%F %T", False, False),
    ],
)
def test_the_file_must_supply_a_day_or_year_that_the_lines_lack(
    tmp_path, layout, is_dated_by_file, is_year_by_file
):
    stamp = {"%m.%d %H:%M:%S": "03.05 09:14:22", "%H:%M:%S": "09:14:22"}.get(layout, "2024-03-05 09:14:22")
    text = SITE.replace("%Y-%m-%d %H:%M:%S", layout).replace("2024-03-05 09:14:22", stamp)
    found = make(tmp_path, text.replace(".{19}", f".{{{len(stamp)}}}"))
    assert (found.is_dated_by_file, found.is_year_by_file) == (is_dated_by_file, is_year_by_file)


@pytest.mark.parametrize("name", ["site.txt/x", "a b.toml", ".toml", "ä.toml", "no/such.toml"])
def test_a_file_that_cannot_be_a_layout_is_refused(name):
    with pytest.raises(LayoutError):
        find_format(name)


def test_a_bundled_formats_name_is_refused_for_other_layouts(tmp_path):
    assert make(tmp_path, show_layout("xferlog"), "xferlog") is FORMATS["xferlog"]
    for name in ("xferlog", "hsi"):
        with pytest.raises(LayoutError, match=f"a format called '{name}' already exists"):
            make(tmp_path, SITE, name)


def test_the_version_depends_only_on_the_meaning(tmp_path):
    first = make(tmp_path)
    for key in ("title", "examples"):
        old = next(line for line in SITE.splitlines() if line.startswith(key))
        same = SITE.replace(old, old.replace("made-up", "real").replace("kim", "lee")) + "# a comment\n"
        assert make(tmp_path, same).version == first.version
    versions = {
        make(tmp_path, text).version
        for text in (
            SITE,
            SITE + DELETE,
            change("KiB", "KB"),
            change('["-"]', '["-", "*"]'),
            change("= 0.1", "= 0.2"),
            change("[a-z]+", "[a-z]{3}"),
        )
    }
    assert len(versions) == 6
    assert all(0 <= version < 2**31 for version in versions)


def test_lines_may_only_be_added_and_only_at_the_end(tmp_path):
    held = make(tmp_path)
    check_layouts("source 's'", held, make(tmp_path, SITE.replace("made-up", "real") + DELETE))
    at = SITE.index("[[lines]]")
    for text in (
        SITE[:at] + DELETE + SITE[at:],
        change("KiB", "KB"),
        change("= 0.1", "= 0.2"),
        change('["-"]', "[]"),
        change("[a-z]+", "[a-z]{3}") + DELETE,
    ):
        with pytest.raises(
            SourceError, match=r"source 's' was read with a layout other than the one in site\.toml now"
        ):
            check_layouts("source 's'", held, make(tmp_path, text))
    with pytest.raises(SourceError):  # the new layout no longer describes the deletions
        check_layouts("source 's'", make(tmp_path, SITE + DELETE), held)


def test_a_format_is_the_same_in_another_process(tmp_path):
    for each in (make(tmp_path), FORMATS["gridftp"]):
        copy = pickle.loads(pickle.dumps(each))
        assert copy == each and hash(copy) == hash(each)


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if find_layout(each)])
def test_bundled_layouts_are_valid_and_have_an_example_of_each_pattern(name, tmp_path):
    found = make(tmp_path, show_layout(name), name)
    assert found is FORMATS[name]
    layout = find_layout(found)
    assert all(
        part in layout.about for part in ("**Grammar.**", "**What is derived.**", "**What cannot be known.**")
    )
    rest = [
        kind.name
        for kind in layout.lines
        if not any(_owner(layout, each) is kind for each in layout.examples)
    ]
    # A comment in dCache's log has no time, so it cannot be an example.
    assert rest in ([], ["get before vector reads were logged"], ["comment"])


def _owner(layout, line):
    for kind in layout.lines:
        if owns(layout, kind, line):
            return kind
    return None
