"""A run says what the other placement of files on cartridges gives: the same as a run with that placement."""

from pathlib import Path

import pytest

from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tests.acceptance.test_cache_waits import write_machine
from tests.acceptance.test_simulate_cache import make_log

pytestmark = pytest.mark.study("simulator")


def test_each_run_reports_the_other_placement(tapewise, home: Path, tmp_path: Path) -> None:
    make_log(tmp_path)
    named = ("--archive", "placed", "--kind", "synthetic", "--timezone", "UTC")
    assert tapewise("ingest", *named, "--format", "xferlog", "xferlog").returncode == 0
    write_machine(tapewise, tmp_path)
    by_time = (
        (tmp_path / "m.toml").read_text().replace("capacity_bytes = 20_000_000_000", "capacity_bytes = 9000")
    )
    assert by_time.count('placement = "time"') == 1
    (tmp_path / "time.toml").write_text(by_time)
    (tmp_path / "user.toml").write_text(by_time.replace('placement = "time"', 'placement = "user"'))
    own, others, shown = {}, {}, {}
    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.READER, autocommit=True) as reader,
    ):
        for name in ("time", "user"):
            words = ("--machine", f"{name}.toml", "--measured-on", "time.toml", "--trace", "placed")
            ran = tapewise("simulate", "run", *words, "--seed", "1", "--into", f"by-{name}")
            assert ran.returncode == 0, ran.stderr
            shown[name] = [line.strip() for line in ran.stdout.splitlines() if "The truth is" in line]
            ((tapes, others[name]),) = reader.execute(
                "SELECT totals -> 'tapes', options -> 'other_placement' FROM mart.simulation_runs"
                " WHERE archive = %s",
                [f"by-{name}"],
            ).fetchall()
            waits = [tapes[f"mean_{each}_wait_s"] for each in ("drive", "load", "locate")]
            own[name] = {
                "placement": name,
                "mount_count": tapes["mount_count"],
                "recall_wait_s": pytest.approx(sum(waits)),
            }
        # 27 cartridges hold all bytes, but not if each file of a user must be on one of them.
        few = by_time.replace("filled_count = 2740", "filled_count = 27")
        (tmp_path / "few.toml").write_text(few.replace("capacity_bytes = 9000", "capacity_bytes = 6000"))
        ran = tapewise("simulate", "run", "--machine", "few.toml", "--trace", "placed", "--into", "few")
        assert ran.returncode == 0, ran.stderr
        assert "  By user, there is no run: tapes.cartridges.filled_count is 27, but the files" in ran.stdout
    assert own["time"]["mount_count"] != own["user"]["mount_count"]
    assert others == {"time": own["user"], "user": own["time"]}
    for name in ("time", "user"):
        other = others[name]
        assert shown[name] == [
            f"The truth is likely between: by {name} {own[name]['mount_count']:,} mounts, and a recall waits"
            f" {others[other['placement']]['recall_wait_s']:,.1f} s; by {other['placement']}"
            f" {other['mount_count']:,} mounts, and a recall waits {other['recall_wait_s']:,.1f} s"
        ]
