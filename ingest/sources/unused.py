"""Drops sources whose files were all refused, and their archive if it is then empty.

A source is created before its first file is read, because names and months of facts refer to it.
"""

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager

import click
import psycopg

from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.texts import escape_controls


def drop_unused_source(warehouse: Warehouse, source: Source) -> bool:
    """Drop the source, and its archive if it contains nothing else; return whether the source was dropped.

    The source stays if any file was accepted into it (even an empty one), if another command is loading
    into the archive, or if another session locks one of the tables for long. Raises DatabaseError.
    """
    try:
        with closing(warehouse.connect(Role.LOADER, autocommit=True)) as connection:
            # A command that has failed should end. An unused source that stays does no harm.
            connection.execute("SET lock_timeout = '2s'")
            dropped = connection.execute("SELECT core.drop_unused_source(%s)", [source.id]).fetchone()
    except psycopg.errors.LockNotAvailable:
        return False
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).rstrip(".")
        label = f"source '{source.name}' of archive '{source.archive}'"
        raise DatabaseError(f"{label} is unused but could not be dropped: {reason}") from error
    return dropped == (True,)


@contextmanager
def drop_unused_sources(
    warehouse: Warehouse, sources: Collection[Source], *, is_dry: bool
) -> Iterator[set[str]]:
    """At the end of the block, drop all `sources` whose names were not added to the yielded set.

    The block may add to `sources`. If the database aborts the block, all sources stay, because the user
    should run the same command again.
    """
    used: set[str] = set()
    try:
        yield used
    except DatabaseError:
        used.update(source.name for source in sources)
        raise
    finally:
        for source in sources:
            if source.name not in used and not is_dry and drop_unused_source(warehouse, source):
                label = escape_controls(f"'{source.name}' of archive '{source.archive}'")
                click.echo(f"tapewise: source {label} is not kept: no file was accepted", err=True)
