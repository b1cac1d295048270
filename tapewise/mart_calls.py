"""The views and functions of `mart` as Python functions, made from sql/*/*/metadata.yaml."""

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import polars as pl
from psycopg import sql

from tapewise.accepted_words import check_arguments
from tapewise.schema.errors import QueryError, UnknownViewError
from tapewise.schema.tables.mart import MartObject, read_mart

Ask = Callable[[sql.Composed, list[Any]], pl.DataFrame]

# A function's arguments are written one per line in sql/*/*/function.sql.
_ARGUMENTS = re.compile(r"CREATE FUNCTION mart\.\w+\(\n(.*?)\n\) RETURNS", re.DOTALL)
_ARGUMENT = re.compile(r"^    (\w+) (.+?)( DEFAULT .+?)?,?$", re.MULTILINE)


@dataclass(frozen=True)
class Argument:
    """An argument of a function of `mart`; `type` is a PostgreSQL type."""

    name: str
    type: str
    is_required: bool


class MartCalls:
    """Has a method for each view and function of `mart`; `dir()` lists them."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Callable[..., pl.DataFrame]:
        if name.startswith("_"):
            raise AttributeError(name)
        return make_call(find_object(name), self._ask)

    def __dir__(self) -> list[str]:
        return sorted(read_objects())


@cache
def read_objects() -> dict[str, MartObject]:
    """The views and functions of `mart` by name."""
    return {each.name: each for each in read_mart()}


def find_object(name: str) -> MartObject:
    """Return the view or function of that name. Raises UnknownViewError, which suggests a similar name."""
    objects = read_objects()
    if name not in objects:
        near = _find_near(name, objects)
        raise UnknownViewError(
            f"schema mart has no view or function '{name}'{near}",
            hint="docs/reference/mart.md describes all of them; dir(warehouse.mart) lists their names.",
        )
    return objects[name]


def read_arguments(function: MartObject) -> list[Argument]:
    """The arguments of a function, read from its SQL."""
    declared = _ARGUMENTS.search(function.text)
    assert declared is not None, f"{function.folder} does not list its arguments one per line"
    return [Argument(name, type_, not default) for name, type_, default in _ARGUMENT.findall(declared[1])]


def make_call(each: MartObject, ask: Ask) -> Callable[..., pl.DataFrame]:
    """Return the Python function that queries a view or function of `mart`."""

    def call(*positional: Any, **arguments: Any) -> pl.DataFrame:
        if positional:
            raise QueryError(f"mart.{each.name} takes its arguments by name only", hint=_list_names(each))
        return ask(*build_query(each, arguments))

    call.__name__ = call.__qualname__ = each.name
    call.__doc__ = describe_call(each)
    required = {argument.name for argument in _arguments_of(each) if argument.is_required}
    signature = inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if name in required else None,
            )
            for name in names_of(each)
        ],
        return_annotation=pl.DataFrame,
    )
    vars(call)["__signature__"] = signature
    return call


def names_of(each: MartObject) -> list[str]:
    """The arguments of a function, or the columns by which a view can be filtered."""
    metadata = each.metadata
    return list(metadata.arguments if metadata.kind == "function" else metadata.columns)


def build_query(each: MartObject, arguments: Mapping[str, Any]) -> tuple[sql.Composed, list[Any]]:
    """Return the query and its parameters; None for an argument means the same as leaving it out.

    Raises QueryError if an argument is unknown, if one without a default is missing, or if one of words has a
    word that it does not take.
    """
    names = names_of(each)
    for name in arguments:
        if name not in names:
            near = _find_near(name, names)
            raise QueryError(f"mart.{each.name} has no argument '{name}'{near}", hint=_list_names(each))
    given = {name: value for name, value in arguments.items() if value is not None}
    if each.metadata.kind == "view":
        return _select(each, given)
    types = {argument.name: argument.type for argument in _arguments_of(each)}
    missing = [each.name for each in _arguments_of(each) if each.is_required and each.name not in given]
    if missing:
        raise QueryError(f"mart.{each.name} needs {', '.join(missing)}", hint=_list_names(each))
    check_arguments(each, given)
    # The types come from our own SQL; only the values come from outside.
    passed = sql.SQL(", ").join(
        sql.SQL("{} => %s::" + types[name]).format(sql.Identifier(name)) for name in given
    )
    call = sql.SQL("{}({})").format(sql.Identifier("mart", each.name), passed)
    if each.metadata.returns:
        query = sql.SQL("SELECT {} AS {}").format(call, sql.Identifier(each.name))
    else:
        query = sql.SQL("SELECT * FROM {}").format(call)
    return query, list(given.values())


def _select(view: MartObject, filters: Mapping[str, Any]) -> tuple[sql.Composed, list[Any]]:
    """Return the query for the rows of a view that have, in each filtered column, one of the given values."""
    conditions: list[sql.Composable] = [sql.SQL("true")]
    parameters: list[Any] = []
    for name, value in filters.items():
        is_one = isinstance(value, str | bytes) or not isinstance(value, Collection)
        values = [value] if is_one else list(value)
        marks = sql.SQL(", ").join([sql.Placeholder()] * len(values))
        column = sql.Identifier(name)
        conditions.append(sql.SQL("{} IN ({})").format(column, marks) if values else sql.SQL("false"))
        parameters += values
    query = sql.SQL("SELECT * FROM {} WHERE {}").format(
        sql.Identifier("mart", view.name), sql.SQL(" AND ").join(conditions)
    )
    return query, parameters


def describe_call(each: MartObject) -> str:
    """The docstring of the Python function: what one row is, its arguments and columns, and an example."""
    metadata = each.metadata
    parts = [f"{metadata.gives[0].upper()}{metadata.gives[1:]}.", _wrap(metadata.summary)]
    if metadata.kind == "view":
        parts.append(
            "Each column is also an argument: a value, or a list of values, that rows must have there."
        )
    if metadata.arguments:
        parts.append(_list_meanings("Args", metadata.arguments))
    if metadata.columns:
        parts.append(_list_meanings("Columns", metadata.columns))
    parts.append(f"In SQL:\n\n{textwrap.indent(metadata.example.strip(), '    ')}")
    return "\n\n".join([_wrap(parts[0]), *parts[1:]]) + "\n"


def _arguments_of(each: MartObject) -> list[Argument]:
    return read_arguments(each) if each.metadata.kind == "function" else []


def _list_meanings(title: str, meanings: Mapping[str, str]) -> str:
    lines = (
        textwrap.fill(
            f"{name}: {' '.join(meaning.split())}", 96, initial_indent="    ", subsequent_indent=" " * 8
        )
        for name, meaning in meanings.items()
    )
    return "\n".join([f"{title}:", *lines])


def _wrap(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 96)


def _find_near(name: str, names: Collection[str]) -> str:
    near = get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _list_names(each: MartObject) -> str:
    names = names_of(each)
    return f"Its arguments are {', '.join(names)}." if names else "It has no arguments."
