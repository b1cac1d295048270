"""Names become pseudonyms that depend on a key; some parts of names are kept."""

import hashlib
import hmac
import pickle
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.pseudonyms.hiding import KEPT, LEVELS, SUFFIXES, hide_names, hide_paths
from tapewise.ingest.pseudonyms.keys import PseudonymKey, get_key, read_key
from tapewise.ingest.reading.lines import split_lines
from tapewise.ingest.records.columns import NAME_COLUMNS, NAMELESS_COLUMNS, RECORD_SCHEMA
from tapewise.schema.errors import ConfigError, SettingsError
from tapewise.schema.settings import read_settings
from tests.unit.formats.test_every_format import settings_of

SECRET = "0123456789abcdef" * 2
KEY = PseudonymKey(SECRET)
OTHER = PseudonymKey(SECRET + "x")
PSEUDONYM = re.compile("p[0-9a-f]{16}")

COMPONENTS = st.sampled_from(
    [*KEPT, "", "~", "~kim", "kim", ".tar", "a.tar.gz", "letter.kim", "run 7"]
) | st.text(st.characters(codec="utf-8", exclude_characters="/\0\n"), max_size=12)
PATHS = st.lists(COMPONENTS, min_size=1, max_size=LEVELS + 3).map("/".join)


def hide(*paths: str | None) -> list[str | None]:
    return hide_paths(pl.Series("path", paths, dtype=pl.String), KEY).to_list()


def records(format_name: str, *lines: str, key: PseudonymKey | None = KEY) -> pl.DataFrame:
    format_ = FORMATS[format_name]
    block = split_lines("".join(f"{line}\n" for line in lines).encode())
    found = block.hstack(format_.parse(block["text"], settings_of(format_)))
    return found if key is None else hide_names(found, format_, key)


def test_a_pseudonym_is_the_hmac_of_the_name_with_a_key_derived_for_names():
    derived = hmac.new(SECRET.encode(), b"tapewise pseudonyms: names", hashlib.sha256).hexdigest()
    expected = "p" + hmac.new(derived.encode(), "kím".encode(), hashlib.sha256).hexdigest()[:16]
    assert hide("kím", None) == [expected, None]
    assert pl.select(KEY.hide_names(pl.lit("kím"))).item() == expected
    assert pl.select(OTHER.hide_names(pl.lit("kím"))).item() != expected


def test_at_most_two_suffixes_are_kept_and_only_those_of_file_types():
    packed, letter, hidden, upper = hide("kim.tar.gz.bak", "letter.kim", ".bashrc", "~kim.TXT")
    assert PSEUDONYM.fullmatch(packed.removesuffix(".gz.bak"))
    assert PSEUDONYM.fullmatch(letter) and PSEUDONYM.fullmatch(hidden)
    assert upper == f"~{hide('kim')[0]}.TXT"


def test_every_text_column_is_declared_to_hold_names_or_not():
    texts = [name for name, dtype in RECORD_SCHEMA.items() if dtype == pl.String()]
    assert sorted(texts) == sorted([*NAME_COLUMNS, *NAMELESS_COLUMNS])


@pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
def test_no_name_is_left_in_any_record_of_a_format(format_):
    plain = records(format_.name, *format_.examples, key=None)
    hidden = records(format_.name, *format_.examples)
    assert hidden["text"].null_count() == hidden.height
    for column, shape in NAME_COLUMNS.items():
        assert hidden[column].is_null().to_list() == plain[column].is_null().to_list()
        names = set(" ".join(plain[column].drop_nulls()).replace("/", " ").split()) - set(KEPT)
        if shape == "status" or column == "description":
            continue  # they have their own tests below
        assert not names & set(" ".join(hidden[column].drop_nulls()).replace("/", " ").split())
    changed = set(NAME_COLUMNS) | {"text", "operation"}
    assert hidden.drop(changed).equals(plain.drop(changed))


def test_the_direction_replaces_an_operation_that_names_the_machine():
    hidden = records("nft", *FORMATS["nft"].examples)
    assert hidden["operation"].to_list() == ["put", "get", "copy", None]
    assert records("hsi", FORMATS["hsi"].examples[0])["operation"].to_list() == ["LH"]


def test_a_description_keeps_its_command_and_options():
    job = "002718 14:06:48 14:07:31 2360 102     17 "
    [put, kim, late] = records("cond", f"{job}put -d /home/kim/a.tar", f"{job}kim put", f"{job}get  -rf put")[
        "description"
    ]
    home, user, stem = hide("home", "kim", "a")
    assert put == f"put -d /{home}/{user}/{stem}.tar"
    assert kim == " ".join(hide("kim", "put"))
    assert late == "get  {} {}".format(*hide("-rf", "put"))


def test_a_status_keeps_its_known_words():
    line = "97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds "
    tails = ["-192 (Ftp 1000)", "-192 (kim 1000)", "LEN failure", "no room for kim"]
    known, other, length, free = records("stat", *(line + tail for tail in tails))["status_text"]
    assert (known, length) == ("-192 (Ftp 1000)", "LEN failure")
    assert other == " ".join(hide("-192", "(kim", "1000)"))
    assert free == " ".join(hide("no", "room", "for", "kim"))


@settings(deadline=None)
@given(st.lists(PATHS, min_size=2, max_size=6))
def test_depth_and_suffix_are_kept_and_only_equal_names_stay_equal(paths):
    hidden = hide(*paths)
    for path, made in zip(paths, hidden, strict=True):
        assert made is not None
        for component, name in zip(path.split("/"), made.split("/"), strict=True):
            if component in (*KEPT, "~", ""):
                assert name == component
                continue
            end = re.search(rf"(?i)(\.({'|'.join(SUFFIXES)})){{1,2}}\Z", component)
            suffix = end[0] if end else ""
            assert re.fullmatch(rf"~?({PSEUDONYM.pattern})?{re.escape(suffix)}", name), (component, name)
            assert PSEUDONYM.search(name) or component in (suffix, f"~{suffix}")
            assert [name] == hide(component)
    for i, path in enumerate(paths):
        assert [made == hidden[i] for made in hidden] == [other == path for other in paths]


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\n")), st.text(max_size=8))
def test_names_are_equal_if_and_only_if_their_pseudonyms_are(name, other):
    frame = pl.DataFrame({"name": [name, other, name]}).select(KEY.hide_names(pl.col("name")))
    first, second, again = frame.to_series()
    assert PSEUDONYM.fullmatch(first)
    assert first == again
    assert (first == second) == (name == other)


def test_hashes_of_lines_and_digests_need_the_key():
    content = b"005041 97/10/01 00:01:41 js 7700 0.425\n\xff\n"
    hashes = [split_lines(content, 1, key)["line_hash"].to_list() for key in (None, KEY, OTHER, KEY)]
    assert hashes[1] == hashes[3]
    assert len({number for row in hashes for number in row}) == 6
    derived = hmac.new(SECRET.encode(), b"tapewise pseudonyms: lines", hashlib.sha256).hexdigest()
    digest = hmac.new(derived.encode(), b"\xff", hashlib.sha256).digest()
    assert hashes[1][1] == int.from_bytes(digest[:8], signed=True)
    assert len({"ab" * 16, KEY.seal_digest("ab" * 16), OTHER.seal_digest("ab" * 16)}) == 3


def test_nothing_shows_the_key():
    assert SECRET not in repr(KEY) + str(vars(KEY)) + str(pickle.dumps(KEY))
    assert KEY.id != OTHER.id
    assert KEY.id not in str(vars(KEY)["_names"]) + str(vars(KEY)["_lines"])


def test_the_key_is_read_from_the_environment_or_a_file_and_never_shown(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert read_key(read_settings()) is None
    with pytest.raises(SettingsError, match="no key") as raised:
        get_key(read_settings())
    assert "openssl rand" in (raised.value.hint or "")
    (tmp_path / "key").write_text(f"{SECRET}\n")
    (tmp_path / "tapewise.toml").write_text('pseudonym_key_file = "key"\n')
    assert get_key(read_settings()).id == KEY.id

    monkeypatch.setenv("TAPEWISE_PSEUDONYM_KEY", f"{SECRET}x")
    found = read_settings()
    assert get_key(found).id == OTHER.id
    assert SECRET not in repr(found) + str(found) + found.model_dump_json()
    monkeypatch.setenv("TAPEWISE_PSEUDONYM_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(SettingsError, match="both TAPEWISE_PSEUDONYM_KEY and TAPEWISE_PSEUDONYM_KEY_FILE"):
        read_settings()
    monkeypatch.delenv("TAPEWISE_PSEUDONYM_KEY")
    assert get_key(read_settings()).id == KEY.id


def test_a_short_key_a_missing_file_and_a_key_in_the_configuration_are_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TAPEWISE_PSEUDONYM_KEY", SECRET[1:])
    with pytest.raises(SettingsError, match="fewer than 32 bytes") as short:
        get_key(read_settings())
    assert SECRET[1:] not in f"{short.value} {short.value.hint}"
    monkeypatch.delenv("TAPEWISE_PSEUDONYM_KEY")
    monkeypatch.setenv("TAPEWISE_PSEUDONYM_KEY_FILE", "nowhere")
    unread = read_settings()  # a command that needs no key still runs
    with pytest.raises(SettingsError, match="nowhere cannot be read"):
        get_key(unread)
    monkeypatch.delenv("TAPEWISE_PSEUDONYM_KEY_FILE")
    (tmp_path / "tapewise.toml").write_text(f'pseudonym_key = "{SECRET}"\n')
    with pytest.raises(ConfigError, match="does not belong in it") as raised:
        read_settings()
    assert SECRET not in str(raised.value)
