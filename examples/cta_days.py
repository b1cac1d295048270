"""The made-up days of the CTA site: which drive takes which queue, and when.

A drive that is free takes the oldest queue whose cartridge is in no other drive. A queue has the files that
were asked for on one cartridge, to be read or to be written. Requests come through the frontend, which logs
those of users.
"""

import heapq
from itertools import count

from tapewise.examples.chance import Chance
from tapewise.examples.cta_events import (
    ANOTHER_MESSAGE,
    TOTALS_AGAIN,
    VERIFIED,
    Value,
    frontend_event,
    tape_event,
)
from tapewise.examples.cta_records import Attempt, Days, Session
from tapewise.examples.cta_sessions import KILLED, KILLED_AND_LEFT, MOUNT_FAILED, NOT_TRIED, SessionRun
from tapewise.examples.cta_site import (
    FIRST_MIDNIGHT_S,
    INSTANCE,
    SECOND_NS,
    Drive,
    Job,
    make_drives,
    plan_jobs,
)

# Which of twelve sessions end in which fault.
_FAULTS = {3: NOT_TRIED, 5: MOUNT_FAILED, 8: KILLED, 11: KILLED_AND_LEFT}
_CYCLE = 12
_POLL_NS = 10 * SECOND_NS
_MIN_AGE_NS = 30 * SECOND_NS
_NEVER_NS = 2**62


def live(seed: int, day_count: int) -> Days:
    """Simulate the days. Sessions that began in them run to their end."""
    return _Site(seed, day_count).run()


class _Site:
    """The queues and the drives."""

    def __init__(self, seed: int, day_count: int) -> None:
        self._chance = Chance(seed, "cta site")
        self._days = Days()
        self._order = count()
        # (due, order, job): jobs that are not in a queue yet.
        self._coming = [(job.due_ns, next(self._order), job) for job in plan_jobs(seed, day_count)]
        heapq.heapify(self._coming)
        self._queues: dict[tuple[str, bool], list[Job]] = {}
        self._busy_until_ns: dict[str, int] = {}
        # Cartridges that a killed session left, and that nobody took out of the drive.
        self._left_in: dict[str, Drive] = {}
        # When the request for a file of this purpose ends; until then it is not asked for again.
        self._open_until_ns: dict[tuple[int, str, str], int] = {}

    def run(self) -> Days:
        """Let each drive in turn take the next queue, until nothing is left to do."""
        drives = make_drives()
        begin_ns = FIRST_MIDNIGHT_S * SECOND_NS
        free = [(begin_ns + number * SECOND_NS, number) for number in range(len(drives))]
        while self._coming or self._queues:
            now_ns, number = heapq.heappop(free)
            self._admit(now_ns)
            chosen = [key for key in self._queues if self._is_ready(key, drives[number], now_ns)]
            if chosen:
                oldest = min(chosen, key=lambda key: (self._queues[key][0].due_ns, key))
                free_ns = self._take(drives[number], now_ns, *oldest)
            else:
                free_ns = now_ns + _POLL_NS + self._chance.integer(0, SECOND_NS)
                if self._coming and not self._queues:
                    free_ns = max(free_ns, self._coming[0][0])
            heapq.heappush(free, (free_ns, number))
        return self._days

    def _is_ready(self, key: tuple[str, bool], drive: Drive, now_ns: int) -> bool:
        """Whether a queue is old enough to be worth a mount, and its cartridge is in no other drive."""
        if self._left_in.get(key[0], drive) != drive:
            return False
        is_old = self._queues[key][0].due_ns + _MIN_AGE_NS <= now_ns
        return is_old and self._busy_until_ns.get(key[0], 0) <= now_ns

    def _admit(self, now_ns: int) -> None:
        while self._coming and self._coming[0][0] <= now_ns:
            _, _, job = heapq.heappop(self._coming)
            key = (job.file.file_id, job.file.cartridge.vsn, job.purpose)
            if not job.is_admitted:
                if self._open_until_ns.get(key, 0) > job.due_ns:
                    continue  # it is being fetched, and the disk system asks only once
                self._open_until_ns[key] = _NEVER_NS
                job.is_admitted = True
                if job.user is not None and self._is_withdrawn(job):
                    continue
                if job.purpose == "verify":
                    self._log_request(job, VERIFIED)
            self._queues.setdefault((job.file.cartridge.vsn, job.is_write), []).append(job)

    def _is_withdrawn(self, job: Job) -> bool:
        """Log a user's request, and whether the user withdraws it."""
        self._log_request(job, "tape_events")
        if not self._chance.happens(0.02):
            return False
        at_ns = job.due_ns + 30 * SECOND_NS
        message = "In WorkflowEvent::processABORT_PREPARE(): canceled retrieve request."
        aborted: dict[str, Value] = {"fileId": job.file.file_id, "instanceName": INSTANCE}
        self._days.events.append(frontend_event(at_ns, message, ANOTHER_MESSAGE, aborted))
        self._days.attempts.append(Attempt(job, job.received_ns, size_bytes=job.file.size_bytes))
        self._open_until_ns[job.file.file_id, job.file.cartridge.vsn, job.purpose] = at_ns
        return True

    def _log_request(self, job: Job, meaning: str) -> None:
        user = job.user or "verifier"
        came: dict[str, Value] = {
            "user": f"{INSTANCE}@eosmade.example.org",
            "eventType": "PREPARE",
            "eosInstance": INSTANCE,
            "diskFilePath": job.file.path,
            "diskFileId": str(job.file.file_id % 10**6),
        }
        event = "In WorkflowEvent::WorkflowEvent(): received event."
        self._days.events.append(frontend_event(job.due_ns - 900_000, event, ANOTHER_MESSAGE, came))
        asked: dict[str, Value] = {
            "fileId": job.file.file_id,
            "instanceName": INSTANCE,
            "diskFilePath": job.file.path,
            "dstURL": f"root://eosmade.example.org/{job.file.path}?eos.lfn=fxid:{job.file.file_id:x}",
            "requesterName": user,
            "requesterGroup": job.file.cartridge.organisation,
            "fileSize": job.file.size_bytes,
            "storageClass": f"{job.file.cartridge.organisation}_class",
            "fSeq": job.file.sequence,
            "vid": job.file.cartridge.vsn,
            "blockId": job.file.block,
            "copyNb": 1,
            "selectedVid": job.file.cartridge.vsn,
            "verifyOnly": job.purpose == "verify",
            "retrieveRequestId": f"RetrieveRequest-Frontend-{job.file.file_id}",
            "activity": "",
        }
        queued = "In Scheduler::queueRetrieve(): Queued retrieve request"
        self._days.events.append(frontend_event(job.due_ns, queued, meaning, asked))

    def _take(self, drive: Drive, now_ns: int, vsn: str, is_write: bool) -> int:
        """Run a session for a queue. Return when the drive is free again."""
        jobs = sorted(self._queues.pop((vsn, is_write)), key=lambda job: (job.file.sequence, job.due_ns))
        number = len(self._days.sessions)
        purposes = {job.purpose for job in jobs}
        mount_type = "Retrieve"
        if is_write:
            mount_type = "ArchiveForRepack" if purposes == {"archive repack"} else "ArchiveForUser"
        now_ns += self._chance.integer(1, SECOND_NS)
        session = Session(
            number,
            drive,
            jobs[0].file.cartridge,
            is_write,
            mount_type,
            now_ns,
            fault=_FAULTS.get(number % _CYCLE),
        )
        for job in SessionRun(session, jobs, self._chance, self._days).run():
            heapq.heappush(self._coming, (job.due_ns, next(self._order), job))
            jobs.remove(job)
        for job in jobs:
            self._open_until_ns[job.file.file_id, vsn, job.purpose] = session.finished_ns
        self._days.sessions.append(session)
        if session.mounted_ns is not None:
            self._left_in.pop(vsn, None)
        if session.fault == KILLED_AND_LEFT and self._chance.happens(0.5):
            self._left_in[vsn] = drive
        self._busy_until_ns[vsn] = session.finished_ns
        if number % 7 == 0:
            self._log_idle(drive, session.finished_ns + SECOND_NS)
        return session.finished_ns + 2 * SECOND_NS

    def _log_idle(self, drive: Drive, at_ns: int) -> None:
        """A session that found nothing to do: it has no cartridge, and is no mount."""
        nothing: dict[str, Value] = {
            "tapeVid": None,
            "mountType": "NoMount",
            "mountId": None,
            "tapeDrive": drive.name,
            "mountAttempted": False,
            "wasTapeMounted": False,
            "status": "success",
        }
        self._days.events.append(tape_event(at_ns, drive, "Tape session finished", TOTALS_AGAIN, nothing))
