"""One session of a drive: mount, read or write each file, unload, dismount, and what its process logs.

Each function takes a `Session` that has been selected, fills in what happens to it, and adds the messages.
Sessions may fail: the faults are those that CTA's logs show in their own way.
"""

from tapewise.examples.chance import Chance
from tapewise.examples.cta_events import ANOTHER_MESSAGE, TOTALS_AGAIN, VERIFIED, Value
from tapewise.examples.cta_messages import SessionMessages, describe_read
from tapewise.examples.cta_records import Attempt, Days, DiskEnd, Session
from tapewise.examples.cta_site import SECOND_NS, Job

NOT_TRIED = "not tried"
MOUNT_FAILED = "mount failed"
KILLED = "killed"
KILLED_AND_LEFT = "killed, cartridge left"

_DRIVE_BYTES_A_SECOND = 300_000_000
_FLUSH_EVERY = 8
_ERROR_TEXT = 'In "TapeReadTask": medium error\n\tat block C:\\17, 3 = retries'


class SessionRun:
    """Runs one session, and collects what it logs in `days`."""

    def __init__(self, session: Session, jobs: list[Job], chance: Chance, days: Days) -> None:
        """Take the files in the order in which they will be read or written."""
        self._session = session
        self._jobs = jobs
        self._chance = chance
        self._days = days
        self._messages = SessionMessages(session, days.events)
        self._now_ns = session.selected_ns
        self._parts_us: dict[str, int] = {}
        self._disk_ends_ns = session.selected_ns
        self._unserved = list(jobs)

    def run(self) -> list[Job]:
        """Run the session to its end. Return the files that need another attempt, with their new times."""
        session = self._session
        self._messages.log_selected(self._jobs, self._now_ns)
        self._now_ns += 100_000_000
        if session.fault in (NOT_TRIED, MOUNT_FAILED):
            session.is_mounted, session.is_failed = False, True
            self._pass("mountTime", 240 if session.fault == MOUNT_FAILED else 0)
            self._finish()
        else:
            self._mount()
            is_killed = session.fault in (KILLED, KILLED_AND_LEFT)
            # A killed session serves half of its files, and dies within the next one.
            served = self._jobs[: len(self._jobs) // 2] if is_killed else self._jobs
            for job in served:
                self._write(job) if session.is_write else self._read(job)
                self._unserved.remove(job)
            if is_killed:
                self._die()
            else:
                self._dismount()
                self._finish()
        return [self._again(job) for job in self._unserved]

    def _again(self, job: Job) -> Job:
        job.due_ns = self._session.finished_ns + SECOND_NS
        return job

    def _pass(self, part: str, median_s: float) -> int:
        """Let time pass, add it to this part of the totals, and return it in microseconds."""
        passed_ns = int(self._chance.lognormal(median_s, 0.4) * SECOND_NS) if median_s else 0
        self._now_ns += passed_ns
        self._parts_us[part] = self._parts_us.get(part, 0) + passed_ns // 1000
        return passed_ns // 1000

    def _mount(self) -> None:
        session = self._session
        word = "write" if session.is_write else "read"
        self._messages.log(self._now_ns, f"Tape session started for {word}", ANOTHER_MESSAGE, {})
        robot_us = self._pass("mountTime", 18)
        session.mounted_ns = self._now_ns
        access = "read/write" if session.is_write else "read-only"
        mode = "RW" if session.is_write else "R"
        mounted: dict[str, Value] = {"drive_Slot": "smc5", "MCMountTime": robot_us / 1e6, "mode": mode}
        self._messages.log(self._now_ns, f"Tape mounted for {access} access", "tape_events", mounted)
        load_us = self._pass("mountTime", 25)
        ready: dict[str, Value] = {"mountTime": (robot_us + load_us) / 1e6, "tapeLoadTime": load_us / 1e6}
        self._messages.log(self._now_ns, "Tape mounted and drive ready", ANOTHER_MESSAGE, ready)

    def _begin(self, job: Job) -> Attempt:
        attempt = Attempt(job, job.received_ns, self._session)
        job.received_ns = None  # the request belongs to the first attempt only
        self._session.attempts.append(attempt)
        self._days.attempts.append(attempt)
        return attempt

    def _read(self, job: Job) -> None:
        session, chance = self._session, self._chance
        attempt = self._begin(job)
        is_verify = job.purpose == "verify"
        attempt.is_failed = chance.happens(0.05)
        # After an attempt that died when the file was positioned, this would look like its end.
        is_lost_at_once = attempt.is_failed and chance.happens(0.3) and not job.was_interrupted
        position_us = self._pass("positionTime", 20)
        described = describe_read(job)
        meaning = VERIFIED if is_verify else "tape_events"
        if not is_lost_at_once:
            attempt.positioned_ns = self._now_ns
            self._messages.log(self._now_ns, "Successfully positioned for reading", meaning, described)
        size_bytes = job.file.size_bytes
        if attempt.is_failed:
            size_bytes = int(size_bytes * chance.uniform())
        read_us = self._pass("readWriteTime", 0.004 + size_bytes / _DRIVE_BYTES_A_SECOND)
        wait_us = self._pass("waitFreeMemoryTime", 0.02)
        report_us = self._pass("waitReportingTime", 0.001)
        attempt.transferred_ns, attempt.size_bytes = self._now_ns, size_bytes
        measured: dict[str, Value] = {
            "positionTime": position_us / 1e6,
            "readWriteTime": read_us / 1e6,
            "waitFreeMemoryTime": wait_us / 1e6,
            "waitReportingTime": report_us / 1e6,
            "transferTime": (read_us + wait_us) / 1e6,
            "totalTime": (position_us + read_us + wait_us) / 1e6,
            "dataVolume": size_bytes,
            "headerVolume": 480,
            "LBPMode": "LBP_On",
            "checksumType": "ADLER32",
        }
        if attempt.is_failed:
            session.is_failed = True
            error = measured | {"exceptionMessage": _ERROR_TEXT}
            self._messages.log(
                self._now_ns,
                "Error reading a file in TapeReadFileTask",
                meaning,
                described | error,
                level="ERROR",
            )
            if job.attempt == 1:
                job.attempt = 2
                self._unserved.append(job)
            return
        self._messages.log(self._now_ns, "File successfully read from tape", meaning, described | measured)
        self._write_to_disk(attempt)

    def _write_to_disk(self, attempt: Attempt) -> None:
        job, chance = attempt.job, self._chance
        duration_us = int(1e6 * (chance.exponential(0.5) + job.file.size_bytes / 1e9)) + 1
        at_ns = self._now_ns + duration_us * 1000
        self._disk_ends_ns = max(self._disk_ends_ns, at_ns)
        is_failed = chance.happens(0.03)
        size_bytes = job.file.size_bytes // 3 if is_failed else job.file.size_bytes
        measured: dict[str, Value] = {
            "fileId": job.file.file_id,
            "fSeq": job.file.sequence,
            "readWriteTime": duration_us / 2e6,
            "waitDataTime": 0.0,
            "waitReportingTime": 1e-06,
            "transferTime": duration_us / 1e6,
            "totalTime": duration_us / 1e6,
            "dataVolume": size_bytes,
        }
        if job.purpose == "verify":
            self._messages.log(
                self._now_ns, "File successfully verified", ANOTHER_MESSAGE, measured, thread="DiskWrite"
            )
            return
        message = "File writing to disk failed" if is_failed else "File successfully transfered to disk"
        level = "ERROR" if is_failed else "INFO"
        self._messages.log(at_ns, message, "stages", measured, thread="DiskWrite", level=level)
        self._days.disk_ends.append(DiskEnd(at_ns, attempt, size_bytes, duration_us, is_failed))

    def _write(self, job: Job) -> None:
        attempt = self._begin(job)
        wait_us = self._pass("waitDataTime", 0.3)
        write_us = self._pass("readWriteTime", 0.004 + job.file.size_bytes / _DRIVE_BYTES_A_SECOND)
        attempt.transferred_ns, attempt.size_bytes = self._now_ns, job.file.size_bytes
        attempt.duration_us = wait_us + write_us
        measured: dict[str, Value] = {
            "fileId": job.file.file_id,
            "fileSize": job.file.size_bytes,
            "fSeq": job.file.sequence,
            "diskURL": f"root://eosmade.example.org/{job.file.path}",
            "readWriteTime": write_us / 1e6,
            "checksumingTime": 0.0,
            "waitDataTime": wait_us / 1e6,
            "transferTime": (wait_us + write_us) / 1e6,
            "totalTime": (wait_us + write_us) / 1e6,
            "dataVolume": job.file.size_bytes,
            "headerVolume": 480,
            "reconciliationTime": 0,
            "LBPMode": "LBP_On",
        }
        self._messages.log(
            self._now_ns, "File successfully transmitted to drive", "migrations tape_events", measured
        )
        if len(self._session.attempts) % _FLUSH_EVERY == 0:
            self._flush("Normal flush because thresholds was reached")

    def _flush(self, message: str) -> None:
        flush_us = self._pass("flushTime", 2.5)
        self._messages.log_flushed(message, self._session.attempts[-_FLUSH_EVERY:], flush_us, self._now_ns)

    def _dismount(self) -> None:
        session = self._session
        name = "TapeWriteSingleThread" if session.is_write else "TapeReadSingleThread"
        if session.is_write:
            self._flush("No more data to write on tape, unconditional flushing to the client")
        self._pass("unloadTime", 28)
        session.unloaded_ns = self._now_ns
        self._messages.log(self._now_ns, f"{name}: Tape unloaded", "tape_events", {})
        self._messages.log(
            self._now_ns, "Logging volume statistics", ANOTHER_MESSAGE, {"lifetimeVolumeMounts": 231}
        )
        self._pass("unmountTime", 20)
        session.unmounted_ns = self._now_ns
        self._messages.log(self._now_ns, f"{name} : tape unmounted", "tape_events", {})
        status = "failure" if session.is_failed else "success"
        self._messages.log(
            self._now_ns,
            "Tape thread complete",
            ANOTHER_MESSAGE,
            {"type": session.mount_type, "status": status},
        )

    def _finish(self) -> None:
        """Write the totals of a session that ended by itself."""
        session = self._session
        total_us = (self._now_ns - session.selected_ns) // 1000
        self._now_ns = max(self._now_ns, self._disk_ends_ns) + int(self._chance.uniform(0.2, 1.0) * SECOND_NS)
        session.finished_ns = self._now_ns
        names = (
            *("mountTime", "positionTime", "waitInstructionsTime", "waitFreeMemoryTime", "waitDataTime"),
            *(
                "waitReportingTime",
                "checksumingTime",
                "readWriteTime",
                "flushTime",
                "unloadTime",
                "unmountTime",
            ),
        )
        self._parts_us["waitInstructionsTime"] = self._chance.integer(0, 999_999)
        session.totals_us = {name: self._parts_us.get(name, 0) for name in names} | {"totalTime": total_us}
        good = [attempt for attempt in session.attempts if not attempt.is_failed]
        session.file_count = len(good)
        session.size_bytes = sum(attempt.size_bytes or 0 for attempt in good)
        self._messages.log_totals(
            self._now_ns,
            {
                "mountAttempted": session.fault != NOT_TRIED,
                "wasTapeMounted": session.is_mounted,
                **{name: us / 1e6 for name, us in session.totals_us.items()},
                "dataVolume": session.size_bytes,
                "filesCount": session.file_count,
                "status": "failure" if session.is_failed else "success",
            },
            "mount_summaries",
        )

    def _die(self) -> None:
        """Kill the session within a file. Its totals are written twice, the second time without a status."""
        session = self._session
        if not session.is_write:
            attempt = self._begin(self._jobs[len(self._jobs) // 2])
            attempt.job.was_interrupted = True
            self._pass("positionTime", 20)
            attempt.positioned_ns = self._now_ns
            meaning = VERIFIED if attempt.job.purpose == "verify" else "tape_events"
            described = describe_read(attempt.job)
            self._messages.log(self._now_ns, "Successfully positioned for reading", meaning, described)
        self._now_ns = max(self._now_ns, self._disk_ends_ns) + 5 * SECOND_NS + 123_456_789
        session.is_mounted, session.is_failed = None, True
        self._messages.log_totals(
            self._now_ns, {"Error_sessionKilled": 1, "killSignal": 9, "status": "failure"}, "mount_summaries"
        )
        self._now_ns += 1_500_000
        if session.number % 2:
            again: dict[str, Value] = {"tapeDrive": session.drive.name, "killSignal": 9}
            self._messages.log(self._now_ns, "Tape session finished", TOTALS_AGAIN, again, thread=None)
        else:
            self._messages.log_totals(self._now_ns, {"killSignal": 9}, TOTALS_AGAIN)
        self._now_ns += 60 * SECOND_NS
        if session.fault == KILLED:
            session.unmounted_ns = self._now_ns
            left: dict[str, Value] = {"tapeVid": session.cartridge.vsn, "tapeDrive": session.drive.name}
            self._messages.log(self._now_ns, "Cleaner dismounted tape", "tape_events", left, thread=None)
        session.finished_ns = self._now_ns
