"""A site's folder of layouts: its formats are detected, loaded and listed by name."""

import json

import pytest

from tests.unit.layouts.made_up import SITE

pytestmark = pytest.mark.study("ingest", "tapewise")

LINE = "2024-03-05 09:14:{:02} put kim n7 12.5 1024 /home/k/a 7\n"
CONFIG = """
[[archives]]
name = "kept"
timezone = "UTC"
kind = "synthetic"
  [[archives.sources]]
  format = "mover"
  paths = ["logs/*"]
"""


@pytest.fixture
def folder(tmp_path, tapewise):
    """A folder with tapewise.toml, a layout in `layouts`, and a log of that format."""
    for name in ("layouts", "logs"):
        (tmp_path / name).mkdir()
    (tmp_path / "layouts" / "mover.toml").write_text(SITE)
    (tmp_path / "layouts" / "README").write_text("not a layout")
    (tmp_path / "logs" / "a.log").write_text("".join(map(LINE.format, range(50))))
    (tmp_path / "tapewise.toml").write_text(CONFIG)
    yield tmp_path
    for archive in ("kept", "asked"):
        tapewise("archives", "drop", archive, "--yes")


@pytest.mark.parametrize("flag", ["--config", "--layouts"])
def test_a_layout_of_the_folder_is_known_by_name(folder, tapewise, flag):
    flags = (flag, str(folder / {"--config": "tapewise.toml", "--layouts": "layouts"}[flag]))
    log = str(folder / "logs" / "a.log")
    assert json.loads(tapewise(*flags, "detect", "--json", log).stdout)["format"] == "mover"
    assert "mover " in tapewise(*flags, "formats", "list").stdout
    assert "kim" in tapewise(*flags, "formats", "lines", "mover").stdout
    report = json.loads(tapewise(*flags, "report", "--json", log).stdout)
    assert [row["transfer_count"] for row in report["transfers"]] == [50]
    for how in ((), ("--format", "mover")):
        about = ["--archive", "asked", "--kind", "synthetic", "--timezone", "UTC"]
        done = tapewise(*flags, "ingest", *about, "--json", *how, log)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["format"] == "mover"
    # The warehouse keeps the layout, so the source can be read without the folder.
    done = tapewise("status", "--archive", "asked")
    assert "mover" in done.stdout, done.stderr


def test_the_nightly_job_knows_the_layouts_beside_its_file(folder, tapewise):
    done = tapewise("--config", str(folder / "tapewise.toml"), "ingest")
    assert "50 loaded" in done.stdout, done.stderr


def test_without_the_folder_a_log_is_answered_with_how_to_describe_it(folder, tapewise):
    (folder / "layouts").rename(folder / "others")
    done = tapewise("report", str(folder / "logs" / "a.log"))
    assert done.returncode == 1
    assert "no format detected" in done.stderr
    assert "docs/how-to/own-format.md" in done.stderr


def test_a_wrong_layout_is_named_where_formats_are_asked_for(folder, tapewise):
    flags = ("--config", str(folder / "tapewise.toml"))
    (folder / "layouts" / "wrong.toml").write_text("title = 5")
    done = tapewise(*flags, "detect", str(folder / "logs" / "a.log"))
    assert done.returncode == 1
    assert "wrong.toml" in done.stderr
    assert "Traceback" not in done.stderr
    assert tapewise(*flags, "archives", "list").returncode == 0
    (folder / "layouts" / "wrong.toml").unlink()
    (folder / "layouts" / "hsi.toml").write_text(SITE)
    done = tapewise(*flags, "detect", str(folder / "logs" / "a.log"))
    assert "a format called 'hsi' already exists" in done.stderr
    done = tapewise("--layouts", str(folder / "absent"), "archives", "list")
    assert done.returncode == 2
    assert "absent is not a folder" in done.stderr
