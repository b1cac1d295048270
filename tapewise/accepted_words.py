"""Refuses words and numbers that an argument of a function of `mart` does not take, and lists the words.

    mart.shares(shared_by => 'usr')
    mart.shares does not take 'usr' for shared_by, only user, client, class_of_service, network; did you mean
    'user'?

Seconds and counts are 0 or more, so a negative number or NaN is refused for `pause_s` or `top_count`.

The functions themselves return no rows for such a word, and take any number. `tapewise sql` and the Python
interface check a query before it runs, but only calls in which the argument has its name and a literal value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from tapewise.schema.errors import QueryError
from tapewise.schema.tables.mart import MartObject, read_function
from tapewise.spellings import DIRECTIONS

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|=>|:=|::|[\w.]+|\S""",
    re.DOTALL,
)
_FUNCTION = re.compile(r"mart\.(\w+)", re.IGNORECASE)
# A literal, or an array of literals, with or without a cast to text. Tokens have a blank between them.
_LITERAL = re.compile(
    r"(?:ARRAY \[ )?((?:'(?:[^']|'')*'|\d+)(?: , '(?:[^']|'')*')*)(?: \])?(?: :: text(?: \[ \])?)?", re.I
)
_TEXT = re.compile(r"'((?:[^']|'')*)'|(\d+)")
_NUMBER = re.compile(r"'?((?:[-+] ?)?(?:nan|infinity|[\d.]+))'?(?: :: [\w ]+)?", re.I)
_SECONDS_OR_COUNT = re.compile(r"\w+_(?:s|count)")
_ARRAY = re.compile(r"\{(.*)\}", re.DOTALL)


def check_query(query: str) -> None:
    """Raise QueryError if a call in `query` gives an argument a word or number that it does not take."""
    for name, arguments in _find_calls(query):
        if arguments and (function := read_function(name)) is not None:
            check_arguments(function, arguments)


def check_arguments(function: MartObject, arguments: Mapping[str, Any]) -> None:
    """Raise QueryError if an argument is a word or number that it does not take, or has one in its list."""
    for argument, value in arguments.items():
        if argument in function.metadata.arguments and _SECONDS_OR_COUNT.fullmatch(argument):
            for word in _list_words(value):
                if _is_negative_or_nan(word):
                    raise QueryError(
                        f"mart.{function.name} does not take {word} for {argument}, only 0 or more",
                        hint=f"`tapewise views {function.name}` describes its arguments.",
                    )
    for argument, accepted in list_accepted(function).items():
        for word in _list_words(arguments.get(argument)):
            if word not in accepted:
                near = get_close_matches(word.lower(), accepted, 1)
                raise QueryError(
                    f"mart.{function.name} does not take '{word}' for {argument}, only {', '.join(accepted)}"
                    + (f"; did you mean '{near[0]}'?" if near else ""),
                    hint=f"`tapewise views {function.name}` describes its arguments.",
                )


def _is_negative_or_nan(text: str) -> bool:
    """Whether `text` is a number, but not one of 0 or more."""
    try:
        return not float(text) >= 0
    except ValueError:
        return False


def list_accepted(function: MartObject) -> dict[str, list[str]]:
    """The words of each argument of `function` that takes no others."""
    metadata = function.metadata
    directions = {"direction": list(DIRECTIONS)} if "direction" in metadata.arguments else {}
    return {**metadata.accepts, **directions} if metadata.kind == "function" else {}


def _list_words(value: Any) -> Iterator[str]:
    """The words of an argument: one, a list of them, or an array as PostgreSQL writes it (`{day,client}`)."""
    if isinstance(value, str):
        array = _ARRAY.fullmatch(value.strip())
        yield from filter(None, (each.strip(' "') for each in array[1].split(","))) if array else [value]
    elif isinstance(value, Iterable):
        yield from (each for each in value if isinstance(each, str))
    elif isinstance(value, int | float):
        yield str(value)


def _find_calls(query: str) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Each function of mart that is called, with its arguments that have names and literal values."""
    tokens = [found[0] for found in _TOKEN.finditer(query) if not found[0].startswith(("--", "/*"))]
    for place, token in enumerate(tokens):
        function = _FUNCTION.fullmatch(token)
        if function and tokens[place + 1 : place + 2] == ["("]:
            yield function[1].lower(), dict(_find_literals(tokens[place + 2 :]))


def _find_literals(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The names and literal values of the arguments at the beginning of `tokens`."""
    depth, argument = 0, list[str]()
    for token in tokens:
        if depth == 0 and token in (",", ")"):
            text = " ".join(argument[2:])
            number, literal = _NUMBER.fullmatch(text), _LITERAL.fullmatch(text)
            if number and argument[1] in ("=>", ":="):
                yield argument[0].lower(), [number[1].replace(" ", "")]
            elif literal and argument[1] in ("=>", ":="):
                texts = [text.replace("''", "'") or number for text, number in _TEXT.findall(literal[1])]
                yield argument[0].lower(), [word for text in texts for word in _list_words(text)]
            argument = []
            if token == ")":  # noqa: S105  # a token of SQL, not a secret
                return
        else:
            depth += (token in ("(", "[")) - (token in (")", "]"))
            argument.append(token)
