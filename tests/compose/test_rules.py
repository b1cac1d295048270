"""Prometheus accepts the alerts of contrib/, and the expressions of Grafana's page."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.compose.stack import CODE, TREE, build_tool

pytestmark = pytest.mark.study(*CODE, together=True)

RULES = TREE / "contrib" / "prometheus" / "tapewise.rules.yml"
PAGE = TREE / "contrib" / "grafana" / "tapewise-loads.json"


def check(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([build_tool("rules-check"), *files], capture_output=True, text=True, check=False)


def test_prometheus_accepts_the_alerts_and_what_grafana_asks(tmp_path: Path) -> None:
    panels = json.loads(PAGE.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = check(RULES, path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("time() - tapewise_last_event", "time( - tapewise_last_event", "could not parse expression"),
        ("humanizeDuration", "humanise", 'function "humanise" not defined'),
        ("for: 15m", "for: 15 minutes", "unknown unit"),
    ],
)
def test_prometheus_rejects_wrong_alerts(tmp_path: Path, right: str, wrong: str, fault: str) -> None:
    path = tmp_path / "rules.yml"
    text = RULES.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
    done = check(path)
    assert done.returncode == 1 and fault in done.stderr
