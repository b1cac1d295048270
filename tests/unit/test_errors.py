"""The tree in the docstring of the errors' module shows every error with its exit status."""

import re
from collections.abc import Iterator

from tapewise.schema import errors
from tapewise.schema.errors import TapewiseError


def find_errors(root: type[TapewiseError]) -> Iterator[type[TapewiseError]]:
    for each in root.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
        yield from find_errors(each)


def test_the_tree_shows_every_error_below_its_base() -> None:
    shown, bases = {}, ["TapewiseError"]
    for indent, name in re.findall(r"^    ((?:│   |    )*)[├└]── (\w+)", errors.__doc__ or "", re.MULTILINE):
        depth = len(indent) // 4 + 1
        bases[depth:] = [name]
        shown[name] = bases[depth - 1]
    assert shown == {each.__name__: each.__bases__[0].__name__ for each in find_errors(TapewiseError)}


def test_the_tree_shows_exit_statuses_other_than_1() -> None:
    shown = dict(re.findall(r"(\w+) +.*\(exit status (\d+)\)", errors.__doc__ or ""))
    found = {each.__name__: each.exit_status for each in find_errors(TapewiseError)}
    assert {name: int(status) for name, status in shown.items()} == {
        name: status for name, status in found.items() if status != 1
    }
