"""A library with cartridges, drives and robots as SimPy processes: a reference for the kernel's.

It is simple and independent of the kernel: one process per drive, one for storing, and lists of objects. The
network and the disk cost no time in it. Which files lie where at the start is an argument, as are all times.
"""

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import simpy

from benchmarks.contention import Steps
from tapewise.simulator.libraries import Library, Locate


@dataclass(eq=False)
class TwinFile:
    """A file, its owner, its place on tape once it has one, and the technology that it is written to."""

    size: float
    owner: int = 0
    cartridge: "TwinCartridge | None" = None
    position: float = 0.0
    technology: str | None = None


@dataclass(eq=False)
class TwinCartridge:
    """A cartridge with its recalls, as (when asked, number, file), and the files to be written to it."""

    end: float = 0.0
    planned: float = 0.0
    recalls: list[tuple[float, int, TwinFile]] = field(default_factory=list)
    writes: list[TwinFile] = field(default_factory=list)
    writes_since: tuple[float, int] = (0.0, 0)
    drive: "TwinDrive | None" = None
    technology: str | None = None

    def wants(self) -> str:
        """Return "r" for recalls, and "w" for writes."""
        return ("r" if self.recalls else "") + ("w" if self.writes else "")

    def oldest(self, may: str) -> tuple[float, int]:
        """Return the time and number of the oldest request that a drive which may do that can serve."""
        times = [self.recalls[0][:2]] if self.recalls and "r" in may else []
        times += [self.writes_since] if self.writes and "w" in may else []
        return min(times)


@dataclass(eq=False)
class TwinDrive:
    """A drive, and what it is doing."""

    group: Any
    doing: str = "empty"
    cartridge: TwinCartridge | None = None
    called: simpy.Event | None = None

    def may(self, technology: str | None) -> str:
        """Return what it may do with cartridges of a technology: "r", "w", "rw" or nothing."""
        if technology is None:
            return {"both": "rw", "read": "r", "write": "w"}[self.group.role]
        names = {"r": self.group.reads, "w": self.group.writes}
        return "".join(kind for kind, given in names.items() if technology in (given or ()))

    def can(self, one: TwinCartridge) -> str:
        """Return what it can do of what a cartridge wants."""
        return "".join(kind for kind in one.wants() if kind in self.may(one.technology))


class DrivesTwin:
    """A run. `ends` has the time at which each recall ended, by its number."""

    def __init__(self, library: Library) -> None:
        self.library, self.env = library, simpy.Environment()
        self.robots = simpy.Resource(self.env, library.robots.count)
        self.drives = [TwinDrive(group) for group in library.drives for _ in range(group.count)]
        self.cartridges: list[TwinCartridge] = []
        self.open: dict[tuple[int, int], TwinCartridge] = {}
        self.turns: dict[int, int] = {}
        self.unstored: list[tuple[float, TwinFile]] = []
        self.ends: dict[int, float] = {}
        self.mounts = self.dismounts = 0
        self.seconds = dict.fromkeys(("load", "locate", "read", "write", "rewind", "unload"), 0.0)
        self.left = self.plan_count = 0
        self.changes: dict[str, list[tuple[float, int]]] = {"drives": [], "robots": []}
        self.written: simpy.Event | None = None

    def run(self, jobs: list[tuple[float, bool, TwinFile]]) -> "DrivesTwin":
        """Run jobs, given as (when, whether it is a put, file), to the end of the last recall."""
        for drive in self.drives:
            self.env.process(self._drive(drive))
        if self.library.store:
            self.env.process(self._store())
        self.recall_count = sum(not is_put for _, is_put, _ in jobs)
        self.finished = self.env.event()
        self.env.process(self._submit(jobs))
        self.env.run(self.finished)
        return self

    def _submit(self, jobs: list[tuple[float, bool, TwinFile]]) -> Steps:
        for number, (at, is_put, file) in enumerate(jobs):
            yield self.env.timeout(at - self.env.now)
            if is_put:
                self.unstored.append((at, file))
                continue
            assert file.cartridge is not None
            file.cartridge.recalls.append((at, number, file))
            self._dispatch()

    def _store(self) -> Steps:
        store = self.library.store
        assert store is not None
        while True:
            yield self.env.timeout(store.interval_s)
            ripe = [file for at, file in self.unstored if at + store.min_age_s <= self.env.now]
            self.unstored = self.unstored[len(ripe) :]
            if ripe:
                for file in ripe:
                    self._plan(file)
                self.left, self.written = len(ripe), self.env.event()
                self._dispatch()
                yield self.written

    def _plan(self, file: TwinFile) -> None:
        given = self.library.cartridges
        turn = self.turns.get(file.owner, 0)
        self.turns[file.owner] = (turn + 1) % given.open_count
        cartridge = self.open.get((file.owner, turn))
        if cartridge is None or cartridge.planned + file.size > self._room(file.technology):
            cartridge = self.open[file.owner, turn] = TwinCartridge(technology=file.technology)
            self.cartridges.append(cartridge)
        if not cartridge.writes:
            self.plan_count += 1
            cartridge.writes_since = self.env.now, self.plan_count
        cartridge.writes.append(file)
        file.cartridge, file.position = cartridge, cartridge.planned
        cartridge.planned += file.size

    def _room(self, technology: str | None) -> int:
        given = self.library.technologies[technology].capacity_bytes if technology else None
        return given or self.library.cartridges.capacity_bytes

    def _dispatch(self) -> None:
        """Call the drives that have something to do."""
        for drive in self.drives:
            if drive.doing == "mounted" and drive.cartridge is not None and drive.cartridge.wants():
                self._call(drive)
                if not drive.can(drive.cartridge):
                    drive.doing = "leaving"
        waiting = [one for one in self.cartridges if one.wants() and one.drive is None]
        for drive in self.drives:
            fitting = [one for one in waiting if drive.can(one)]
            if drive.doing == "empty" and fitting:
                chosen = min(fitting, key=lambda one: one.oldest(drive.can(one)))
                waiting.remove(chosen)
                chosen.drive, drive.cartridge = drive, chosen
                self._call(drive)
        for drive in self.drives:
            for technology, may in itertools.product(self.library.technologies or [None], ("r", "w", "rw")):
                if drive.doing == "mounted" and set(may) <= set(drive.may(technology)):
                    own = [one for one in waiting if one.technology == technology]
                    lack = sum(bool(set(one.wants()) & set(may)) for one in own)
                    lack -= sum(other.doing == "leaving" and bool(set(other.may(technology)) & set(may))
                                for other in self.drives)  # fmt: skip
                    if lack > 0:
                        self._call(drive)
                        drive.doing = "leaving"

    @staticmethod
    def _call(drive: TwinDrive) -> None:
        drive.doing = "called"
        assert drive.called is not None
        drive.called.succeed()

    def _move(self) -> Steps:
        with self.robots.request() as robot:
            yield robot
            self._use("robots", 1)
            yield self.env.timeout(self.library.robots.move_s)
            self._use("robots", -1)

    def _use(self, what: str, change: int) -> None:
        self.changes[what].append((self.env.now, change))

    def _take(self, step: str, seconds: float) -> simpy.Event:
        self.seconds[step] += seconds
        return self.env.timeout(seconds)

    def _drive(self, drive: TwinDrive) -> Steps:
        recalls, group = self.library.recalls, drive.group
        while True:
            drive.doing, drive.called = "empty", self.env.event()
            self._dispatch()
            yield drive.called
            self._use("drives", 1)
            cartridge = drive.cartridge
            assert cartridge is not None
            yield from self._move()
            self.mounts += 1
            yield self._take("load", group.load_s)
            head, served = 0.0, 0
            while True:
                head, served = yield from self._serve(drive, cartridge, head, served)
                if cartridge.wants() or not recalls.lazy_s:
                    break
                drive.doing, drive.called = "mounted", self.env.event()
                called = drive.called
                self._dispatch()
                self._use("drives", -1)
                yield called | self.env.timeout(recalls.lazy_s)
                self._use("drives", 1)
                if drive.doing == "leaving" or not called.triggered:
                    break
            drive.doing = "leaving"
            self._dispatch()
            yield self._take("rewind", group.rewind_s)
            yield self._take("unload", group.unload_s)
            yield from self._move()
            self.dismounts += 1
            self._use("drives", -1)
            cartridge.drive, drive.cartridge = None, None

    def _serve(self, drive: TwinDrive, cartridge: TwinCartridge, head: float, served: int) -> Steps:
        recalls, rate = self.library.recalls, drive.group.bytes_per_s
        may, technology = drive.may(cartridge.technology), cartridge.technology
        while True:
            room = recalls.most_per_mount - served
            if "r" in may and cartridge.recalls and room > 0:
                batch, cartridge.recalls = cartridge.recalls[:room], cartridge.recalls[room:]
                served += len(batch)
                if recalls.order == "record":
                    batch.sort(key=lambda one: one[2].position)
                while batch:
                    if recalls.order == "nearest":
                        batch.sort(key=lambda one: (self._locate(technology, head, one[2].position), one[1]))
                    _, number, file = batch.pop(0)
                    yield self._take("locate", self._locate(technology, head, file.position))
                    yield from self._find_room(file)
                    yield self._take("read", file.size / rate)
                    head = file.position + file.size
                    self._end_recall(number, file)
            elif "w" in may and cartridge.writes:
                yield self._take("locate", self._locate(technology, head, cartridge.end))
                while cartridge.writes:
                    yield self._take("write", cartridge.writes[0].size / rate)
                    file = cartridge.writes.pop(0)
                    cartridge.end += file.size
                    self._end_write(file)
                head = cartridge.end
            else:
                return head, served

    def _find_room(self, file: TwinFile) -> Steps:  # noqa: ARG002  # a disk needs the file
        """Wait until the disk has room for a file; here it always has."""
        yield from ()

    def _end_recall(self, number: int, file: TwinFile) -> None:  # noqa: ARG002  # a disk needs the file
        self.ends[number] = self.env.now
        if len(self.ends) == self.recall_count:
            self.finished.succeed()

    def _end_write(self, file: TwinFile) -> None:  # noqa: ARG002  # a disk needs the file
        self.left -= 1
        if not self.left:
            assert self.written is not None
            self.written.succeed()

    def _locate(self, technology: str | None, start: float, end: float) -> float:
        own = self.library.technologies[technology].locate if technology else None
        given, room = own or self.library.locate, self._room(technology)
        return 0.0 if given is None or start == end else locate_s(given, start / room, end / room)


def locate_s(given: Locate, start: float, end: float) -> float:
    """Return the seconds between two positions, given as shares of the cartridge."""
    places = []
    for share in (start, end):
        wraps, along = math.modf(share * given.wraps_per_band * given.band_count)[::-1]
        wrap = int(wraps)
        if wrap == given.wraps_per_band * given.band_count:  # the very end
            wrap, along = wrap - 1, 1.0
        places.append((wrap, along if wrap % 2 == 0 else 1 - along))
    (wrap, x), (other_wrap, other_x) = places
    costs = {
        4.29: True,
        6.69: wrap != other_wrap,
        3.2: wrap // given.wraps_per_band != other_wrap // given.wraps_per_band,
        -6.04: (x >= 0.5) is not (other_x >= 0.5),
        5.22: (wrap + other_wrap) % 2 == 1,
        11.32: wrap == other_wrap and end < start,
    }
    return given.end_to_end_s * abs(x - other_x) + sum(cost for cost, is_due in costs.items() if is_due)
