"""The files on disk when a run begins."""

from dataclasses import dataclass

import polars as pl

from tapewise.simulator.demand.ghosts import Ghosts, lay_ghosts
from tapewise.simulator.demand.traces import LATEST_USE_S, inventory_of, make_inventory, place_in_pools
from tapewise.simulator.machines import Machine


@dataclass(frozen=True)
class DiskFiles:
    """The files on disk at the start: files of the trace, and made-up ones.

    `displaced_files` are files of the trace that should be on disk but do not fit, so they begin on tape.
    """

    inventory: pl.DataFrame
    trace_count: int
    made_up_count: int
    displaced_files: pl.Series


def lay_on_disk(
    trace: pl.DataFrame,
    machine: Machine,
    *,
    fill_ratio: float | None = None,
    seed: int,
    ghosts: Ghosts | None = None,
) -> DiskFiles:
    """Choose the files on disk at the start, so a run need not begin with an empty disk.

    The files that the trace says are on disk come first, in the order in which it requests them, up to the
    high water mark; the rest are on tape. The lightest ghosts follow, up to `fill_ratio`. Made-up files then
    fill the disk up to `fill_ratio`. Their sizes are drawn from the trace, and they are never requested.
    Files of the trace count as last used when the run begins, as in LLNL's model, which writes them at time 0
    (appendix B, 5.2.1). Made-up files were last used within the two weeks before the run or, where there are
    ghosts, before the log by more than its length.

    Without a purge, the disk has room for the ghosts that are requested, and needs no others.

    If the disk has pools, each is filled like a disk of its own, from the requests for its files; one without
    requests begins empty. Without `fill_ratio`, each is as full as `find_default_fill` says.
    """
    if not machine.disk.pools:
        return _lay_on_pool(trace, machine, fill_ratio, seed, ghosts, lowest=0)
    numbers = place_in_pools(trace, machine)
    # Made-up files of different pools need different numbers.
    lowest = min(0, *trace["file"].to_list(), *(ghosts.files.tolist() if ghosts is not None else []))
    found = []
    for number, pool in enumerate(machine.disk_pools):
        own = trace.filter(numbers == number)
        if own.is_empty():
            continue
        own_ghosts = ghosts.made_from(own["file"].unique().to_numpy()) if ghosts is not None else None
        one = _lay_on_pool(own, machine.with_pool(pool), fill_ratio, seed, own_ghosts, lowest=lowest)
        lowest = min([lowest, *one.inventory["file"].to_list()])
        found.append((pool.name, one))
    return DiskFiles(
        pl.concat([one.inventory.with_columns(disk_pool=pl.lit(name)) for name, one in found]),
        sum(one.trace_count for _, one in found),
        sum(one.made_up_count for _, one in found),
        pl.concat([one.displaced_files for _, one in found]),
    )


def _lay_on_pool(
    trace: pl.DataFrame,
    machine: Machine,
    fill_ratio: float | None,
    seed: int,
    ghosts: Ghosts | None,
    *,
    lowest: int,
) -> DiskFiles:
    """Do the same for a disk without pools; made-up files get numbers below `lowest`."""
    fill_ratio = find_default_fill(machine) if fill_ratio is None else fill_ratio
    capacity = machine.disk.capacity_bytes
    limit = capacity * (machine.purge.high_ratio if machine.purge else 1.0)
    there = inventory_of(trace).select("file", "size_bytes", "age_s")
    has_room = pl.col("size_bytes").cum_sum() <= limit
    held = there.filter(has_room)
    held_count = held.height
    past_count = 0
    if ghosts is not None:
        room = (fill_ratio if machine.purge else 1.0) * capacity - int(held["size_bytes"].sum())
        laid = lay_ghosts(ghosts if machine.purge else ghosts.of_requests(), machine, room_bytes=room)
        past_count = laid.filter(pl.col("file") < 0).height
        held = pl.concat([held, laid])
    used_ratio = int(held["size_bytes"].sum()) / capacity
    filling = max(0.0, fill_ratio - used_ratio)
    made_up = make_inventory(trace, machine, fill_ratio=filling, seed=seed).select(held.columns[1:])
    if ghosts is not None:
        length_s = float(trace["submitted_s"][-1])
        made_up = made_up.with_columns(age_s=length_s * (1.0 + pl.col("age_s") / LATEST_USE_S))
    # Made-up files get numbers below those of all other files, which may already be negative.
    lowest = min([lowest, *trace["file"].sort().head(1).to_list(), *held["file"].sort().head(1).to_list()])
    numbers = pl.select(file=lowest - 1 - pl.int_range(made_up.height, dtype=pl.Int64))
    inventory = pl.concat([held, pl.concat([numbers, made_up], how="horizontal")])
    laid_count = held.height - held_count - past_count
    return DiskFiles(
        inventory, held_count + laid_count, past_count + made_up.height, there.filter(~has_room)["file"]
    )


def find_default_fill(machine: Machine) -> float:
    """Return how full a disk in use is: midway between its water marks, or 0 if nothing is purged."""
    return (machine.purge.high_ratio + machine.purge.low_ratio) / 2 if machine.purge else 0.0
