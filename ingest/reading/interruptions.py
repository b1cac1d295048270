"""Handles interruptions while a file is read: a failing database, or a file that is rewritten."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import psycopg

from tapewise.schema.errors import DatabaseError, RewrittenFileError

# How many times to try reading a file that is rewritten each time.
TRIES = 3

Given = ParamSpec("Given")
Result = TypeVar("Result")


@contextmanager
def converting_errors(path: Path) -> Iterator[None]:
    """Convert psycopg errors into a one-line DatabaseError."""
    try:
        yield
    except psycopg.Error as error:
        reason = " ".join(str(error).split()).rstrip(".")
        is_full = isinstance(error, psycopg.errors.DiskFull)
        when = "there is room on the database's disk" if is_full else "the database is up"
        raise DatabaseError(
            f"{path}: the database aborted the load: {reason}",
            hint=f"Nothing of this file was loaded. Run the same command again when {when}.",
        ) from error


def begins_again(read: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make `read` start again if its file is rewritten while it is read; it is tried `TRIES` times in all."""

    @wraps(read)
    def read_again(*args: Given.args, **options: Given.kwargs) -> Result:
        for _ in range(TRIES - 1):
            with suppress(RewrittenFileError):
                return read(*args, **options)
        return read(*args, **options)

    return read_again
