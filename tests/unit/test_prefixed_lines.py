"""What another program writes before lines is removed from them, and changes nothing else."""

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS, find_format, restore_format
from tapewise.ingest.layouts.edits import check_layouts
from tapewise.ingest.layouts.files import show_layout
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.files import Block
from tapewise.ingest.reading.line_context import unfold_blocks
from tapewise.ingest.reading.lines import split_content
from tapewise.ingest.records.prefixed_lines import strip_format
from tapewise.schema.errors import FormatError, LayoutError, SourceError
from tests.unit.formats.test_families import JOB
from tests.unit.layouts.made_up import SITE, make, read

PREFIX = r"[^ ]+ [a-z]+\[[0-9]+\]: "
SYSLOG = strip_format(FORMATS["hsi"], PREFIX)
KEY = PseudonymKey("k" * 64)


def read_lines(content, log_format, key=None):
    lines, ends = split_content(content, 1, key)
    (block,) = unfold_blocks([Block(content.count(b"\n"), lines, np.asarray(ends))], log_format, key)
    return block.lines


@given(st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=5), st.booleans())
def test_a_line_has_the_same_hash_behind_any_prefix_or_none(lines, has_key):
    key = KEY if has_key else None
    plain = read_lines(b"".join(line + b"\n" for line in lines), FORMATS["hsi"], key)
    prefixes = [b"2024-03-05T09:14:22Z hsi[%d]: " % (7 * number) for number in range(len(lines))]
    behind = b"".join(prefix + line + b"\r\n" for prefix, line in zip(prefixes, lines, strict=True))
    # A byte order mark begins no line that has something before it.
    if not any(line.startswith(b"\xef\xbb\xbf") or line.endswith(b"\r") for line in lines):
        assert read_lines(behind, SYSLOG, key).equals(plain)
    assert read_lines(b"".join(line + b"\n" for line in lines), SYSLOG, key).columns == plain.columns


def test_only_the_beginning_of_a_line_is_removed_and_only_once():
    content = b"a hsi[1]: b hsi[2]: c\nx a hsi[1]: b\na hsi[1]: b hsi[1]: \n"
    assert read_lines(content, SYSLOG)["text"].to_list() == ["b hsi[2]: c", "x a hsi[1]: b", "b hsi[1]: "]


def test_what_a_format_does_itself_comes_afterwards():
    job = JOB.splitlines()
    inner = FORMATS["hsi-client"].make_unfold()(pl.Series(job)).to_list()
    assert inner != job
    behind = pl.Series([f"t hsi[{number}]: {line}" for number, line in enumerate(job)])
    assert strip_format(FORMATS["hsi-client"], PREFIX).make_unfold()(behind).to_list() == inner


def test_a_completed_line_is_hashed_as_a_text_next_to_lines_that_are_not():
    job = JOB.encode()
    plain, odd = (read_lines(content, FORMATS["hsi-client"]) for content in (job, job + b"\xff\n"))
    assert odd.head(plain.height).equals(plain)


def test_a_format_with_a_prefix_can_be_restored_and_sent_to_other_processes():
    assert SYSLOG.name == "hsi"
    formats = (FORMATS["hsi"], SYSLOG, strip_format(FORMATS["hsi"], "x"))
    assert len({each.version for each in formats}) == 3
    assert restore_format(SYSLOG.name, SYSLOG.layout_text) == SYSLOG
    assert pickle.loads(pickle.dumps(SYSLOG)) == SYSLOG
    assert strip_format(SYSLOG, PREFIX) is SYSLOG
    assert strip_format(FORMATS["hsi"], None) is FORMATS["hsi"]
    odd = strip_format(FORMATS["xferlog"], "\\[\"é\\t'\\\\]+ ")
    assert restore_format("xferlog", odd.layout_text) == odd


@pytest.mark.parametrize(
    ("log_format", "prefix", "reason"),
    [
        (FORMATS["hsi"], "(", "'(' is not a valid regular expression: unclosed group"),
        (FORMATS["hsi"], "(?=a)b", "is not a valid regular expression"),
        (FORMATS["hsi"], "[a-z]*", "'[a-z]*' matches nothing at all"),
        (SYSLOG, "x", "lines of hsi already have a prefix"),
    ],
)
def test_what_is_no_prefix_is_refused(log_format, prefix, reason):
    with pytest.raises(FormatError) as caught:
        strip_format(log_format, prefix)
    assert reason in caught.value.message


def test_a_layout_says_what_precedes_its_lines(tmp_path):
    example = "2024-03-05 09:14:22 put kim n7 12.5 1024 /home/k/a 7"
    text = SITE.replace("[columns]", "prefix = '<[0-9]+>'\n[columns]", 1)
    assert text.count(example) == 1
    site = make(tmp_path, text.replace(example, f"<13>{example}"))
    assert site.prefix == "<[0-9]+>"
    assert site.examples == (example,)
    assert read(site, example)[0]["user"] == "kim"
    assert site.make_unfold()(pl.Series([f"<13>{example}", example])).to_list() == [example] * 2
    assert restore_format(site.name, site.layout_text) == site
    with pytest.raises(FormatError, match="which says itself what precedes its lines"):
        strip_format(make(tmp_path, SITE), "x")
    for wrong in ("'('", "'x*'"):
        with pytest.raises(LayoutError, match="prefix"):
            make(tmp_path, SITE.replace("[columns]", f"prefix = {wrong}\n[columns]", 1))


def test_a_file_may_name_a_format_and_what_precedes_its_lines(tmp_path):
    path = tmp_path / "hsi-syslog.toml"
    path.write_text(f'title = "HSI\'s log behind syslog"\nlike = "hsi"\nprefix = \'{PREFIX}\'\n')
    found = find_format(str(path))
    assert found == replace(
        SYSLOG, name="hsi-syslog", title="HSI's log behind syslog", layout_text=path.read_text()
    )
    assert restore_format("hsi-syslog", found.layout_text) == found
    for text, reason in (
        ("like = 'nothing'\nprefix = 'x'", "no log format is called 'nothing'"),
        ("like = 'hsi'\nprefix = '('", "is not a valid regular expression"),
        ("like = 'hsi'\nprefix = 'x'\ntitle = 5", "title"),
        ("like = 'hsi'", "no layout 'hsi' comes with Tapewise"),
    ):
        path.write_text(text)
        with pytest.raises(LayoutError, match="hsi-syslog") as caught:
            find_format(str(path))
        assert reason in caught.value.message


def test_a_layout_with_a_prefix_is_not_the_one_without_it(tmp_path):
    path = tmp_path / "xferlog.toml"
    path.write_text(show_layout("xferlog"))
    assert find_format(str(path)) is FORMATS["xferlog"]
    path.write_text(f"prefix = 'x '\n{show_layout('xferlog')}")
    with pytest.raises(LayoutError, match="a format called 'xferlog' already exists"):
        find_format(str(path))
    path = tmp_path / "hsi.toml"
    path.write_text("like = 'hsi'\nprefix = 'x '\n")
    with pytest.raises(LayoutError, match="a format called 'hsi' already exists"):
        find_format(str(path))


def test_a_source_keeps_its_prefix():
    plain, other = FORMATS["xferlog"], strip_format(FORMATS["xferlog"], "x ")
    same = strip_format(FORMATS["xferlog"], PREFIX)
    check_layouts("source 's'", same, same)
    check_layouts("source 's'", SYSLOG, strip_format(FORMATS["hsi"], PREFIX))
    for held, now in ((plain, same), (same, plain), (same, other)):
        with pytest.raises(SourceError, match="its lines would be counted twice"):
            check_layouts("source 's'", held, now)
