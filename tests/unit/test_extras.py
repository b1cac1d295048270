"""`tapewise.extras` lists, for each extra, the modules that pyproject.toml installs with it."""

import tomllib
from pathlib import Path

from tapewise.extras import _DISTRIBUTIONS, EXTRAS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_each_extra_lists_its_modules() -> None:
    named = {(extra, _DISTRIBUTIONS.get(module, module)) for module, extra in EXTRAS.items()}
    installed = {
        (extra, package)
        for extra, packages in PROJECT["optional-dependencies"].items()
        for package in packages
        if not package.startswith("tapewise[")
    }
    assert named == installed
    assert not {package for _, package in named} & set(PROJECT["dependencies"])


def test_all_installs_every_extra_that_has_wheels_for_all() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras["all"] == [f"tapewise[{','.join(sorted(extras.keys() - {'all', 'libcachesim'}))}]"]
