"""What the programs of CTA report: messages with parameters, before a form is chosen for their lines."""

from dataclasses import dataclass

from tapewise.examples.cta_site import FRONTEND, Cartridge, Drive

# What a line means for a reader: the tables that get a row from it, or why it is none.
ANOTHER_MESSAGE = "another message"
TOTALS_AGAIN = "totals again"
VERIFIED = "only verified"
IGNORED = (ANOTHER_MESSAGE, TOTALS_AGAIN, VERIFIED)

Value = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Event:
    """One message. `meaning` names the tables that get a row, separated by blanks, or is one of IGNORED.

    `parameters` are in the order in which the program pushed them.
    """

    at_ns: int
    host: str
    program: str
    message: str
    meaning: str
    parameters: dict[str, Value]
    drive_name: str | None = None
    pid: int = 90
    tid: int = 91
    level: str = "INFO"


def frontend_event(at_ns: int, message: str, meaning: str, parameters: dict[str, Value]) -> Event:
    """A message of the frontend."""
    return Event(at_ns, FRONTEND, "cta-frontend", message, meaning, parameters)


def tape_event(
    at_ns: int,
    drive: Drive,
    message: str,
    meaning: str,
    parameters: dict[str, Value],
    *,
    level: str = "INFO",
    thread_number: int = 0,
) -> Event:
    """A message of a tape server. Its process forks for each session, and its threads have numbers."""
    tid = drive.pid + thread_number
    return Event(
        at_ns, drive.server, "cta-taped", message, meaning, parameters, drive.name, drive.pid, tid, level
    )


def thread_context(thread: str, drive: Drive, cartridge: Cartridge, mount_id: str) -> dict[str, Value]:
    """The parameters that all lines of a session's threads begin with."""
    return {
        "thread": thread,
        "tapeDrive": drive.name,
        "tapeVid": cartridge.vsn,
        "mountId": mount_id,
        "vo": cartridge.organisation,
        "tapePool": cartridge.pool,
    }
