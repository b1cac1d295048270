"""Generate the pages of docs/reference/ that are derived from the code: `make docs`.

`mart.md` comes from sql/*/*/metadata.yaml, `formats.md` from ingest/formats/, the pages of layouts in
`formats/` from ingest/layouts/, and `workload.schema.json` from clustering/documents.py. A test compares the
generated pages with those in the tree.
"""

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tapewise.clustering.documents import WorkloadModel
from tapewise.ingest.detection.examples import EXAMPLE_DATE, read_examples
from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.records.format import Format
from tapewise.schema.tables.mart import MartObject, read_mart

FOLDER = Path(__file__).parent / "reference"
NOTICE = "<!-- Written by docs/generate.py (`make docs`): do not edit. -->"


def describe_mart() -> str:
    """Return the page on the views and functions of `mart`."""
    objects = sorted(
        read_mart(), key=lambda each: (_is_helper(each), each.metadata.kind != "view", each.name)
    )
    parts = [
        "# Views and functions",
        NOTICE,
        "Analysts and dashboards use the schema `mart`. All functions take the same leading arguments,\n"
        "which are all optional; null means all. Times are `timestamptz`, and ranges are [since, until).\n"
        "A date or time without an offset is in the session's time zone: for `tapewise sql` that is the\n"
        "zone of the archives, or `--timezone`; for other programs it is mostly UTC. A zone or offset in\n"
        "the text (`'1998-04-02 America/Los_Angeles'`) always applies. Units are in the names: `_s` is\n"
        "seconds, `_bytes` bytes, `_ratio` 0 to 1. [Questions](questions.md) shows which of them answers\n"
        "what.\n\n"
        "Arguments that are seconds or counts (`_s`, `_count`) are 0 or more. `tapewise sql` and the Python\n"
        "interface refuse other numbers, and words that an argument does not take. The functions do not, if\n"
        "psql or Superset call them: they have no rows for another word, and with a negative number or NaN\n"
        "their rows mean nothing.",
        _list_objects(each for each in objects if not _is_helper(each)),
        "The other functions read no table: they only calculate from their arguments, which are not\n"
        "optional. Views and functions use them, and they are listed last:",
        _list_objects(each for each in objects if _is_helper(each)),
    ]
    for each in objects:
        metadata = each.metadata
        gives = metadata.gives
        parts += [f"## `mart.{each.name}`", f"{gives[0].upper()}{gives[1:]}. {metadata.summary}"]
        if metadata.arguments:
            parts.append(_table("argument", metadata.arguments))
        if metadata.columns:
            parts.append(_table("column", metadata.columns))
        if metadata.kept:
            calls = (
                ", ".join(f"{name} => {value}" for name, value in call.items()) for call in metadata.kept
            )
            parts.append(
                "`tapewise refresh` keeps the answers of all time of large archives to "
                + ", ".join(f"`{each.name}({call})`" for call in calls)
                + " (`mart.answers`)."
            )
        if metadata.words:
            parts.append(f"Defined words: {', '.join(map(_link_word, metadata.words))}.")
        parts += [
            f"Source: {metadata.source}",
            f"Readable by {', '.join(f'`{role}`' for role in metadata.grants)}.",
            f"```sql\n{metadata.example.strip()}\n```",
        ]
    return "\n\n".join(parts) + "\n"


def _is_helper(each: MartObject) -> bool:
    return each.folder.parent.name == "statistics"


def _list_objects(objects: Iterable[MartObject]) -> str:
    return "\n".join(f"- [`mart.{each.name}`](#mart{each.name}): {each.metadata.gives}" for each in objects)


def describe_formats() -> str:
    """Return the page on the log formats: the lines of each, and the records that they become."""
    parts = [
        "# Log formats",
        NOTICE,
        "This page shows the output of `tapewise formats NAME`. The lines are made up. Times are read as\n"
        f"UTC here, as of {EXAMPLE_DATE} if the lines have no date. Fields that are null or false are left\n"
        "out; TABs are shown as `→`.",
        "If the newline between two lines was lost, perhaps with the end of the first line, the line is\n"
        "rejected as `two lines run together`: it is never read as one record.",
    ]
    for each in FORMATS.values():
        parts.append(f"## `{each.name}`: {each.title}")
        if find_layout(each):
            parts.append(f"See [its own page](formats/{each.name}.md) for its grammar, lines and records.")
            continue
        parts += [
            f"Version {each.version} of the reader. "
            f"Durations are in steps of {each.clock_resolution_s:g} s.\n"
            f"See [its own page](formats/{each.name}.md) for its grammar and for what is derived.",
            *_describe_lines(each),
        ]
    return "\n\n".join(parts) + "\n"


def _describe_lines(log_format: Format) -> list[str]:
    return [
        "```text\n"
        + "\n".join(
            [line.replace("\t", "→")]
            + [
                text
                for number, fact in enumerate(facts)
                for text in (["    and"] if number else [])
                + [f"    {name:<22} {value}" for name, value in fact.items()]
            ]
        )
        + "\n```"
        for line, facts in read_examples(log_format)
    ]


def _link_word(word: str) -> str:
    # The anchor of its heading, as GitHub and myst make it.
    anchor = word.replace(",", "").replace(" ", "-")
    return f"[{word}](definitions.md#{anchor})"


def _table(what: str, meanings: dict[str, str]) -> str:
    rows = (
        f"| `{name}` | {meaning.replace(chr(10), ' ').replace('|', '/')} |"
        for name, meaning in meanings.items()
    )
    return "\n".join([f"| {what} | meaning |", "|---|---|", *rows])


def describe_workload() -> str:
    """Return the JSON Schema of the files that `tapewise workload export` writes."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **WorkloadModel.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2) + "\n"


def describe_layout(name: str) -> str:
    """Return the page on the format of a bundled layout: grammar, lines and records, patterns."""
    log_format = FORMATS[name]
    layout = find_layout(log_format)
    assert layout is not None, f"{name} is not a layout"
    patterns = "\n".join(
        f"| {kind.name} | {f'`core.{kind.table}`' if kind.table else f'ignored: {kind.ignored}'} |"
        for kind in layout.lines
    )
    parts = [
        f"# `{name}`: {log_format.title}",
        NOTICE,
        layout.about.strip(),
        f"Durations are in steps of {log_format.clock_resolution_s:g} s.",
        "## Lines and their records",
        "The lines are made up. Times are read as UTC here.",
        *_describe_lines(log_format),
        "## Patterns",
        "A line belongs to the first pattern that matches it. A line that matches none is rejected.",
        f"| lines | become |\n|---|---|\n{patterns}",
        f"`tapewise formats show {name}` prints the layout ([its keys](../layouts.md)).",
    ]
    return "\n\n".join(parts) + "\n"


LAYOUTS = [name for name, log_format in FORMATS.items() if find_layout(log_format)]
PAGES = {
    "mart.md": describe_mart,
    "formats.md": describe_formats,
    **{f"formats/{name}.md": partial(describe_layout, name) for name in LAYOUTS},
    "workload.schema.json": describe_workload,
}

if __name__ == "__main__":
    for page, describe in PAGES.items():
        (FOLDER / page).parent.mkdir(exist_ok=True)
        (FOLDER / page).write_text(describe(), encoding="utf-8")
