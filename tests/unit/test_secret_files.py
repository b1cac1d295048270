"""Variables ending in _FILE name files that hold URLs with a password."""

from pathlib import Path

import pytest

from tapewise.schema.errors import SettingsError
from tapewise.schema.settings import read_settings

URL = "postgresql://tapewise_loader:hush@db/tapewise"
READER_URL = "postgresql://tapewise_reader:hush@db/tapewise"


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "loader_url"
    path.write_text(f"{URL}\n")
    monkeypatch.setenv("TAPEWISE_DATABASE_URL_FILE", str(path))
    monkeypatch.chdir(tmp_path)
    return path


def test_each_url_comes_from_its_own_file(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reader_url").write_text(READER_URL)
    assert (read_settings().database_url, read_settings().reader_url) == (URL, None)
    monkeypatch.setenv("TAPEWISE_READER_URL_FILE", str(tmp_path / "reader_url"))
    assert (read_settings().database_url, read_settings().reader_url) == (URL, READER_URL)


def test_a_flag_overrides_it_and_it_overrides_the_configuration_file(secret: Path, tmp_path: Path) -> None:
    (tmp_path / "tapewise.toml").write_text('database_url = "postgresql://other/tapewise"')
    assert read_settings().database_url == URL
    assert read_settings(database_url="postgresql://flag/x").database_url == "postgresql://flag/x"
    assert read_settings(home=tmp_path).database_url is None


def test_giving_both_variables_is_refused(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAPEWISE_DATABASE_URL", URL)
    with pytest.raises(SettingsError, match="both TAPEWISE_DATABASE_URL and TAPEWISE_DATABASE_URL_FILE"):
        read_settings()


@pytest.mark.parametrize("content", [b"", b"\n", b"one\ntwo\n", b"\xff\xfe"])
def test_a_file_without_exactly_one_line_is_refused_and_not_shown(secret: Path, content: bytes) -> None:
    secret.write_bytes(content)
    with pytest.raises(SettingsError, match=rf"{secret} must contain one line of text") as raised:
        read_settings()
    assert "two" not in str(raised.value)


def test_a_missing_file_is_named(secret: Path) -> None:
    secret.unlink()
    with pytest.raises(SettingsError, match=rf"{secret} cannot be read: No such file"):
        read_settings()
