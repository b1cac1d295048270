"""numba's compiler, and the cache of compiled code.

Compiled code is kept in NUMBA_CACHE_DIR if that is set, and otherwise in `tapewise/numba` in the user's cache
folder (XDG_CACHE_HOME, or ~/.cache); it is never in the source tree. If that folder is not writable, every
process compiles the code again. With NUMBA_DISABLE_JIT=1, the same functions run as Python: slowly, but with
the same results, to the last bit.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _prepare_cache() -> bool:
    """Point numba to a folder for compiled code; return whether there is one."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    caches = os.environ.get("XDG_CACHE_HOME")
    # numba recompiles a function if its own file has changed, but not if it calls functions from a file that
    # has changed. Each version of this package's files therefore has its own cache folder.
    state = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        state.update(path.read_bytes())
    try:
        folder = Path(caches) if caches else Path.home() / ".cache"
        folder = folder / "tapewise" / "numba" / state.hexdigest()[:16]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: no home
        return False
    if not os.access(folder, os.W_OK):
        return False
    # Setting the environment variable here would be too late, because numba reads it when it is imported. It
    # would also be passed on to every child process.
    vars(numba.config)["CACHE_DIR"] = str(folder)
    return True


_IS_CACHED = _prepare_cache()


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that allocates nothing and is called only by compiled functions.

    Floating-point operations are never reordered. Reference counting and the wrapper for calls from Python
    are omitted, because they would cost time for each table that is read. (When tables were passed by value,
    compilation took half the time without them, and the kernel ran five times as fast.)
    """
    return _compile(function, is_entry=False)


def compiled_entry(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that Python calls; otherwise like `compiled`."""
    return _compile(function, is_entry=True)


def _compile(function: Callable[Parameters, Result], *, is_entry: bool) -> Callable[Parameters, Result]:
    njit: Any = numba.njit  # numba's type hints omit the options that make it fast
    compile_it = njit(
        # Only an entry is ever called from Python, and its code contains that of all functions it calls.
        cache=_IS_CACHED and is_entry,
        error_model="numpy",  # does not check for division by 0, which never happens here
        fastmath=False,
        _nrt=False,
        no_cpython_wrapper=not is_entry,
        no_cfunc_wrapper=True,
    )
    return cast(Callable[Parameters, Result], compile_it(function))
