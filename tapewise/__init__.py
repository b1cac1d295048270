"""Tapewise from Python: a warehouse for the transfer logs of mass-storage archives.

    import tapewise

    log = tapewise.read_log("hsi.log", timezone="America/Los_Angeles")    # no database
    log.records, log.ignored, log.rejected                                # polars frames

    with tapewise.connect(home="~/archive") as warehouse:
        warehouse.ingest(["hsi.log"], archive="lab", timezone="America/Los_Angeles")
        hits = warehouse.mart.cache_hits(archive="lab")
        days = warehouse.sql("SELECT * FROM mart.activity(archive => %s)", ["lab"])

    run = tapewise.simulate("llnl-unitree-1998", "trace.parquet", seed=1) # no database
    run.jobs, run.samples, run.totals

`__all__` is the public interface; all other modules may change in any version. Semantic versioning holds from
version 1.0. Before that, a minor version may change the interface, and CHANGELOG.md says so. Every error that
Tapewise raises on purpose is a `TapewiseError`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Editors and type checkers see these imports.
if TYPE_CHECKING:
    from tapewise.connections import Connection, connect
    from tapewise.loaded_files import LoadedFile
    from tapewise.logs import Log, read_log
    from tapewise.schema.errors import TapewiseError
    from tapewise.simulations import simulate
    from tapewise.simulator.results import Run

__all__ = ["Connection", "LoadedFile", "Log", "Run", "TapewiseError", "connect", "read_log", "simulate"]

# A name is imported when it is first used. The command line imports this package too, and loading polars and
# the simulator would make `tapewise --version` slow.
_MODULES = {
    "Connection": "tapewise.connections",
    "LoadedFile": "tapewise.loaded_files",
    "Log": "tapewise.logs",
    "Run": "tapewise.simulator.results",
    "TapewiseError": "tapewise.schema.errors",
    "connect": "tapewise.connections",
    "read_log": "tapewise.logs",
    "simulate": "tapewise.simulations",
}


def __getattr__(name: str) -> Any:
    """Import the public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tapewise' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, including those not used yet."""
    return sorted({*globals(), *__all__})
