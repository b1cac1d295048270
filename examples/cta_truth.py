"""The truth about the made-up days of CTA, counted from what happened and not from the lines.

Times are microseconds since 1970, as clocks and databases keep them; durations are differences of such times.
Quantiles are values that occur: of n values in order, the quantile p is number ceil(p n).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from math import ceil
from typing import Any

from tapewise.examples.cta_events import IGNORED
from tapewise.examples.cta_records import Attempt, Days, Session
from tapewise.examples.cta_site import DAY_S, FIRST_DAY, LIBRARY, MEDIA_TYPE, OFFSET_S, ZONE

QUANTILES = (0.05, 0.5, 0.95)
_DAY_US = DAY_S * 10**6

Row = dict[str, Any]


def collect_truth(days: Days) -> dict[str, Any]:
    """Collect what a reader must find, for the truth file."""
    mounts = [mount_row(session) for session in days.sessions]
    operations = [operation_row(attempt) for attempt in days.attempts if attempt.job.purpose != "verify"]
    return {
        "zone": ZONE,
        "first_day": FIRST_DAY,
        "lines": count_lines(days),
        "mounts": mounts,
        "mount_summaries": [summary_row(session) for session in days.sessions],
        "tape_operations": operations,
        "stages": stage_rows(days),
        "migrations": [migration_row(attempt) for attempt in days.attempts if attempt.job.is_write],
        "mount_counts": count_by(mounts, "drive", "day"),
        "drive_us": share_drives(days.sessions),
        "waits": {
            "requested_to_mounted": spread(mounts, "mount_requested_at", "mounted_at"),
            "mounted_to_positioned": spread(mounts, "mounted_at", "positioned_at"),
            "positioned_to_read": spread(operations, "positioned_at", "transferred_at"),
            "read_to_unload": spread(mounts, "transferred_at", "dismount_requested_at"),
            "unload_to_unmount": spread(mounts, "dismount_requested_at", "dismounted_at"),
        },
        "recalls": count_recalls(days),
        "sessions": total_sessions(days.sessions),
    }


def mount_row(session: Session) -> Row:
    """What the stay of a session's cartridge in its drive was like."""
    attempts = session.counted
    ends = [attempt for attempt in attempts if attempt.transferred_ns is not None]
    spans_us = [
        _us(attempt.transferred_ns) - _us(attempt.positioned_ns)
        for attempt in ends
        if attempt.positioned_ns is not None and attempt.transferred_ns is not None
    ]
    began = [attempt.positioned_ns for attempt in attempts if attempt.positioned_ns is not None]
    good = [attempt.size_bytes or 0 for attempt in ends if not attempt.is_failed]
    return {
        "vsn": session.cartridge.vsn,
        "drive": None if session.mounted_ns is None else session.drive.name,
        "tape_type": MEDIA_TYPE,
        "requester": attempts[0].requester if attempts else None,
        "day": _day(_us(session.selected_ns)),
        "mount_requested_at": _us(session.selected_ns),
        "mounted_at": _maybe_us(session.mounted_ns),
        "positioned_at": _maybe_us(min(began, default=None)),
        "transferred_at": _maybe_us(max((each.transferred_ns or 0 for each in ends), default=None)),
        "dismount_requested_at": _maybe_us(session.unloaded_ns),
        "dismounted_at": _maybe_us(session.unmounted_ns),
        "transfer_count": len(ends),
        "failed_count": sum(bool(attempt.is_failed) for attempt in ends),
        "repacker_count": sum(attempt.requester == "repacker" for attempt in ends),
        "size_bytes": sum(good) if good else None,
        "transfer_us": sum(spans_us) if spans_us else None,
    }


def operation_row(attempt: Attempt) -> Row:
    """One attempt; `mount_requested_at` and `drive` are those of its session."""
    job, session = attempt.job, attempt.session
    organisation = job.file.cartridge.organisation
    return {
        "task": "migration" if job.is_write else "stage",
        "requester": attempt.requester,
        "class_of_service": f"{organisation}_class" if session is None else job.file.cartridge.pool,
        "vsn": job.file.cartridge.vsn,
        "drive": None if session is None else session.drive.name,
        "block_offset": None if job.is_write else job.file.block,
        "size_bytes": job.file.size_bytes
        if attempt.size_bytes is None and attempt.received_ns
        else attempt.size_bytes,
        "is_failed": None if attempt.transferred_ns is None else bool(attempt.is_failed),
        "received_at": _maybe_us(attempt.received_ns),
        "positioned_at": _maybe_us(attempt.positioned_ns),
        "transferred_at": _maybe_us(attempt.transferred_ns),
        "mount_requested_at": None if session is None else _us(session.selected_ns),
    }


def summary_row(session: Session) -> Row:
    """The totals that a session reports once; a killed one reports only that it failed."""
    waits = ("waitInstructionsTime", "waitFreeMemoryTime", "waitDataTime", "waitReportingTime")
    parts_us: dict[str, int | None] = {
        name: session.totals_us.get(key)
        for name, key in {
            "duration_us": "totalTime",
            "mount_us": "mountTime",
            "position_us": "positionTime",
            "transfer_us": "readWriteTime",
            "flush_us": "flushTime",
            "unload_us": "unloadTime",
            "dismount_us": "unmountTime",
        }.items()
    }
    parts_us["wait_us"] = sum(session.totals_us[name] for name in waits) if session.totals_us else None
    of_writing = "repacker" if session.mount_type == "ArchiveForRepack" else "client"
    return {
        "mount_key": session.mount_id,
        "task": "migration" if session.is_write else "stage",
        "requester": of_writing if session.is_write else None,
        "vsn": session.cartridge.vsn,
        "tape_type": MEDIA_TYPE,
        "drive": session.drive.name,
        "location": LIBRARY,
        "class_of_service": session.cartridge.pool,
        "is_mounted": session.is_mounted,
        "is_failed": session.is_failed,
        "file_count": session.file_count,
        "size_bytes": session.size_bytes,
        **parts_us,
    }


def stage_rows(days: Days) -> list[Row]:
    """The files that were written to disk, and those that failed."""
    return [
        {
            "staged_at": _us(end.at_ns),
            "vsn": end.attempt.job.file.cartridge.vsn,
            "drive": end.attempt.session.drive.name if end.attempt.session else None,
            "class_of_service": end.attempt.job.file.cartridge.pool,
            "size_bytes": end.size_bytes,
            "duration_us": end.duration_us,
            "is_failed": end.is_failed,
        }
        for end in days.disk_ends
    ]


def migration_row(attempt: Attempt) -> Row:
    """A file that was written to a cartridge; `duration_us` includes the wait for its data."""
    assert attempt.session is not None
    assert attempt.transferred_ns is not None
    return {
        "migrated_at": _us(attempt.transferred_ns),
        "vsn": attempt.job.file.cartridge.vsn,
        "drive": attempt.session.drive.name,
        "class_of_service": attempt.job.file.cartridge.pool,
        "size_bytes": attempt.job.file.size_bytes,
        "duration_us": attempt.duration_us,
    }


def count_lines(days: Days) -> dict[str, dict[str, int]]:
    """How many lines of each host are facts of which table (the first, of several), or ignored, by reason."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for event in days.events:
        counts[event.host]["lines"] += 1
        counts[event.host][event.meaning if event.meaning in IGNORED else event.meaning.split()[0]] += 1
    return {host: dict(counter) for host, counter in counts.items()}


def count_by(rows: Iterable[Row], *names: str) -> list[list[Any]]:
    """How many rows have which values, as lists of the values and the count, in order."""
    counts = Counter(tuple(row[name] for name in names) for row in rows)
    return [[*values, number] for values, number in sorted(counts.items(), key=str)]


def share_drives(sessions: Iterable[Session]) -> list[list[Any]]:
    """How long each drive held cartridges, by drive, local day and task; stays are cut at midnight.

    Only stays whose end was logged count. The task is "none" if no file was read or written.
    """
    held_us: Counter[tuple[str, int, str]] = Counter()
    for session in sessions:
        if session.mounted_ns is None or session.unmounted_ns is None:
            continue
        task = ("migration" if session.is_write else "stage") if session.counted else "none"
        at_us, end_us = _us(session.mounted_ns), _us(session.unmounted_ns)
        while at_us < end_us:
            day = _day(at_us)
            cut_us = min(end_us, (day + 1) * _DAY_US - OFFSET_S * 10**6)
            held_us[session.drive.name, day, task] += cut_us - at_us
            at_us = cut_us
    return [[*key, us] for key, us in sorted(held_us.items())]


def spread(rows: Iterable[Row], begin: str, end: str) -> dict[str, int | list[int]]:
    """The number, sum and quantiles of the times between two steps, of the rows that have both."""
    values_us = sorted(row[end] - row[begin] for row in rows if None not in (row[begin], row[end]))
    quantiles_us = [values_us[ceil(p * len(values_us)) - 1] for p in QUANTILES] if values_us else []
    return {"count": len(values_us), "sum_us": sum(values_us), "quantiles_us": quantiles_us}


def count_recalls(days: Days) -> dict[str, dict[str, int | list[int]]]:
    """For each user, how long the files took from the request until they were read, and their bytes."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for attempt in days.attempts:
        if attempt.job.user is not None and attempt.received_ns is not None:
            rows[attempt.job.user].append(operation_row(attempt))
    return {
        user: {
            **spread(own, "received_at", "transferred_at"),
            "asked": len(own),
            "failed": sum(row["is_failed"] is True for row in own),
            "read_bytes": sum(row["size_bytes"] for row in own if row["is_failed"] is False),
        }
        for user, own in rows.items()
    }


def total_sessions(sessions: list[Session]) -> dict[str, Any]:
    """The sums of what sessions report, by drive, and how many of them were killed or mounted nothing."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for session in sessions:
        row = summary_row(session)
        sums[session.drive.name].update(
            {key: value or 0 for key, value in row.items() if key.endswith(("_us", "_count", "_bytes"))}
        )
    return {
        "by_drive": {drive: dict(counter) for drive, counter in sums.items()},
        "killed": sum(session.is_mounted is None for session in sessions),
        "mountless": sum(session.is_mounted is False for session in sessions),
        "failed": sum(session.is_failed for session in sessions),
    }


def _us(at_ns: int | None) -> int:
    assert at_ns is not None
    return at_ns // 1000


def _maybe_us(at_ns: int | None) -> int | None:
    return None if at_ns is None else at_ns // 1000


def _day(at_us: int) -> int:
    """The number of the local day, as days since 1970."""
    return (at_us + OFFSET_S * 10**6) // _DAY_US
