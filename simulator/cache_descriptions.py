"""What disks of each size and rule miss, and what runs with them take, as lines for people and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tapewise.simulator.capacities import format_count, format_size
from tapewise.simulator.descriptions import style_warning
from tapewise.simulator.locks import Locks
from tapewise.simulator.policies import QUEUES

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
    "policy", "capacity_bytes", "get_count", "miss_count", "miss_bytes", "first_count", "too_large_count"
)  # fmt: skip


def write_json(found: Sequence["CacheMisses"], locks: Locks | None, runs: Runs | None) -> Iterator[str]:
    """Yield one JSON object per disk; `pool` only if the disk has pools, figures of runs only with `runs`."""
    for each in found:
        row = asdict(each)
        names = [name for name in row if name != "pool"] if locks else list(_UNLOCKED_FIELDS)
        row = {name: row[name] for name in (["pool"] if each.pool is not None else []) + names}
        yield json.dumps(row if runs is None else row | _list_figures(_find_run(runs, each)))


def _find_run(runs: Runs, of: "CacheMisses") -> "DiskRun | None":
    return runs.get((of.policy, of.capacity_bytes, of.pool))


def _list_figures(run: "DiskRun | None") -> dict[str, Any]:
    """Return the figures of the run with a disk, all None if there was none."""
    names = (*_RUN_COLUMNS, "left_out_get_count", "placement")
    found: dict[str, Any] = {name: getattr(run, name, None) for name in names}
    other = run.other if run else None
    if other is None:
        return found | {"other_placement": None}
    if other.fault is not None:
        return found | {"other_placement": {"placement": other.placement, "fault": other.fault}}
    figures = {name: getattr(other, name) for name in ("placement", *_RUN_COLUMNS)}
    return found | {"other_placement": figures}


def describe_misses(found: Sequence["CacheMisses"], locks: Locks | None, runs: Runs | None) -> Iterator[str]:
    """Yield the table line by line."""
    first = found[0]
    if first.pool is not None:
        yield f"Pool {first.pool}; the other pools have the size and the rules of the machine file."
    yield (
        f"{format_count(first.get_count, 'get')}. {first.first_count:,} of them"
        f" {'is' if first.first_count == 1 else 'are'} the first use of their file in the log,"
        " so any disk misses them."
    )
    queues = [name for name in dict.fromkeys(each.policy for each in found) if name in QUEUES]
    if locks and any(each.policy not in QUEUES for each in found):
        yield (
            f"A purge begins at {locks.high_ratio * 100:g}% and ends at {locks.low_ratio * 100:g}%; files"
            f" stay {locks.keep_s:g} s after each use, and {locks.unstored_s:g} s after their put."
        )
    yield from _describe_queues(queues, locks)
    crowded_count = max(each.crowded_count or 0 for each in found)
    if crowded_count:
        yield style_warning(
            f"up to {format_count(crowded_count, 'put or get', 'puts and gets')} found no room (column no"
            " room): too many files were locked. A real disk would let them wait, so it is too small for"
            " these locks"
        )
    if any(each.too_large_count for each in found):
        yield style_warning(
            "some files are larger than a disk, which then never keeps them: the column too large says how"
            " many of its misses are for them"
            + (" (s3fifo keeps only files that are smaller than a tenth of the disk)" * ("s3fifo" in queues))
        )
    rows: list[tuple[CacheMisses, DiskRun | None, bool]] = []
    for each in found:
        run = None if runs is None else _find_run(runs, each)
        rows.append((each, run, False))
        if run is not None and run.other is not None and run.other.fault is None:
            rows.append((each, run.other, True))
    if runs is not None:
        yield from _describe_runs(found, runs)
    yield from _align(_list_columns(rows), 1 if first.pool is None else 2)


def _describe_queues(queues: Sequence[str], locks: Locks | None) -> Iterator[str]:
    """Yield what to know about the rules that libcachesim has replayed."""
    if queues and locks:
        yield (
            f"No water marks and locks for {', '.join(queues)}: compare the column without locks, or all"
            " columns with --empty-start."
        )
    if "arc" in queues:
        yield (
            "libcachesim moves arc's target by bytes, so on a disk of real files it hardly adapts: files that"
            " were used once are dropped first."
        )


def _describe_runs(found: Sequence["CacheMisses"], runs: Runs) -> Iterator[str]:
    """Yield what to know about the runs, before the table."""
    yield (
        "Stages, mounts and waits are of the middle: runs with the past of the disk that is said above."
        " For a disk of interest, `tapewise simulate run --disk` gives the bracket of stages."
    )
    if any(run.other is not None for run in runs.values()):
        yield (
            "No log says which files share a cartridge, so each disk runs with files placed by time and by"
            " user; the truth is likely between."
        )
    for each in found:
        run = _find_run(runs, each)
        if run is not None and run.other is not None and run.other.fault is not None:
            yield (
                f"{each.policy} with {format_size(each.capacity_bytes)}: by {run.other.placement}, there is"
                f" no run: {run.other.fault}"
            )
    if any(run.left_out_get_count for run in runs.values()):
        yield style_warning(
            "some runs leave out gets of files that are larger than their disk accepts (column left out), so"
            " their stages, mounts and waits are of fewer requests"
        )


def _list_columns(rows: Sequence[tuple["CacheMisses", "DiskRun | None", bool]]) -> dict[str, list[str]]:
    """Return the columns by title, without empty ones. A line of another placement repeats no misses."""

    def list_cells(of: "CacheMisses", run: "DiskRun | None", *, is_other: bool) -> dict[str, str]:
        is_run_placed = run is not None and (is_other or run.other is not None)
        cells: dict[str, tuple[Any, str]] = {
            "misses": (of.miss_count, ","),
            "miss ratio": (_divide(of.miss_count, of.get_count), ".4f"),
            "missed": (None if of.miss_bytes is None else format_size(of.miss_bytes), ""),
            "too large": (of.too_large_count if is_any_too_large else None, ","),
            "no room": (of.crowded_count if is_crowded else None, ","),
            "without locks": (of.plain_miss_count, ","),
        }
        if is_other:
            cells = dict.fromkeys(cells, (None, ""))
        cells["left out"] = (getattr(run, "left_out_get_count", None) if is_any_left_out else None, ",")
        cells["placed by"] = (run.placement if run is not None and is_run_placed else None, "")
        cells |= {title: (getattr(run, name, None), form) for name, (title, form) in _RUN_COLUMNS.items()}
        named = {"pool": of.pool or "", "policy": of.policy, "disk": format_size(of.capacity_bytes)}
        return named | {
            name: "" if value is None else format(value, form) for name, (value, form) in cells.items()
        }

    # A column is shown if any line has something in it; then 0 is a number like others.
    is_crowded = any(of.crowded_count for of, _, _ in rows)
    is_any_too_large = any(of.too_large_count for of, _, _ in rows)
    is_any_left_out = any(run.left_out_get_count for _, run, _ in rows if run is not None)
    lines = [list_cells(of, run, is_other=is_other) for of, run, is_other in rows]
    columns = {name: [line[name] for line in lines] for name in lines[0]}
    always = ("policy", "disk", "misses", "miss ratio", "missed")
    return {name: cells for name, cells in columns.items() if name in always or any(cells)}


def _divide(count: int | None, whole: int) -> float | None:
    return None if count is None or whole == 0 else count / whole


def _align(columns: dict[str, list[str]], text_count: int) -> Iterator[str]:
    """Yield the lines of a table; the first columns are texts, the others numbers."""
    found = []
    for place, (name, cells) in enumerate(columns.items()):
        width = max(len(cell) for cell in (name, *cells))
        found.append([c.ljust(width) if place < text_count else c.rjust(width) for c in (name, *cells)])
    for line in zip(*found, strict=True):
        yield "  ".join(line).rstrip()
