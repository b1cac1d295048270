"""The messages of a session: which thread writes them, and with which parameters."""

from tapewise.examples.cta_events import ANOTHER_MESSAGE, Event, Value, tape_event, thread_context
from tapewise.examples.cta_records import Attempt, Session
from tapewise.examples.cta_site import CAPACITY_BYTES, LIBRARY, MEDIA_TYPE, SECOND_NS, Job


class SessionMessages:
    """Adds the messages of one session to `events`."""

    def __init__(self, session: Session, events: list[Event]) -> None:
        """Take the session and the list of all messages."""
        self._session = session
        self._events = events

    def log(
        self,
        at_ns: int,
        message: str,
        meaning: str,
        parameters: dict[str, Value],
        *,
        thread: str | None = "",
        level: str = "INFO",
    ) -> None:
        """Add a message; those of a thread begin with its context, those of the parent process do not."""
        session = self._session
        if thread == "":
            thread = "TapeWrite" if session.is_write else "TapeRead"
        context: dict[str, Value] = {}
        if thread is not None:
            context = thread_context(thread, session.drive, session.cartridge, session.mount_id)
        self._events.append(
            tape_event(
                at_ns,
                session.drive,
                message,
                meaning,
                context | parameters,
                level=level,
                thread_number={None: 0, "TapeRead": 10, "TapeWrite": 10}.get(thread, 20),
            )
        )

    def log_selected(self, jobs: list[Job], at_ns: int) -> None:
        """Add that the drive takes the queue with these files."""
        session = self._session
        direction = "archive" if session.is_write else "retrieve"
        oldest_ns = min(job.due_ns for job in jobs)
        parameters: dict[str, Value] = {
            "tapeVid": session.cartridge.vsn,
            "mountType": "ARCHIVE_FOR_USER" if session.is_write else "RETRIEVE",
            "tapePool": session.cartridge.pool,
            "vo": session.cartridge.organisation,
            "mediaType": MEDIA_TYPE,
            "vendor": "FUJIFILM",
            "bytesQueued": sum(job.file.size_bytes for job in jobs),
            "filesQueued": len(jobs),
            "oldestJobAge": (session.selected_ns - oldest_ns) // SECOND_NS,
        }
        message = f"In Scheduler::getNextMount(): Selected next mount ({direction})"
        self.log(at_ns, message, "tape_events", parameters, thread=None)

    def log_flushed(self, message: str, attempts: list[Attempt], flush_us: int, at_ns: int) -> None:
        """Add that these files are on tape, and that the catalogue has them."""
        self.log(at_ns, message, ANOTHER_MESSAGE, {"files": len(attempts), "flushTime": flush_us / 1e6})
        for attempt in attempts:
            safe: dict[str, Value] = {
                "tapeVid": self._session.cartridge.vsn,
                "mountType": "2",
                "fileId": attempt.job.file.file_id,
                "type": "ReportSuccessful",
            }
            archived = "In cta::ArchiveMount::reportJobsBatchTransferred(): archive job successful"
            self.log(at_ns, archived, ANOTHER_MESSAGE, safe)

    def log_totals(self, at_ns: int, rest: dict[str, Value], meaning: str) -> None:
        """Add the session's last line, which the parent process writes."""
        session = self._session
        named: dict[str, Value] = {
            "tapeVid": session.cartridge.vsn,
            "mountType": session.mount_type,
            "mountId": session.mount_id,
            "volReqId": session.mount_id,
            "tapeDrive": session.drive.name,
            "vendor": "FUJIFILM",
            "vo": session.cartridge.organisation,
            "mediaType": MEDIA_TYPE,
            "tapePool": session.cartridge.pool,
            "logicalLibrary": LIBRARY,
            "capacityInBytes": CAPACITY_BYTES,
        }
        self.log(at_ns, "Tape session finished", meaning, named | rest, thread=None)


def describe_read(job: Job) -> dict[str, Value]:
    """The parameters of lines about a file that is read."""
    return {
        "fileId": job.file.file_id,
        "BlockId": job.file.block,
        "fSeq": job.file.sequence,
        "dstURL": f"root://eosmade.example.org//eos/x?eos.lfn=fxid:{job.file.file_id:x}&eos.ruid=0",
        "isRepack": job.purpose == "repack",
        "isVerifyOnly": job.purpose == "verify",
    }
