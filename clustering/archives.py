"""The archive whose requests are read."""

from dataclasses import dataclass
from typing import Literal

import psycopg

from tapewise.schema.errors import WorkloadError


@dataclass(frozen=True)
class Archive:
    """An archive as `mart.archives` shows it."""

    name: str
    kind: Literal["measured", "synthetic", "simulated"]
    timezone: str


def find_archive(connection: psycopg.Connection, name: str) -> Archive:
    """Return the archive called `name`. Raises WorkloadError if there is none."""
    row = connection.execute(
        "SELECT archive, kind, timezone FROM mart.archives WHERE archive = %s", [name]
    ).fetchone()
    if row is None:
        raise WorkloadError(f"no archive is called '{name}'", hint="`tapewise archives list` shows them.")
    return Archive(*row)
