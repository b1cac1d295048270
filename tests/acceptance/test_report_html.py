"""`tapewise report --html` writes one file, whatever is at its path."""

import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from tapewise.report.kept_pages import KeptPage, remove_others
from tests.acceptance.conftest import TREE, run_command

pytestmark = pytest.mark.study("tapewise/report")

HSI = TREE / "examples" / "logs" / "hsi.log"
ZONE = ["--timezone", "America/Los_Angeles"]


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    log, page = tmp_path / "few.log", tmp_path / "page.html"
    log.write_text("".join(HSI.read_text(errors="replace").splitlines(keepends=True)[:300]))
    page.write_text("yesterday's")
    wrong = run_command(["report", "--html", str(page), str(tmp_path / "missing.log")], cwd=tmp_path)
    assert (wrong.returncode, page.read_text()) == (1, "yesterday's")
    done = run_command(["report", "--html", str(page), *ZONE, str(log)], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{page} written (0." in done.stderr
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "What is notable" in text
    shown = run_command(["report", "--html", "-", *ZONE, str(log)], cwd=tmp_path)
    assert shown.stdout.startswith("<!DOCTYPE html>")
    # No names of users, machines or files: only the command's own argument is named.
    assert "/home/" not in text.replace(str(tmp_path), "")
    assert "example.gov" not in text
    assert {path.name for path in tmp_path.iterdir()} == {"few.log", "page.html"}
    nowhere = run_command(["report", "--html", "no/such/folder.html", *ZONE, str(log)], cwd=tmp_path)
    assert nowhere.returncode == 1
    assert "no/such/folder.html cannot be written: no/such is not a folder" in nowhere.stderr
    unnamed = run_command(["report", "--html", "", *ZONE, str(log)], cwd=tmp_path)
    assert (unnamed.returncode, "--html needs the name of a file." in unnamed.stderr) == (2, True)
    long = run_command(["report", "--html", "x" * 300, *ZONE, str(log)], cwd=tmp_path)
    assert long.returncode == 1
    assert f"{'x' * 300} cannot be written: File name too long" in long.stderr


def test_what_is_at_the_path_stays_what_it_is(tmp_path):
    """A link refers to the file that it did, whose mode does not change; a pipe stays one."""
    log, kept, link, pipe = (tmp_path / name for name in ("few.log", "kept.html", "link.html", "pipe"))
    log.write_text("".join(HSI.read_text(errors="replace").splitlines(keepends=True)[:9]))
    kept.write_text("yesterday's")
    kept.chmod(0o640)
    link.symlink_to(kept)
    assert run_command(["report", "--html", str(link), *ZONE, str(log)], cwd=tmp_path).returncode == 0
    assert link.is_symlink()
    assert kept.read_text().startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    os.mkfifo(pipe)
    with subprocess.Popen(["timeout", "60", "cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert run_command(["report", "--html", str(pipe), *ZONE, str(log)], cwd=tmp_path).returncode == 0
        assert reader.communicate()[0].startswith("<!DOCTYPE html>")
    assert pipe.is_fifo()
    assert {path.name for path in tmp_path.iterdir()} == {"few.log", "kept.html", "link.html", "pipe"}


def test_a_page_of_no_line_says_so(tmp_path):
    log, page = tmp_path / "empty.log", tmp_path / "page.html"
    log.touch()
    done = run_command(["report", "--html", str(page), str(log)], cwd=tmp_path)
    assert done.returncode == 0
    text = page.read_text()
    assert "empty.log: no whole line yet; passed over." in text
    assert "No line has a time." in text
    assert "<figure>" not in text


def test_a_log_is_not_replaced_by_the_page_about_another(tmp_path):
    """A shell that expands `--html *.log` makes the first log the file to write."""
    text = "".join(HSI.read_text(errors="replace").splitlines(keepends=True)[:9])
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(text)
    wrong = run_command(["report", "--html", "a.log", "b.log"], cwd=tmp_path)
    assert wrong.returncode == 1
    assert "tapewise: a.log exists, and does not look like a page." in wrong.stderr
    assert (tmp_path / "a.log").read_text() == text


def test_html_and_json_exclude_each_other(tmp_path):
    wrong = run_command(["report", "--html", "page.html", "--json", str(HSI)], cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--html and --json exclude each other." in wrong.stderr


def test_without_its_extra_a_page_names_it(tmp_path, monkeypatch):
    """A folder of the same name hides the package from the command, as if it were not installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find_spec = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'altair' else find_spec(name)\n"
    )
    wrong = run_command(
        ["report", "--html", "page.html", str(HSI)],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{TREE}"},
    )
    assert wrong.returncode == 1
    assert "this needs the Python package altair, which is not installed" in wrong.stderr
    assert "extra 'report'" in wrong.stderr
    assert not (tmp_path / "page.html").exists()


def test_the_example_in_the_documentation_is_current(demo_home, tmp_path):
    """Its words and numbers are those that the command writes now; if not, run `make example-report`.

    Figures are not compared, because their measures depend on the fonts of a machine.
    """
    folder, page = Path(tempfile.mkdtemp(prefix="tapewise-example-")), tmp_path / "page.html"
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    home = ["--home", str(folder / "home")]
    try:
        subprocess.run(["cp", "-a", demo_home, folder / "home"], check=True)
        done = run_command([*home, "report", "--archive", "example", "--html", str(page)])
        run_command([*home, "db", "stop"])
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    now, kept = (
        re.sub(r"<svg.*?</svg>|(?i:made) [0-9-]+[^<]*? by", "", path.read_text(), flags=re.DOTALL)
        for path in (page, TREE / "docs" / "example-report.html")
    )
    assert now == kept


@pytest.fixture
def archive(tapewise, tmp_path):
    """An archive with an odd name, which the tests of other files that use the same home must not see."""
    name, log = "../a 'b' 100%", tmp_path / "few.log"
    log.write_text("".join(HSI.read_text(errors="replace").splitlines(keepends=True)[:50]))
    given = ["--archive", name, "--kind", "synthetic", "--format", "hsi", *ZONE]
    assert tapewise("ingest", *given, str(log)).returncode == 0
    yield name
    assert tapewise("archives", "drop", name, "--yes").returncode == 0


def test_reports_for_the_dashboards_are_written_again_if_something_has_changed(tapewise, archive, tmp_path):
    """Each archive has a file in a folder of the home or in that of the settings, whatever its name is."""
    folder = tmp_path / "reports"
    environment = {"env": os.environ | {"TAPEWISE_REPORTS": str(folder)}}
    asked = ("report", "--for-dashboards", "--archive", archive)
    assert tapewise(*asked, **environment).returncode == 0
    (page,) = folder.iterdir()
    assert page.name == "..%2Fa%20%27b%27%20100%25.report.html"
    first = page.read_text()
    assert "What is notable" in first and "/home/" not in first.replace(str(tmp_path), "")
    again = tapewise(*asked, **environment)
    assert again.stderr == f"{archive}: nothing has changed since its report was written\n"
    outage = ("--archive", archive, "--since", "1998-10-20", "--until", "1998-10-21", "--kind", "unscheduled")
    assert tapewise("outages", "add", *outage, "--note", "a power cut").returncode == 0
    assert f"{page} written (0." in tapewise(*asked, **environment).stderr
    assert "a power cut" in page.read_text() and "a power cut" not in first
    wrong = tapewise("report", "--for-dashboards", "--archive", "nobody", **environment)
    assert (wrong.returncode, "no archive is called 'nobody'" in wrong.stderr) == (1, True)
    wrong = tapewise("report", "--for-dashboards", "--json")
    assert (wrong.returncode, "--for-dashboards goes with --archive only" in wrong.stderr) == (2, True)


def test_reports_of_archives_that_are_gone_are_removed_and_nothing_else(tmp_path):
    for name in ("kept.report.html", "gone%2F.report.html", "mine.html"):
        (tmp_path / name).write_text("")
    pages = [KeptPage("kept", tmp_path / "kept.report.html", "1")]
    assert remove_others(tmp_path, pages) == ["gone/"]
    assert {path.name for path in tmp_path.iterdir()} == {"kept.report.html", "mine.html"}
