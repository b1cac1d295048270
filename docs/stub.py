"""Write tapewise/mart.pyi, which shows the views and functions of `mart` to editors: `make docs`."""

import textwrap
from pathlib import Path

from tapewise.mart_calls import describe_call, names_of, read_arguments, read_objects
from tapewise.schema.tables.mart import MartObject

STUB = Path(__file__).parents[1] / "tapewise" / "mart.pyi"
HEAD = '''"""Written by docs/stub.py (`make docs`): do not edit."""

from collections.abc import Sequence
from datetime import date, datetime

import polars as pl

from tapewise.mart_calls import Ask

Moment = datetime | date | str
# A value, or a collection of values.
Values = object

class Mart:
    """Has a method for each view and function of `mart`, which returns a polars frame.

    What the descriptions call null is None here.
    """

    def __init__(self, ask: Ask) -> None: ...
'''
# What an editor suggests for each of PostgreSQL's types.
TYPES = {
    "text": "str",
    "jsonb": "str",
    "timestamptz": "Moment",
    "boolean": "bool",
    "integer": "int",
    "bigint": "int",
    "double precision": "float",
    "text[]": "Sequence[str]",
    "double precision[]": "Sequence[float]",
    "bigint[]": "Sequence[int]",
    "integer[]": "Sequence[int]",
    "numeric[]": "Sequence[float]",
    "date": "Moment",
    "timestamptz[]": "Sequence[Moment]",
}


def describe_stub() -> str:
    """Return the text of the stub."""
    return HEAD + "\n".join(_describe(each) for _, each in sorted(read_objects().items()))


def _describe(each: MartObject) -> str:
    if each.metadata.kind == "view":
        arguments = [f"{name}: Values = None" for name in names_of(each)]
    else:
        arguments = [
            f"{argument.name}: {TYPES[argument.type]}" + ("" if argument.is_required else " | None = None")
            for argument in read_arguments(each)
        ]
    listed = "".join(f"        {argument},\n" for argument in (["*", *arguments] if arguments else []))
    head = f"    def {each.name}(\n        self,\n{listed}    ) -> pl.DataFrame:\n"
    text = describe_call(each).replace("\\", "\\\\").rstrip()
    return f'{head}        """{textwrap.indent(text, " " * 8).lstrip()}\n        """\n'


if __name__ == "__main__":
    STUB.write_text(describe_stub(), encoding="utf-8")
