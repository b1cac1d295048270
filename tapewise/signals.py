"""Converts the signals that end a command, SIGTERM and SIGHUP, into an exception like the one for Ctrl-C."""

import signal
from types import FrameType
from typing import NoReturn

# Python raises an exception only for SIGINT. Other signals end a process at once, without any cleanup.
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal that ends this process; `exit_status` is what a shell reports for the signal.

    It is a KeyboardInterrupt, so psycopg cancels the query that the server is running.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_status = 128 + number


def raise_endings() -> None:
    """Make SIGTERM and SIGHUP raise Ended in the main thread, unless they are ignored (nohup)."""
    for number in _ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDINGS:
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    raise Ended(number)
