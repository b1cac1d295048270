"""The check of `tapewise doctor` for pseudonyms."""

from collections.abc import Iterator
from stat import S_IROTH

import psycopg

from tapewise.checks import Finding
from tapewise.ingest.nightly.sources import SourcePlan
from tapewise.ingest.sources.sources import find_source
from tapewise.schema.errors import SourceError
from tapewise.schema.settings import Settings


def check_pseudonyms(
    connection: psycopg.Connection, settings: Settings, plans: list[SourcePlan]
) -> Iterator[Finding]:
    """Check that sources with pseudonyms still have their original key, and that no other user can read it.

    `connection` must be a loader's.
    """
    hidden = [plan for plan in plans if plan.request.key is not None]
    is_wrong = False
    for plan in plans:
        try:
            find_source(connection, plan.request)
        except SourceError as error:
            is_wrong = True
            yield Finding("settings", "wrong", f"{error.message[0].upper()}{error.message[1:]}. {error.hint}")
    if hidden and not is_wrong:
        said = f"Names are replaced by pseudonyms in {len(hidden):,} of {len(plans):,} sources"
        yield Finding("settings", "ok", f"{said}, with their original key.")
    path = settings.pseudonym_key_file
    if hidden and settings.pseudonym_key is None and path is not None and path.stat().st_mode & S_IROTH:
        yield Finding(
            "settings", "note", f"Any user with access to its folder can read {path}, the pseudonym key."
        )
