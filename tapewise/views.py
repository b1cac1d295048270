"""`tapewise views`: lists what can be queried in `mart`. It needs no database."""

import json
import shutil
import textwrap
from difflib import get_close_matches
from typing import Any

import click

from tapewise.schema.errors import LookupFailedError
from tapewise.schema.tables.mart import MartObject, read_mart
from tapewise.schema.tables.mart_signatures import read_signature

WIDTH = 100
OF_COLUMNS = "by column or argument"
# The end of a column's name gives its unit. The first match applies.
_UNITS = {
    "_bytes_per_s": "bytes/s",
    "_bytes": "bytes",
    "_s": "s",
    "_ratio": "0 to 1",
    "_count": "count",
    "percent": "percent",
    "_at": "time",
    "_on": "date",
}


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME | WORD...]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per view, each on its own line.")
def views(words: tuple[str, ...], as_json: bool) -> None:
    """List the views and functions of mart, describe the one called NAME, or find those about WORD.

    The list has one line for each, by topic. A description says what one row is, and shows the arguments with
    their defaults, the columns with their units, and an example. If nothing has the name, the views and
    functions are listed in whose names, columns, arguments or descriptions all words occur. No database is
    needed.

    \b
    Examples:
      tapewise views
      tapewise views cache_hits
      tapewise views recall
    """
    objects = sorted(read_mart(), key=lambda each: (each.folder.parent.name, each.name))
    name = words[0].removeprefix("mart.") if len(words) == 1 else None
    named = [each for each in objects if each.name == name]
    found: dict[str, list[MartObject]] = {}
    if words and not named:
        # Every text contains a word without letters, for example one from an empty variable of a script.
        is_search = all(word.strip() for word in words) and not words[0].startswith("mart.")
        found = _search(objects, words) if is_search else {}
        named = [each for group in found.values() for each in group]
        if not named:
            raise _refuse(objects, words)
    if as_json:
        for each in named or objects:
            click.echo(json.dumps(_make_document(each), ensure_ascii=False))
    elif found:
        click.echo("\n".join(_list_found(found, words)))
    elif named:
        click.echo("\n".join(_describe(named[0])))
    else:
        click.echo("\n".join(_list(objects)))


def _refuse(objects: list[MartObject], words: tuple[str, ...]) -> LookupFailedError:
    """Return the error that nothing is called so, or about these words."""
    if len(words) > 1:
        return LookupFailedError(
            f"no view or function of mart is about '{' '.join(words)}'",
            hint="Give fewer words. `tapewise views` lists all.",
        )
    name = words[0].removeprefix("mart.")
    close = get_close_matches(name, [each.name for each in objects], n=1)
    return LookupFailedError(
        f"no view or function of mart is called '{name}'",
        hint=f"Did you mean {close[0]}?" if close else "`tapewise views` lists them.",
    )


def _search(objects: list[MartObject], words: tuple[str, ...]) -> dict[str, list[MartObject]]:
    """Find what all words occur in, by where they occur first."""
    found: dict[str, list[MartObject]] = {"by name": [], OF_COLUMNS: [], "by description": []}
    for each in objects:
        columns = " ".join((*each.metadata.columns, *each.metadata.arguments))
        texts = (each.metadata.gives, each.metadata.summary, *each.metadata.columns.values())
        places = (each.name, columns, " ".join(texts))
        for number, where in enumerate(found, start=1):
            if _occurs(words, " ".join(places[:number])):
                found[where].append(each)
                break
    return {where: group for where, group in found.items() if group}


def _occurs(words: tuple[str, ...], text: str) -> bool:
    """Whether all words occur in the text, also in the singular, and with spaces for underscores."""
    plain = text.lower().replace("_", " ")
    return all(
        word in plain or word.removesuffix("s") in plain
        for word in (each.lower().replace("_", " ") for each in words)
    )


def _list_found(found: dict[str, list[MartObject]], words: tuple[str, ...]) -> list[str]:
    """Like `_list`, by where the words occur, with the columns and arguments that have one in their name."""
    lines = []
    for where, group in found.items():
        lines.append(where)
        for each in group:
            lines.append(f"  {_call(each)}  {each.metadata.gives}{_mark(each)}")
            if where == OF_COLUMNS:
                named = {f"{name} =>": meaning for name, meaning in each.metadata.arguments.items()}
                lines += [
                    line
                    for name, meaning in (named | each.metadata.columns).items()
                    if any(_occurs((word,), name) for word in words)
                    for line in _wrap(meaning, f"    {name}  ")
                ]
    return lines


def _list(objects: list[MartObject]) -> list[str]:
    lines = []
    shown = None
    width = max(len(_call(each)) for each in objects)
    for each in objects:
        topic = each.folder.parent.name
        if topic != shown:
            lines.append(topic)
            shown = topic
        lines.append(f"  {_call(each):<{width}}  {each.metadata.gives}{_mark(each)}")
    return lines


def _call(each: MartObject) -> str:
    """The name, with parentheses if it is a function."""
    return f"{each.name}()" if each.metadata.kind == "function" else each.name


def _mark(each: MartObject) -> str:
    return " (with --as names)" if each.metadata.has_names else ""


def _describe(each: MartObject) -> list[str]:
    document = _make_document(each)
    lines = [f"mart.{_call(each)}, a {each.metadata.kind} of the topic {document['topic']}{_mark(each)}", ""]
    lines += _wrap(f"{document['gives'][0].upper()}{document['gives'][1:]}. {document['summary']}", "")
    for title, key, second in (("Arguments", "arguments", "type"), ("Columns", "columns", "unit")):
        if document[key]:
            lines += ["", title]
            name_width, width = (
                max(len(row[field] or "") for row in document[key]) for field in ("name", second)
            )
            for row in document[key]:
                head = f"  {row['name']:<{name_width}}  {row[second] or '':<{width}}  "
                lines += _wrap(_explain(row), head)
    lines += ["", *_wrap(f"Source: {document['source']}", "")]
    lines += ["", "Example", *textwrap.indent(document["example"], "  ").splitlines()]
    return lines


def _explain(row: dict[str, Any]) -> str:
    """The meaning of an argument or column, and the default of an argument."""
    meaning = str(row["meaning"])
    if "default" not in row:
        return meaning
    if row["default"] is None:
        return f"{meaning} (required)"
    # Nearly every default is null, and the description says what null means.
    if row["default"] == "NULL" and "null = " in meaning:
        return meaning.replace("null = ", "default: ")
    return f"{meaning} (default: {row['default'].lower()})"


def _wrap(text: str, head: str) -> list[str]:
    """Wrap `text`, which begins after `head`, and indent the lines that follow."""
    width = min(max(shutil.get_terminal_size((WIDTH, 0)).columns, len(head) + 30), WIDTH)
    return textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False
    )


def _make_document(each: MartObject) -> dict[str, Any]:
    metadata = each.metadata
    signature = read_signature(each) if metadata.kind == "function" else None
    return {
        "name": each.name,
        "topic": each.folder.parent.name,
        "kind": metadata.kind,
        "gives": metadata.gives,
        "summary": metadata.summary,
        "arguments": [
            {
                "name": argument.name,
                "type": argument.type,
                "default": argument.default,
                "meaning": metadata.arguments[argument.name],
            }
            for argument in (signature.arguments if signature else ())
        ],
        "columns": [
            {"name": name, "unit": _find_unit(name), "meaning": meaning}
            for name, meaning in metadata.columns.items()
        ],
        "needs": metadata.needs,
        "readable_by": list(metadata.grants),
        "source": metadata.source,
        "example": metadata.example.strip(),
    }


def _find_unit(column: str) -> str | None:
    if column.startswith(("is_", "has_")):
        return "yes/no"
    return next((unit for end, unit in _UNITS.items() if column.endswith(end)), None)
