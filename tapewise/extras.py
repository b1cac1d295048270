"""What is installed with an extra only: the simulator's compiler, and what fits workload models."""

from importlib.util import find_spec

from tapewise.schema.errors import MissingExtraError

# The extra that installs a module, by the name that is imported.
EXTRAS = {"numba": "simulator", "sklearn": "workload", "threadpoolctl": "workload"}
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def find_missing(extra: str) -> MissingExtraError | None:
    """What to raise, or to show, if something that `extra` itself adds is not installed; else None."""
    for module, its_extra in EXTRAS.items():
        if its_extra == extra and find_spec(module) is None:
            return _describe(module)
    return None


def explain_missing_module(error: ModuleNotFoundError) -> MissingExtraError | None:
    """What to raise instead of `error` if an extra installs what it misses; None if none does."""
    return _describe(error.name) if error.name in EXTRAS else None


def _describe(module: str) -> MissingExtraError:
    extra = EXTRAS[module]
    return MissingExtraError(
        f"this needs the Python package {_DISTRIBUTIONS.get(module, module)}, which is not installed",
        hint=f"Install Tapewise again with its extra {extra!r}, as in pip install '.[{extra}]'",
    )
