"""`core.stage_cells` equals a recount, in whatever order files are read and whatever is deleted or moved."""

import random
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.writing.histograms import find_time_bins
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.studies import with_seeds

pytestmark = pytest.mark.study("ingest", "schema", "sql")

Read = Callable[..., None]

COUNTS = """
    SELECT starts_on::text, time_bin, stage_count, failed_count
    FROM mart.stage_cells, unnest(time_bins, stage_counts, failed_counts) AS bins (
        time_bin, stage_count, failed_count
    )
    WHERE span = 'day'
    ORDER BY 1, 2, 3, 4
"""


@pytest.fixture
def read(warehouse: Warehouse) -> Read:
    def read(
        path: Path,
        format_name: str = "stat",
        *,
        timezone: str = "UTC",
        # The days of the archive are neither those of the lines nor those of UTC.
        archive_timezone: str = "Asia/Kathmandu",
        is_counted: bool = True,
    ) -> None:
        request = SourceRequest(
            "llnl",
            "synthetic",
            find_format(format_name),
            timezone,
            format_name,
            is_counted,
            archive_timezone=archive_timezone,
        )
        load_file(warehouse, register(warehouse, request), path, now=NOW)

    return read


def fetch(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return connection.execute(query).fetchall()


def stage(at: datetime, duration: float | str, persona: int = 1) -> str:
    return f"{at:%y/%m/%d %H:%M:%S}.{at:%f} {persona}  File staged in {duration} seconds\n"


def make_logs(dice: random.Random, folder: Path) -> list[Path]:
    """Make up the logs of three days, with stages near the midnight of the archive, and equal lines."""
    files = []
    for number in range(3):
        lines = []
        for _ in range(30):
            day = datetime(1997, 11, 5, 18, 15, tzinfo=UTC) + timedelta(days=dice.randrange(3))
            at = day + timedelta(minutes=dice.randrange(-200, 200))
            duration = dice.choice(["0.499", "1.5", "9.95", "10", "14.499", "180", dice.randrange(90)])
            lines.append((at, stage(at, duration, dice.randrange(1, 9))))
            if dice.random() < 0.3:
                size = dice.randrange(1000)
                lines.append(
                    (at, f"{at:%y/%m/%d %H:%M:%S}.0 1  File transfer (s-k) {size} bytes in 2 seconds\n")
                )
        path = folder / f"stat.{number}"
        path.write_text("".join(line for _, line in sorted(lines)))
        files.append(path)
    return files


@pytest.mark.parametrize("is_counted", [True, False])
@pytest.mark.parametrize("seed", with_seeds(1, 2, "schema", "ingest/requests", "sql/cache"))
def test_cells_are_a_recount_in_any_order_of_files(
    warehouse: Warehouse, read: Read, tmp_path: Path, seed: int, is_counted: bool
) -> None:
    dice = random.Random(seed)
    files = make_logs(dice, tmp_path)
    found = []
    for _ in range(2):
        dice.shuffle(files)
        for path in files:
            read(path, is_counted=is_counted)
            check_warehouse(warehouse)
        cells = read_facts(warehouse)["stage_cells"]
        assert len(cells) > 2
        found.append(cells)
        replace_source(warehouse, "llnl", "stat", log_format=None, timezone=None, now=NOW)
        check_warehouse(warehouse)
        assert read_facts(warehouse)["stage_cells"] == cells
        drop_source(warehouse, "llnl", "stat")
        check_warehouse(warehouse)
        assert not read_facts(warehouse)["stage_cells"]
        assert fetch(warehouse, "SELECT * FROM core.routes") == []
    assert found[0] == found[1]


def test_forgotten_stages_stay_counted(warehouse: Warehouse, read: Read, tmp_path: Path) -> None:
    log = tmp_path / "stat.log"
    days = [datetime(1997, 11, day, 12, tzinfo=UTC) for day in (5, 6, 7)]
    days.insert(0, datetime(1997, 10, 30, 12, tzinfo=UTC))
    log.write_text("".join(stage(at, duration) for at, duration in zip(days, (7, 1, 20, 300), strict=True)))
    read(log)
    counts = fetch(warehouse, COUNTS)
    assert [row[1:] for row in counts] == [(140, 1, 0), (20, 1, 0), (220, 1, 0), (780, 1, 0)]
    answer = "SELECT * FROM mart.stage_times() ORDER BY stage_from_s"
    times = fetch(warehouse, answer)
    forget_detail(warehouse, "llnl", date(1997, 11, 7), NOW)
    assert fetch(warehouse, "SELECT count(*) FROM core.stages") == [(1,)]
    assert (fetch(warehouse, COUNTS), fetch(warehouse, answer)) == (counts, times)
    check_warehouse(warehouse)
    # Lines that are forgotten cannot be read again.
    replace_source(warehouse, "llnl", "stat", log_format=None, timezone=None, now=NOW)
    assert (fetch(warehouse, COUNTS), fetch(warehouse, answer)) == (counts, times)
    check_warehouse(warehouse)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        drop_archive(connection, "llnl")
    assert fetch(warehouse, "SELECT * FROM core.stage_cells") == []


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize("is_shown_later", [True, False])
def test_a_stage_of_the_second_pass_counts_on_its_day(
    warehouse: Warehouse, read: Read, tmp_path: Path, is_shown_later: bool
) -> None:
    """The archive's midnight lies between the two passes of the hour that its log repeats."""
    zones = {"timezone": "America/Los_Angeles", "archive_timezone": "Pacific/Gambier"}
    hour = datetime(1997, 10, 26, 1)
    lines = [
        stage(hour + timedelta(minutes=tick - 60 * (tick >= 60)), 5 if tick == 80 else 30)
        for tick in range(-60, 180, 2)
    ]
    if is_shown_later:
        part = tmp_path / "part"
        part.write_text(stage(hour + timedelta(minutes=20), 5))
        read(part, **zones)
        assert fetch(warehouse, COUNTS) == [("1997-10-25", 100, 1, 0)]
        check_warehouse(warehouse)
    log = tmp_path / "log"
    log.write_text("".join(lines))
    read(log, **zones)
    # Of the first hour and the first pass, and of the second pass and the last hour.
    assert fetch(warehouse, COUNTS) == [
        ("1997-10-25", 240, 60, 0),
        ("1997-10-26", 100, 1, 0),
        ("1997-10-26", 240, 59, 0),
    ]
    check_warehouse(warehouse)


def test_which_sources_count_follows_the_other_sources(
    warehouse: Warehouse, read: Read, load: Callable[..., Any], tmp_path: Path
) -> None:
    log = tmp_path / "stat.log"
    log.write_text(stage(datetime(1997, 11, 5, 12, tzinfo=UTC), 20))
    read(log, is_counted=False)
    counts = fetch(warehouse, COUNTS)
    assert len(counts) == 1
    other = tmp_path / "other.log"
    other.write_text(stage(datetime(1997, 11, 6, 12, tzinfo=UTC), 20, persona=2))
    load(other, "stat", archive="llnl", source="another")
    assert [row[0] for row in fetch(warehouse, COUNTS)] == ["1997-11-06"]
    check_warehouse(warehouse)
    drop_source(warehouse, "llnl", "another")
    assert fetch(warehouse, COUNTS) == counts
    check_warehouse(warehouse)


def test_a_load_finds_the_bins_of_mart(database: psycopg.Connection) -> None:
    steps = [step * 10.0**decade for decade in range(-3, 10) for step in (1, 1.5, 2, 3, 5, 7)]
    given = [0.0, -1.0, 1e12, *np.arange(0, 20, 0.05).tolist(), *steps]
    given += [float(np.nextafter(each, way)) for each in given for way in (-np.inf, np.inf)]
    given += np.random.default_rng(0).exponential(30, 1000).tolist()
    rows = database.execute(
        "SELECT mart.time_bin(given) FROM unnest(%s::float8[]) WITH ORDINALITY AS part (given, n) ORDER BY n",
        [[*given, None]],
    ).fetchall()
    found = find_time_bins(pl.Series([*given, None], dtype=pl.Float64)).to_list()
    assert found == [row[0] for row in rows]
    # Each step of an axis from 1 s on begins a bin.
    assert all(
        database.execute("SELECT mart.time_bin_edge(mart.time_bin(%s)) = %s", [step, step]).fetchone()
        == (True,)
        for step in steps
        if 1 <= step <= 1e9
    )
