"""Recounts recalls from the lines of CTA's JSON, in plain Python, line by line, unlike the views."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from math import comb
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

KINDS = {
    "In Scheduler::queueRetrieve(): Queued retrieve request": "asked",
    "Successfully positioned for reading": "attempt",
    "File successfully read from tape": "read",
    "Error reading a file in TapeReadFileTask": "failed",
}


@dataclass
class Recall:
    """One file that was wanted from tape. Times are in microseconds since 1970."""

    tape_pool: str
    asked_us: list[int] = field(default_factory=list)
    last_us: int = 0
    outcome: str = "unfinished"

    def day(self, zone: ZoneInfo) -> str:
        return str(datetime.fromtimestamp(self.last_us / 1e6, zone).date())


def follow_recalls(paths: Iterable[Path]) -> list[Recall]:
    """Read the logs of the servers, and follow each file from a request to its reading."""
    events: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text, parse_float=str)
            kind = KINDS.get(line.get("message", ""))
            is_left_out = line.get("verifyOnly") or line.get("isVerifyOnly") or line.get("isRepack")
            if kind and not is_left_out:
                seconds, _, fraction = line["epoch_time"].partition(".")
                pool = line.get("tapePool") or line["storageClass"]
                events[line["fileId"]].append((int(seconds + fraction[:6].ljust(6, "0")), kind, pool))
    recalls = []
    for of_file in events.values():
        recall: Recall | None = None
        for at_us, kind, pool in sorted(of_file):
            is_over = recall is None or recall.outcome == "read" or (
                recall.outcome == "failed" and kind == "asked"
            )  # fmt: skip
            if is_over:
                recall = Recall(pool)
                recalls.append(recall)
            assert recall is not None
            # The pool of the file's class is known first, and that of its cartridge counts.
            recall.tape_pool = pool
            recall.last_us = at_us
            if kind == "asked":
                recall.asked_us.append(at_us)
            recall.outcome = kind if kind in ("read", "failed") else "unfinished"
    return recalls


def describe(waits_us: list[int], unfinished_count: int) -> dict[str, Any]:
    """The quantiles and their intervals as mart.recall_latencies defines them, from whole numbers."""
    values: list[int | None] = [*sorted(waits_us), *([None] * unfinished_count)]
    count = len(values)
    found = {}
    for percent in (50, 90, 95, 99):
        terms = [comb(count, k) * percent**k * (100 - percent) ** (count - k) for k in range(count + 1)]
        low = max((k + 1 for k in range(count + 1) if 40 * sum(terms[: k + 1]) <= 100**count), default=None)
        high = min((k for k in range(count + 1) if 40 * sum(terms[k:]) <= 100**count), default=None)
        for name, place in (("", -(-count * percent // 100)), ("_low", low), ("_high", high)):
            found[f"p{percent}{name}_s"] = values[place - 1] if place else None
    return found


def list_recalls(operations: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group the attempts of the generator's truth by recall: those of clients, in order of time."""
    files: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for each in operations:
        if each["task"] == "stage" and each["requester"] == "client":
            files[each["vsn"], each["block_offset"]].append(each)
    recalls = []
    for attempts in files.values():
        last: dict[str, Any] | None = None
        for each in sorted(attempts, key=lambda each: each["received_at"] or last_time(each)):
            if last is None or last["is_failed"] is False or (last["is_failed"] and each["received_at"]):
                recalls.append([each])
            else:
                recalls[-1].append(each)
            last = each
    return recalls


def last_time(row: dict[str, Any]) -> int:
    """When the last step of an attempt happened. (That of its mount is not its own.)"""
    return int(row["transferred_at"] or row["positioned_at"] or row["received_at"])


def first_in_drive(mount: dict[str, Any]) -> int:
    """When a cartridge was in its drive for the first time, as far as is known."""
    return int(mount["mounted_at"] or mount["positioned_at"] or mount["transferred_at"])


def last_in_drive(mount: dict[str, Any]) -> int:
    """When a mount ended or, if that is unknown, when its last step happened."""
    steps = ("dismounted_at", "transferred_at", "positioned_at", "mounted_at", "mount_requested_at")
    return int(mount["dismount_requested_at"] or next(mount[step] for step in steps if mount[step]))
