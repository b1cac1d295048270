"""Variants of a machine: what a study changes in its file.

    disk.capacity_bytes=384GB,768GB    users.limit_count=10,20

becomes the four machines of both sizes and both limits.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tapewise.schema.errors import MachineError
from tapewise.simulator.capacities import parse_size
from tapewise.simulator.machines import Machine, parse_machine
from tapewise.simulator.policies import split_list

# Not a field of a machine file: it changes the size of the LVs (`Machine.with_disk`).
CAPACITY = "disk.capacity_bytes"
_CHANGE = re.compile(r"([a-z_]+(?:\.[a-z0-9_]+)+)=(.+)")


@dataclass(frozen=True)
class Change:
    """A field of the machine file, as its path, and the values to try, as typed."""

    path: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """A machine with some fields changed; `changed` has their paths and values, as typed."""

    changed: Mapping[str, str]
    machine: Machine

    @property
    def values(self) -> dict[str, Any]:
        """The changed fields with the machine's values: numbers, texts or tables as in JSON."""
        tables = self.machine.model_dump(mode="json")
        return {
            path: self.machine.disk.capacity_bytes if path == CAPACITY else _find(tables, path)
            for path in self.changed
        }

    @property
    def key(self) -> str:
        """The changes in the order of their fields; empty for the machine as in the file."""
        return " ".join(f"{path}={text}" for path, text in sorted(self.changed.items()))

    @property
    def name(self) -> str:
        """What is changed, as a person typed it."""
        return " ".join(f"{path}={text}" for path, text in self.changed.items()) or "as in the file"


def parse_change(text: str) -> Change:
    """Parse `users.limit_count=10,20`. Raises MachineError for another form, or a value given twice."""
    found = _CHANGE.fullmatch(text.strip())
    if found is None:
        raise MachineError(
            f"'{text}' is not a change of a machine file",
            hint="Write the table, the field and the values, as in users.limit_count=10,20. Each of several"
            " [[tables]] has a number, from 0: tapes.drives.0.count=4,6.",
        )
    texts = tuple(each.strip() for each in split_list(found[2]))
    if "" in texts or len(set(texts)) < len(texts):
        raise MachineError(f"'{text}': each value must be there, and only once")
    return Change(found[1], texts)


def list_variants(machine: Machine, changes: Sequence[Change]) -> list[Variant]:
    """Return the machine as it is, then one variant for each other combination of values.

    Raises MachineError if a field is changed twice or does not exist, or if a machine cannot be so.
    """
    paths = [change.path for change in changes]
    for path in paths:
        if paths.count(path) > 1:
            raise MachineError(f"{path} is changed twice", hint="List all its values after one `=`.")
    others = [each for each in _combine(machine, changes) if each.machine != machine]
    return [Variant({}, machine), *others]


def _combine(machine: Machine, changes: Sequence[Change]) -> Iterator[Variant]:
    for texts in itertools.product(*(change.texts for change in changes)):
        changed = {change.path: text for change, text in zip(changes, texts, strict=True)}
        yield Variant(changed, _change(machine, changed))


def _change(machine: Machine, changed: Mapping[str, str]) -> Machine:
    name = " ".join(f"{path}={text}" for path, text in changed.items())
    # Fields that have their default are left out, because some belong to certain values of others.
    tables = machine.model_dump(exclude_unset=True)
    for path, text in changed.items():
        if path != CAPACITY:
            _set(tables, path, _match(_find(machine.model_dump(), path), _read_value(path, text)))
    if CAPACITY in changed:
        # The pools may only fit on the disk as changed.
        whole = parse_machine(tables | {"disk": tables["disk"] | {"pools": {}}}, name)
        disk = whole.with_disk(_read_size(CAPACITY, changed[CAPACITY])).disk
        tables["disk"]["lv_bytes"] = disk.lv_bytes
    return parse_machine(tables, name)


def _read_value(path: str, text: str) -> Any:
    """Read a value as TOML does; a bare word is a string, and a field of bytes may have a unit."""
    if path.endswith(("_bytes", "bytes_per_s")) and text.endswith("B"):
        return _read_size(path, text)
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _read_size(path: str, text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise MachineError(f"{path}: {error}") from error


def _find(tables: Any, path: str) -> Any:
    """Return a field of nested tables. Raises MachineError if there is none, or a table is absent."""
    whole = tables
    names = path.split(".")
    for place, name in enumerate(names):
        if tables in (None, (), {}):
            table = ".".join(names[:place])
            raise MachineError(
                f"{path}: the machine has no {f'[[{table}]]' if tables == () else f'[{table}]'}",
                hint="Write it into the machine file first: a study only changes what is there.",
            )
        if isinstance(tables, tuple | list) and name.isdigit() and int(name) < len(tables):
            tables = tables[int(name)]
        elif isinstance(tables, dict) and name in tables:
            tables = tables[name]
        else:
            raise MachineError(
                f"{path}: the machine has no such field{_name_close(whole, path)}",
                hint="`tapewise simulate machine NAME` shows a machine file.",
            )
    return tables


def _name_close(tables: Any, path: str) -> str:
    """Return a question after the field that may be meant; empty if no name is like this one."""
    close = get_close_matches(path, [CAPACITY, *_list_paths(tables)], n=1, cutoff=0.8)
    return f": did you mean {close[0]}?" if close else ""


def _list_paths(tables: Any) -> Iterator[str]:
    """Yield the paths of all single fields; of several tables of one kind, those of the first."""
    items = enumerate(tables[:1]) if isinstance(tables, tuple | list) else tables.items()
    for name, value in items:
        if isinstance(value, dict | tuple | list):
            yield from (f"{name}.{path}" for path in _list_paths(value))
        else:
            yield str(name)


def _match(present: Any, value: Any) -> Any:
    """A rate may be typed without a decimal point."""
    return float(value) if isinstance(present, float) and isinstance(value, int) else value


def _set(tables: Any, path: str, value: Any) -> None:
    """Set a field of nested tables, which has been found."""
    *parents, last = path.split(".")
    for parent in parents:
        tables = tables[int(parent)] if parent.isdigit() else tables.setdefault(parent, {})
    tables[last] = value
