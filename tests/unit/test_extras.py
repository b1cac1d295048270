"""What `tapewise.extras` says is installed with an extra is what pyproject.toml installs with it."""

import tomllib
from pathlib import Path

from tapewise.extras import _DISTRIBUTIONS, EXTRAS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_each_module_of_an_extra_is_named_with_it() -> None:
    named = {(extra, _DISTRIBUTIONS.get(module, module)) for module, extra in EXTRAS.items()}
    installed = {
        (extra, package)
        for extra, packages in PROJECT["optional-dependencies"].items()
        for package in packages
        if not package.startswith("tapewise[")
    }
    assert named == installed
    assert not {package for _, package in named} & set(PROJECT["dependencies"])
