"""The pages of Superset get the limits of sources as SQL."""

import json
from pathlib import Path

import pytest

from tapewise.dashboards.source_limits import SITE_FILE, VARIABLE, read_limits, write_limits
from tapewise.schema.settings import read_settings
from tapewise.schema.sites import ArchiveSettings, SourceSettings

NONE = "VALUES (NULL::text, NULL::text, NULL::double precision)"


@pytest.mark.parametrize(
    ("limits", "rows"),
    [
        (None, NONE),
        ([], NONE),
        (
            [["llnl", "nft", 2], ["o'brien", "a", 26.5]],
            f"{NONE}, ('llnl', 'nft', 2.0), ('o''brien', 'a', 26.5)",
        ),
    ],
)
def test_limits_are_rows_and_names_are_quoted(
    monkeypatch: pytest.MonkeyPatch, limits: list[object] | None, rows: str
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv(SITE_FILE, raising=False)
    if limits is not None:
        monkeypatch.setenv(VARIABLE, json.dumps(limits))
    assert write_limits() == rows


SITE = """
[[archives]]
name = "llnl"
timezone = "UTC"
  [[archives.sources]]
  format = "nft"
  paths = ["nft*"]
  silent_after_hours = 50
  [[archives.sources]]
  format = "layouts/site.toml"
  paths = ["*"]
  silent_after_hours = 1.5
  [[archives.sources]]
  name = "jobs"
  format = "cond"
  paths = ["cond*"]
  silent_after_hours = 3
  [[archives.sources]]
  format = "stat"
  paths = ["stat*"]
"""


def test_with_compose_limits_are_read_from_the_sites_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "tapewise.toml"
    site.write_text(SITE)
    limits = [
        (archive.name, source.name, source.silent_after_hours) for archive, source in _list_sources(site)
    ]
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(SITE_FILE, str(site))
    assert (
        read_limits(site) == limits[:3] == [("llnl", "nft", 50), ("llnl", "site", 1.5), ("llnl", "jobs", 3)]
    )
    assert write_limits() == f"{NONE}, ('llnl', 'nft', 50.0), ('llnl', 'site', 1.5), ('llnl', 'jobs', 3.0)"
    # `make dashboards` has read the file of its home, and not that of the variable.
    monkeypatch.setenv(VARIABLE, "[]")
    assert write_limits() == NONE


def _list_sources(site: Path) -> list[tuple[ArchiveSettings, SourceSettings]]:
    """What the other programs read from the same file."""
    settings = read_settings(config=site)
    return [(archive, source) for archive in settings.archives for source in archive.sources]


@pytest.mark.parametrize("content", [None, "archives = ["])
def test_a_sites_file_that_cannot_be_read_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    site = tmp_path / "tapewise.toml"
    if content:
        site.write_text(content)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(SITE_FILE, str(site))
    with pytest.raises(SystemExit, match=r"tapewise\.toml cannot be read"):
        write_limits()
