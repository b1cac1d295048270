"""A site that runs the CERN Tape Archive, and who asks it for what. Neither the site nor its users exist.

Times are whole nanoseconds since 1970, because CTA's logs have nine decimals. They are kept as integers: a
float of this size could not hold them.
"""

from dataclasses import dataclass
from operator import attrgetter

from tapewise.examples.chance import Chance

ZONE = "Europe/Zurich"
# These days of August have no change of the clock, so the generator needs no time zone database.
OFFSET_S = 2 * 3600
FIRST_DAY = "2025-08-17"
FIRST_MIDNIGHT_S = 1_755_381_600
SECOND_NS = 10**9
DAY_S = 86_400

INSTANCE = "ctamade"
FRONTEND = "ctafe01"
MEDIA_TYPE = "LTO9"
LIBRARY = "MADELIB1"
CAPACITY_BYTES = 18 * 10**12

_ORGANISATIONS = ("aurora", "boreas", "cirrus")
_USERS = ("kim", "lee", "maro", "nadia", "otto", "petra", "quinn", "rosa")
_CARTRIDGES_OF_EACH = 6
_FILES_OF_EACH = 40
_DIRECTORIES = ("raw", "mc25", "run 3 calib", "user.o'neil")


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive and the tape server that it is attached to."""

    name: str
    server: str
    pid: int


@dataclass(frozen=True, slots=True)
class Cartridge:
    """A cartridge, with the virtual organisation and the pool that it belongs to."""

    vsn: str
    organisation: str
    pool: str


@dataclass(frozen=True, slots=True)
class TapeFile:
    """A file at its position on a cartridge."""

    file_id: int
    cartridge: Cartridge
    sequence: int
    block: int
    size_bytes: int
    path: str


@dataclass(slots=True)
class Job:
    """A file to read or write: for a user, for the repacker, or to be verified only.

    `due_ns` is when it can be served: when it was queued, or when an attempt failed. `received_ns` is when
    the frontend logged a user's request; only the first attempt has it. `is_admitted` is set once it is in
    a queue, and `was_interrupted` once an attempt died after the file was positioned.
    """

    purpose: str
    file: TapeFile
    due_ns: int
    user: str | None = None
    received_ns: int | None = None
    attempt: int = 1
    is_admitted: bool = False
    was_interrupted: bool = False

    @property
    def is_write(self) -> bool:
        """Whether the file is written to tape."""
        return self.purpose in ("archive", "archive repack")


def make_drives() -> list[Drive]:
    """Make five drives at three tape servers; only the last server has one drive."""
    servers = ("tpsrv001", "tpsrv001", "tpsrv002", "tpsrv002", "tpsrv003")
    return [
        Drive(f"{LIBRARY}-LTO9-F01C{number}R1", server, 4000 + 100 * number)
        for number, server in enumerate(servers)
    ]


def make_files(chance: Chance) -> list[TapeFile]:
    """Make the cartridges of each organisation and the files on them, in the order of the tape."""
    files = []
    for rank, organisation in enumerate(_ORGANISATIONS):
        for number in range(_CARTRIDGES_OF_EACH):
            cartridge = Cartridge(f"L{rank}{number:04d}", organisation, f"{organisation}_{number % 2}")
            block = 3
            for sequence in range(1, _FILES_OF_EACH + 1):
                size_bytes = int(min(chance.lognormal(1.5e9, 1.3), 4e10)) if chance.happens(0.98) else 0
                file_id = 4_526_900_000 + 10_000 * (_CARTRIDGES_OF_EACH * rank + number) + sequence
                directory = chance.pick(_DIRECTORIES)
                path = f"/eos/{organisation}/{directory}/f{sequence:04d}.root"
                files.append(TapeFile(file_id, cartridge, sequence, block, size_bytes, path))
                block += 3 + size_bytes // 262_144
    return files


def plan_jobs(seed: int, day_count: int) -> list[Job]:
    """Plan who asks for which files, in the order of time.

    Users ask for files of one cartridge at once, and often again for files that were read before. The
    repacker and the verification read whole stretches of a cartridge. Each midnight, in local time and in
    UTC, has a batch just before it, so that some mounts extend over it.
    """
    chance = Chance(seed, "cta requests")
    files = make_files(chance)
    cartridges = sorted({file.cartridge for file in files}, key=attrgetter("vsn"))
    jobs: list[Job] = []
    for day in range(day_count):
        begin_s = FIRST_MIDNIGHT_S + day * DAY_S
        moments_s = [begin_s + DAY_S * chance.uniform(0.02, 0.97) for _ in range(26)]
        moments_s += [begin_s + 2 * 3600 - 40, begin_s + DAY_S - 50]
        purposes = [
            *("retrieve" for _ in range(16)),
            *("archive", "archive", "archive", "archive", "archive repack"),
            *("repack", "repack", "verify", "verify", "retrieve"),
            *("retrieve", "retrieve"),
        ]
        for moment_s, purpose in zip(moments_s, purposes, strict=True):
            cartridge = chance.pick(cartridges)
            there = [file for file in files if file.cartridge == cartridge]
            first = chance.integer(0, len(there) - 1)
            wanted = there[first : first + chance.count(7.0)]
            user = chance.pick(_USERS) if purpose == "retrieve" else None
            at_ns = int(moment_s * SECOND_NS) + chance.integer(0, SECOND_NS - 1)
            for file in wanted:
                at_ns += int(chance.exponential(0.05) * SECOND_NS) + 1_000
                jobs.append(Job(purpose, file, at_ns, user, at_ns if user else None))
            if purpose == "archive" and chance.happens(0.5):
                # A second copy of each file goes to another cartridge of the organisation.
                others = [
                    c for c in cartridges if c.organisation == cartridge.organisation and c != cartridge
                ]
                other = chance.pick(others)
                for file in wanted:
                    copy = TapeFile(
                        file.file_id, other, file.sequence, file.block, file.size_bytes, file.path
                    )
                    jobs.append(Job(purpose, copy, at_ns))
    return sorted(jobs, key=lambda job: (job.due_ns, job.file.file_id, job.file.cartridge.vsn))
