"""The log formats that can be read, each defined by a Python module or a layout."""

import tomllib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from tapewise.ingest.formats import acsls_entries, htar_runs
from tapewise.ingest.formats.cond import COND
from tapewise.ingest.formats.hpss_daily import HPSS_DAILY
from tapewise.ingest.formats.hsi import HSI
from tapewise.ingest.formats.nft import NFT
from tapewise.ingest.formats.pftp import PFTP
from tapewise.ingest.formats.stat import STAT
from tapewise.ingest.formats.unitree_client import UNITREE_CLIENT
from tapewise.ingest.formats.unitree_tape import UNITREE_TAPE
from tapewise.ingest.layouts.files import SUFFIX, is_layout_path, make_format, read_layout_file, read_shipped
from tapewise.ingest.layouts.folder import get_layouts_folder
from tapewise.ingest.records.format import Format
from tapewise.ingest.records.prefixed_lines import strip_format
from tapewise.schema.errors import FormatError, LayoutError
from tapewise.schema.texts import escape_controls

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (NFT, PFTP, HSI, COND, STAT, UNITREE_CLIENT, UNITREE_TAPE, HPSS_DAILY)
}
FORMATS |= read_shipped()
# The last line of an HTAR run says only how the run ended; earlier lines show what it was meant to do.
FORMATS["hsi-client"] = replace(FORMATS["hsi-client"], make_unfold=htar_runs.make_unfold)
# The first of two lines says when, the second which cartridge.
FORMATS["acsls"] = replace(FORMATS["acsls"], make_unfold=acsls_entries.make_unfold)


def find_format(name: str, folder: Path | None = None) -> Format:
    """The format called `name`, or the format that the layout file with that path describes.

    A relative path is resolved against `folder` or, without it, the current folder. Raises `FormatError`.
    """
    if is_layout_path(name):
        return _load_own(Path(name) if folder is None else folder / name)
    if name in FORMATS:
        return FORMATS[name]
    formats = list_formats()
    try:
        return formats[name]
    except KeyError:
        known = ", ".join(sorted(formats))
        raise FormatError(f"no log format is called {name!r}", hint=f"the formats are {known}") from None


def list_formats() -> dict[str, Format]:
    """All formats by name: those that come with Tapewise, and those of the site's folder of layouts.

    Raises LayoutError if a layout of the folder is wrong.
    """
    folder = get_layouts_folder()
    return FORMATS if folder is None else FORMATS | _read_folder(folder)


@lru_cache(maxsize=10)
def _read_folder(folder: Path) -> dict[str, Format]:
    found = [_load_own(path) for path in sorted(folder.glob(f"*{SUFFIX}"))]
    return {each.name: each for each in found}


def restore_format(name: str, layout_text: str | None) -> Format:
    """The format of a source in the warehouse; `layout_text` is the layout with which it was read, if any."""
    return find_format(name) if layout_text is None else _restore(name, layout_text)


@lru_cache(maxsize=100)  # requested again for each file
def _restore(name: str, layout_text: str) -> Format:
    return _make_own(name, layout_text, f"layout {name} in the warehouse", is_checked=True)


def _make_own(name: str, text: str, label: str, *, is_checked: bool = False) -> Format:
    """The format that a layout's text describes, which may be just another one (`like`) and a `prefix`."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        said = {}  # `make_format` reports it
    like, prefix = said.get("like"), said.get("prefix")
    if not (said.keys() <= {"like", "prefix", "title"} and isinstance(like, str) and isinstance(prefix, str)):
        return make_format(name, text, label, is_own=True, is_checked=is_checked)
    try:
        found = strip_format(find_format(like), prefix)
    except FormatError as error:
        raise LayoutError(f"{label}: {error.message}", hint=error.hint) from None
    title = said.get("title", found.title)
    if not isinstance(title, str) or not title:
        raise LayoutError(f"{label}: title: must be a text")
    return replace(found, name=name, title=title, layout_text=text)


def _load_own(path: Path) -> Format:
    """A site's own format. It may have the name of a built-in format only if the two are the same."""
    own = _make_own(path.stem, read_layout_file(path), escape_controls(str(path)))
    ours = FORMATS.get(own.name)
    if ours is None:
        return own
    if (ours.parse, ours.prefix) == (own.parse, own.prefix):
        return ours
    raise LayoutError(
        f"{path}: a format called {own.name!r} already exists",
        hint="Rename the file: the format is named after it.",
    )
