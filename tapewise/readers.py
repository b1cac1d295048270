"""Connections that read `mart`, with or without the names of users and files."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

import click
import psycopg

from tapewise.schema.access.roles import NAMES
from tapewise.schema.database import open_warehouse
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

READER, WITH_NAMES = "reader", "names"

as_option = click.option(
    "--as",
    "read_as",
    type=click.Choice([READER, WITH_NAMES]),
    default=READER,
    show_default=True,
    help="`names` also shows the names of users and files, to those who may see them.",
)


@contextmanager
def open_reader(
    settings: Settings, read_as: str, *, autocommit: bool = False
) -> Iterator[psycopg.Connection]:
    """Connect to the warehouse as a reader; raises DatabaseError if names are requested but not allowed."""
    # An analyst may have only the reader's URL, and the reading role cannot see the revision.
    opened = open_warehouse if settings.reader_url else open_ready_warehouse
    with (
        opened(settings) as warehouse,
        closing(
            warehouse.connect_reader(sees_names=read_as == WITH_NAMES, autocommit=autocommit)
        ) as connection,
    ):
        yield connection


def explain_denial(error: psycopg.errors.InsufficientPrivilege) -> str:
    """Return a hint for a denied query, which depends on whether it reads names that some readers may see."""
    from tapewise.schema.tables.mart import read_mart  # noqa: PLC0415  # most queries are not denied

    # PostgreSQL names the object only in the text of the message.
    message = error.diag.message_primary or ""
    with_names = {each.name for each in read_mart() if each.metadata.has_names}
    if with_names & set(re.findall(r"\w+", message)):
        return (
            f"It contains names of users or files, which only the group {NAMES} may see."
            " If you are in it, add `--as names`."
        )
    return "`tapewise sql` logs in as a reader, which has access to the schema mart only."
