"""Describes machines, for the terminal."""

from collections.abc import Iterator, Sequence

from tapewise.schema.texts import escape_controls
from tapewise.simulator.capacities import format_count, format_size
from tapewise.simulator.libraries import Drives, Library, Writes
from tapewise.simulator.limits import COLUMNS as LIMITED_COLUMNS
from tapewise.simulator.machines import Machine, Store
from tapewise.simulator.outages import Outage

_ORDERS = {"arrival": "in order of arrival", "record": "in order of record", "nearest": "the nearest first"}


def describe_machine(machine: Machine) -> Iterator[str]:
    """Yield a summary of a machine, line by line."""
    yield escape_controls(f"  {machine.title}")
    ports = format_count(machine.ports.count, "port")
    yield f"  {ports}, of which a user gets {machine.users.limit_count:,} at a time"
    chains = format_count(machine.disk.chain_count, "chain")
    yield f"  disk: {format_size(machine.disk.capacity_bytes)} on {chains}"
    yield from map(escape_controls, _describe_limits(machine))
    if failures := machine.failures:
        ratio = failures.ratio if isinstance(failures.ratio, str) else f"{failures.ratio:.2%}"
        yield (
            f"  failures: {ratio} of the tries; the next try after {failures.retry_after_s:g} s, at most"
            f" {format_count(failures.most_retries, 'time')}"
        )
    if purge := machine.purge:
        yield (
            f"  purge: from {purge.high_ratio * 100:g}% to {purge.low_ratio * 100:g}%, by {purge.policy};"
            f" files stay {purge.keep_s:g} s after each use"
        )
    else:
        yield "  purge: none, so no file ever leaves the disk"
    for pool in machine.disk_pools if machine.disk.pools else ():
        classes = pool.classes_of_service
        which = f"for {_join_classes(classes)}" if classes else "for all other classes of service"
        yield escape_controls(f"  pool {pool.name}: {format_size(pool.capacity_bytes)} {which}")
        if pool.capacity_bytes < machine.disk.largest_file_bytes:
            yield "    runs of an archive leave out its larger files, although the machine accepts up to" + (
                f" {format_size(machine.disk.largest_file_bytes)} elsewhere"
            )
        if purge and pool.purge and pool.purge != purge:
            yield (
                f"    purge: from {pool.purge.high_ratio * 100:g}% to {pool.purge.low_ratio * 100:g}%, by"
                f" {pool.purge.policy}; files stay {pool.purge.keep_s:g} s after each use"
            )
    if isinstance(tapes := machine.tapes, Library):
        yield from _describe_library(tapes)
    elif tapes:
        where = f"{format_count(len(tapes.silos), 'silo')} on {format_count(tapes.chain_count, 'chain')}"
        yield f"  tapes: {format_count(tapes.drive_count, 'drive')} in {where}"
        yield _describe_store(tapes.store)
    else:
        yield "  tapes: none"
    for outage in machine.outages:
        yield f"  out of service: {_describe_outage(outage)}"


def _join_classes(classes: Sequence[str]) -> str:
    return f"class{'es' if len(classes) > 1 else ''} of service {', '.join(classes)}"


def _describe_limits(machine: Machine) -> Iterator[str]:
    columns = ("user", *LIMITED_COLUMNS)
    for column in columns:
        limit = getattr(machine.limits, column, None)
        if limit is not None:
            parts = [f"{limit.default_count:,} at a time"] if limit.default_count else []
            parts += [f"{name} {count:,}" for name, count in limit.exceptions.items()]
            yield f"  limit by {column}: {', '.join(parts)}"
    for column in columns:
        priority = getattr(machine.priorities, column, None)
        if priority is not None:
            parts = [f"{name} {rank}" for name, rank in priority.exceptions.items()]
            yield f"  priority by {column}: {', '.join([*parts, f'others {priority.default}'])}"


def _describe_outage(outage: Outage) -> str:
    what = outage.what if outage.count is None else f"{outage.count:,} {outage.what}"
    if outage.group is not None:
        what += f" of group {outage.group}"
    if outage.when is not None:
        return f"{what}, {outage.when}"
    every = f" and then every {outage.every_s:g} s" if outage.every_s else ""
    return f"{what} for {outage.lasts_s:g} s, {outage.begins_s:g} s after the first request{every}"


def _describe_library(library: Library) -> Iterator[str]:
    drives = ", ".join(
        f"{format_count(each.count, 'drive')} at {format_size(round(each.bytes_per_s))}/s"
        + (f" that only {each.role}" if each.role != "both" else "")
        + _describe_media(each)
        for each in library.drives
    )
    yield f"  tapes: {drives}; {format_count(library.robots.count, 'robot')}"
    for tier in library.tiers:
        yield (
            f"  {tier.share_ratio:.1%} of the full cartridges in tier {tier.name}:"
            f" {format_count(tier.fetcher_count, 'fetcher')}, {tier.fetch_s:g} s each"
        )
    cartridges, recalls = library.cartridges, library.recalls
    capacity = format_size(cartridges.capacity_bytes)
    if not library.technologies:
        yield f"  cartridges of {capacity}, filled by {cartridges.placement} (assumed)"
    for name, one in library.technologies.items():
        capacity = format_size(library.find_capacity(name))
        classes = f" for {_join_classes(one.classes_of_service)}" if one.classes_of_service else ""
        older = f", with {one.older_ratio:.0%} of the older files" if one.older_ratio is not None else ""
        yield escape_controls(
            f"  {name} cartridges of {capacity}{classes}{older}, filled by {cartridges.placement} (assumed)"
        )
    yield (
        f"  recalls of a cartridge: {_ORDERS[recalls.order]}, at most {recalls.most_per_mount:,} a mount;"
        f" then it stays {recalls.lazy_s:g} s"
    )
    if repack := library.repack:
        if repack.drive_ratio:
            what = f"{repack.drive_ratio:.1%} of the drives' time"
        else:
            volumes = (repack.volumes or {}).values()
            drive_count = min(repack.most_drives or library.drive_count, library.drive_count)
            what = f"{format_count(len(volumes), 'volume')} with {format_size(sum(volumes))}"
            what += f", on {format_count(drive_count, 'drive')} at most"
        yield f"  repack: {what}, in pieces of {repack.piece_s:g} s"
    yield _describe_store(library.store)


def _describe_media(drives: Drives) -> str:
    """Return which technologies drives read and write; nothing without technologies."""
    if drives.reads is None and drives.writes is None:
        return ""
    given = {"reads": drives.reads, "writes": drives.writes}
    parts = [f"{verb} {', '.join(names)}" for verb, names in given.items() if names]
    return f" ({'; '.join(parts)})"


def _describe_store(store: Store | Writes | None) -> str:
    if store is None:
        return "  stored to tape at once"
    after = ", by drives for which no recall waits" if store.after_recalls else ""
    return f"  stored to tape every {store.interval_s:g} s{after}"
