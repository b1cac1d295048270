"""What disks of each size and rule miss, and what runs with them take, as lines for people and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tapewise.simulator.capacities import format_size
from tapewise.simulator.descriptions import style_warning
from tapewise.simulator.locks import Locks

if TYPE_CHECKING:  # importing them loads the compiler
    from tapewise.simulator.cache_runs import Disk, DiskRun
    from tapewise.simulator.caches import CacheMisses

Runs = Mapping["Disk", "DiskRun"]
# The figures of a run: their columns, and how a person reads them.
_RUN_COLUMNS = {
    "staged_count": ("stages", ","),
    "mount_count": ("mounts", ","),
    "drive_h": ("drive h", ",.1f"),
    "get_wait_p50_s": ("get p50 s", ",.1f"),
    "get_wait_p95_s": ("get p95 s", ",.1f"),
    "get_wait_p99_s": ("get p99 s", ",.1f"),
}
_UNLOCKED_FIELDS = (
    "policy", "capacity_bytes", "get_count", "miss_count", "miss_bytes", "first_count"
)  # fmt: skip


def write_json(found: Sequence["CacheMisses"], locks: Locks | None, runs: Runs | None) -> Iterator[str]:
    """Yield one JSON object per disk; `pool` only if the disk has pools, figures of runs only with `runs`."""
    for each in found:
        row = asdict(each)
        names = [name for name in row if name != "pool"] if locks else list(_UNLOCKED_FIELDS)
        row = {name: row[name] for name in (["pool"] if each.pool is not None else []) + names}
        yield json.dumps(row if runs is None else row | _list_figures(runs, each))


def _list_figures(runs: Runs, of: "CacheMisses") -> dict[str, float | None]:
    """Return the figures of the run with a disk, all None if there was none."""
    run = runs.get((of.policy, of.capacity_bytes, of.pool))
    return {name: getattr(run, name, None) for name in _RUN_COLUMNS}


def describe_misses(found: Sequence["CacheMisses"], locks: Locks | None, runs: Runs | None) -> Iterator[str]:
    """Yield the table line by line."""
    first = found[0]
    if first.pool is not None:
        yield f"Pool {first.pool}; the other pools have the size and the rules of the machine file."
    yield (
        f"{first.get_count:,} gets. {first.first_count:,} of them are the first use of their file in the log,"
        " so any disk misses them."
    )
    if locks:
        yield (
            f"A purge begins at {locks.high_ratio * 100:g}% and ends at {locks.low_ratio * 100:g}%; files"
            f" stay {locks.keep_s:g} s after each use, and {locks.unstored_s:g} s after their put."
        )
    crowded_count = max(each.crowded_count or 0 for each in found)
    if crowded_count:
        yield style_warning(
            f"up to {crowded_count:,} puts and gets found no room (column no room): too many files were"
            " locked. A real disk would let them wait, so it is too small for these locks"
        )
    if runs is not None:
        yield (
            "Stages, mounts and waits are of the middle: runs with the past of the disk that is said above."
            " For a disk of interest, `tapewise simulate run --disk` gives the bracket of stages."
        )
    lines: list[tuple[str, ...]] = [("policy", "disk", "misses", "miss ratio", "missed")]
    lines += [
        (
            each.policy,
            format_size(each.capacity_bytes),
            f"{each.miss_count:,}",
            f"{each.miss_count / each.get_count:.4f}" if each.get_count else "",
            format_size(each.miss_bytes),
        )
        for each in found
    ]
    if first.pool is not None:
        pools = ["pool", *(each.pool or "" for each in found)]
        lines = [(pool, *line) for pool, line in zip(pools, lines, strict=True)]
    text_count = 1 if first.pool is None else 2
    columns: list[tuple[str, str, list[Any]]] = [
        ("no room", ",", [each.crowded_count for each in found] if crowded_count else []),
        ("plain LRU", ",", [each.plain_miss_count for each in found]),
    ]
    if runs is not None:
        figures = [_list_figures(runs, each) for each in found]
        columns += [
            (title, form, [each[name] for each in figures]) for name, (title, form) in _RUN_COLUMNS.items()
        ]
    for name, form, values in columns:
        if any(value is not None for value in values):
            cells = [name, *("" if value is None else format(value, form) for value in values)]
            lines = [(*line, cell) for line, cell in zip(lines, cells, strict=True)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        cells = [
            cell.ljust(width) if place < text_count else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
