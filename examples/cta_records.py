"""What truly happened at the made-up CTA site, from which its lines and the truth about them are made.

Moments are nanoseconds since 1970. Clocks and databases keep microseconds; what is below one is cut off.
"""

from dataclasses import dataclass, field

from tapewise.examples.cta_events import Event
from tapewise.examples.cta_site import Cartridge, Drive, Job


@dataclass(slots=True)
class Attempt:
    """One attempt to read or write one file: a tape operation. Times that never came are None."""

    job: Job
    received_ns: int | None
    session: "Session | None" = None
    positioned_ns: int | None = None
    transferred_ns: int | None = None
    is_failed: bool | None = None
    size_bytes: int | None = None
    duration_us: int = 0

    @property
    def requester(self) -> str:
        """For whom. Written files do not say that they are the repacker's, so they count as clients'."""
        return "repacker" if self.job.purpose == "repack" else "client"


@dataclass(slots=True)
class DiskEnd:
    """A file that was written to the disk system, or failed to be, with the seconds that CTA reports."""

    at_ns: int
    attempt: Attempt
    size_bytes: int
    duration_us: int
    is_failed: bool


@dataclass(slots=True)
class Session:
    """One session of a drive with a cartridge, whether or not it was mounted.

    `totals_us` are the seconds of its last line, by the name of the parameter, in microseconds; empty if the
    line has none.
    """

    number: int
    drive: Drive
    cartridge: Cartridge
    is_write: bool
    mount_type: str
    selected_ns: int
    mounted_ns: int | None = None
    unloaded_ns: int | None = None
    unmounted_ns: int | None = None
    finished_ns: int = 0
    is_failed: bool = False
    is_mounted: bool | None = True
    fault: str | None = None
    attempts: list[Attempt] = field(default_factory=list)
    totals_us: dict[str, int] = field(default_factory=dict)
    file_count: int | None = None
    size_bytes: int | None = None

    @property
    def mount_id(self) -> str:
        """The name that CTA gives to the session."""
        return str(1_955_000 + self.number)

    @property
    def counted(self) -> list[Attempt]:
        """The attempts that facts are made of: all but those of files that are only verified."""
        return [attempt for attempt in self.attempts if attempt.job.purpose != "verify"]


@dataclass(slots=True)
class Days:
    """Everything that happened, and everything that was logged (in no order)."""

    events: list[Event] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    disk_ends: list[DiskEnd] = field(default_factory=list)
