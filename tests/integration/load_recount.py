"""Recounts the load from the lines of an xferlog, in plain Python, unlike `mart.compared_means`."""

import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Line:
    """One transfer of a file."""

    began_at: datetime
    ended_at: datetime
    size_bytes: int
    path: str
    is_get: bool
    user: str


def read_lines(path: Path, zone: ZoneInfo) -> list[Line]:
    found = []
    for text in path.read_text(encoding="utf-8").splitlines():
        words = text.split(" ")
        ended_at = datetime.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone)
        began_at = ended_at - timedelta(seconds=int(words[5]))
        found.append(Line(began_at, ended_at, int(words[7]), words[8], words[11] == "o", words[13]))
    return found


def count_load(lines: list[Line]) -> dict[str, float]:
    """Return what `mart.compared_means` gives for the lines of one zone whose days all have 24 hours."""
    days: dict[object, Counter[str]] = {}
    for line in lines:
        days.setdefault(line.began_at.date(), Counter())[line.user] += 1
    hours = Counter((line.began_at.date(), line.began_at.hour) for line in lines)
    span = max(line.ended_at for line in lines) - min(line.began_at for line in lines)
    span_h = span.total_seconds() / 3600
    logs = [math.log(line.size_bytes) for line in lines if line.size_bytes]
    gets = [line for line in lines if line.is_get]
    # Every other use of the file is looked at, instead of the last one.
    again = [
        any(
            other.path == line.path and timedelta() < line.began_at - other.began_at < timedelta(days=1)
            for other in lines
        )
        for line in gets
    ]
    mean = len(lines) / span_h
    variance = sum(count**2 for count in hours.values()) / span_h - mean**2
    return {
        "requests": variance / mean,
        "size": math.exp(sum(logs) / len(logs)),
        "users": sum(len(users) for users in days.values()) / len(days),
        "of the busiest user": sum(max(users.values()) for users in days.values()) / len(lines),
        "from 8 to 18 h": sum(8 <= line.began_at.hour < 18 for line in lines) / len(lines),
        "file used the day before": sum(again) / len(gets),
    }
