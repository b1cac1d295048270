"""A disk with write-back before a library, as SimPy processes: a reference for the kernel's disk.

One process per request, and the drives of `drives_twin.py`, which write what was put and stage what was
purged. A put stays on disk until a drive has written it. Files are objects, and a purge sorts all of them.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import simpy

from benchmarks.contention import Fluid, Steps
from benchmarks.drives_twin import DrivesTwin, TwinCartridge, TwinFile
from tapewise.simulator.demand.traces import Demand
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.shelves import make_shelves


@dataclass(eq=False)
class DiskFile(TwinFile):
    """A file with its number, and its state on disk. `awaited` is set while a put or a stage brings it."""

    number: int = 0
    is_on_disk: bool = False
    is_on_tape: bool = True
    used_s: float = 0.0
    arrived_s: float = 0.0
    use_count: int = 0
    reader_count: int = 0
    awaited: simpy.Event | None = None

    @property
    def is_droppable(self) -> bool:
        """Whether nothing but its age keeps it on disk."""
        return self.is_on_disk and self.is_on_tape and not self.reader_count


# How heavy a file is at a time; a purge drops the heaviest file first.
Weigh = Callable[[DiskFile, float], float]


@dataclass
class WriteBackTwin(DrivesTwin):
    """A run on a machine whose ports and users never limit, with what happened to jobs and files.

    `ended_s` has when each job ended, `staged` the jobs that started a stage, `joined` those that waited for
    the stage of another one, `stored` and `purged` the files that were written to tape and that left the
    disk, as (when, number of the file), in order.
    """

    machine: Machine
    weigh: Weigh
    held: Iterable[DiskFile] = ()
    ended_s: dict[int, float] = field(default_factory=dict)
    staged: set[int] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    stored: list[tuple[float, int]] = field(default_factory=list)
    purged: list[tuple[float, int]] = field(default_factory=list)
    purged_bytes: float = 0.0
    used_bytes: float = 0.0
    most_bytes: float = 0.0

    def __post_init__(self) -> None:
        library, purge = self.machine.tapes, self.machine.purge
        assert isinstance(library, Library)
        assert purge is not None
        super().__init__(library)
        network, disk = self.machine.network, self.machine.disk
        rates = {"in": network.in_bytes_per_s, "out": network.out_bytes_per_s, "disk": disk.chain_bytes_per_s}
        self.fluid = Fluid(self.env, rates)
        self.keep_s, self.capacity = purge.keep_s, float(disk.capacity_bytes)
        self.high, self.low = purge.high_ratio * self.capacity, purge.low_ratio * self.capacity
        self.on_disk: dict[int, DiskFile] = {}
        self.line: list[tuple[DiskFile, simpy.Event]] = []
        self.wakes_s, self.is_short = math.inf, False
        for file in self.held:
            self._place(file)
            if not file.is_on_tape:
                self.unstored.append((file.arrived_s, file))

    def _submit(self, jobs: list[tuple[float, bool, TwinFile]]) -> Steps:
        self.unfinished_count = len(jobs)
        for number, (at, is_put, file) in enumerate(jobs):
            assert isinstance(file, DiskFile)
            yield self.env.timeout(at - self.env.now)
            self.env.process(self._put(number, file) if is_put else self._get(number, file))

    def _put(self, number: int, file: DiskFile) -> Steps:
        file.awaited, file.is_on_tape = self.env.event(), False
        yield from self._find_room(file)
        yield self._move_bytes(file, "in")
        self.unstored.append((self.env.now, file))
        self._arrive(file, use_count=1)
        self._end(number)

    def _get(self, number: int, file: DiskFile) -> Steps:
        if not file.is_on_disk:
            if file.awaited is None:
                self.staged.add(number)
                file.awaited = self.env.event()
                assert file.cartridge is not None
                file.cartridge.recalls.append((self.env.now, number, file))
                self._dispatch()
            elif file.is_on_tape:
                self.joined.add(number)
            file.reader_count += 1
            yield file.awaited
        else:
            file.reader_count += 1
        yield self._move_bytes(file, "out")
        file.reader_count -= 1
        file.used_s = self.env.now
        file.use_count += 1
        self._release(file)
        self._end(number)

    def _move_bytes(self, file: DiskFile, network: str) -> simpy.Event:
        """Move a file between its client and the disk.

        This takes hardly any time, but transfers that begin at one moment share it, which decides what ends
        first, and so what is written first.
        """
        return self.fluid.move(file.size, (network, "disk"))

    def _end(self, number: int) -> None:
        self.ended_s[number] = self.env.now
        self.unfinished_count -= 1
        if not self.unfinished_count:
            self.finished.succeed()

    def _find_room(self, file: TwinFile) -> Steps:
        assert isinstance(file, DiskFile)
        has_room = self.env.event()
        self.line.append((file, has_room))
        self._admit()
        if self.line:
            self._purge()
        yield has_room

    def _admit(self) -> None:
        """Give room to those who wait, in their order, as long as it lasts."""
        while self.line and self.used_bytes + self.line[0][0].size <= self.capacity:
            file, has_room = self.line.pop(0)
            self.used_bytes += file.size
            self.most_bytes = max(self.most_bytes, self.used_bytes)
            has_room.succeed()

    def _end_recall(self, number: int, file: TwinFile) -> None:
        assert isinstance(file, DiskFile)
        self.ends[number] = self.env.now
        self._arrive(file, use_count=0)

    def _arrive(self, file: DiskFile, *, use_count: int) -> None:
        assert file.awaited is not None
        file.awaited.succeed()
        file.awaited, file.is_on_disk, file.use_count = None, True, use_count
        file.used_s = file.arrived_s = self.env.now
        self.on_disk[file.number] = file
        self._purge()

    def _place(self, file: DiskFile) -> None:
        file.is_on_disk = True
        self.on_disk[file.number] = file
        self.used_bytes += file.size

    def _end_write(self, file: TwinFile) -> None:
        assert isinstance(file, DiskFile)
        file.is_on_tape = True
        self.stored.append((self.env.now, file.number))
        self._release(file)
        super()._end_write(file)

    def _release(self, file: DiskFile) -> None:
        """Purge after a file was written or read, as soon as it may be dropped."""
        if file.is_droppable:
            if file.used_s + self.keep_s <= self.env.now:
                self._purge()
            elif self.is_short:
                self._wake_at(file.used_s + self.keep_s)

    def _purge(self) -> None:
        """Drop files down to the low mark, if the high mark is reached or somebody waits for room.

        One purge makes room for the first who waits. If there is none for the next one then, another one
        begins, unless this one fell short.
        """
        if self.used_bytes < self.high and not self.line:
            return
        target = min([self.low, *(self.capacity - file.size for file, _ in self.line[:1])])
        free = [file for file in self.on_disk.values() if file.is_droppable]
        now = self.env.now
        old = [file for file in free if file.used_s + self.keep_s <= now]
        old.sort(key=lambda file: (-self.weigh(file, now), file.number))
        for file in old:
            if self.used_bytes <= target:
                break
            file.is_on_disk = False
            del self.on_disk[file.number]
            self.used_bytes -= file.size
            self.purged_bytes += file.size
            self.purged.append((now, file.number))
        self.is_short, self.wakes_s = self.used_bytes > target, math.inf
        if self.is_short and len(old) < len(free):
            self._wake_at(min(file.used_s + self.keep_s for file in free if file.is_on_disk))
        self._admit()
        if self.line and not self.is_short:
            self._purge()

    def _wake_at(self, at_s: float) -> None:
        """Purge again at that time, when the next file is old enough."""
        if at_s < self.wakes_s:
            self.wakes_s = at_s
            self.env.process(self._wake(at_s))

    def _wake(self, at_s: float) -> Steps:
        while self.env.now < at_s:
            yield self.env.timeout(at_s - self.env.now)
        if at_s == self.wakes_s:
            self.wakes_s = math.inf
            self._purge()


def make_twin(
    machine: Machine, demand: Demand, weigh: Weigh, *, seed: int
) -> tuple[WriteBackTwin, list[tuple[float, bool, TwinFile]]]:
    """Make the model with its jobs, and with files where the kernel has them at the start with that seed."""
    library = machine.tapes
    assert isinstance(library, Library)
    shelves = make_shelves(library, demand, demand.file_sizes.astype(float), seed=seed)
    cartridges = [TwinCartridge() for _ in range(shelves.filled_count)]
    places = (shelves.owners, shelves.file_cartridges, shelves.positions_bytes)
    files = [
        DiskFile(float(size), int(owner), cartridges[place] if place >= 0 else None, position, number=number)
        for number, (size, owner, place, position) in enumerate(zip(demand.file_sizes, *places, strict=True))
    ]
    held = []
    for number, age_s, is_stored in zip(
        demand.inventory, demand.inventory_ages_s, demand.inventory_is_stored, strict=True
    ):
        files[number].used_s = files[number].arrived_s = -age_s
        files[number].is_on_tape, files[number].use_count = bool(is_stored), 1
        held.append(files[number])
    twin = WriteBackTwin(machine, weigh, held)
    twin.cartridges = cartridges
    jobs = zip(demand.submitted_s.tolist(), demand.is_put.tolist(), demand.file, strict=True)
    return twin, [(at, is_put, files[file]) for at, is_put, file in jobs]
