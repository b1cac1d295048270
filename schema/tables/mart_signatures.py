"""Arguments and columns of the functions of `mart`, with types and defaults, read from the functions' SQL.

No database is needed. `metadata.yaml` describes the same arguments and columns in words.
"""

import re
from dataclasses import dataclass

from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.mart import MartObject

_HEAD = re.compile(
    r"CREATE FUNCTION mart\.\w+\((?P<arguments>.*?)\n?\) RETURNS (?P<returns>.*?)\s*^LANGUAGE",
    re.DOTALL | re.MULTILINE,
)
_PARAMETER = re.compile(
    r"^\s*(?P<name>\w+) (?P<type>[\w \[\]]+?)(?: DEFAULT (?P<default>'[^']*'|[^,]+))?,?$", re.MULTILINE
)


@dataclass(frozen=True)
class Argument:
    """An argument of a function. `default` is SQL; None if the argument must be given."""

    name: str
    type: str
    default: str | None


@dataclass(frozen=True)
class Signature:
    """What a function takes and returns: columns with their types in order, or the type of its one value."""

    arguments: tuple[Argument, ...]
    columns: dict[str, str]
    returns: str | None


def read_signature(function: MartObject) -> Signature:
    """Read the signature of a function. Raises DatabaseError if its SQL is not laid out as in `sql/`."""
    head = _HEAD.search(function.text)
    if function.metadata.kind != "function" or head is None:
        raise DatabaseError(f"{function.folder}: no function with arguments and result can be recognised")
    arguments = tuple(
        Argument(found["name"], found["type"], found["default"])
        for found in _PARAMETER.finditer(head["arguments"])
    )
    table = re.fullmatch(r"TABLE \((.*)\)", head["returns"], re.DOTALL)
    columns = {found["name"]: found["type"] for found in _PARAMETER.finditer(table[1])} if table else {}
    return Signature(arguments, columns, None if table else head["returns"])
