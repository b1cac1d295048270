"""A made-up log with re-reads, and a replay of a disk in plain Python, without any code of the simulator."""

import math
from itertools import pairwise

import numpy as np
import polars as pl

from tapewise.simulator.machines import Machine, bundled_machine

DAY_S, GB = 86_400.0, 10**9
HIGH, LOW, KEEP_S = 0.8, 0.7, 3600.0


def make_disk(capacity_bytes: float) -> Machine:
    """Make LLNL's machine with a disk of that size, and so fast that hardly any get waits."""
    tables = bundled_machine("llnl-unitree-1998").model_dump()
    tables["disk"] |= {"chain_bytes_per_s": 1e11, "largest_file_bytes": 2 * GB + 1}
    tables["network"] |= {"in_bytes_per_s": 1e12, "out_bytes_per_s": 1e12}
    tables["latency"] = {"put_s": 0.0, "get_s": 0.0}
    tables["tapes"] |= {"chain_bytes_per_s": 1e11, "load": {"law": "fixed", "load_s": 1.0}}
    tables["tapes"]["store"] = {"interval_s": 60.0, "min_age_s": 0.0, "cartridge_bytes": 10**15}
    return Machine.model_validate(tables).with_disk(round(capacity_bytes))


def make_log(days: int, *, seed: int, per_day: int = 700) -> pl.DataFrame:
    """Make a log whose gets read again what was put or got before, after intervals of minutes to weeks.

    `file` is a number of its own for each put; a tenth of the gets are of files that were never used before.
    """
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, days * DAY_S, days * per_day))
    sizes = np.minimum(10 ** rng.normal(7.3, 0.7, times.size), 2e9).astype(np.int64) + 1
    rows: list[tuple[float, str, int, int, int]] = []
    used: list[int] = []  # the file of each use, in the order of time
    for number, (at, chance) in enumerate(zip(times, rng.random(times.size), strict=True)):
        file, direction = number + 1, "put" if chance < 0.4 else "get"
        if chance > 0.46 and used:
            back = int(rng.pareto(0.55) * 12)
            file = used[-1 - back] if back < len(used) else file
        used.append(file)
        rows.append((float(at), direction, number // 20 % 7, file, int(sizes[file - 1])))
    names = ["submitted_s", "direction", "user", "file", "size_bytes"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        origin=pl.when(pl.col("direction") == "put").then(pl.lit("put")).otherwise(pl.lit("tape")),
        is_file_known=pl.lit(value=True),
        is_cached=pl.lit(None, pl.Boolean),
    )


def replay(trace: pl.DataFrame, capacity_bytes: float, inventory: pl.DataFrame | None = None) -> list[bool]:
    """Return which gets miss on a disk with LLNL's purge, where everything is on tape at once."""
    last_use, sizes = {}, {}
    if inventory is not None:
        for file, size, age_s in inventory.select("file", "size_bytes", "age_s").iter_rows():
            last_use[file], sizes[file] = -age_s, size
    used = sum(sizes.values())
    misses = []
    for now, direction, file, size in trace.select(
        "submitted_s", "direction", "file", "size_bytes"
    ).iter_rows():
        misses.append(direction == "get" and file not in last_use)
        if file not in last_use:
            used += size
            sizes[file] = size
        last_use[file] = now
        if used >= HIGH * capacity_bytes:
            old = [each for each, at in last_use.items() if at + KEEP_S <= now]
            old.sort(
                key=lambda each: (
                    -math.ceil(sizes[each] / 1e6) * math.ceil((now - last_use[each]) / 3600) ** 1.5
                )
            )
            for each in old:
                if used <= LOW * capacity_bytes:
                    break
                used -= sizes.pop(each)
                del last_use[each]
    assert all(a <= b for a, b in pairwise(trace["submitted_s"]))
    return misses
