"""Text as it is shown to people."""

import io
import re

# Control characters (C0 without TAB and newline, C1), characters that change the direction of the text around
# them, and Unicode's line and paragraph separators.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_LINES = re.compile(rf"[\n{_CONTROLS}]")
# The styles of our own output: bold, red, yellow, and reset.
_ON_TERMINALS = re.compile(rf"(?!\x1b\[(?:0|1|31|33)m)[{_CONTROLS}]")


def escape_controls(text: str) -> str:
    r"""Return `text` as one line, with characters that could steer a terminal escaped, as in \x1b."""
    return _IN_LINES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say_count(count: int, things: str) -> str:
    """Return `1 file`, `2 files`, `1 class` or `1 mount summary`, for a plural in -s, -sses or -ies."""
    if count == 1 and things.endswith("ies"):
        things = f"{things.removesuffix('ies')}y"
    elif count == 1:
        things = things.removesuffix("es" if things.endswith("sses") else "s")
    return f"{count:,} {things}"


class Terminal(io.TextIOWrapper):
    """A stream to a terminal that escapes control characters, except newlines, so they cannot steer it.

    This is the last line of defence for everything printed. `escape_controls` also keeps a text on one line.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """Write to the buffer of `stream`, which itself stays usable for code that draws on the terminal."""
        self._stream = stream  # if garbage-collected, it would close the buffer
        super().__init__(stream.buffer, encoding=stream.encoding, errors=stream.errors, line_buffering=True)

    def write(self, text: str) -> int:
        """Write `text` with its control characters escaped."""
        super().write(_ON_TERMINALS.sub(_escape, text))
        return len(text)
