"""The tapes of a machine file whose cartridges have an identity: drives, robots, cartridges and recalls.

    [tapes.cartridges]
    capacity_bytes = 18_000_000_000_000
    placement = "time"

    [[tapes.drives]]
    count = 4
    bytes_per_s = 400_000_000

becomes `Library(cartridges=Cartridges(...), drives=(Drives(...),), ...)`.
"""

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from tapewise.simulator.parts import Bytes, Count, Interval, Name, Part, Rate, Ratio, Seconds

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


Names = Annotated[tuple[Name, ...], Field(strict=False)]


class Drives(Part):
    """A group of equal drives, and what they are for.

    Without `classes_of_service`, they serve all files. Files that other drives serve are on other cartridges.
    If the machine file has `[tapes.technologies]`, `reads` and `writes` name those whose cartridges they read
    and write, and `role` is omitted.

    Before a cartridge is unloaded, it is rewound for `rewind_s`, wherever the head is.
    """

    count: Count
    bytes_per_s: Rate
    role: Literal["both", "read", "write"] = "both"
    reads: Names | None = None
    writes: Names | None = None
    load_s: Seconds = 0.0
    rewind_s: Seconds = 0.0
    unload_s: Seconds = 0.0
    classes_of_service: Annotated[tuple[str, ...] | None, Field(strict=False, min_length=1)] = None

    def find_kinds(self, technology: str | None) -> int:
        """Return what they do with cartridges of a technology (None: the only one), as READ and WRITE."""
        if technology is None:
            return {"both": READ | WRITE, "read": READ, "write": WRITE}[self.role]
        return READ * (technology in (self.reads or ())) | WRITE * (technology in (self.writes or ()))


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


class Technology(Part):
    """Cartridges of one kind, which only some drives read, and only some write.

    It has the files of its `classes_of_service`, or, without them, of all classes that no technology names.
    Where several have the same class, drives must write exactly one of these (with `[tapes.store]`), which
    gets the new files. Which of the requested files from before the run are on which is drawn at random:
    `older_ratio` of them are on this one.

    `capacity_bytes` and `locate` are those of the machine's `[tapes.cartridges]` and `[tapes.locate]`, if
    omitted.
    """

    classes_of_service: Annotated[tuple[str, ...] | None, Field(strict=False, min_length=1)] = None
    older_ratio: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    capacity_bytes: Bytes | None = None
    locate: Locate | None = None


class DriveSet(NamedTuple):
    """What each group of drives may do with some cartridges (READ, WRITE, their sum, or 0)."""

    technology: str | None
    kinds: tuple[int, ...]

    @property
    def all_kinds(self) -> int:
        """What any of the drives may do."""
        return READ * any(one & READ for one in self.kinds) | WRITE * any(one & WRITE for one in self.kinds)


class Service(NamedTuple):
    """The sets of drives that the files of some classes may need, with the share of the older files of each.

    New files need the set of number `written` of these.
    """

    sets: tuple[DriveSet, ...]
    older_ratios: tuple[float, ...]
    written: int


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
    none of the trace's files. If the machine file has technologies, the volumes are of `from_technology`, and
    the blank ones of `to_technology`.
    """

    piece_s: Interval
    drive_ratio: Ratio | None = None
    volumes: Annotated[dict[str, Bytes] | None, Field(min_length=1, max_length=100_000)] = None
    most_drives: Count | None = None
    from_technology: Name | None = None
    to_technology: Name | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.drive_ratio is None) == (self.volumes is None):
            raise ValueError("give drive_ratio, or volumes with their bytes")
        for field in ("most_drives", "from_technology", "to_technology"):
            if getattr(self, field) is not None and self.volumes is None:
                raise ValueError(f"{field} belongs to volumes")
        return self


class Library(Part):
    """Drives, robots and cartridges with an identity."""

    drives: Annotated[tuple[Drives, ...], Field(min_length=1, strict=False)]
    cartridges: Cartridges
    technologies: Annotated[dict[Name, Technology], Field(default_factory=dict)]
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
    def _check_technologies(self) -> Self:
        names = self.technologies
        for number, group in enumerate(self.drives):
            for field in ("reads", "writes"):
                given = getattr(group, field)
                if given == () and not names:
                    raise ValueError(f"drives.{number}.{field}: there are no technologies")
                for name in given or ():
                    if name not in names:
                        raise ValueError(f"drives.{number}.{field}: {name} is none of technologies")
            if names and "role" in group.model_fields_set:
                raise ValueError(f"drives.{number}.role: reads and writes say what they do with technologies")
            if names and not any(group.find_kinds(name) for name in names):
                raise ValueError(f"drives.{number}: reads and writes name no technology, so none is for them")
        for name in names:
            if not any(group.find_kinds(name) & READ for group in self.drives):
                raise ValueError(f"technologies.{name}: no drive of drives reads it")
        for field in ("from_technology", "to_technology"):
            name = getattr(self.repack, field, None)
            if name is not None and name not in names:
                raise ValueError(f"repack.{field}: {name} is none of technologies")
            if name is None and names and self.repack and self.repack.volumes:
                raise ValueError(f"repack.{field}: it is missing, so no technology is known for volumes")
        return self

    @model_validator(mode="after")
    def _check_volumes(self) -> Self:
        if self.repack is None or not self.repack.volumes:
            return self
        old, new = self.repack_sets
        room = self.find_capacity(old.technology)
        where = f"technologies.{old.technology}" if old.technology else "cartridges"
        for name, size_bytes in self.repack.volumes.items():
            if size_bytes > room:
                raise ValueError(
                    f"repack.volumes.{name}: {size_bytes} bytes are more than {where}.capacity_bytes ({room})"
                )
        if not new.all_kinds & WRITE:
            if new.technology:
                raise ValueError(f"repack.to_technology: no drive of drives writes {new.technology}")
            raise ValueError("repack.volumes need a drive that may write")
        return self

    @model_validator(mode="after")
    def _check_roles(self) -> Self:
        every = [DriveSet(name, self._list_kinds(name)) for name in self.technologies or [None]]
        if not any(one.all_kinds & READ for one in every):
            raise ValueError("no drive of drives may read, so no file comes back from tape")
        if self.store is not None and not any(one.all_kinds & WRITE for one in every):
            raise ValueError("store needs a drive that may write")
        for name, service in self._list_served():
            which = name or "without a name here"
            self._check_shares(which, service)
            for one in service.sets:
                on = f" on {one.technology}" if one.technology else ""
                if not one.all_kinds & READ:
                    raise ValueError(f"drives: none that serves class {which} may read{on}")
            written = service.sets[service.written]
            if self.store is not None and not written.all_kinds & WRITE:
                on = f" on {written.technology}" if len(service.sets) == 1 and written.technology else ""
                raise ValueError(f"drives: none that serves class {which} may write{on}")
        return self

    @model_validator(mode="after")
    def _check_uses(self) -> Self:
        """Refuse technologies without files, and drives for which there is no file."""
        sets = self.drive_sets
        for name in self.technologies:
            if all(one.technology != name for one in sets):
                raise ValueError(f"technologies.{name}: no class of service has files on it")
        sets += self.repack_sets
        for number in range(len(self.drives)):
            if not any(one.kinds[number] for one in sets):
                raise ValueError(
                    f"drives.{number}: no class that they serve has files on what they read or write"
                )
        return self

    def _check_shares(self, which: str, service: Service) -> None:
        """Refuse technologies that share a class, and do not say which of its files are on them."""
        names = [one.technology for one in service.sets]
        if len(names) < 2:
            return
        for name in names:
            if name and self.technologies[name].older_ratio is None:
                raise ValueError(
                    f"technologies.{name}.older_ratio: it is missing, but {len(names)} technologies have"
                    f" files of class {which}"
                )
        total = sum(service.older_ratios)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"technologies: older_ratio is {total:g} in all for class {which}, not 1")
        written = [one.technology for one in service.sets if one.all_kinds & WRITE]
        if self.store is not None and len(written) > 1:
            raise ValueError(
                f"technologies: drives write {' and '.join(map(str, written))} for class {which}, so where"
                " its new files go is not known"
            )

    def find_capacity(self, technology: str | None) -> int:
        """Return the bytes of a cartridge of a technology."""
        given = self.technologies[technology].capacity_bytes if technology else None
        return given or self.cartridges.capacity_bytes

    def find_locate(self, technology: str | None) -> Locate | None:
        """Return how long the head moves on a cartridge of a technology."""
        given = self.technologies[technology].locate if technology else None
        return given or self.locate

    def _list_kinds(self, technology: str | None) -> tuple[int, ...]:
        """Return what each group of drives may do with cartridges of a technology, as READ and WRITE."""
        return tuple(group.find_kinds(technology) for group in self.drives)

    def _list_served(self) -> list[tuple[str | None, Service]]:
        """Return who serves each class that is named, and, as the last, all others, if they are served."""
        names = dict.fromkeys(name for classes in self._classes for name in classes or ())
        return [(name, found) for name in [*names, None] if (found := self._find_service(name)) is not None]

    def _find_service(self, name: str | None) -> Service | None:
        """Return who serves a class; of all others (None), None if nobody does."""
        groups = [
            number
            for number, group in enumerate(self.drives)
            if group.classes_of_service is None or name in group.classes_of_service
        ]
        kept = self.technologies
        own = [each for each, one in kept.items() if name in (one.classes_of_service or ())]
        technologies = own or [each for each, one in kept.items() if one.classes_of_service is None]
        if kept and not technologies and name is not None:
            raise ValueError(f"technologies: none has the files of class {name}")
        if not groups or (kept and not technologies):
            return None
        sets = []
        for technology in technologies if kept else [None]:
            kinds = self._list_kinds(technology)
            sets.append(DriveSet(technology, tuple(kinds[n] * (n in groups) for n in range(len(kinds)))))
        ratios = [1.0] if len(sets) == 1 else [kept[each].older_ratio or 0.0 for each in technologies]
        written = next((number for number, one in enumerate(sets) if one.all_kinds & WRITE), 0)
        return Service(tuple(sets), tuple(ratios), written)

    @property
    def repack_every_s(self) -> float:
        """The seconds between two pieces of repack by `drive_ratio`; 0 without it."""
        if self.repack is None or self.repack.drive_ratio is None:
            return 0.0
        return self.repack.piece_s / (self.repack.drive_ratio * self.drive_count)

    @property
    def has_classes(self) -> bool:
        """Whether some drives serve only some classes of service, or some technologies have only those."""
        return any(classes is not None for classes in self._classes)

    @property
    def _classes(self) -> list[tuple[str, ...] | None]:
        """The classes that each group of drives serves, and those of each technology."""
        classes = [group.classes_of_service for group in self.drives]
        return classes + [one.classes_of_service for one in self.technologies.values()]

    @property
    def services(self) -> list[Service]:
        """The different ways in which classes are served."""
        return list(dict.fromkeys(service for _, service in self._list_served()))

    @property
    def drive_sets(self) -> list[DriveSet]:
        """The different sets of drives that files need; a cartridge belongs to one set."""
        return list(dict.fromkeys(one for service in self.services for one in service.sets))

    @property
    def repack_sets(self) -> list[DriveSet]:
        """The sets of drives for listed cartridges, and for the blank ones that take what is on them."""
        if self.repack is None or not self.repack.volumes:
            return []
        names = self.repack.from_technology, self.repack.to_technology
        return [DriveSet(name, self._list_kinds(name)) for name in names]

    def find_service(self) -> tuple[dict[str, int], int | None]:
        """Return the number of the service of each class that is named; of all others, None if refused."""
        numbers = {name: self.services.index(service) for name, service in self._list_served()}
        return {name: n for name, n in numbers.items() if name is not None}, numbers.get(None)
