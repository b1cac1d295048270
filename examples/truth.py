"""The truth about the logs, counted from the generator's own records, against which readers are checked."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tapewise.examples.damage import DAMAGES
from tapewise.examples.machine import (
    DISK_OPEN_LIMIT_S,
    HIT_RATIO_NEW,
    HIT_RATIO_OLD,
    LATENCY_SCATTER_RATIO,
    LAWS,
    NETWORKS,
    TAPE_RATE_BYTES_PER_S,
    Record,
)
from tapewise.examples.wallclock import (
    CLOCK_CHANGE,
    CLOCK_CHANGE_S,
    MAINTENANCE_WALL,
    SINCE,
    UNTIL,
    ZONE,
    is_repeated,
    wall_time,
)
from tapewise.examples.writers import SATURATED_BYTES, SUBSECOND_TEXT, Line

STATEMENT = (
    "All of this is made up by examples/generate.py: no such archive, user, machine or file exists, "
    "and nothing here was measured."
)
TABLES = ("transfers", "opens", "namespace_events")

# The bands in which open times are counted, with their upper ends. The last band is unlimited.
_OPEN_BANDS = (
    ("under 7 s", 7.0),
    ("7 to 60 s", 60.0),
    ("60 to 130 s", 130.0),
    ("130 s and over", float("inf")),
)


def truth(logs: dict[str, list[Line]], seed: int) -> dict[str, Any]:
    """Collect everything that is known; `logs` maps file names to lines."""
    return {
        "statement": STATEMENT,
        "seed": seed,
        "archive_kind": "synthetic",
        "zone": ZONE,
        "since": SINCE,
        "until": UNTIL,
        "clock_put_back_at": CLOCK_CHANGE,
        "maintenance_local": [[begin.isoformat(), end.isoformat()] for begin, end in MAINTENANCE_WALL],
        "laws": _laws(),
        "damage_kinds": {damage.kind: damage.what for damage in DAMAGES},
        "files": {name: _file_truth(lines) for name, lines in logs.items()},
        "daily": _daily(line for lines in logs.values() for line in lines),
    }


def _laws() -> dict[str, Any]:
    envelopes: dict[str, dict[str, Any]] = {}
    for (interface, direction), law in LAWS.items():
        envelopes.setdefault(interface, {})[direction] = law._asdict()
    return {
        "envelopes": envelopes,
        "envelopes_meaning": (
            "No transfer's true duration is under latency_s + slope_s_per_byte * size; the wait for a "
            "port, shared networks and slow clients add to it. What is written is rounded: NFT to 0.001 s, "
            "FTP to 1 s, PFTP and HTAR to 0.01 s, HSI by way of a rate of 0.1 KB/s. The nft log holds NFT "
            "and FTP."
        ),
        "latency_scatter_mean_ratio": LATENCY_SCATTER_RATIO,
        "network_rate_bytes_per_s_each_way": {
            "+".join(network.interfaces): network.rate_bytes_per_s for network in NETWORKS.values()
        },
        "port_count": {
            "+".join(network.interfaces): len(network.port_limits_bytes) for network in NETWORKS.values()
        },
        "hit_ratio": {"of files used in these weeks": HIT_RATIO_NEW, "of older files": HIT_RATIO_OLD},
        "disk_open_limit_s": DISK_OPEN_LIMIT_S,
        "staging_rate_bytes_per_s": TAPE_RATE_BYTES_PER_S,
    }


def _file_truth(lines: list[Line]) -> dict[str, Any]:
    loaded = [line for line in lines if line.fate == "loaded"]
    recorded = [(line, line.record) for line in loaded if line.record]
    transfers = [(line, record) for line, record in recorded if line.detail == "transfers"]
    events = Counter(record.batch.operation for line, record in recorded if line.detail == "namespace_events")
    outcomes = Counter((record.batch.operation, record.is_failed) for _, record in transfers)
    sizes_bytes = [line.logged_bytes for line, record in transfers if not record.is_failed]
    subsecond_end = f" {SUBSECOND_TEXT}".encode()
    facts = {
        "line_count": len(lines),
        "loaded_count": len(loaded),
        "loaded": {
            "transfers": {
                direction: {"succeeded": outcomes[direction, False], "failed": outcomes[direction, True]}
                for direction in ("put", "get")
            },
            "opens": sum(line.detail == "opens" for line in loaded),
            "namespace_events": {kind: events[kind] for kind in ("copy", "delete", "rename")},
        },
        "ignored": _sorted_counts(line.detail for line in lines if line.fate == "ignored"),
        "rejected": _sorted_counts(line.detail for line in lines if line.fate == "rejected"),
        "transfers_by_interface": _sorted_counts(record.batch.interface for _, record in transfers),
        "distinct": {
            "users_of_loaded_lines": len({record.batch.user.name for _, record in recorded}),
            "hosts_of_transfers": len({record.batch.user.host for _, record in transfers}),
        },
        "flagged": {
            "ambiguous_local_time": _ambiguous(loaded),
            "saturated_size": sizes_bytes.count(SATURATED_BYTES),
            "time_written_0.499": sum(line.text.endswith(subsecond_end) for line, _ in transfers),
        },
        "sizes_of_succeeded": {
            "zero_bytes": sizes_bytes.count(0),
            "over_2_to_31": sum(size_bytes > 2**31 for size_bytes in sizes_bytes),
            "over_2_to_32": sum(size_bytes > 2**32 for size_bytes in sizes_bytes),
            "largest_bytes": max(sizes_bytes),
        },
        "names": {
            "lines_with_blank_in_archive_path": sum(b" " in _logged_path(*pair) for pair in recorded),
            "lines_not_utf8_but_loaded": sum(not _is_utf8(line.text) for line in loaded),
            "lines_with_stdin_or_stdout": sum(b"\t<std" in line.text for line in loaded),
        },
        "repeats": {table: _repeats(line for line in loaded if line.detail == table) for table in TABLES},
        "clock_steps_back_between_lines": 1,
    }
    opened = [record for _, record in transfers if record.origin and not record.is_failed]
    return {**facts, "hsi_gets": _hsi_gets(opened)} if opened else facts


def _sorted_counts(items: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(items).items()))


def _ambiguous(loaded: list[Line]) -> dict[str, Any]:
    """Count lines stamped in the repeated hour; only the generator knows in which of the two they were."""
    found = [line for line in loaded if is_repeated(wall_time(line.at_s))]
    return {
        **{table: sum(line.detail == table for line in found) for table in TABLES},
        "written_before_the_change": sum(line.at_s < CLOCK_CHANGE_S for line in found),
        "written_after_the_change": sum(line.at_s >= CLOCK_CHANGE_S for line in found),
    }


def _logged_path(line: Line, record: Record) -> bytes:
    """Return the path if the line contains it, and otherwise nothing; NFT's log contains no paths."""
    path = record.file.path.encode("latin-1")
    return path if path in line.text else b""


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _repeats(lines: Iterable[Line]) -> dict[str, int]:
    """Count lines that occur several times, byte for byte. They are true repeats, and must all be kept."""
    groups = [count for count in Counter(line.text for line in lines).values() if count > 1]
    return {"group_count": len(groups), "line_count": sum(groups), "largest_group": max(groups, default=0)}


def _hsi_gets(records: list[Record]) -> dict[str, Any]:
    """Group the successful HSI gets by the file's location and by the open time as written."""
    origins = Counter(record.origin for record in records)
    bands = dict.fromkeys((name for name, _ in _OPEN_BANDS), 0)
    for record in records:
        bands[next(name for name, end_s in _OPEN_BANDS if round(record.open_s, 2) < end_s)] += 1
    return {
        "by_origin": {origin: origins[origin] for origin in ("disk", "library", "shelf")},
        "by_open_time": bands,
    }


def _daily(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """Sum the successful transfers by the local day of their end; FTP counts as `nft`."""
    cells: dict[tuple[str, str, str], list[int]] = {}
    for line in lines:
        record = line.record
        if line.fate != "loaded" or line.detail != "transfers" or record is None or record.is_failed:
            continue
        interface = "nft" if record.batch.interface == "ftp" else record.batch.interface
        day = wall_time(line.at_s).date().isoformat()
        cell = cells.setdefault((day, interface, record.batch.operation), [0, 0])
        cell[0] += 1
        cell[1] += line.logged_bytes
    return [
        {"day": day, "interface": interface, "direction": direction, "count": count, "size_bytes": size_bytes}
        for (day, interface, direction), (count, size_bytes) in sorted(cells.items())
    ]
