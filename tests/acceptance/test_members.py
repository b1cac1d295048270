"""Commands take tar and zip archives of logs, and the files in them by name."""

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.acceptance.test_commands import HSI, NFT

pytestmark = pytest.mark.study("ingest", "tapewise")

LATER = NFT.replace("97/10/01", "97/10/02")


@pytest.fixture
def archive(request) -> str:
    """The name of an archive for this test alone."""
    return request.node.name


@pytest.fixture
def load(tapewise, archive):
    """Return a function that loads files and returns what the command prints."""

    def load(*paths: str, status: int = 0) -> str:
        about = ["--archive", archive, "--kind", "synthetic", "--timezone", "UTC"]
        done = tapewise("ingest", *about, *paths)
        assert done.returncode == status, done.stderr
        return done.stdout

    return load


@pytest.fixture
def list_loaded(tapewise, tmp_path):
    """Return a function that returns each file's path, and how many of its lines are loaded and held."""

    def list_loaded() -> list[tuple[object, ...]]:
        query = "SELECT path, loaded_count, held_count FROM mart.log_files ORDER BY path"
        done = tapewise("sql", "--json", f"SELECT * FROM ({query}) f WHERE path LIKE '{tmp_path}/%'")
        files = [(Path(each["path"]), each) for each in json.loads(done.stdout)]
        return [(str(path.relative_to(tmp_path)), *list(each.values())[1:]) for path, each in files]

    return list_loaded


@pytest.fixture
def pack(tmp_path):
    """Return a function that writes log files into an archive of that name, and into the folder `logs`."""

    def pack(name: str, contents: dict[str, str]) -> None:
        (tmp_path / "logs").mkdir(exist_ok=True)
        paths = {member: tmp_path / "logs" / member for member in contents}
        for member, path in paths.items():
            path.write_text(contents[member])
        if name.endswith("zip"):
            with zipfile.ZipFile(tmp_path / name, "w") as file:
                for member, path in paths.items():
                    file.write(path, member)
        else:
            with tarfile.open(tmp_path / name, "w:gz") as file:
                for member, path in paths.items():
                    file.add(path, member)

    return pack


@pytest.mark.parametrize("name", ["old.tar.gz", "old.zip"])
def test_the_files_of_an_archive_are_loaded_once(tapewise, load, list_loaded, pack, name):
    pack(name, {"nft.1": NFT, "nft.2": LATER, "hsi.1": HSI})
    load(name)
    loaded = [(f"{name}/hsi.1", 1, 0), (f"{name}/nft.1", 2, 0), (f"{name}/nft.2", 2, 0)]
    assert list_loaded() == loaded
    # Nothing counts twice: the archive again, a file of it by name, and files that are not in an archive.
    assert load(name).count("unchanged") == 3
    load(f"{name}/nft.2")
    assert list_loaded() == loaded
    load("-r", "logs")
    assert list_loaded() == [("logs/hsi.1", 0, 1), ("logs/nft.1", 0, 2), ("logs/nft.2", 0, 2), *loaded]
    # A line is found again in the file of the archive.
    shown = tapewise("explain", "line", f"{name}/nft.2", "2")
    assert "13166758" in shown.stdout, shown.stderr


def test_a_file_that_grew_is_continued_in_a_new_archive(load, list_loaded, pack):
    pack("old.tar.gz", {"nft.1": NFT, "nft.2": LATER})
    load("old.tar.gz")
    pack("old.tar.gz", {"nft.1": NFT, "nft.2": LATER + NFT.replace("97/10/01", "97/10/03")})
    load("old.tar.gz")
    assert list_loaded() == [("old.tar.gz/nft.1", 2, 0), ("old.tar.gz/nft.2", 4, 0)]


def test_other_commands_read_the_files_of_an_archive(tapewise, pack):
    pack("old.tar.gz", {"nft.1": NFT, "odd": "?\n"})
    shown = tapewise("detect", "old.tar.gz").stdout
    assert "old.tar.gz/nft.1: nft" in shown
    assert "old.tar.gz/odd: no format detected" in shown
    report = tapewise("report", "--timezone", "UTC", "old.tar.gz/nft.1")
    assert report.returncode == 0, report.stderr
    assert "old.tar.gz/nft.1" in report.stdout


def test_the_nightly_job_reads_the_files_of_an_archive(tapewise, list_loaded, pack, archive, tmp_path):
    pack("old.tar.gz", {"nft.1": NFT, "nft.2": LATER})
    (tmp_path / "tapewise.toml").write_text(
        f'[[archives]]\nname = "{archive}"\nkind = "synthetic"\ntimezone = "UTC"\n'
        '[[archives.sources]]\nname = "nft"\nformat = "nft"\npaths = ["*.tar.gz"]\n'
    )
    for _ in range(2):
        done = tapewise("--config", "tapewise.toml", "ingest")
        assert done.returncode == 0, done.stderr
        assert list_loaded() == [("old.tar.gz/nft.1", 2, 0), ("old.tar.gz/nft.2", 2, 0)]


def test_a_damaged_archive_is_reported_and_the_rest_is_loaded(load, list_loaded, pack, tmp_path):
    pack("old.tar.gz", {"nft.1": NFT})
    (tmp_path / "cut.tar.gz").write_bytes((tmp_path / "old.tar.gz").read_bytes()[:100])
    load("cut.tar.gz", "old.tar.gz", status=1)
    assert list_loaded() == [("old.tar.gz/nft.1", 2, 0)]
