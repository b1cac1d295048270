"""`tapewise simulate cache`: what disks of given sizes would have missed."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import click

from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.capacities import Sizes, TypedSizes, format_size
from tapewise.simulator.policies import POLICIES, Policy, TypedPolicies

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.caches import CacheMisses


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
    default="lru",
    show_default=True,
    help=f"How a disk chooses the files to drop; several are separated by commas: {', '.join(POLICIES)}.",
)
@click.option("--since", type=TypedTime(), help="Count only gets that ended at this time or later.")
@click.option("--until", type=TypedTime(), help="Replay only puts and gets that ended before this time.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per rule and size, each on its own line."
)
@click.pass_obj
def cache(
    settings: Settings,
    archive: str,
    sizes: Sizes,
    steps: int,
    policies: tuple[Policy, ...],
    since: datetime | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    """Show how many gets a disk of each size would have missed.

    Every put and get of the log is replayed, without locks: a file may be dropped before it is on tape. The
    disk is empty when the log begins. With --since, what comes before fills the disk, but is not counted.

    lru drops the file that was used least recently; fifo the one that has been on disk for longest; size_age
    the one of the largest size * age^1.5; gdsf prefers large files that are seldom used; belady knows the
    future, and drops the file whose next use is farthest.

    Example: tapewise simulate cache --archive hpss --sizes 100TB..2PB
    """
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.caches import count_misses  # noqa: PLC0415
    from tapewise.simulator.uses import read_uses  # noqa: PLC0415

    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.READER)) as reader:
        uses = read_uses(reader, archive, since=since, until=until)
    found = count_misses(uses, policies, sizes.space(steps))
    if uses.left_out_count:
        click.echo(
            f"Left out: {uses.left_out_count:,} gets: the logs do not say which file they read, or its size.",
            err=True,
        )
    if as_json:
        for each in found:
            click.echo(json.dumps(asdict(each)))
        return
    click.echo("\n".join(_describe(found)))


def _describe(found: Sequence["CacheMisses"]) -> Iterator[str]:
    """Yield the table line by line."""
    first = found[0]
    yield (
        f"{first.get_count:,} gets. {first.first_count:,} of them are the first use of their file in the log,"
        " so any disk misses them."
    )
    lines = [("policy", "disk", "misses", "miss ratio", "missed")]
    lines += [
        (
            each.policy,
            format_size(each.capacity_bytes),
            f"{each.miss_count:,}",
            f"{each.miss_count / each.get_count:.4f}",
            format_size(each.miss_bytes),
        )
        for each in found
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        yield "  ".join(cells)
