"""Runs a program that ends when its parent process ends, even if by SIGKILL.

    python -I -S leash.py PID PROGRAM ARGUMENTS...

PID is the parent, which starts this process. This process asks the kernel to send it SIGTERM when the thread
that started it ends, and then becomes the program by `exec`, which keeps that setting. Setting it in
subprocess's `preexec_fn` instead could hang if the parent has threads, because that code runs in the forked
process.

Like `keeper.py`, this module needs only the standard library, imports none of our modules and runs on Linux
only.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def leash(arguments: Sequence[str | Path]) -> list[str]:
    """Return the command that runs `arguments` as a child of this process, and ends with this process."""
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *map(str, arguments)]


def main() -> None:
    """Become the program, unless the process that asked for it is already gone."""
    parent, *program = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() == int(parent):
        os.execv(program[0], program)  # noqa: S606  no shell is needed


if __name__ == "__main__":
    main()
