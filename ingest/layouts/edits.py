"""What may change of a layout once a source was read with it."""

from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.records.format import Format
from tapewise.schema.errors import SourceError


def check_layouts(label: str, held: Format, given: Format) -> None:
    """Raise SourceError unless `given` makes of every line that `held` knows the record that it made.

    Both are called the same. Patterns that are added behind the others make facts of lines that were
    rejected, and change no fact. Whatever else is edited could give lines that are loaded another time: they
    would count twice.
    """
    if held.layout_text is None and given.layout_text is None:
        return
    old, new = find_layout(held), find_layout(given)
    if old is not None and new is not None and new.extends(old):
        return
    raise SourceError(
        f"{label} was read with another layout than {given.name}.toml has now",
        hint="Another [[lines]] may be added behind the others; more than that changes what was loaded. Undo"
        " the edit, or have the logs of the source read again with it (`tapewise sources replace`).",
    )
