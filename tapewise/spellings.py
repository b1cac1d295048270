"""Finds names in a query that differ from known ones only in their letters' case.

Names are compared exactly, because two archives may be called `hpss` and `HPSS`. A query with a name in the
wrong case therefore has no rows, which looks as if nothing had happened.
"""

import re
from collections.abc import Iterable

_TEXTS = re.compile(r"'((?:[^']|'')*)'")
# The texts that a query compares with a column, or passes as an argument, of this name.
_COMPARED = r"\b{name}\s*(?:=>|:=|=|IN\s*\()\s*((?:'(?:[^']|'')*'\s*,?\s*)+)"
DIRECTIONS = ("put", "get")


def find_texts(query: str, name: str | None = None) -> list[str]:
    """Return the texts in quotation marks of a query, or only those that it compares with `name`."""
    where = [query]
    if name is not None:
        where = [found[1] for found in re.finditer(_COMPARED.format(name=name), query, re.IGNORECASE)]
    return [text.replace("''", "'") for part in where for text in _TEXTS.findall(part)]


def find_near(texts: Iterable[str], names: Iterable[str], what: str) -> list[str]:
    """Return a note for each text that is one of `names` except for its letters' case."""
    known = dict.fromkeys(names)
    alike: dict[str, list[str]] = {}
    for name in known:
        alike.setdefault(name.casefold(), []).append(name)
    return [
        f"No {what} is called '{text}', but one is called {' and one '.join(map(repr, alike[key]))}: letters'"
        " case matters."
        for text in dict.fromkeys(texts)
        if text not in known and (key := text.casefold()) in alike
    ]
