"""Gives the limits of sources, which are in `tapewise.toml`, to Superset's templates.

Runs in Superset's environment. service.py puts the limits into a variable when it starts Superset.
"""

import json
import os

VARIABLE = "TAPEWISE_SOURCE_LIMITS"


def write_limits() -> str:
    """Write the limits as SQL: a row of archive, source and hours for each configured source."""
    limits = json.loads(os.environ.get(VARIABLE) or "[]")
    rows = [f"({_quote(archive)}, {_quote(source)}, {float(hours)})" for archive, source, hours in limits]
    # The first row gives the columns their types, and matches no source.
    return ", ".join(["VALUES (NULL::text, NULL::text, NULL::double precision)", *rows])


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
