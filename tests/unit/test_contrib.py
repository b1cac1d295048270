"""The cron and systemd files in contrib/ are well-formed and run an existing command."""

import configparser
import json
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tapewise.cli import COMMANDS
from tapewise.ingest.nightly.metrics import FATES, RefreshReport, RoundReport, SourceLines, write_metrics
from tapewise.ingest.nightly.run import SourceOutcome

CONTRIB = Path(__file__).resolve().parents[2] / "contrib"
SYSTEMD = CONTRIB / "systemd"
RULES = CONTRIB / "prometheus" / "tapewise.rules.yml"
PAGE = CONTRIB / "grafana" / "tapewise-loads.json"
METRIC = re.compile(r"\btapewise_[a-z_]+")


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


@pytest.fixture
def metrics(tmp_path: Path) -> dict[str, set[str]]:
    """The metrics that the program writes, with their labels."""
    now = datetime.now(UTC)
    lines = [SourceLines("llnl", "nft", (1,) * len(FATES), now, now)]
    outcomes = [SourceOutcome("llnl", "nft")]
    write_metrics(tmp_path / "t.prom", RoundReport(now, now, 0, outcomes, lines, 1, RefreshReport(1, 0, 1.0)))
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(tapewise_\w+)(?:\{(.*)\})? ", (tmp_path / "t.prom").read_text(), re.M):
        found.setdefault(name, set()).update(re.findall(r"(\w+)=", labels))
    return found


def list_rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


def test_alerts_and_grafana_ask_for_metrics_that_exist(metrics: dict[str, set[str]]) -> None:
    panels = json.loads(PAGE.read_text())["panels"]
    expressions = [rule["expr"] for rule in list_rules()]
    expressions += [target["expr"] for panel in panels for target in panel["targets"]]
    used = {name for expression in expressions for name in METRIC.findall(expression)}
    assert used <= metrics.keys()
    # What the program writes is also shown.
    assert metrics.keys() <= {name for panel in panels for name in METRIC.findall(json.dumps(panel))}
    for expression in expressions:
        labels = set.union(*(metrics[name] for name in METRIC.findall(expression)))
        asked = re.findall(r"(\w+)=~?\"", expression)
        for part in re.findall(r"(?:by|without|ignoring) \(([\w, ]+)\)", expression):
            asked += part.split(", ")
        assert set(asked) <= labels, expression
        for fate in re.findall(r'fate="(\w+)"', expression):
            assert fate in FATES


def test_alerts_name_what_they_are_about(metrics: dict[str, set[str]]) -> None:
    for rule in list_rules():
        labels = set.union(*(metrics[name] for name in METRIC.findall(rule["expr"])))
        text = rule["annotations"]["summary"]
        assert set(re.findall(r"\$labels\.(\w+)", text)) == labels - {"fate"}, rule["alert"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"]["description"]
