"""The tapes of a machine file whose cartridges have an identity: drives, robots, cartridges and recalls.

    [tapes.cartridges]
    capacity_bytes = 18_000_000_000_000
    placement = "time"

    [[tapes.drives]]
    count = 4
    bytes_per_s = 400_000_000

becomes `Library(cartridges=Cartridges(...), drives=(Drives(...),), ...)`.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tapewise.simulator.parts import Bytes, Count, Interval, Part, Rate, Ratio, Seconds

READ, WRITE = 1, 2
LIBRARY = "library"  # the tier of the cartridges that the robots move


class Cartridges(Part):
    """The cartridges. A trace does not say on which of them a file is, so `placement` is an assumption.

    By `time`, files are written to tape one after another, whoever owns them. By `user`, each user's files
    have cartridges of their own. `open_count` cartridges (of each user) are written in turn.

    The requested files from before the run lie in an order drawn at random, without gaps; `filled_count`
    says how many cartridges the archive had filled. By `time`, the files are then spread evenly over all of
    these, which is the worst case. By `user`, those of a user still lie together, from a place drawn at
    random, which is the best case.
    """

    capacity_bytes: Bytes
    placement: Literal["time", "user"]
    open_count: Count = 1
    filled_count: Count | None = None


class Drives(Part):
    """A group of equal drives, and what they are for.

    Without `classes_of_service`, they serve all files. Files that other drives serve are on other cartridges.

    Before a cartridge is unloaded, it is rewound for `rewind_s`, wherever the head is.
    """

    count: Count
    bytes_per_s: Rate
    role: Literal["both", "read", "write"] = "both"
    load_s: Seconds = 0.0
    rewind_s: Seconds = 0.0
    unload_s: Seconds = 0.0
    classes_of_service: Annotated[tuple[str, ...] | None, Field(strict=False, min_length=1)] = None

    @property
    def kinds(self) -> int:
        """The kinds of work as a sum of `READ` and `WRITE`."""
        return {"both": READ | WRITE, "read": READ, "write": WRITE}[self.role]


class Robots(Part):
    """Robots, each of which moves one cartridge at a time; moves are made first come, first served."""

    count: Count
    move_s: Seconds


class Tier(Part):
    """Cartridges that are not in the library: on shelves, or in another building.

    Of the cartridges that are full when a run begins, `share_ratio` are in this tier. Its own fetchers
    (people or robots, one cartridge each at a time, first come, first served) bring them to a drive in
    `fetch_s`, instead of the robots, and take them back in `return_s` (as long, if omitted).
    """

    name: Annotated[str, Field(min_length=1, max_length=40)]
    share_ratio: Ratio
    fetch_s: Seconds
    return_s: Seconds | None = None
    fetcher_count: Count


class Locate(Part):
    """How long the head moves between files that do not follow each other.

    A cartridge has `band_count` bands of `wraps_per_band` wraps, which are written there and back.
    `end_to_end_s` is the time along the whole tape. What turning round and changing wraps costs is the same
    for every cartridge: see `kernel/locate.py`.
    """

    end_to_end_s: Seconds
    band_count: Count
    wraps_per_band: Count


class Recalls(Part):
    """How recalls of one cartridge are served together.

    At most `most_per_mount` are read in a mount; then the cartridge goes back, and its remaining requests
    wait their turn. `lazy_s` is how long a cartridge without requests stays in its drive, unless another one
    needs the drive. `order` is that of arrival, of record (from the beginning of the tape), or `nearest`:
    always the next file to which the head moves fastest.
    """

    order: Literal["arrival", "record", "nearest"] = "arrival"
    most_per_mount: Annotated[int, Field(gt=0, le=10_000)] = 1000
    lazy_s: Seconds = 0.0


class Writes(Part):
    """How files are stored to tape: as in `Store`, but a list is written to several cartridges at a time.

    With `after_recalls`, a drive that may read writes only if no recall waits for a drive. It ends the file
    that it writes.
    """

    interval_s: Interval
    min_age_s: Seconds
    after_recalls: bool = False


class Repack(Part):
    """Copying cartridges in the background, with the lowest priority, in pieces of `piece_s`.

    With `drive_ratio`, it wants this share of the time of all drives, from the first to the last request. A
    piece begins when it is due and a drive is empty for which no cartridge waits; it is not interrupted. What
    is late is made up for when drives are empty.

    With `volumes`, the cartridges of that name, with so many bytes, are read in this order, and what was read
    is written to as few blank ones as can hold it, by at most `most_drives` at a time (all, if omitted). A
    drive goes on with a cartridge until another one waits that it serves, but at least for a piece. They hold
    none of the trace's files.
    """

    piece_s: Interval
    drive_ratio: Ratio | None = None
    volumes: Annotated[dict[str, Bytes] | None, Field(min_length=1, max_length=100_000)] = None
    most_drives: Count | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.drive_ratio is None) == (self.volumes is None):
            raise ValueError("give drive_ratio, or volumes with their bytes")
        if self.most_drives is not None and self.volumes is None:
            raise ValueError("most_drives belongs to volumes")
        return self


def _add_kinds(drives: Sequence[Drives]) -> int:
    """Return the kinds of work that any of these drives does."""
    return (READ if any(one.kinds & READ for one in drives) else 0) | (
        WRITE if any(one.kinds & WRITE for one in drives) else 0
    )


class Library(Part):
    """Drives, robots and cartridges with an identity."""

    drives: Annotated[tuple[Drives, ...], Field(min_length=1, strict=False)]
    cartridges: Cartridges
    robots: Robots
    tiers: Annotated[tuple[Tier, ...], Field(strict=False)] = ()
    recalls: Recalls = Recalls()
    locate: Locate | None = None
    store: Writes | None = None
    repack: Repack | None = None

    @property
    def drive_count(self) -> int:
        """The drives of all groups."""
        return sum(group.count for group in self.drives)

    def with_other_placement(self) -> Self:
        """Return the library with files by user on its cartridges if they are by time, else by time."""
        placement = "time" if self.cartridges.placement == "user" else "user"
        cartridges = self.cartridges.model_copy(update={"placement": placement})
        return self.model_copy(update={"cartridges": cartridges})

    @property
    def chain_count(self) -> int:
        """The groups of drives, each of which has a rate of its own."""
        return len(self.drives)

    @model_validator(mode="after")
    def _check_tiers(self) -> Self:
        names = [LIBRARY, *(tier.name for tier in self.tiers)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"tiers: two are called {name}")
        shares = sum(tier.share_ratio for tier in self.tiers)
        if shares > 1 + 1e-9:
            raise ValueError(f"tiers: share_ratio is {shares:g} in all, which is more than 1")
        return self

    @model_validator(mode="after")
    def _check_volumes(self) -> Self:
        volumes = (self.repack and self.repack.volumes) or {}
        for name, size_bytes in volumes.items():
            if size_bytes > self.cartridges.capacity_bytes:
                raise ValueError(
                    f"repack.volumes.{name}: {size_bytes} bytes are more than"
                    f" cartridges.capacity_bytes ({self.cartridges.capacity_bytes})"
                )
        if volumes and not _add_kinds(self.drives) & WRITE:
            raise ValueError("repack.volumes need a drive that may write")
        return self

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        kinds = _add_kinds(self.drives)
        if not kinds & READ:
            raise ValueError("no drive of drives may read, so no file comes back from tape")
        if self.store is not None and not kinds & WRITE:
            raise ValueError("store needs a drive that may write")
        for name, groups in self._list_served():
            kinds, which = _add_kinds([self.drives[group] for group in groups]), name or "without a name here"
            if not kinds & READ:
                raise ValueError(f"drives: none that serves class {which} may read")
            if self.store is not None and not kinds & WRITE:
                raise ValueError(f"drives: none that serves class {which} may write")
        return self

    def _list_served(self) -> list[tuple[str | None, tuple[int, ...]]]:
        """Return which groups of drives serve each class that is named, and, as the last, all others."""
        given = [group.classes_of_service for group in self.drives]
        names = dict.fromkeys(name for classes in given for name in classes or ())
        served: list[tuple[str | None, tuple[int, ...]]] = [
            (name, tuple(n for n, classes in enumerate(given) if classes is None or name in classes))
            for name in names
        ]
        others = tuple(number for number, classes in enumerate(given) if classes is None)
        return [*served, (None, others)] if others else served

    @property
    def repack_every_s(self) -> float:
        """The seconds between two pieces of repack by `drive_ratio`; 0 without it."""
        if self.repack is None or self.repack.drive_ratio is None:
            return 0.0
        return self.repack.piece_s / (self.repack.drive_ratio * self.drive_count)

    @property
    def has_classes(self) -> bool:
        """Whether some drives serve only some classes of service."""
        return any(group.classes_of_service is not None for group in self.drives)

    @property
    def drive_sets(self) -> list[tuple[int, ...]]:
        """The different sets of groups of drives that serve a class; a cartridge belongs to one set."""
        return list(dict.fromkeys(groups for _, groups in self._list_served()))

    def find_set(self) -> tuple[dict[str, int], int | None]:
        """Return the number of the set of each class that is named; that of all others, None if refused."""
        sets, numbers = self.drive_sets, {}
        others: int | None = None
        for name, groups in self._list_served():
            if name is None:
                others = sets.index(groups)
            else:
                numbers[name] = sets.index(groups)
        return numbers, others
