"""Finds the prose in a file, which is the part that people read, with its line numbers.

The prose of Markdown is all but its code. That of Python is its comments, strings and the names that it
defines; that of SQL and shell scripts is their comments; that of YAML, TOML and Makefiles is everything. What
is in backquotes is always code.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

CODE = re.compile(r"``.+?``|`[^`\n]+`")
SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|COPY|VALUES|FROM|WHERE|AND|JOIN)\b")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Text(NamedTuple):
    """A piece of prose, and the number of the line where it begins (counted from 1)."""

    line: int
    text: str


def find_texts(path: Path) -> Iterator[Text]:
    """Find the prose of a file; a file of an unknown kind has none."""
    if (read := READERS.get(path.suffix) or READERS.get(path.name)) is not None:
        for line, text in read(path.read_text(encoding="utf-8")):
            yield Text(line, CODE.sub("CODE", text))


def _join(lines: Iterable[tuple[int, str]]) -> Iterator[Text]:
    """Join neighbouring lines into one text, so that a phrase across their ends is found."""
    for _, group in groupby(enumerate(lines), lambda each: each[1][0] - each[0]):
        [(first, _), *_] = members = [line for _, line in group]
        yield Text(first, "\n".join(text for _, text in members))


def _read_markdown(content: str) -> Iterator[Text]:
    lines = []
    fenced = False
    for number, line in enumerate(content.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and line.strip() and not line.startswith("    "):
            lines.append((number, line))
    return _join(lines)


def _find_published(tree: ast.Module) -> set[ast.AST]:
    """Find the comments of tables; these are in a published revision and can no longer change."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "comment"}


def _read_python(content: str) -> Iterator[Text]:
    comments = [
        (token.start[0], token.string.lstrip("# "))
        for token in tokenize.generate_tokens(io.StringIO(content).readline)
        if token.type == tokenize.COMMENT
    ]
    yield from _join(comments)
    tree = ast.parse(content)
    published = _find_published(tree)
    for node in ast.walk(tree):
        if node in published:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not SQL.match(node.value):
            yield Text(node.lineno, node.value)
        elif isinstance(node, DEFINITIONS):
            yield Text(node.lineno, re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", node.name))


def _read_comments(mark: str) -> Callable[[str], Iterator[Text]]:
    """Return a reader of comments that begin with `mark` anywhere in a line."""
    comment = re.compile(rf"(?:^|\s){mark}+\s?(.*)")

    def read(content: str) -> Iterator[Text]:
        found = ((number, comment.search(line)) for number, line in enumerate(content.splitlines(), 1))
        return _join((number, match[1]) for number, match in found if match)

    return read


def _read_lines(content: str) -> Iterator[Text]:
    """Return every line of a data file, as nothing marks its prose."""
    return _join((number, line.strip()) for number, line in enumerate(content.splitlines(), 1))


READERS: dict[str, Callable[[str], Iterator[Text]]] = {
    ".md": _read_markdown,
    ".py": _read_python,
    ".sql": _read_comments("--"),
    ".sh": _read_comments("#"),
    ".toml": _read_lines,
    ".yaml": _read_lines,
    ".yml": _read_lines,
    ".mako": _read_comments("##"),
    "Makefile": _read_lines,
    "Dockerfile": _read_comments("#"),
    "run": _read_comments("#"),
}
