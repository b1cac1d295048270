"""`tapewise report --html` writes one file, and its findings are those of the lines themselves."""

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from statistics import median

import pytest

from tests.acceptance.conftest import TREE, run_command

HSI = TREE / "examples" / "logs" / "hsi.log"
ZONE = ["--timezone", "America/Los_Angeles"]


def read_transfers():
    """Read the transfers of the example's HSI log, without Tapewise."""
    transfers = []
    for line in HSI.read_text(errors="replace").splitlines():
        head, *fields = line.split("\t")
        words = head.split()
        program = words[6] if len(words) > 7 else ""
        if program == "htar" and len(fields) == 10:
            fields = [*fields[1:3], "", *fields[3:]]  # it has no open time
        elif program != "hsi" or len(fields) < 8 or fields[0] not in ("LH", "HL"):
            continue
        try:
            ended_at = datetime.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y")
            size_bytes = int(fields[3])
        except ValueError:
            continue
        if size_bytes < 0:  # a damaged line
            continue
        transfers.append(
            {
                **{"program": program, "is_get": fields[0] == "HL", "ended_on": ended_at.date()},
                **{"user": words[7], "is_failed": fields[1] != "0", "size_bytes": size_bytes},
                "open_s": None if program == "htar" else float(fields[2]),
            }
        )
    return transfers


def test_findings_are_those_of_the_lines(tmp_path):
    done = run_command(["report", "--json", *ZONE, str(HSI)], cwd=tmp_path)
    document = json.loads(done.stdout)
    found = {each["section"]: each["sentence"] for each in document["findings"]}
    transfers = read_transfers()
    # Dates far from the others are damage, and rejected.
    transfers = [each for each in transfers if f"{each['ended_on']:%Y-%m}" == "1998-10"]
    assert len(transfers) == sum(row["transfer_count"] for row in document["transfers"])
    sound = [each for each in transfers if not each["is_failed"]]

    days = Counter()
    for each in sound:
        days[each["ended_on"]] += each["size_bytes"]
    busiest_on, most_bytes = max(days.items(), key=lambda day: day[1])
    ratio = most_bytes / median(size for size in days.values() if size)
    assert busiest_on == date(1998, 10, 29)
    assert found["days"] == f"Thu 1998-10-29 moved {ratio:.1f} times the bytes of a median day"

    puts = [each for each in transfers if (each["program"], each["is_get"]) == ("hsi", False)]
    failed = sum(each["is_failed"] for each in puts)
    share = f"{100 * failed / len(puts):.0f} %"
    assert found["failures"] == f"{share} of the puts by hsi failed ({failed} of {len(puts):,})"

    users = Counter()
    for each in sound:
        users[each["user"]] += each["size_bytes"]
    some, count = 0, 0
    for _, size in users.most_common():
        some, count = some + size, count + 1
        if some >= sum(users.values()) / 2:
            break
    assert found["user_curve"] == f"Half of the bytes came from {count} of {len(users)} users"

    large = [each["size_bytes"] for each in sound if not each["is_get"] and each["size_bytes"] >= 10**9]
    sizes = [each["size_bytes"] for each in sound if not each["is_get"]]
    # The report reads sizes from a histogram, within 1 %.
    shown = re.fullmatch(
        "([0-9]+) % of the puts, those of 1 GB or more, moved ([0-9]+) % of their bytes", found["size_shares"]
    )
    assert shown is not None
    assert float(shown[1]) == pytest.approx(100 * len(large) / len(sizes), abs=0.6)
    assert float(shown[2]) == pytest.approx(100 * sum(large) / sum(sizes), abs=1)

    waits = [each["open_s"] for each in sound if each["is_get"] and each["open_s"] is not None]
    # The wait of a few is unknown to the report, because their rate, and so their beginning, is.
    shown = re.fullmatch(
        "One in twenty of the ([0-9,]+) gets with a known wait waited longer than ([0-9]+) s", found["times"]
    )
    assert shown is not None
    assert sum(wait > float(shown[2]) for wait in waits) / len(waits) == pytest.approx(0.05, abs=0.005)
    long = sum(wait >= 60 for wait in waits) / len(waits)
    assert found["open_time_bins"] == (
        f"{100 * long:.0f} % of the {len(waits):,} gets with an open time waited a minute or longer"
    )


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
