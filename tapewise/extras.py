"""Packages that only an extra installs, such as the compiler of the simulator."""

from importlib.util import find_spec

from tapewise.schema.errors import MissingExtraError

# Maps the name under which a module is imported to the extra that installs it.
EXTRAS = {
    **{"libcachesim": "libcachesim", "numba": "simulator"},
    **{"sklearn": "workload", "threadpoolctl": "workload"},
    **{"aiohttp": "remote", "fsspec": "remote", "s3fs": "remote"},
    **{"altair": "report", "jinja2": "report", "vl_convert": "report"},
}
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}


def find_missing(extra: str) -> MissingExtraError | None:
    """The error to raise or show if a module that `extra` installs is missing; else None."""
    for module, its_extra in EXTRAS.items():
        if its_extra == extra and find_spec(module) is None:
            return _describe(module)
    return None


def explain_missing_module(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error to raise instead of `error` if an extra installs the missing module; else None."""
    return _describe(error.name) if error.name in EXTRAS else None


def _describe(module: str) -> MissingExtraError:
    extra = EXTRAS[module]
    return MissingExtraError(
        f"this needs the Python package {_DISTRIBUTIONS.get(module, module)}, which is not installed",
        hint=f"Install Tapewise again with its extra {extra!r}, for instance: pip install '.[{extra}]'",
    )
