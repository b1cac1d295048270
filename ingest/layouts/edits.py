"""Decides which edits of a layout are allowed once a source has been read with it."""

import shlex

from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.records.format import Format
from tapewise.schema.errors import SourceError


def check_layouts(label: str, held: Format, given: Format) -> None:
    """Raise SourceError unless `given` makes the same records as `held` from all lines that `held` knows.

    Both formats have the same name. Patterns added after the others only turn rejected lines into facts.
    After any other edit, lines that are already loaded could get different times and be counted twice.
    """
    if held.prefix != given.prefix:
        how = f"after removing {held.prefix} from its lines" if held.prefix else "without removing anything"
        raise SourceError(
            f"{label} was read {how}, so its lines would be counted twice",
            hint=f"Give --strip {shlex.quote(held.prefix)}, or another --source."
            if held.prefix
            else "Leave out --strip (or `strip`, or `prefix`), or give another --source.",
        )
    if held.layout_text == given.layout_text:
        return
    old, new = find_layout(held), find_layout(given)
    if old is not None and new is not None and new.extends(old):
        return
    raise SourceError(
        f"{label} was read with a layout other than the one in {given.name}.toml now",
        hint="You may add [[lines]] after the others; any other edit changes what was loaded. Undo the edit,"
        " or read the logs of the source again with it (`tapewise sources replace`).",
    )
