"""Runs a program that ends when the process that started it has ended, also by SIGKILL.

    python -I -S leash.py PID PROGRAM ARGUMENTS...

PID is the process that starts this one. The kernel sends SIGTERM to the program at the end of the thread that
started it. This becomes the program: the setting lasts, and code of ours that runs in a forked process before
the program, as subprocess's `preexec_fn`, could hang where there are threads.

Needs nothing but the standard library and imports nothing of ours, as `keeper.py`. Linux only.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def leash(arguments: Sequence[str | Path]) -> list[str]:
    """The command that runs `arguments` as a child of this process, and for no longer than it lives."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *map(str, arguments)]


def main() -> None:
    """Become the program, unless who asked for it is gone already."""
    parent, *program = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == int(parent):
        os.execv(program[0], program)  # noqa: S606  no shell is wanted


if __name__ == "__main__":
    main()
