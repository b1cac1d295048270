"""What ends a command from outside, SIGTERM and SIGHUP, made an exception like the one of Ctrl-C."""

import signal
from types import FrameType
from typing import NoReturn

# Python makes an exception of SIGINT only: the others end a process at once, and nothing is cleaned up.
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class Ended(KeyboardInterrupt):
    """A signal that ends this process; `exit_status` is what a shell reports of it.

    A KeyboardInterrupt, so that psycopg cancels the query that the server works on.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_status = 128 + number


def raise_endings() -> None:
    """Have SIGTERM and SIGHUP raise Ended in the main thread, unless they are ignored (nohup)."""
    for number in _ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDINGS:
        signal.signal(each, signal.SIG_IGN)  # a second one must not break off the cleaning up
    raise Ended(number)
