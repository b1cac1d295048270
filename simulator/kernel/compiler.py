"""numba's compiler, and where it keeps what it compiled.

Compiled code lies in NUMBA_CACHE_DIR if that is set, else in `tapewise/numba` of the user's cache folder
(XDG_CACHE_HOME, or ~/.cache), never in the source tree; where that cannot be written it is compiled anew by
each process. With NUMBA_DISABLE_JIT=1 the same functions run as Python, slowly, and give the same bits.
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
    """Point numba to a folder for what it compiles; whether there is one."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    caches = os.environ.get("XDG_CACHE_HOME")
    # numba looks at the file of a function alone, not at those of the functions it calls: a folder for
    # each state of this folder, or a change in one module would leave old code of it in another.
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
    # The module takes its settings from the environment when it is imported; setting the variable instead
    # would come too late, and hand it to every program that is started from here.
    vars(numba.config)["CACHE_DIR"] = str(folder)
    return True


_IS_CACHED = _prepare_cache()


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that only compiled ones call. It must allocate nothing; floats are never reordered.

    Without reference counts and pieces of glue for callers from Python, which each table in `World` costs
    at each call, compiling takes half as long and the kernel runs five times as fast.
    """
    return _compile(function, is_entry=False)


def compiled_entry(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function that Python calls, else as `compiled`."""
    return _compile(function, is_entry=True)


def _compile(function: Callable[Parameters, Result], *, is_entry: bool) -> Callable[Parameters, Result]:
    njit: Any = numba.njit  # whose types leave out what makes it fast
    compile_it = njit(
        cache=_IS_CACHED,
        error_model="numpy",  # divides without asking first; nothing here divides by 0
        fastmath=False,
        forceinline=True,
        _nrt=False,
        no_cpython_wrapper=not is_entry,
        no_cfunc_wrapper=True,
    )
    return cast(Callable[Parameters, Result], compile_it(function))
