"""The cron and systemd files in contrib/ are well-formed and run an existing command."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tapewise.cli import COMMANDS

CONTRIB = Path(__file__).resolve().parents[2] / "contrib"
SYSTEMD = CONTRIB / "systemd"


def test_cron_and_systemd_run_the_same_command_with_the_same_file() -> None:
    cron = (CONTRIB / "cron" / "tapewise").read_text()
    service = (SYSTEMD / "tapewise-ingest.service").read_text()
    (at_night,) = re.findall(r"^0 1 \* \* \* +tapewise +(.*) >/dev/null$", cron, re.MULTILINE)
    (started,) = re.findall(r"^ExecStart=(.*)$", service, re.MULTILINE)
    assert at_night == started
    program, command = started.split()
    assert program.endswith("/tapewise") and command in COMMANDS
    assert "TAPEWISE_CONFIG=/etc/tapewise.toml" in cron and "TAPEWISE_CONFIG=/etc/tapewise.toml" in service


def test_a_missed_night_is_caught_up() -> None:
    timer = configparser.ConfigParser()
    timer.read(SYSTEMD / "tapewise-ingest.timer")
    assert timer["Timer"].getboolean("Persistent")


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd here")
    for unit in SYSTEMD.iterdir():
        # The program need not exist here.
        text = re.sub(r"^ExecStart=.*$", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
        (tmp_path / unit.name).write_text(text)
    units = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
