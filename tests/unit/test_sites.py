"""What tapewise.toml may say about archives and sources, and the messages about mistakes in it."""

import os
import re
from pathlib import Path

import pytest

from tapewise.ingest.nightly.sources import plan_round
from tapewise.schema.errors import ConfigError, SettingsError
from tapewise.schema.settings import read_settings

GOOD = """
home = "warehouse"
prometheus_file = "metrics/tapewise.prom"
[[archives]]
name = "llnl"
timezone = "America/Los_Angeles"
  [[archives.sources]]
  format = "nft"
  paths = ["logs/nft*"]
  [[archives.sources]]
  name = "stat-gw"
  format = "stat"
  paths = ["logs/stat*"]
  timezone = "UTC"
  counted = false
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    for name in ("nft.log", "nft.log.1", "stat.log"):
        (tmp_path / "logs" / name).touch()
    (tmp_path / "tapewise.toml").write_text(GOOD)
    return tmp_path / "tapewise.toml"


def test_paths_are_relative_to_the_file_and_names_have_defaults(config: Path) -> None:
    settings = read_settings(config=config)
    assert settings.home == config.parent / "warehouse"
    assert settings.prometheus_file == config.parent / "metrics" / "tapewise.prom"
    first, second = plan_round(settings)
    assert (first.request.name, first.request.timezone, first.request.is_counted) == (
        "nft",
        "America/Los_Angeles",
        True,
    )
    assert (second.request.name, second.request.timezone, second.request.is_counted) == (
        "stat-gw",
        "UTC",
        False,
    )
    assert second.request.archive_timezone == "America/Los_Angeles"
    assert {path.name for path in first.paths} == {"nft.log", "nft.log.1"}


def test_the_variable_names_a_file_and_the_flag_overrides_it(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPEWISE_CONFIG", str(config))
    assert len(read_settings().archives) == 1
    other = tmp_path / "other.toml"
    other.write_text("")
    assert read_settings(config=other).archives == ()
    with pytest.raises(SettingsError, match=r"nowhere\.toml: there is no such file"):
        read_settings(config=tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'format = "nft"',
            'fromat = "nft"',
            "archives[llnl].sources[1].fromat: no such key; did you mean 'format'?",
        ),
        (
            "counted = false",
            "is_counted = false",
            "sources[stat-gw].is_counted: no such key; did you mean 'counted'?",
        ),
        ("counted = false", "zzz = 1", "archives[llnl].sources[stat-gw].zzz: no such key"),
        ("counted = false", 'counted = "no"', "[stat-gw].counted: expected true or false, without quotes"),
        ("counted = false", "complete = 1", "[stat-gw].complete: expected true or false, without quotes"),
        ("counted = false", "silent_after_hours = true", "sources[stat-gw].silent_after_hours: "),
        ("counted = false", "silent_after_hours = inf", "sources[stat-gw].silent_after_hours: "),
        ('paths = ["logs/nft*"]', 'paths = "logs/nft*"', '[nft].paths: expected a list: paths = ["..."]'),
        ('home = "warehouse"', 'hom = "warehouse"', "hom: no such key; did you mean 'home'?"),
        ('name = "stat-gw"', 'name = "a\\nb"', r"sources[a\x0ab].name: a name is printable text"),
        ("counted = false", "silent_after_hours = 0", "sources[stat-gw].silent_after_hours: "),
        ('name = "stat-gw"', 'name = "nft"', "archives[llnl]: 2 sources are called 'nft'"),
        ('name = "stat-gw"', 'name = " "', "sources[ ].name: a name is printable text"),
        ('name = "llnl"', 'name = "llnl"\nkind = "simulated"', "archives[llnl].kind: "),
        ('paths = ["logs/nft*"]', "paths = []", "archives[llnl].sources[nft].paths: "),
        ('timezone = "America/Los_Angeles"', "", "archives[llnl].timezone: Field required"),
        ("[[archives]]", '[[archives]]\nname = "x"\ntimezone = "UTC"\n[[archives]]', "archives[x].sources: "),
    ],
)
def test_errors_name_what_is_wrong(config: Path, old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    config.write_text(GOOD.replace(old, new))
    with pytest.raises(ConfigError, match=re.escape(f"{config}: ") + ".*" + re.escape(message)) as caught:
        read_settings(config=config)
    assert caught.value.exit_status == 2


def test_every_error_is_reported_on_a_line_of_its_own(config: Path) -> None:
    config.write_text(
        GOOD.replace("home =", "hom =").replace("format = ", "fromat = ", 1).replace("false", "0")
    )
    with pytest.raises(ConfigError) as caught:
        read_settings(config=config)
    here = f"{config}: archives[llnl].sources"
    assert sorted(caught.value.message.splitlines()) == [
        f"{here}[1].fromat: no such key; did you mean 'format'?",  # a missing 'format' is not reported too
        f"{here}[stat-gw].counted: expected true or false, without quotes",
        f"{config}: hom: no such key; did you mean 'home'?",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[archives]", r"archives: expected a list: \[\[archives\]\]"),
        (
            GOOD.replace("[[archives.sources]]", "[archives.sources]", 1).split("  [[")[0],
            r"\[\[archives\.sources\]\]",
        ),
        (
            "postgres_version = 3",
            "setting 'postgres_version': the embedded PostgreSQL must be 16 or 18, not 3",
        ),
        ("home", "cannot be read: "),
    ],
)
def test_an_invalid_file_is_always_a_usage_error(config: Path, text: str, message: str) -> None:
    config.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_settings(config=config)
    config.unlink()
    with pytest.raises(ConfigError, match="there is no such file"):
        read_settings(config=config)


def test_two_archives_with_the_same_name_are_refused(config: Path) -> None:
    config.write_text(GOOD + GOOD[GOOD.index("[[archives]]") :])
    with pytest.raises(ConfigError, match="2 archives are called 'llnl'"):
        read_settings(config=config)


def test_the_file_may_not_contain_config(config: Path) -> None:
    config.write_text('config = "x"\n')
    with pytest.raises(SettingsError, match="'config' names this file"):
        read_settings(config=config)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('format = "nft"', 'format = "nfd"', r"archives\[llnl\]\.sources\[nfd\]\.format: no log format"),
        (
            'timezone = "UTC"',
            'timezone = "CET"',
            r"sources\[stat-gw\]\.timezone: no time zone is called 'CET'",
        ),
        ('"America/Los_Angeles"', '"Mars/Olympus"', r"archives\[llnl\]\.timezone: no time zone"),
        ('"logs/stat*"', '"logs/*.log"', r"nft\.log is in sources 'nft' and 'stat-gw'"),
    ],
)
def test_errors_found_only_while_planning(config: Path, old: str, new: str, message: str) -> None:
    config.write_text(GOOD.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        plan_round(read_settings(config=config))


def test_a_round_can_be_limited_to_one_archive(config: Path) -> None:
    assert len(plan_round(read_settings(config=config), "llnl")) == 2
    with pytest.raises(ConfigError, match="no archive is called 'sdsc'"):
        plan_round(read_settings(config=config), "sdsc")


def test_files_are_in_the_order_of_rotation_without_folders(config: Path) -> None:
    (config.parent / "logs" / "nft-folder").mkdir()
    os.utime(config.parent / "logs" / "nft.log", (2e9, 2e9))
    os.utime(config.parent / "logs" / "nft.log.1", (1e9, 1e9))
    (config.parent / "logs" / "nft-latest").symlink_to("nft.log")
    first, _ = plan_round(read_settings(config=config))
    assert [path.resolve().name for path in first.paths] == ["nft.log.1", "nft.log"]


def test_globs_that_match_nothing_are_listed_separately(config: Path) -> None:
    config.write_text(GOOD.replace('"logs/nft*"', '"logs/nft*", "elsewhere/*"'))
    assert [plan.unmatched for plan in plan_round(read_settings(config=config))] == [
        ["nothing matches 'elsewhere/*'"],
        [],
    ]


def test_a_file_with_a_line_break_in_its_name_breaks_no_line(config: Path) -> None:
    (config.parent / "logs" / "stat\nnft").touch()
    config.write_text(GOOD.replace("logs/nft*", "logs/*nft*"))
    with pytest.raises(ConfigError, match=r"stat\\x0anft is in sources 'nft' and 'stat-gw'"):
        plan_round(read_settings(config=config))


@pytest.mark.parametrize("pattern", ["logs", "logs/", "log?"])
def test_a_folder_is_reported_as_a_folder(config: Path, pattern: str) -> None:
    config.write_text(GOOD.replace('"logs/nft*"', f'"logs/nft*", "{pattern}"'))
    first, _ = plan_round(read_settings(config=config))
    assert first.unmatched == [f"'{pattern}' is a folder: did you mean '{pattern.rstrip('/')}/*'?"]
