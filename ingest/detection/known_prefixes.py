"""Knows what programs that keep logs write before each line, to suggest `--strip` where no format fits."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class KnownPrefix:
    """`pattern` (a regular expression in Rust's dialect) matches what `kept_by` writes before a line."""

    kept_by: str
    pattern: str


_ISO_TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.,]+(?:Z|[+-][0-9:]+)"
KNOWN_PREFIXES = (
    KnownPrefix("a container's runtime (CRI)", f"{_ISO_TIME} (?:stdout|stderr) F "),
    KnownPrefix("rsyslog or journald", f"{_ISO_TIME} [^ ]+ [^ ]+: "),
    KnownPrefix("syslog", "(?:<[0-9]+>)?[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:[.][0-9]+)? [^ ]+ [^ ]+: "),
    KnownPrefix(
        "syslog (RFC 5424)",
        rf"(?:<[0-9]+>)?1 (?:-|{_ISO_TIME})(?: [^ ]+){{4}} (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ",
    ),
)
# Other programs may write to the same syslog in their own way.
_MOST = 0.5


def find_prefix(lines: pl.Series) -> KnownPrefix | None:
    """Return the known prefix that most of the nonblank `lines` (texts) begin with, or None.

    A line such as `2024-03-05T09:14:22+0000 mover1 hsi[4711]: Sun Oct 18 ...` begins with journald's.
    """
    least_count = max(1.0, _MOST * lines.len())
    for known in KNOWN_PREFIXES:
        if lines.str.contains(f"^(?:{known.pattern})").sum() >= least_count:
            return known
    return None
