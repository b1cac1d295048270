"""What the paths of a command mean."""

from pathlib import Path

import pytest

from tapewise.ingest.commands.paths import expand_paths
from tapewise.schema.errors import LogFileError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a.log, b.log, .hidden, 1/c.log, 1/2/d.log, .git/e.log, empty/ and a link to 1."""
    for name in ("b.log", "a.log", ".hidden", "1/c.log", "1/2/d.log", ".git/e.log", "x[1].log"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "logs" / "empty").mkdir()
    (tmp_path / "logs" / "link").symlink_to("1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expand(*names: str, is_recursive: bool = False) -> list[str]:
    return [str(path) for path in expand_paths([Path(name) for name in names], is_recursive=is_recursive)]


@pytest.mark.usefixtures("folder")
def test_a_folder_means_its_files_only_if_asked_for():
    everything = ["logs/a.log", "logs/b.log", "logs/x[1].log", "logs/1/c.log", "logs/1/2/d.log"]
    assert expand("logs", is_recursive=True) == everything
    assert expand("logs") == ["logs"]
    # Each once, in the order in which they are named first.
    assert expand("logs/b.log", "logs", is_recursive=True) == ["logs/b.log", *everything[:1], *everything[2:]]


def test_an_absolute_folder_gives_absolute_paths(folder: Path):
    assert expand(str(folder / "logs" / "1"), is_recursive=True) == [
        f"{folder}/logs/1/c.log",
        f"{folder}/logs/1/2/d.log",
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("logs/*.log", ["logs/a.log", "logs/b.log", "logs/x[1].log"]),
        ("logs/[ab].log", ["logs/a.log", "logs/b.log"]),
        ("logs/?", ["logs/?"]),  # only a folder matches
        ("logs/1/**/*.log", ["logs/1/2/d.log", "logs/1/c.log"]),
        ("logs/x[1].log", ["logs/x[1].log"]),  # there is such a file
        ("logs/*.gz", ["logs/*.gz"]),
        ("-", ["-"]),
        ("gone.log", ["gone.log"]),
    ],
)
def test_a_quoted_pattern_means_the_files_that_match(pattern: str, found: list[str]):
    assert expand(pattern) == found


@pytest.mark.usefixtures("folder")
def test_a_folder_without_files_is_an_error():
    with pytest.raises(LogFileError, match="logs/empty: there are no files in this folder"):
        expand("logs/empty", is_recursive=True)
