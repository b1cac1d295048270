"""`mart.compared_means` gives the load that plain Python counts in made-up lines of an xferlog."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tapewise.ingest.loading.file_results import FileResult
from tapewise.schema.database import Role, Warehouse
from tests.integration.load_recount import count_load, read_lines

ZONE = "Asia/Kolkata"  # at half past by UTC


def write_log(path: Path, seed: int, *, user_count: int, file_count: int) -> None:
    """Write bursts over six days, of which the fourth is empty. No two transfers begin in the same second."""
    rng = random.Random(seed)
    starts = {
        day * 86_400 + round(burst + rng.expovariate(1 / 900))
        for day in (0, 1, 2, 4, 5)
        for burst in [rng.uniform(0, 80_000) for _ in range(4)]
        for _ in range(rng.randint(1, 15))
    }
    lines = []
    for start in starts:
        duration_s = rng.randint(1, 5)
        ended_at = datetime(2001, 3, 5) + timedelta(seconds=start + duration_s)
        size = rng.choice([0, round(rng.lognormvariate(12, 3)) + 1])
        name = f"/a/f{rng.randrange(file_count)}"
        user = f"u{min(rng.randrange(user_count), rng.randrange(user_count))}"
        direction = rng.choice("iooo")
        lines.append(
            (ended_at, f"{ended_at:%a %b %d %H:%M:%S %Y} {duration_s} host.example.org {size} {name} b _ "
                       f"{direction} r {user} ftp 0 * c")
        )  # fmt: skip
    path.write_text("".join(f"{text}\n" for _, text in sorted(lines)))


def test_plain_python_counts_the_same_load(
    load: Callable[..., FileResult], warehouse: Warehouse, tmp_path: Path
):
    expected = {}
    for side, user_count, file_count in (("a", 9, 40), ("b", 4, 15)):
        path = tmp_path / f"{side}.log"
        write_log(path, ord(side), user_count=user_count, file_count=file_count)
        load(path, "xferlog", archive=side, timezone=ZONE)
        lines = read_lines(path, ZoneInfo(ZONE))
        expected |= {(side, quantity): value for quantity, value in count_load(lines).items()}
    with warehouse.connect(Role.OWNER) as connection:
        rows = connection.execute(
            "SELECT side, quantity, value FROM mart.compared_means('a', 'b', replicate_count => 0)"
            " WHERE statistic IN ('dispersion', 'geometric mean', 'per block')"
            " OR quantity IN ('of the busiest user', 'from 8 to 18 h', 'file used the day before')"
        ).fetchall()
    found = {(side, quantity): value for side, quantity, value in rows}
    assert found == pytest.approx(expected, rel=1e-7)
