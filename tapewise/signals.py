"""Converts the signals that end a command, SIGTERM and SIGHUP, into an exception like the one for Ctrl-C."""

import signal
from types import FrameType

# Python raises an exception only for SIGINT. Other signals end a process at once, without any cleanup.
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
# LLVM calls these functions of llvmlite while it compiles the simulator. An exception in them is printed and
# lost, and then numba fails because it misses what they should have returned.
_CALLBACKS = {"_raw_object_cache_notify", "_raw_object_cache_getbuffer"}
_WAIT_S = 0.05


class Ended(KeyboardInterrupt):
    """A signal that ends this process; `exit_status` is what a shell reports for the signal.

    It is a KeyboardInterrupt, so psycopg cancels the query that the server is running.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_status = 128 + number


def raise_endings() -> None:
    """Make SIGTERM and SIGHUP raise Ended in the main thread, unless they are ignored (nohup).

    While LLVM waits for one of its callbacks, these signals and Ctrl-C raise their exception after it.
    """
    for number in (signal.SIGINT, *_ENDINGS):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    if _is_callback(frame):
        signal.signal(signal.SIGALRM, lambda _, later: _end(number, later))
        signal.setitimer(signal.ITIMER_REAL, _WAIT_S)
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    for each in _ENDINGS:
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    raise Ended(number)


def _is_callback(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in _CALLBACKS:
            return True
        frame = frame.f_back
    return False
