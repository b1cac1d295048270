"""`simulate run --trace` on logs with and without paths: which files it follows, and what it refuses."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SimulationError
from tapewise.simulator.descriptions import describe_plan, describe_run, get_run
from tapewise.simulator.grid_descriptions import describe_results
from tapewise.simulator.grid_statistics import take
from tapewise.simulator.grids import Grid, run_grid
from tapewise.simulator.inputs import Requests, read_archive_requests
from tapewise.simulator.plans import keep_run, plan_run
from tapewise.simulator.variants import Variant
from tests.conftest import NOW
from tests.sql.cases import insert_rows
from tests.unit.simulator.reuse import GB, make_disk, make_log, replay

pytestmark = pytest.mark.study("ingest", "simulator", "sql")

BEGIN = datetime.fromisoformat("2000-01-03T08:00:00+00:00")
MEASURED = 9 * GB


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    """A warehouse with a log, whose gets found what they would in a replay, with and without its keys."""
    log = make_log(6, seed=2, per_day=150)
    misses = replay(log, MEASURED)
    rows = [
        {
            "direction": direction, "size_bytes": size, "duration_s": 1.0, "interface": "hsi",
            "archive": "paths", "user": f"user{user}",
            "open_s": (100.0 if is_miss else 0.5) if direction == "get" else None,
            "started_at": (BEGIN + timedelta(seconds=at)).isoformat(),
            "ended_at": (BEGIN + timedelta(seconds=at + 1)).isoformat(),
            "file_key": file,
        }
        for (at, direction, user, file, size), is_miss in zip(
            log.select("submitted_s", "direction", "user", "file", "size_bytes").iter_rows(),
            misses,
            strict=True,
        )
    ]  # fmt: skip
    rows += [{**row, "archive": "nameless", "file_key": None} for row in rows]
    archives = [{"name": "paths"}, {"name": "nameless"}]
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"archives": archives, "transfers": rows})
    return warehouse


def read(warehouse: Warehouse, archive: str) -> Requests:
    with warehouse.connect(Role.READER) as connection:
        return read_archive_requests(connection, archive)


def test_a_log_with_paths_is_run_on_any_disk(filled: Warehouse) -> None:
    given = read(filled, "paths")
    assert given.trace["is_file_known"].all()
    assert (given.measured_origin_count, given.unknown_origin_count) == (0, 0)
    log = make_log(6, seed=2, per_day=150)
    assert given.trace["file"].n_unique() == log["file"].n_unique()
    assert set(given.trace.filter(pl.col("direction") == "get")["origin"]) == {"tape", "trace"}
    missed, widths, measured_inventory = [], [], pl.DataFrame()
    for name, size in (("small", MEASURED // 3), ("same", MEASURED), ("large", 4 * MEASURED)):
        plan = plan_run(given, make_disk(size), seed=1, measured_on=make_disk(MEASURED))
        said = "\n".join(describe_plan(plan))
        gone = {end: bool(np.isinf(ghosts.ages_s).any()) for end, ghosts in plan.brackets.items()}
        assert gone == {"least": False, "most": True}
        assert plan.calibration is not None
        assert f"calibrated on the first two thirds: {plan.calibration.get_count:,} gets" in said
        assert "Note:" not in said
        keep_run(filled, name, plan, now=NOW)
        with filled.connect(Role.READER) as connection:
            run = get_run(connection, name)
            shown = "\n".join(describe_run(connection, run))
        counts = run.options["missed_bracket"]
        own = counts["own"]
        assert counts["least"] - 5 < own < counts["most"] + 5  # other files are drawn
        assert f"{own:,} gets miss" in shown
        assert f"; {counts['least']:,} with 0.03, and {counts['most']:,} with " in shown
        assert (plan.exchanged is None) == (name != "large") == ("replaced the measured" not in shown)
        if plan.exchanged is not None:
            inventory = plan.exchanged.inventory
            assert inventory.equals(measured_inventory)
            expected = sum(replay(given.trace, 4 * MEASURED, inventory))
            count = run.options["exchange"]["missed_count"]
            assert count == pytest.approx(expected, rel=0.02)
            assert f"{count:,} gets would miss: {count - own:,} more, nine tenths of them in the" in shown
            assert inventory["size_bytes"].sum() < 0.8 * MEASURED < plan.held.inventory["size_bytes"].sum()
        assert run.totals["staged_count"] + run.totals["joined_count"] == own
        missed.append(own)
        # Only the machine of the log can agree with what was measured.
        assert ("first gets of files" in shown) == (name == "same")
        if name == "same":
            measured_inventory = plan.held.inventory
            asked = given.trace.filter(pl.col("file").is_first_distinct(), pl.col("direction") == "get")
            count = asked["is_cached"].count()
            assert run.options["evident_count"] == count
            assert count / 2 < run.options["agreeing_count"] <= count
            assert f"of {count:,} first gets of files from before the log" in shown
        widths.append(counts["most"] - counts["least"])
    variants = [Variant({}, make_disk(MEASURED)), Variant({"disk": "x"}, make_disk(4 * MEASURED))]
    grid = Grid(variants, [1, 2], lambda _: given, make_disk(MEASURED), calibration=plan.calibration)
    results = list(run_grid(grid, job_count=1))
    more = {(each.variant, each.seed): each.figures["filling_miss_count"] for each in results}
    count = run.options["exchange"]["missed_count"] - own
    assert more == {(0, 1): None, (0, 2): None, (1, 1): count, (1, 2): None}
    (filling_s,) = take(results, 1, "filling_s")
    assert filling_s == run.options["exchange"]["transition_s"] > 0
    said = "\n".join(describe_results(grid, results, is_trace=True))
    assert (
        f"  disk=x: if this disk had replaced the measured one when the log began, {count:,} more gets"
        in said
    )
    assert missed[0] > 1.5 * missed[2]
    assert widths[2] > 2 * widths[1] + 20  # what the log cannot say matters on a larger disk


def test_another_disk_is_refused_where_the_log_has_no_paths(filled: Warehouse) -> None:
    given, measured, other = read(filled, "nameless"), make_disk(MEASURED), make_disk(2 * MEASURED)
    assert given.measured_origin_count > 0
    with pytest.raises(SimulationError, match="the disk is not the one that the requests were measured on"):
        plan_run(given, other, seed=1, measured_on=measured)
    first = [
        next(iter(describe_plan(plan)))
        for plan in (
            plan_run(given, measured, seed=1),
            plan_run(given, measured, seed=1, measured_on=measured),
            plan_run(given, other, seed=1, measured_on=measured, assumes_origins=True),
        )
    ]
    count = f"the log does not say which file {given.measured_origin_count:,} gets read"
    assert first[0] == first[1]
    assert first[0].startswith(f"Note: {count}")
    assert first[2].endswith("although the disk is another one.\x1b[0m")
    assert count in first[2]
    # No gets with measured places, nothing to refuse.
    plan_run(read(filled, "paths"), other, seed=1, measured_on=measured)
