"""Turn records into the lines of the logs.

Numbers are rounded as the daemons round them. NFT writes milliseconds, FTP whole seconds (0.499 for less
than one), PFTP hundredths followed by a 0, and HSI a rate instead of a time. All stamps are the local time of
the end, rounded down to the second, or to the millisecond in UniTree's STAT.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from tapewise.examples.chance import Chance
from tapewise.examples.machine import Record
from tapewise.examples.unitree import Attempt, Job, Stage, UniTree
from tapewise.examples.wallclock import is_writing, wall_time
from tapewise.examples.workload import MB

# The largest number that a signed 32-bit counter can show.
SATURATED_BYTES = 2**31 - 1
SUBSECOND_TEXT = "0.499"

_NFT_SIDES = {"put": "{host}s", "get": "s{host}", "copy": "ss"}
_PFTP_COMMANDS = {
    ("serial", "put"): "STOR", ("parallel", "put"): "PSTO", ("list", "put"): "LFSTO",
    ("serial", "get"): "RETR", ("parallel", "get"): "PRTR", ("list", "get"): "LFRTR",
}  # fmt: skip
# The period in which COND separated its fields with blanks instead of using columns.
BLANK_SEPARATED = (datetime(1998, 10, 22, 9), datetime(1998, 10, 22, 15))
_HSI_OPERATIONS = {"put": "LH", "get": "HL", "copy": "HH", "delete": "FU", "rename": "FR"}


@dataclass(slots=True)
class Line:
    """One line of a log, and what a reader must make of it.

    `fate` is loaded, ignored or rejected; `detail` is the table (transfers, opens, namespace_events,
    unitree_jobs or stages), the reason, or the kind of damage. `logged_bytes` is the size in the line.
    UniTree's lines have a job, and the stage or failed attempt that they report; the others have a record.
    """

    text: bytes
    at_s: float
    record: Record | None
    fate: str
    detail: str
    logged_bytes: int = 0
    job: Job | None = None
    part: Attempt | Stage | None = None


def nft_lines(records: Iterable[Record], chance: Chance) -> Iterator[Line]:
    """Write NFT's and FTP's transfers: user, stamp, source and destination machine, bytes, seconds."""
    for record in records:
        batch, size_bytes = record.batch, record.file.size_bytes
        if batch.operation == "elsewhere":
            # Neither side is the archive.
            sides = batch.user.host + chance.pick([letter for letter in "gkm" if letter != batch.user.host])
            fate, detail = "ignored", "no archive involved"
        else:
            sides = _NFT_SIDES[batch.operation].format(host=batch.user.host)
            fate, detail = "loaded", "namespace_events" if batch.operation == "copy" else "transfers"
        stamp = f"{wall_time(record.ended_s):%y/%m/%d %H:%M:%S}"
        text = f"{batch.user.name} {stamp} {sides} {size_bytes} {_nft_seconds(record)}"
        yield Line(text.encode(), record.ended_s, record, fate, detail, size_bytes)


def _nft_seconds(record: Record) -> str:
    if record.batch.interface == "nft":
        return f"{record.duration_s:.3f}"
    return SUBSECOND_TEXT if record.duration_s < 1.0 else f"{round(record.duration_s)}.000"


def cond_lines(tree: UniTree) -> Iterator[Line]:
    """Write UniTree's jobs: user, start and end, persona, session, number in the session, and the request."""
    for job in tree.jobs:
        ended, started = wall_time(job.ended_s), wall_time(job.started_as_written_s)
        name, clocks, session = (
            job.like.batch.user.name,
            f"{started:%H:%M:%S} {ended:%H:%M:%S}",
            100 + job.session,
        )
        if BLANK_SEPARATED[0] <= ended < BLANK_SEPARATED[1]:
            text = f"{name} {clocks} {job.persona} {session} {job.number} {job.description}"
        else:
            text = f"{name} {clocks} {job.persona:<5}{session:03} {job.number:6} {job.description}"
        yield Line(text.encode(), job.ended_s, None, "loaded", "unitree_jobs", job=job)


def stat_lines(tree: UniTree) -> Iterator[Line]:
    """Write what UniTree did for its jobs: stages, attempts that failed, transfers and copies."""
    for job in tree.jobs:
        host = job.like.batch.user.host
        sides = {"put": f"({host}-s)", "get": f"(s-{host})", "copy": "(s-s)"}.get(job.operation)
        if job.stage:
            text = f"File staged in {int(job.stage.duration_s)} seconds"
            yield _stat_line(job, job.stage.ended_s, text, "stages", part=job.stage)
        for attempt in job.attempts:
            text = (
                f"File failure {sides} {attempt.size_bytes} bytes in {attempt.duration_s:.3f} seconds"
                f" {attempt.errors}"
            )
            yield _stat_line(job, attempt.ended_s, text, "transfers", attempt.size_bytes, attempt)
        if job.record:
            size_bytes = job.record.file.size_bytes
            # The server measures the duration from the moment the port is granted.
            duration_s = job.record.ended_s - (job.record.port_s or job.record.requested_s)
            text = f"File transfer {sides} {size_bytes} bytes in {duration_s:.3f} seconds"
            table = "namespace_events" if job.operation == "copy" else "transfers"
            yield _stat_line(job, tree.server_s(job.record, job.record.ended_s), text, table, size_bytes)


def _stat_line(
    job: Job, at_s: float, message: str, table: str, size_bytes: int = 0, part: Attempt | Stage | None = None
) -> Line:
    milliseconds = math.floor(at_s * 1000)
    stamp = f"{wall_time(milliseconds // 1000):%y/%m/%d %H:%M:%S}.{milliseconds % 1000:03}"
    text = f"{stamp} {job.persona:<5} {message}".encode()
    return Line(text, at_s, None, "loaded", table, size_bytes, job, part)


def pftp_lines(records: Iterable[Record]) -> Iterator[Line]:
    """Write the HPSS PFTP daemon's transfers, and the opens that it logs before a parallel get."""
    for record in records:
        batch, path = record.batch, record.file.path
        name, host = batch.user.name, batch.user.host
        command = _PFTP_COMMANDS[batch.dialect, batch.operation]
        descriptor = "" if batch.dialect == "serial" else " fd 0"
        if command == "PRTR":
            text = f"{_ctime(record.requested_s)} {host} {path} b POPN_Cmd r r ftp {name} fd 0"
            yield Line(text.encode("latin-1"), record.requested_s, record, "loaded", "opens")
        size_bytes = record.file.size_bytes
        if command == "PSTO":
            # Clients that store in parallel count in 32 bits; those that work from a list do not.
            size_bytes = min(size_bytes, SATURATED_BYTES)
        direction = "i" if batch.operation == "put" else "o"
        duration_s = round(record.duration_s * 100) / 100
        text = (
            f"{_ctime(record.ended_s)} {duration_s:.3f} {host} {size_bytes} {path} b {direction} "
            f"{command}_Cmd r ftp {name}{descriptor}"
        )
        yield Line(text.encode("latin-1"), record.ended_s, record, "loaded", "transfers", size_bytes)


def hsi_lines(records: Iterable[Record], chance: Chance) -> Iterator[Line]:
    """Write the HSI and HTAR server's log; blanks separate fields up to the process ID, then tabs."""
    for record in records:
        batch = record.batch
        table = "transfers" if batch.operation in ("put", "get") else "namespace_events"
        size_bytes = 0 if record.is_failed or batch.operation == "rename" else record.file.size_bytes
        user = batch.user
        head = f"{_ctime(record.ended_s)} {user.host} {batch.interface} {user.name} {batch.process_id}"
        if batch.interface == "htar":
            fields = _htar_fields(record, size_bytes)
        else:
            fields = _hsi_fields(record, size_bytes, chance)
        # Latin-1 turns names back into the bytes that a client of 1998 sent.
        text = "\t".join([head, *fields]).encode("latin-1")
        yield Line(text, record.ended_s, record, "loaded", table, size_bytes)


def _hsi_fields(record: Record, size_bytes: int, chance: Chance) -> list[str]:
    operation, path = record.batch.operation, record.file.path
    code = "-1" if record.is_failed else "0"
    is_moving = not record.is_failed and operation in ("put", "get", "copy")
    rate = _rate(size_bytes, record.duration_s) if is_moving else "0.0"
    fields = [_HSI_OPERATIONS[operation], code, f"{record.open_s:.2f}", str(size_bytes), rate]
    if operation == "delete":
        return [*fields, "0", path, ""]
    if operation == "rename":
        return [*fields, "0", path, record.new_path]
    if operation == "copy":
        return [*fields, _class_of_service(size_bytes), path, record.new_path, record.batch.user.account]
    local = _local_path(record, chance)
    class_of_service = _class_of_service(size_bytes) if operation == "put" and is_moving else "0"
    return [*fields, class_of_service, local, path, record.batch.user.account]


def _htar_fields(record: Record, size_bytes: int) -> list[str]:
    code = "-1" if record.is_failed else "0"
    duration_s = 0.0 if record.is_failed else round(record.duration_s, 2)
    action = "create" if record.batch.operation == "put" else "extract"
    class_of_service = "0" if record.is_failed else _class_of_service(size_bytes)
    return [
        action, _HSI_OPERATIONS[record.batch.operation], code, str(size_bytes), f"{duration_s:.2f}",
        _rate(size_bytes, duration_s), record.file.path, "", class_of_service, record.batch.user.account,
    ]  # fmt: skip


def _rate(size_bytes: int, duration_s: float) -> str:
    """Return the rate in units of 1000 bytes per second."""
    return f"{size_bytes / duration_s / 1000:.1f}" if size_bytes else "0.0"


def _class_of_service(size_bytes: int) -> str:
    return "21" if size_bytes < 8 * MB else "22" if size_bytes < 512 * MB else "23"


def _local_path(record: Record, chance: Chance) -> str:
    if chance.happens(0.04):
        return "<stdin>" if record.batch.operation == "put" else "<stdout>"
    name = record.file.path.rsplit("/", 1)[1]
    return f"/scratch/{record.batch.user.project}/{name}" if chance.happens(0.3) else name


def _ctime(time_s: float) -> str:
    wall = wall_time(time_s)
    return f"{wall:%a %b} {wall.day:2d} {wall:%H:%M:%S %Y}"


def as_written(lines: Iterable[Line]) -> list[Line]:
    """Sort lines by their stamps and drop those that ended while nothing was being written.

    Requests that are still running when the daemons go down for maintenance, or when the logs of these weeks
    are closed, are in none of our logs.
    """
    return sorted((line for line in lines if is_writing(line.at_s)), key=lambda line: line.at_s)


def by_day(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Split lines into one file per day, by the day on which they were written; keys look like 981018."""
    days: dict[str, list[Line]] = {}
    for line in lines:
        days.setdefault(f"{wall_time(line.at_s):%y%m%d}", []).append(line)
    return days
