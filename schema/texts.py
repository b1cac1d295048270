"""Texts as they are shown to people."""

import io
import re

# Control characters (C0 without TAB and newline, C1), what turns the direction of the text around it, and the
# line and paragraph separators of Unicode.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_LINES = re.compile(rf"[\n{_CONTROLS}]")
# The styles that our own words have: bold, red, yellow, and the end of these.
_ON_TERMINALS = re.compile(rf"(?!\x1b\[(?:0|1|31|33)m)[{_CONTROLS}]")


def escape_controls(text: str) -> str:
    r"""`text` as one line, with control characters as \x1b or \u202e: they could steer a terminal."""
    return _IN_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class Terminal(io.TextIOWrapper):
    """A stream to a terminal, which no text can steer: control characters are escaped, newlines are not.

    The last line of defence, for whatever is printed; `escape_controls` also keeps a text in its line.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to where `stream` writes, which stays as it is: what draws there itself may use it."""
        self._stream = stream  # which would close the buffer if it were gone
        super().__init__(stream.buffer, encoding=stream.encoding, errors=stream.errors, line_buffering=True)

    def write(self, text: str) -> int:
        """Write `text` escaped."""
        super().write(_ON_TERMINALS.sub(_escape, text))
        return len(text)
