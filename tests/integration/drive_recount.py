"""Counts how drives and mounts were used, in plain Python, from mounts with times in microseconds."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

Row = dict[str, Any]

HOUR_US = 3600 * 10**6
STEPS = ("mounted_at", "positioned_at", "transferred_at", "dismount_requested_at", "dismounted_at")


def list_stays(mounts: list[Row], operations: list[Row]) -> list[Row]:
    """Return the mounts that reached a drive, each with the time when it began to occupy it, and its end.

    Where a session breaks off, the last event of a mount may be that the tape was positioned to a file.
    """
    positioned = defaultdict(list)
    for row in operations:
        if row["positioned_at"] is not None:
            positioned[row["drive"], row["vsn"], row["mount_requested_at"]].append(row["positioned_at"])
    stays = []
    for row in mounts:
        times = [row[step] for step in STEPS if row[step] is not None]
        times += positioned[row["drive"], row["vsn"], row["mount_requested_at"]]
        if row["drive"] is not None:
            stays.append(row | {"in_drive": min(times), "until": max(times)})
    free_from: dict[str, int] = {}
    for row in sorted(stays, key=lambda stay: stay["in_drive"]):
        begun = row["in_drive"] if row["mount_requested_at"] is None else row["mount_requested_at"]
        row["from"] = max(begun, free_from.get(row["drive"], begun))
        free_from[row["drive"]] = row["until"]
    return stays


def find_day(moment_us: int, zone: ZoneInfo) -> str:
    """The local date of a time."""
    return str(
        (datetime(1970, 1, 1, tzinfo=ZoneInfo("UTC")) + timedelta(microseconds=moment_us))
        .astimezone(zone)
        .date()
    )


def cut_into_days(begin_us: int, end_us: int, zone: ZoneInfo) -> Counter[str]:
    """The microseconds of a span by local date. No clock of the made-up days changes, and hours are whole."""
    days: Counter[str] = Counter()
    while begin_us < end_us:
        next_us = min(end_us, (begin_us // HOUR_US + 1) * HOUR_US)
        days[find_day(begin_us, zone)] += next_us - begin_us
        begin_us = next_us
    return days


def count_days(stays: list[Row], zone: ZoneInfo) -> dict[tuple[str, str], Row]:
    """By drive and local date: how many mounts began, and how long the drive was occupied and idle."""
    found: dict[tuple[str, str], Row] = defaultdict(
        lambda: dict.fromkeys(("begun", "occupied_us", "lazy_us"), 0)
    )
    for row in stays:
        found[row["drive"], find_day(row["from"], zone)]["begun"] += 1
        for day, us in cut_into_days(row["from"], row["until"], zone).items():
            found[row["drive"], day]["occupied_us"] += us
        if row["transferred_at"] is not None and row["dismount_requested_at"] is not None:
            for day, us in cut_into_days(row["transferred_at"], row["dismount_requested_at"], zone).items():
                found[row["drive"], day]["lazy_us"] += us
    return dict(found)


def count_busy(stays: list[Row], first_us: int, last_us: int) -> dict[int, int]:
    """For how many microseconds so many drives were occupied at once, from the first event to the last."""
    changes = sorted([(row["from"], 1) for row in stays] + [(row["until"], -1) for row in stays])
    spans: Counter[int] = Counter()
    busy, since = 0, first_us
    for at, change in changes:
        spans[busy] += at - since
        busy, since = busy + change, at
    spans[busy] += last_us - since
    return {count: us for count, us in spans.items() if us > 0}


def count_remounts(stays: list[Row], last_us: int) -> tuple[int, int, int]:
    """Mounts with 24 hours of log after their dismount, and how many were repeated within 1 and 24 hours."""
    followed, within = 0, [0, 0]
    for row in stays:
        left = row["dismounted_at"]
        if left is None or left + 24 * HOUR_US > last_us:
            continue
        followed += 1
        later = [each["from"] for each in stays if each["vsn"] == row["vsn"] and each["from"] >= left]
        for place, hours in enumerate((1, 24)):
            within[place] += any(begun - left <= hours * HOUR_US for begun in later)
    return followed, within[0], within[1]


def list_waits(stays: list[Row], operations: list[Row]) -> dict[bool, list[int]]:
    """How long clients waited until the tape was positioned, by whether the repacker held a drive.

    All cartridges of the made-up days are of one type.
    """
    held = [(row["from"], row["until"]) for row in stays if row["requester"] == "repacker"]
    waits: dict[bool, list[int]] = {False: [], True: []}
    for row in operations:
        begun, ended = row["received_at"], row["positioned_at"]
        if row["requester"] == "client" and begun is not None and ended is not None:
            waits[any(begin <= begun < end for begin, end in held)].append(ended - begun)
    return {is_repacking: sorted(found) for is_repacking, found in waits.items()}


def share_stays(stays: list[Row], operations: list[Row]) -> dict[tuple[str | None, int | None], list[float]]:
    """By task and number of digits of the size: files, bytes, microseconds, and those of reading or writing.

    The microseconds of a stay in which no file was read or written are shared evenly by its files. (In the
    made-up days, no two files are read at once.)
    """
    found: dict[tuple[str | None, int | None], list[float]] = defaultdict(lambda: [0, 0, 0, 0])
    for stay in stays:
        key = (stay["drive"], stay["vsn"], stay["mount_requested_at"])
        files = [
            row
            for row in operations
            if (row["drive"], row["vsn"], row["mount_requested_at"]) == key
            and (row["positioned_at"] is not None or row["transferred_at"] is not None)
        ]
        reading = [
            row["transferred_at"] - row["positioned_at"]
            if row["positioned_at"] is not None and row["transferred_at"] is not None
            else 0
            for row in files
        ]
        idle = stay["until"] - stay["from"] - sum(reading)
        if not files:
            found[None, None][2] += idle
        for row, us in zip(files, reading, strict=True):
            size = row["size_bytes"]
            counted = found[row["task"], None if size is None else len(str(size))]
            counted[0] += 1
            counted[1] += 0 if row["is_failed"] else size or 0
            counted[2] += us + idle / len(files)
            counted[3] += us
    return dict(found)


def list_rates(operations: list[Row]) -> dict[tuple[str, int], list[float]]:
    """Rates in bytes per second of files read or written without failure, by task and digits of the size."""
    rates = defaultdict(list)
    for row in operations:
        begin, end, size = row["positioned_at"], row["transferred_at"], row["size_bytes"]
        if end is None or row["is_failed"] or not size:
            continue
        known = rates[row["task"], len(str(size))]
        if begin is not None and end > begin:
            known.append(size / ((end - begin) / 1e6))
    return {key: sorted(found) for key, found in rates.items()}
