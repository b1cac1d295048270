"""Gives the limits of sources, which are in `tapewise.toml`, to Superset's templates.

Runs in Superset's environment. `make dashboards` puts the limits into a variable when it starts Superset
(service.py). With Docker Compose, the container has the file itself, and the variable that names it.
"""

import json
import os
import tomllib
from functools import cache
from pathlib import Path

VARIABLE = "TAPEWISE_SOURCE_LIMITS"
SITE_FILE = "TAPEWISE_CONFIG"


def write_limits() -> str:
    """Write the limits as SQL: a row of archive, source and hours for each configured source."""
    given, site_file = os.environ.get(VARIABLE), os.environ.get(SITE_FILE)
    limits = json.loads(given or "[]")
    if given is None and site_file:
        limits = read_limits(Path(site_file))
    rows = [f"({_quote(archive)}, {_quote(source)}, {float(hours)})" for archive, source, hours in limits]
    # The first row gives the columns their types, and matches no source.
    return ", ".join(["VALUES (NULL::text, NULL::text, NULL::double precision)", *rows])


@cache
def read_limits(site_file: Path) -> list[tuple[str, str, float]]:
    """Read the limits of sources that have one from a `tapewise.toml`, once.

    `tapewise ingest` checks the file. Raises SystemExit if the file cannot be read or is no TOML.
    """
    try:
        archives = tomllib.loads(site_file.read_text(encoding="utf-8")).get("archives", [])
    except (OSError, ValueError) as error:
        raise SystemExit(f"source_limits.py: {site_file} cannot be read: {error}") from None
    return [
        # Without a name, a source has that of its format, or of its layout's file.
        (
            archive["name"],
            source.get("name") or source["format"].rpartition("/")[2].removesuffix(".toml"),
            source["silent_after_hours"],
        )
        for archive in archives
        for source in archive.get("sources", [])
        if "silent_after_hours" in source
    ]


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
