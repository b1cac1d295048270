"""Texts as they are shown on a terminal."""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")  # all but TAB


def escape_controls(text: str) -> str:
    r"""`text` with control characters as \xNN: by the name of a file one could steer a terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
