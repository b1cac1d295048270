"""`tapewise simulate cache`: what disks of given sizes would have missed."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.capacities import Sizes, TypedSizes, format_size
from tapewise.simulator.descriptions import style_warning
from tapewise.simulator.disks import DiskPool
from tapewise.simulator.inputs import describe_options
from tapewise.simulator.kept_curves import check_pools, find_curve_study, keep_curves
from tapewise.simulator.locks import Locks, find_locks, find_pool_locks
from tapewise.simulator.machines import Machine, find_machine
from tapewise.simulator.policies import POLICIES, Policy, TypedPolicies

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.caches import CacheMisses


class _Number(click.FloatRange):
    """A number in a range. NaN is in none, although it is not below or above its ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the number; anything else is wrong usage."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"'{value}' is not a number", param, ctx)
        return number


_RATIO, _SECONDS = _Number(0, 1, min_open=True), _Number(0, 1e9)
_UNLOCKED_FIELDS = (
    "policy", "capacity_bytes", "get_count", "miss_count", "miss_bytes", "first_count"
)  # fmt: skip


@click.command()
@click.option("--archive", required=True, help="The archive whose puts and gets are replayed.")
@click.option(
    "--sizes",
    type=TypedSizes(),
    required=True,
    help="Sizes of disks: a list (500GB,1.5TB), or a range (100TB..2PB) with even factors between the sizes.",
)
@click.option(
    "--steps",
    type=click.IntRange(2, 1000),
    default=10,
    show_default=True,
    help="The number of sizes in a range.",
)
@click.option(
    "--policies",
    type=TypedPolicies(),
    help=f"How a disk chooses the files to drop: {', '.join(POLICIES)}, or a formula; separated by commas."
    "  [default: that of --machine, or lru]",
)
@click.option("--machine", "machine_name", help="Take marks, times and rule from this machine.")
@click.option(
    "--pool",
    "pool_name",
    metavar="NAME",
    help="The pool of --machine's disk whose sizes these are; the other pools stay as in the machine file.",
)
@click.option("--high-ratio", type=_RATIO, help="A purge begins at this share of a disk.  [default: 0.8]")
@click.option("--low-ratio", type=_RATIO, help="A purge ends at this share of a disk.  [default: 0.7]")
@click.option("--keep-s", type=_SECONDS, help="How long files stay after each use.  [default: 3600]")
@click.option(
    "--unstored-s", type=_SECONDS, help="How long after a put the file is not on tape.  [default: 5400]"
)
@click.option(
    "--empty-start",
    is_flag=True,
    help="Assume nothing: the disk is empty when the log begins, and no file is ever locked.",
)
@click.option("--since", type=TypedTime(), help="Count only gets that ended at this time or later.")
@click.option("--until", type=TypedTime(), help="Replay only puts and gets that ended before this time.")
@click.option(
    "--keep",
    "study_name",
    metavar="STUDY",
    help="Keep the curves with this kept study of the archive's requests, instead of those that it had, or"
    " had of --pool.  Its machine's disk or pool is one of the sizes.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per rule and size, each on its own line."
)
@click.pass_obj
def cache(
    settings: Settings,
    archive: str,
    sizes: Sizes,
    steps: int,
    policies: tuple[Policy, ...] | None,
    machine_name: str | None,
    pool_name: str | None,
    high_ratio: float | None,
    low_ratio: float | None,
    keep_s: float | None,
    unstored_s: float | None,
    empty_start: bool,
    since: datetime | None,
    until: datetime | None,
    study_name: str | None,
    as_json: bool,
) -> None:
    """Show how many gets a disk of each size would have missed.

    Every put and get of the log is replayed. A file stays on disk until it is on tape (--unstored-s), and for
    some time after each use (--keep-s). A purge begins when the disk is nearly full (--high-ratio). The disk
    is empty when the log begins. With --since, what comes before fills the disk, but is not counted. For lru,
    the last column is what would be missed without water marks and locks.

    lru drops the file that was used least recently; fifo the one that has been on disk for longest; size_age
    the one of the largest size * age^1.5; gdsf prefers large files that are seldom used; belady knows the
    future, and drops the file whose next use is farthest. A formula has size (bytes), age (seconds) and
    uses; the file for which it is largest is dropped first.

    If the disk of --machine has pools, --pool says which one has these sizes.

    With --keep, the curves are on the page What if of the dashboards, and in `mart.cache_curves`.

    Example: tapewise simulate cache --archive hpss --sizes 100TB..2PB
    """
    given = {"high_ratio": high_ratio, "low_ratio": low_ratio, "keep_s": keep_s, "unstored_s": unstored_s}
    changes = {name: value for name, value in given.items() if value is not None}
    machine = find_machine(machine_name) if machine_name is not None else None
    if pool_name is not None and machine is None:
        raise click.UsageError("--pool needs --machine, whose disk has the pool")
    if empty_start and (changes or (machine and pool_name is None)):
        raise click.UsageError("--empty-start assumes no locks, so give neither a machine nor locks")
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.caches import count_misses  # noqa: PLC0415
    from tapewise.simulator.pool_caches import count_pool_misses, find_named_pool  # noqa: PLC0415
    from tapewise.simulator.uses import read_uses  # noqa: PLC0415

    pool = find_named_pool(machine, pool_name) if machine and pool_name is not None else None
    locks = None if empty_start else _choose_locks(machine, pool, changes)
    if policies is None:
        purge = pool.purge if pool else machine.purge if machine else None
        policies = (purge.policy if purge else "lru",)

    capacities, study = sizes.space(steps), None
    with open_ready_warehouse(settings) as warehouse:
        if study_name is not None:
            with closing(warehouse.connect(Role.LOADER)) as loader:
                study = find_curve_study(loader, study_name, archive)
            if machine and pool:
                check_pools(study, machine)
            own_bytes = pool.capacity_bytes if pool else study.capacity_bytes
            capacities = sorted({*capacities, own_bytes})
        with closing(warehouse.connect(Role.READER)) as reader:
            uses = read_uses(reader, archive, since=since, until=until)
        if machine and pool:
            found = count_pool_misses(uses, machine, pool.name, policies, capacities, locks)
        else:
            found = count_misses(uses, policies, capacities, locks)
        if study is not None:
            marks = asdict(locks) if locks else {"empty_start": True}
            options = describe_options(**marks, since=since, until=until)
            with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
                keep_curves(loader, study, pool_name, found, options, now=datetime.now(UTC))
    if uses.left_out_count:
        click.echo(
            f"Left out: {uses.left_out_count:,} gets: the logs do not say which file they read, or its size.",
            err=True,
        )
    if as_json:
        for each in found:
            row = asdict(each)
            names = [name for name in row if name != "pool"] if locks else list(_UNLOCKED_FIELDS)
            click.echo(json.dumps({name: row[name] for name in (["pool"] if pool else []) + names}))
        return
    click.echo("\n".join(_describe(found, locks)))


def _choose_locks(machine: Machine | None, pool: DiskPool | None, changes: dict[str, float]) -> Locks:
    """Return the locks of the machine or its pool, or the default ones, with what the user has changed."""
    locks = Locks()
    if machine:
        locks = find_pool_locks(machine, pool) if pool else find_locks(machine)
    locks = replace(locks, **changes)
    if locks.low_ratio > locks.high_ratio:
        raise click.UsageError(
            f"--low-ratio ({locks.low_ratio:g}) is above --high-ratio ({locks.high_ratio:g})"
        )
    return locks


def _describe(found: Sequence["CacheMisses"], locks: Locks | None) -> Iterator[str]:
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
    for name, counts in (
        ("no room", [each.crowded_count for each in found]),
        ("plain LRU", [each.plain_miss_count for each in found]),
    ):
        if any(counts):
            cells = [name, *("" if count is None else f"{count:,}" for count in counts)]
            lines = [(*line, cell) for line, cell in zip(lines, cells, strict=True)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        cells = [
            cell.ljust(width) if place < text_count else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
