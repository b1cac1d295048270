"""Tests of how signals end a command."""

import signal
import subprocess
import sys

import pytest

# A signal arrives while C code waits for a Python function, as LLVM does while numba compiles.
_PROGRAM = """
import ctypes, signal, sys, time
from tapewise.signals import raise_endings

def {function}():
    signal.raise_signal({number})
    return 7

raise_endings()
callback = ctypes.CFUNCTYPE(ctypes.c_int)({function})
try:
    print("returned", callback(), flush=True)
    time.sleep(20)
except KeyboardInterrupt as error:
    print(type(error).__name__, getattr(error, "exit_status", None))
"""


def _run(function: str, number: signal.Signals) -> tuple[str, str]:
    program = _PROGRAM.format(function=function, number=int(number))
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("number", "ending"),
    [(signal.SIGINT, "KeyboardInterrupt None"), (signal.SIGTERM, "Ended 143"), (signal.SIGHUP, "Ended 129")],
)
def test_a_signal_while_llvm_calls_back_ends_the_command_after_the_callback(
    number: signal.Signals, ending: str
) -> None:
    assert _run("_raw_object_cache_notify", number) == (f"returned 7\n{ending}\n", "")


def test_llvmlite_still_has_these_callbacks() -> None:
    engine = pytest.importorskip("llvmlite.binding.executionengine").ExecutionEngine
    assert {"_raw_object_cache_notify", "_raw_object_cache_getbuffer"} <= set(vars(engine))
