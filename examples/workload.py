"""Who asks the archive for what, and when: sessions, batches and nightly jobs.

A batch is a set of files that one user requests at once. This module does not decide how long anything takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate

from tapewise.examples.chance import Chance
from tapewise.examples.names import Family, People, User, hsi_people, new_family, nft_people, pftp_people
from tapewise.examples.wallclock import DURATION_S, is_accepting, moments, wall_time

KB, MB, GB = 10**3, 10**6, 10**9

# Requests in each hour of a working day, from midnight, relative to the busiest hour (so at most 1).
_HOUR_WEIGHTS = (
    .16, .12, .10, .08, .08, .10, .16, .32, .62, .85, .95, .92,
    .74, .86, 1.0, .98, .92, .74, .48, .36, .32, .28, .24, .20,
)  # fmt: skip
_WEEKEND_RATIO = 0.35
_SATURDAY = 5
# tar pads its files to a multiple of this.
_TAR_RECORD_BYTES = 10240


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Files of one kind: how often a batch consists of them, how large they are, and how many a batch has."""

    weight: float
    median_bytes: float
    sigma: float
    mean_count: float


@dataclass(frozen=True, slots=True)
class Habit:
    """One kind of request that the users of an interface make; `request_count` is the total for two weeks."""

    interface: str
    operation: str
    request_count: int
    sizes: tuple[SizeClass, ...]
    streams: int = 1
    failure_ratio: float = 0.0


@dataclass(frozen=True, slots=True)
class Robot:
    """A script that makes the same requests at fixed times, as the user with this rank.

    With `is_one_file`, it fetches one small file over and over, waiting for it to change. Several of these
    get requests end within the same second and have the same logged duration, so the log contains the same
    line several times. These lines are true repeats.
    """

    interface: str
    operation: str
    rank: int
    hours: tuple[int, ...]
    minute: int
    count: int
    median_bytes: int
    streams: int = 1
    failure_ratio: float = 0.0
    dialect: str = ""
    is_one_file: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Files that one user requests at once.

    `operation` is put, get, copy, delete, rename, or elsewhere (between two machines that are not
    the archive). At most `streams` of the files are in progress at a time. Unless `is_size_fixed`, gets take
    the sizes of files that the user has stored, if there are any. A batch with `is_one_file` requests
    the same file again and again.
    """

    starts_s: float
    interface: str
    operation: str
    user: User
    sizes_bytes: tuple[int, ...]
    family: Family
    process_id: int
    streams: int = 1
    failure_ratio: float = 0.0
    dialect: str = ""
    is_size_fixed: bool = False
    is_one_file: bool = False


_SMALL_NAMESPACE = (SizeClass(1, 200 * KB, 2.0, 5),)

_NFT_SIZES = (
    SizeClass(0.47, 40 * KB, 1.9, 10),
    SizeClass(0.37, 3 * MB, 1.3, 7),
    SizeClass(0.145, 50 * MB, 0.9, 5),
    SizeClass(0.015, 500 * MB, 0.6, 1.6),
)
_FTP_SIZES = (
    SizeClass(0.65, 15 * KB, 1.9, 8),
    SizeClass(0.30, 1.5 * MB, 1.3, 5),
    SizeClass(0.05, 30 * MB, 0.9, 3),
)
_PFTP_SIZES = (
    SizeClass(0.40, 300 * KB, 1.8, 7),
    SizeClass(0.40, 15 * MB, 1.2, 6),
    SizeClass(0.20, 180 * MB, 0.9, 3),
)
_HSI_SIZES = (
    SizeClass(0.45, 150 * KB, 1.9, 8),
    SizeClass(0.38, 8 * MB, 1.3, 6),
    SizeClass(0.17, 100 * MB, 0.8, 4),
)
_HTAR_SIZES = (SizeClass(0.6, 60 * MB, 1.2, 2), SizeClass(0.4, 600 * MB, 0.7, 1.5))

# NFT transfers ten files of a batch at once, which is LLNL's limit per user; other clients transfer fewer.
_NFT_HABITS = (
    Habit("nft", "put", 6900, _NFT_SIZES, streams=10),
    Habit("nft", "get", 2300, _NFT_SIZES, streams=10),
    Habit("nft", "copy", 400, _FTP_SIZES),
    Habit("nft", "elsewhere", 1080, _FTP_SIZES),
    Habit("ftp", "put", 1700, _FTP_SIZES),
    Habit("ftp", "get", 870, _FTP_SIZES),
)
_PFTP_HABITS = (
    Habit("pftp", "put", 1010, _PFTP_SIZES, streams=2),
    Habit("pftp", "get", 950, _PFTP_SIZES, streams=2),
)
_HSI_HABITS = (
    Habit("hsi", "put", 1160, _HSI_SIZES, failure_ratio=0.10),
    Habit("hsi", "get", 1250, _HSI_SIZES, failure_ratio=0.12),
    Habit("hsi", "copy", 30, _HSI_SIZES),
    Habit("hsi", "delete", 360, _SMALL_NAMESPACE),
    Habit("hsi", "rename", 170, _SMALL_NAMESPACE),
    Habit("htar", "put", 150, _HTAR_SIZES, failure_ratio=0.04),
    Habit("htar", "get", 70, _HTAR_SIZES, failure_ratio=0.04),
)

# In 1998, `cron` ran a job twice on the night when clocks went back, so jobs that start after one o'clock
# leave lines in both occurrences of the repeated hour.
_ROBOTS = {
    "nft": (
        Robot("nft", "put", 3, (1,), 10, 24, 400 * KB, streams=2),
        Robot("ftp", "get", 5, (5, 13, 21), 45, 9, 2048, is_one_file=True),
    ),
    "pftp": (
        Robot("pftp", "put", 2, (1,), 25, 7, 2 * MB, dialect="parallel"),
        Robot("pftp", "get", 8, (0, 4, 12, 16, 20), 45, 5, 4096, dialect="serial", is_one_file=True),
    ),
    "hsi": (
        # The target folder no longer exists and nobody checks, so these fail every night.
        Robot("hsi", "put", 4, (1,), 5, 36, MB, failure_ratio=1.0),
        Robot("hsi", "get", 4, (1,), 8, 8, MB, failure_ratio=1.0),
        Robot("hsi", "put", 6, (1,), 40, 8, 5 * MB),
    ),
}

# Checkpoints have more bytes than a signed (2^31) or an unsigned (2^32) 32-bit counter can hold.
_CHECKPOINTS = {
    ("nft", "put"): (2_214_592_512, 2_684_354_560, 3_221_225_472, 4_362_076_160, 5_368_709_120),
    ("nft", "get"): (2_684_354_560, 4_362_076_160),
    ("pftp", "put"): (
        2_415_919_104,
        2_952_790_016,
        3_355_443_200,
        4_831_838_208,
        2_281_701_376,
        5_100_273_664,
    ),
    ("pftp", "get"): (2_415_919_104, 4_831_838_208, 3_355_443_200),
    ("hsi", "put"): (2_617_245_696, 4_563_402_752, 3_019_898_880),
    ("hsi", "get"): (2_617_245_696, 4_563_402_752),
    ("htar", "put"): (3_489_660_928, 4_429_185_024),
}


def plan(seed: int) -> list[Batch]:
    """Plan the batches of all interfaces, in the order of their starts."""
    batches: list[Batch] = []
    for log, habits, people_of in (
        ("nft", _NFT_HABITS, nft_people),
        ("pftp", _PFTP_HABITS, pftp_people),
        ("hsi", _HSI_HABITS, hsi_people),
    ):
        chance = Chance(seed, f"workload {log}")
        people = people_of(chance)
        for habit in habits:
            batches += _sessions(habit, people, chance)
        batches += _checkpoints({habit.interface for habit in habits}, people, chance)
        for robot in _ROBOTS[log]:
            batches += _robot_batches(robot, people, chance)
    return sorted(batches, key=lambda batch: batch.starts_s)


def _sessions(habit: Habit, people: People, chance: Chance) -> Iterator[Batch]:
    """Make sessions, each a few batches by one user, until all of the habit's requests are planned."""
    planned_count = 0
    class_weights = list(accumulate(size_class.weight for size_class in habit.sizes))
    while planned_count < habit.request_count:
        user = people.pick(chance)
        starts_s = _busy_moment(chance)
        process_id = _process_id(chance)
        dialect = _dialect(habit, chance)
        for _ in range(chance.count(1.6)):
            size_class = chance.pick_by_weight(habit.sizes, class_weights)
            count = min(chance.count(size_class.mean_count), habit.request_count - planned_count)
            if count == 0 or starts_s >= DURATION_S:
                break
            sizes_bytes = _sizes(size_class, count, chance)
            if habit.interface == "htar":
                sizes_bytes = tuple(_padded(size_bytes) for size_bytes in sizes_bytes)
            yield Batch(
                starts_s,
                habit.interface,
                habit.operation,
                user,
                sizes_bytes,
                _family(habit.interface, user, chance),
                process_id,
                habit.streams,
                habit.failure_ratio,
                dialect,
            )
            planned_count += count
            starts_s += chance.exponential(400.0)


def _busy_moment(chance: Chance) -> float:
    """Draw a moment when the archive accepts requests, by the profile of the day and the week."""
    while True:
        time_s = chance.uniform(0, DURATION_S)
        wall = wall_time(time_s)
        weight = _HOUR_WEIGHTS[wall.hour] * (_WEEKEND_RATIO if wall.weekday() >= _SATURDAY else 1.0)
        if chance.happens(weight) and is_accepting(time_s):
            return time_s


def _sizes(size_class: SizeClass, count: int, chance: Chance) -> tuple[int, ...]:
    """Draw the sizes of a batch's files, which are more alike than files of different batches."""
    batch_median_bytes = chance.lognormal(size_class.median_bytes, size_class.sigma)
    return tuple(0 if chance.happens(0.008) else _size(batch_median_bytes, chance) for _ in range(count))


def _size(median_bytes: float, chance: Chance) -> int:
    return max(1, int(min(chance.lognormal(median_bytes, 0.45), 2.0 * GB)))


def _dialect(habit: Habit, chance: Chance) -> str:
    """Choose how a PFTP client transfers files: serially, in parallel, or from a list of files."""
    if habit.interface != "pftp":
        return ""
    return chance.pick_by_weight(("serial", "parallel", "list"), (0.25, 0.90, 1.0))


def _padded(size_bytes: int) -> int:
    return _TAR_RECORD_BYTES * (size_bytes // _TAR_RECORD_BYTES + 1)


def _family(interface: str, user: User, chance: Chance) -> Family:
    family = new_family(user, chance, has_latin1=interface == "hsi")
    return replace(family, ending=".tar") if interface == "htar" else family


def _process_id(chance: Chance) -> int:
    return chance.integer(1000, 32767)


def _checkpoints(interfaces: set[str], people: People, chance: Chance) -> Iterator[Batch]:
    for (interface, operation), sizes_bytes in _CHECKPOINTS.items():
        if interface not in interfaces:
            continue
        for rank, size_bytes in enumerate(sizes_bytes):
            user = people.pick(chance)
            yield Batch(
                _busy_moment(chance),
                interface,
                operation,
                user,
                (size_bytes,),
                _family(interface, user, chance),
                _process_id(chance),
                # Half of these clients, namely every other one, count in 32 bits; see writers.py.
                dialect=("parallel", "list")[rank % 2] if interface == "pftp" else "",
                is_size_fixed=True,
            )


def _robot_batches(robot: Robot, people: People, chance: Chance) -> Iterator[Batch]:
    user = people.users[robot.rank]
    # With `is_one_file`, the file is always the same; other robots use new file names every day.
    poll_family = replace(new_family(user, chance), stem="status.")
    for hour in robot.hours:
        for starts_s in _each_day(hour, robot.minute):
            size_class = SizeClass(1, robot.median_bytes, 1.0, 0)
            is_poll = robot.is_one_file
            yield Batch(
                starts_s,
                robot.interface,
                robot.operation,
                user,
                (robot.median_bytes,) * robot.count if is_poll else _sizes(size_class, robot.count, chance),
                poll_family if is_poll else _family(robot.interface, user, chance),
                _process_id(chance),
                robot.streams,
                robot.failure_ratio,
                robot.dialect,
                is_one_file=is_poll,
            )


def _each_day(hour: int, minute: int) -> Iterator[float]:
    for day in range(14):
        yield from moments(datetime(1998, 10, 18, hour, minute) + timedelta(days=day))
