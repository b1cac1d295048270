"""Derives mounts and tape operations in plain Python, event by event. The SQL must give the same results.

A mount or operation is described by its events, as (line hash, occurrence), the times of its steps, and its
counts.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tapewise.schema.database import Role, Warehouse

STEP_LIMIT = timedelta(days=1)
OF_A_FILE = {"received": 1, "mount requested": 2, "positioned": 3, "transferred": 4}
OF_A_DRIVE = {"mounted": 1, "positioned": 2, "transferred": 2, "dismount requested": 3, "dismounted": 4}
Event = dict[str, Any]


def read_events(connection: psycopg.Connection, archive: str) -> list[Event]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            "SELECT tape_events.* FROM core.tape_events JOIN ledger.sources ON sources.id = source_id"
            " JOIN core.archives ON archives.id = tape_events.archive_id"
            " WHERE is_counted AND archives.name = %s",
            [archive],
        ).fetchall()


def recount_operations(events: Iterable[Event]) -> list[list[Event]]:
    """Return the events of each operation, in order."""
    by_file = defaultdict(list)
    for event in events:
        if event["kind"] in OF_A_FILE and None not in (
            *(event["task"], event["requester"], event["capability_key"]),
        ):
            names = ("task", "requester", "capability_key", "copy_number", "fragment_number")
            by_file[tuple(event[name] for name in names)].append(event)
    found: list[list[Event]] = []
    for alike in by_file.values():
        alike.sort(key=lambda e: (e["happened_at"], OF_A_FILE[e["kind"]], e["line_hash"], e["occurrence"]))
        last: Event | None = None
        for event in alike:
            goes_on = (
                last is not None
                and OF_A_FILE[event["kind"]] > OF_A_FILE[last["kind"]]
                and event["happened_at"] - last["happened_at"] <= STEP_LIMIT
            )
            if goes_on:
                found[-1].append(event)
            else:
                found.append([event])
            last = event
    return found


def recount_mounts(events: Iterable[Event]) -> list[list[Event]]:
    """Return the events of each mount, in order. `received` events are not part of any."""
    by_cartridge = defaultdict(list)
    for event in events:
        if event["vsn"] is not None and event["kind"] != "received":
            by_cartridge[event["vsn"]].append(event)
    found: list[list[Event]] = []
    for alike in by_cartridge.values():
        alike.sort(
            key=lambda e: (
                *(e["happened_at"], OF_A_DRIVE.get(e["kind"], 0), e["kind"]),
                *(e["line_hash"], e["occurrence"]),
            )
        )
        # For each drive, the stay that its last event is part of. `waiting` is an unanswered mount request.
        current: dict[str, list[Event]] = {}
        waiting: Event | None = None
        last_requested_at: datetime | None = None
        for event in alike:
            at = event["happened_at"]
            if event["kind"] == "mount requested":
                if waiting is not None:
                    found.append([waiting])
                waiting, last_requested_at = event, at
                continue
            stay = current.get(event["drive"])
            step = OF_A_DRIVE[event["kind"]]
            is_new = True
            if stay is not None:
                last = stay[-1]
                last_step = OF_A_DRIVE[last["kind"]]
                is_repeat = step == last_step and step != OF_A_DRIVE["transferred"]
                is_asked_again = (
                    step == OF_A_DRIVE["transferred"]
                    and last_requested_at is not None
                    and last_requested_at > last["happened_at"]
                )
                is_silent = at - last["happened_at"] > STEP_LIMIT
                is_new = is_silent or step < last_step or is_repeat or is_asked_again
            if not is_new:
                assert stay is not None
                stay.append(event)
                continue
            if waiting is not None and at - waiting["happened_at"] > STEP_LIMIT:
                found.append([waiting])
                waiting = None
            current[event["drive"]] = [event] if waiting is None else [waiting, event]
            found.append(current[event["drive"]])
            waiting = None
        if waiting is not None:
            found.append([waiting])
    return found


def _name(event: Event | None) -> tuple[int, int] | None:
    return None if event is None else (event["line_hash"], event["occurrence"])


def describe(warehouse: Warehouse, archive: str) -> tuple[list[str], list[str]]:
    """Recount the archive's mounts and operations from its events, in the form that `dump` returns."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        events = read_events(connection, archive)
    operations, mounts = recount_operations(events), recount_mounts(events)
    transfer_s = {}
    for operation in operations:
        by_kind = {event["kind"]: event for event in operation}
        begin, end = by_kind.get("positioned"), by_kind.get("transferred")
        if begin and end and (begin["vsn"], begin["drive"]) == (end["vsn"], end["drive"]):
            transfer_s[end["id"]] = (end["happened_at"] - begin["happened_at"]).total_seconds()
    received = {
        operation[1]["id"]: operation[0]["happened_at"]
        for operation in operations
        if [event["kind"] for event in operation[:2]] == ["received", "mount requested"]
    }
    of_event = {event["id"]: mount for mount in mounts for event in mount}
    mount_rows = []
    for mount in mounts:
        at: dict[str, list[datetime]] = defaultdict(list)
        for event in mount:
            at[event["kind"]].append(event["happened_at"])
        ends = [event for event in mount if event["kind"] == "transferred"]
        sizes = [e["size_bytes"] for e in ends if not e["is_failed"] and e["size_bytes"] is not None]
        times = [transfer_s[event["id"]] for event in ends if event["id"] in transfer_s]
        mount_rows.append(
            repr(
                (
                    *(mount[0]["happened_at"], mount[-1]["happened_at"], _name(mount[0])),
                    received.get(mount[0]["id"]),
                    min(at["mount requested"], default=None),
                    min(at["mounted"], default=None),
                    min(at["positioned"], default=None),
                    max(at["transferred"], default=None),
                    min(at["dismount requested"], default=None),
                    min(at["dismounted"], default=None),
                    *(len(ends), sum(bool(event["is_failed"]) for event in ends)),
                    sum(event["requester"] == "repacker" for event in ends),
                    round(sum(times), 3) if times else None,
                    next((event["requester"] for event in mount if event["requester"]), None),
                    mount[0]["vsn"],
                    next((event["drive"] for event in mount if event["drive"]), None),
                    sum(sizes) if sizes else None,
                )
            )
        )
    operation_rows = []
    for operation in operations:
        by_kind = {event["kind"]: event for event in operation}
        placed = by_kind.get("transferred") or by_kind.get("positioned") or by_kind.get("mount requested")
        of_mount = of_event[placed["id"]] if placed else None
        operation_rows.append(
            repr(
                (
                    *(operation[0]["happened_at"], operation[-1]["happened_at"], _name(operation[0])),
                    _name(of_mount[0] if of_mount else None),
                    *(operation[0][name] for name in ("task", "requester", "capability_key", "copy_number")),
                    *(by_kind[kind]["happened_at"] if kind in by_kind else None for kind in OF_A_FILE),
                    by_kind["transferred"]["is_failed"] if "transferred" in by_kind else None,
                    *(
                        next((e[name] for e in reversed(operation) if e[name] is not None), None)
                        for name in ("vsn", "drive", "size_bytes", "block_offset")
                    ),
                )
            )
        )
    return sorted(mount_rows), sorted(operation_rows)


_EVENT = "(SELECT ARRAY[line_hash, occurrence] FROM core.tape_events WHERE id = {})"
_MOUNTS = f"""
    SELECT first_event_at, last_event_at, {_EVENT.format("mount_id")}, received_at, mount_requested_at,
        mounted_at, positioned_at, transferred_at, dismount_requested_at, dismounted_at, transfer_count,
        failed_count, repacker_count, round(transfer_s::numeric, 3)::float8, requester, vsn, drive, size_bytes
    FROM core.mounts WHERE archive_id = (SELECT id FROM core.archives WHERE name = %s)
"""
_OPERATIONS = f"""
    SELECT first_event_at, last_event_at, {_EVENT.format("operation_id")}, {_EVENT.format("mount_id")}, task,
        requester, capability_key, copy_number, received_at, mount_requested_at, positioned_at,
        transferred_at, is_failed, vsn, drive, size_bytes, block_offset
    FROM core.tape_operations WHERE archive_id = (SELECT id FROM core.archives WHERE name = %s)
"""


def dump(warehouse: Warehouse, archive: str) -> tuple[list[str], list[str]]:
    """Return the archive's mounts and operations from the warehouse, without row numbers."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        mounts, operations = (
            sorted(
                repr(tuple(tuple(value) if isinstance(value, list) else value for value in row))
                for row in connection.execute(statement.encode(), [archive]).fetchall()
            )
            for statement in (_MOUNTS, _OPERATIONS)
        )
    return mounts, operations
