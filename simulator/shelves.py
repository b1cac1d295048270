"""Lays out a library's memory: its drives, its cartridges, and which files are where on them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tapewise.schema.errors import MachineError
from tapewise.simulator.demand.traces import Demand
from tapewise.simulator.kernel.tables import Floats, Integers, Records, make_records
from tapewise.simulator.libraries import READ, WRITE, Library


@dataclass(frozen=True)
class Shelves:
    """The drives, the cartridges, and for each file its set of drives, owner, cartridge and position.

    The first `filled_count` cartridges hold the files from before the run; the others are blank. The last
    ones are those of `repacks`.
    """

    drives: Records
    cartridges: Records
    repacks: Records
    owner_count: int
    owners: Integers
    file_sets: Integers
    file_cartridges: Integers
    positions_bytes: Floats
    filled_count: int


def make_shelves(library: Library | None, demand: Demand, sizes_bytes: Floats, *, seed: int) -> Shelves:
    """Place the files that are on tape at the start. Raises MachineError if they do not fit."""
    file_count = len(sizes_bytes)
    placed = np.full(file_count, -1, np.int64), np.zeros(file_count)
    if library is None:
        none = np.zeros(file_count, np.int64)
        drives, cartridges, repacks = (make_records(name, 0) for name in ("drives", "cartridges", "repacks"))
        return Shelves(drives, cartridges, repacks, 0, none, none, *placed, 0)
    given = library.cartridges
    is_old = np.zeros(file_count, bool)
    is_old[demand.file] = True  # nobody asks for the others, so their places do not matter
    is_new = np.zeros(file_count, bool)
    is_new[demand.file[demand.is_put]] = True
    if library.store is not None:
        is_new[demand.inventory[~demand.inventory_is_stored]] = True
    drive_sets = library.drive_sets
    set_count, sets = len(drive_sets), _choose_sets(library, demand.file_services, is_new, seed=seed)
    owners, owner_count = _find_owners(demand, file_count, by_user=given.placement == "user")
    # Files that different drives serve share no cartridge.
    owners, owner_count = owners * set_count + sets, owner_count * set_count
    # The order in which the trace asks for files is not used: no real archive has its files in that order.
    rng = np.random.default_rng([seed, 3])
    order = rng.permutation(file_count)
    order = order[(is_old & ~is_new)[order]]
    order = order[np.argsort(owners[order], kind="stable")]
    rooms = np.array([float(library.find_capacity(one.technology)) for one in drive_sets])
    if given.filled_count is None or given.placement == "user":
        room = rooms[np.arange(owner_count) % set_count]  # of each owner's cartridges
        starts = np.zeros(owner_count)
        if given.filled_count is not None:
            owned_bytes = np.bincount(owners[order], weights=sizes_bytes[order], minlength=owner_count)
            starts = rng.random(owner_count) * np.maximum(0.0, room - owned_bytes)
        filled_count = _place_together(order, sizes_bytes, owners, room, starts, placed)
    else:
        filled_count = given.filled_count
        # Smaller cartridges hold fewer of the bytes.
        shares = np.bincount(sets[order], weights=sizes_bytes[order], minlength=set_count).astype(float)
        shares *= rooms[0] / rooms
        first = 0
        for number, count in enumerate(_divide(filled_count, shares)):
            _spread(order[sets[order] == number], sizes_bytes, rooms[number], first, count, placed)
            first += count
    if given.filled_count is not None and filled_count > given.filled_count:
        raise MachineError(
            f"tapes.cartridges.filled_count is {given.filled_count}, but the files of the users are on"
            f" {filled_count} cartridges"
        )
    # Of two cartridges that are written one after the other, the first is full with the second's first file.
    new_bytes = float(sizes_bytes[is_new].sum())
    blank_count = int(2 * new_bytes / rooms.min()) + owner_count * given.open_count + 1
    listed = list_repacks(library)
    blank_count = min(blank_count, int(is_new.sum()) + 1)
    cartridges = make_records("cartridges", filled_count + blank_count + len(listed))
    listed.cartridge += filled_count + blank_count
    # The last sets are those of `Library.repack_sets`.
    cartridges.drive_set[listed.cartridge] = set_count + (listed.kind == WRITE)
    cartridges.drive = cartridges.place = cartridges.write_head = -1
    is_placed = placed[0] >= 0
    cartridges.drive_set[placed[0][is_placed]] = sets[is_placed]
    cartridges.tier[:filled_count] = _draw_tiers(library, filled_count, seed=seed)
    return Shelves(
        _make_drives(library), cartridges, listed, owner_count, owners, sets, *placed, filled_count
    )


def _choose_sets(
    library: Library, services: Integers, is_new: npt.NDArray[np.bool_], *, seed: int
) -> Integers:
    """Choose the set of drives of each file: at random for older ones that may be on several."""
    numbers = {one: number for number, one in enumerate(library.drive_sets)}
    drawn = np.random.default_rng([seed, 7]).random(len(services))
    sets = np.zeros(len(services), np.int64)
    for number, service in enumerate(library.services):
        own = np.array([numbers[one] for one in service.sets])
        place = np.searchsorted(np.cumsum(service.older_ratios)[:-1], drawn, side="right")
        chosen = np.where(is_new, own[service.written], own[place])
        sets = np.where(services == number, chosen, sets)
    return sets


def make_drive_sets(library: Library | None) -> Records:
    """Make the sets of drives of all cartridges: those of files, then those of listed cartridges."""
    given = [*library.drive_sets, *library.repack_sets] if library else []
    sets = make_records("drive_sets", len(given))
    for one, drive_set in zip(sets, given, strict=True):
        assert library is not None
        one.cartridge_bytes = library.find_capacity(drive_set.technology)
        if locate := library.find_locate(drive_set.technology):
            one.has_locate = True
            one.end_to_end_s = locate.end_to_end_s
            one.wraps_per_band = locate.wraps_per_band
            one.wrap_count = locate.wraps_per_band * locate.band_count
    return sets


def list_served(library: Library | None) -> Integers:
    """Return what each group of drives does with cartridges of each of these sets."""
    if library is None:
        return np.zeros((1, 0), np.int64)
    return np.array([one.kinds for one in (*library.drive_sets, *library.repack_sets)]).T.copy()


def _find_owners(demand: Demand, file_count: int, *, by_user: bool) -> tuple[Integers, int]:
    """Return the number of each file's owner: the user who first asks for it; the last one has the others."""
    if not by_user:
        return np.zeros(file_count, np.int64), 1
    owners = np.full(file_count, demand.user_count, np.int64)
    owners[demand.file[::-1]] = demand.user[::-1]
    return owners, demand.user_count + 1


def _place_together(
    order: Integers,
    sizes_bytes: Floats,
    owners: Integers,
    rooms: Floats,
    starts: Floats,
    placed: tuple[Integers, Floats],
) -> int:
    """Fill one cartridge after the other; each owner begins a new one. Returns how many are filled.

    `rooms` has the bytes of each owner's cartridges, and `starts` where on the first one the files begin.
    """
    cartridge, end, owner = -1, 0.0, -1
    for file in order.tolist():
        if owners[file] != owner:
            cartridge, owner = cartridge + 1, owners[file]
            end = starts[owner]
        elif end + sizes_bytes[file] > rooms[owner]:
            cartridge, end = cartridge + 1, 0.0
        placed[0][file], placed[1][file] = cartridge, end
        end += sizes_bytes[file]
    return cartridge + 1


def _divide(count: int, shares: Floats) -> list[int]:
    """Divide cartridges by the bytes that are on them; each share above 0 gets at least one, if there are.

    Rounding leaves some over, which go to the largest share.
    """
    is_used = shares > 0
    if not is_used.any():
        is_used[0] = True
    spare = max(0, count - int(is_used.sum()))
    counts = is_used + np.floor(spare * shares / max(float(shares.sum()), 1.0)).astype(np.int64)
    counts[np.argmax(shares)] += count - int(counts.sum())
    return [max(0, each) for each in counts.tolist()]


def _spread(
    order: Integers,
    sizes_bytes: Floats,
    room: float,
    first: int,
    count: int,
    placed: tuple[Integers, Floats],
) -> None:
    """Spread the files evenly over `count` cartridges, from the `first` on."""
    if not order.size:
        return
    sizes = sizes_bytes[order]
    total = float(sizes.sum())
    if total > room * count:
        raise MachineError(
            f"tapes.cartridges.filled_count: {count} cartridges hold {room * count:.0f} bytes, but the files"
            f" on tape at the start have {total:.0f}"
        )
    starts = (np.cumsum(sizes) - sizes) * (room * count / total if total else 0.0)
    cartridges = np.minimum((starts / room).astype(np.int64), count - 1)
    placed[0][order] = first + cartridges
    # A file that would reach over the end of its cartridge lies right before it.
    placed[1][order] = np.minimum(starts - cartridges * room, room - sizes)


def _draw_tiers(library: Library, count: int, *, seed: int) -> Integers:
    """Draw the tier of each full cartridge: 0 is the library, then the machine file's tiers."""
    ends = np.cumsum([tier.share_ratio for tier in library.tiers])
    drawn = np.searchsorted(ends, np.random.default_rng([seed, 6]).random(count), side="right")
    return np.where(drawn < len(ends), drawn + 1, 0)


def list_repacks(library: Library) -> Records:
    """List the cartridges that are repacked, each blank one after the last one that it takes anything from.

    What is read is written without gaps, so only the last blank cartridge is not full.
    """
    volumes = (library.repack and library.repack.volumes) or {}
    room = library.find_capacity(library.repack.to_technology if library.repack else None)
    read_bytes = written_bytes = 0
    rows: list[tuple[int, int, int]] = []
    for number, size_bytes in enumerate(volumes.values(), start=1):
        read_bytes += size_bytes
        rows.append((READ, size_bytes, 0))
        is_last = number == len(volumes)
        while read_bytes - written_bytes >= room or (is_last and read_bytes > written_bytes):
            size = min(room, read_bytes - written_bytes)
            written_bytes += size
            rows.append((WRITE, size, written_bytes))
    repacks = make_records("repacks", len(rows))
    repacks.cartridge = np.arange(len(rows))
    if rows:
        repacks.kind, repacks.size_bytes, repacks.needed_bytes = np.array(rows).T
    repacks.left_bytes = repacks.size_bytes
    repacks.drive = -1
    return repacks


def make_movers(library: Library | None) -> Records:
    """Make the robots (none without a library), and the fetchers of each tier."""
    movers = make_records("movers", 1 + len(library.tiers if library else ()))
    if library is not None:
        tiers = library.tiers
        movers.free_count = [library.robots.count, *(tier.fetcher_count for tier in tiers)]
        movers.fetch_s = [library.robots.move_s, *(tier.fetch_s for tier in tiers)]
        returns_s = (tier.fetch_s if tier.return_s is None else tier.return_s for tier in tiers)
        movers.return_s = [library.robots.move_s, *returns_s]
    return movers


def _make_drives(library: Library) -> Records:
    drives = make_records("drives", library.drive_count)
    counts = [group.count for group in library.drives]
    drives.group = np.repeat(np.arange(len(counts)), counts)
    drives.bytes_per_s = np.repeat([group.bytes_per_s for group in library.drives], counts)
    drives.load_s = np.repeat([group.load_s for group in library.drives], counts)
    drives.rewind_s = np.repeat([group.rewind_s for group in library.drives], counts)
    drives.unload_s = np.repeat([group.unload_s for group in library.drives], counts)
    drives.cartridge = drives.job = drives.repack = -1
    return drives
