"""`tapewise.connect`: a warehouse to query and to load, with polars frames as results."""

import os
from collections.abc import Iterable
from contextlib import ExitStack, closing
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import polars as pl
from psycopg.sql import Composed

from tapewise.frames import Parameters, read_query
from tapewise.mart import Mart
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.upgrade import check_revision, open_ready_warehouse

if TYPE_CHECKING:  # queries do not need the code that loads
    from tapewise.loaded_files import LoadedFile

AnyPath = str | os.PathLike[str]


def connect(
    *,
    home: AnyPath | None = None,
    database_url: str | None = None,
    reader_url: str | None = None,
    config: AnyPath | None = None,
    layouts: AnyPath | None = None,
    timezone: str = "UTC",
    with_names: bool = False,
) -> "Connection":
    """Open a warehouse, to query it and to load logs into it.

    Whatever is not given comes from the environment (`TAPEWISE_HOME` and so on) or `tapewise.toml`, as on the
    command line. Without a URL, the warehouse is in an embedded PostgreSQL, which is started if it is not
    up, and stops some seconds after the last program stops using it. To reach it, libpq's variables (`PGHOST`
    and so on) are removed from this process's environment.

    Args:
        home: the folder of the embedded PostgreSQL; created if it does not exist.
        database_url: the URL of a PostgreSQL server of your own to use instead, for loading.
        reader_url: the URL with which the reading role logs in to that server, for queries.
        config: the settings file. None: `tapewise.toml` in the current folder, if there is one.
        layouts: the folder of your own layouts, whose formats are known by name. None: `layouts` beside the
            settings file, if there is one.
        timezone: the IANA zone of dates and times without an offset in queries and arguments, and of the
            times in the frames.
        with_names: whether queries may read the names of users and files, as with `--as names` on the command
            line. On a server of your own, the login of `reader_url` must be allowed to read them.

    Returns:
        A `Connection`. Use it in a `with` statement, or call its `close()`.

    Raises:
        ServerError: the embedded PostgreSQL cannot be used.
        DatabaseError: the database cannot be reached, or belongs to another version of Tapewise.
        SettingsError: a setting is missing or malformed.
        SourceError: no time zone has that name.

    Example:
        >>> with tapewise.connect(home="~/archive") as warehouse:
        ...     hits = warehouse.mart.cache_hits(archive="lab")
    """
    check_timezone(timezone)
    settings = read_settings(
        home=_expand(home),
        database_url=database_url,
        reader_url=reader_url,
        config=_expand(config),
        layouts=_expand(layouts),
    )
    # An analyst may have only the reader's URL, and the reading role cannot see the revision.
    opened = open_warehouse if settings.reader_url else open_ready_warehouse
    with ExitStack() as stack:
        warehouse = stack.enter_context(opened(settings))
        return Connection(warehouse, timezone, stack.pop_all(), with_names=with_names)


class Connection:
    """An open warehouse, as `tapewise.connect` returns it.

    Queries log in as the reading role, which sees the views and functions of schema `mart`, but no names of
    users or files unless `with_names` was given. Each query has a database connection of its own, so a
    `Connection` may stay open for days, and several threads may use it.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        timezone: str = "UTC",
        stack: ExitStack | None = None,
        *,
        with_names: bool = False,
    ) -> None:
        self._warehouse = warehouse
        self._timezone = timezone
        self._with_names = with_names
        self._stack = stack or ExitStack()
        self._is_open = True

    @property
    def mart(self) -> Mart:
        """The views and functions of `mart`. Each is a method that returns a polars frame.

        Arguments are given by name. The arguments of a view are its columns, each with the value, or a list
        of values, that rows must have there. None means the same as no argument. The server receives the
        values separately from the query. `help(warehouse.mart.cache_hits)` describes arguments and columns,
        as docs/reference/mart.md does.

        Raises:
            UnknownViewError: there is no view or function of that name.
            QueryError: an argument is unknown or missing, or the server refused the query.

        Example:
            >>> warehouse.mart.cache_hits(archive="lab", since="1998-10-18")
            >>> warehouse.mart.transfers(archive="lab", direction="put", interface=["hsi", "htar"])
        """
        return Mart(self._ask)

    def sql(self, query: str, parameters: Parameters | None = None) -> pl.DataFrame:
        """Run a query as the reading role and return its result.

        The column types depend only on the types in PostgreSQL: `timestamptz` becomes a time in the
        connection's zone, `numeric` a 64-bit float (whole numbers are exact up to 2^53), and an interval a
        duration with months of 30 days. Types without a counterpart, such as JSON, become text.

        Args:
            query: a single statement. If there are parameters, `%s` or `%(name)s` stands for each, and a per
                cent sign is written `%%`.
            parameters: a list for `%s`, a dict for `%(name)s`. The server receives them separately from the
                query, so they need no quoting.

        Returns:
            The rows. If two columns have the same name, the second one gets a number (`name_2`).

        Raises:
            QueryError: the server refused the query, or a value does not fit into polars' types.

        Example:
            >>> warehouse.sql("SELECT * FROM mart.opens WHERE open_s > %s", [60])
        """
        return self._ask(query, parameters)

    def ingest(
        self,
        paths: AnyPath | Iterable[AnyPath],
        *,
        archive: str,
        timezone: str,
        format: str | None = None,
        kind: str = "measured",
        source: str | None = None,
        counted: bool = True,
        shared: bool = False,
        complete: bool = False,
        date: date | None = None,
        date_from: str = "name",
        strip: str | None = None,
        pseudonymise: bool = False,
        dry_run: bool = False,
        jobs: int | None = None,
        now: datetime | None = None,
    ) -> "list[LoadedFile]":
        """Load log files, compressed or not, each line at most once.

        If a file cannot be loaded, its result has an `error`, and the others are still loaded. Reading a file
        again, or a longer copy of it, counts nothing twice.

        Args:
            paths: the files, or a single one. A tar or zip archive means the files in it. A file on another
                machine has a URL (s3, http, https).
            archive: the archive that wrote the logs; created at its first load.
            timezone: the IANA zone of the times in the logs, such as `America/Los_Angeles`.
            format: the name of the logs' format, or the path of your own layout. None: the format of each
                file is detected.
            kind: `measured`, or `synthetic` for made-up logs, which are never added up with measured ones.
            source: distinguishes an archive's streams of logs. None: the name of the format.
            counted: False if another source of the archive reports the same transfers and is counted instead.
            shared: True if another source of the archive reads these files too, because they have lines of
                two formats.
            complete: read a last line without a newline too; if that line grows later, it counts again.
            date: the day of a file whose lines have none. None: the day that `date_from` finds.
            date_from: where the days of files come from whose lines have none: `name`, `mtime` (when the file
                was last changed), a CSV file with the columns path and date, or a pattern for the path with
                the groups year, month and day.
            strip: a regular expression (in Rust's dialect) for what another program, such as syslog, writes
                before each line; it is removed first. A source keeps it.
            pseudonymise: replace the names of users, machines and files with pseudonyms, using the key that
                the settings name.
            dry_run: return what would be loaded, and write nothing.
            jobs: how many files to read at once. None: half the cores, if there is much to read.
            now: a time with a zone; lines more than a day later are rejected. None: the current time.

        Returns:
            A `LoadedFile` for each file, in the order of `paths`.

        Raises:
            SourceError: the archive or source exists with other settings, or there is no such time zone.
            FormatError: no format has that name, or the layout or `strip` is wrong.
            SettingsError: arguments contradict each other, or `date_from` means nothing.
            DatabaseError: the database cannot be reached, or nothing can be loaded.

        Example:
            >>> for file in warehouse.ingest(["hsi.log"], archive="lab", timezone="America/Los_Angeles"):
            ...     print(file.path, file.loaded_count, file.rejected, file.error)
        """
        # A program that only queries does not need the code that loads.
        from tapewise.ingest.commands.path_loads import PathsRequest  # noqa: PLC0415  # see above
        from tapewise.ingest.layouts.folder import use_layouts_folder  # noqa: PLC0415  # see above
        from tapewise.ingest.pseudonyms.keys import get_key  # noqa: PLC0415  # see above
        from tapewise.ingest.reading.remote_paths import make_path  # noqa: PLC0415  # see above
        from tapewise.loaded_files import load_files, read_dates  # noqa: PLC0415  # see above

        self._check_open()
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        with closing(self._warehouse.connect(Role.LOADER)) as connection:
            check_revision(connection)
        request = PathsRequest(
            archive=archive,
            timezone=timezone,
            kind=kind,
            source=source,
            is_counted=counted,
            is_shared=shared,
            is_complete=complete,
            log_date=date,
            dates=read_dates(date_from),
            key=get_key(self._warehouse.settings) if pseudonymise else None,
            is_dry=dry_run,
        )
        with use_layouts_folder(self._warehouse.settings.layouts_folder):
            return load_files(
                self._warehouse,
                request,
                list(dict.fromkeys(make_path(os.fspath(path)).expanduser() for path in given)),
                format_name=format,
                prefix=strip,
                jobs=jobs,
                now=now or datetime.now(UTC),
            )

    def close(self) -> None:
        """Close the warehouse. May be called more than once."""
        self._is_open = False
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, query: str | Composed, parameters: Parameters | None) -> pl.DataFrame:
        self._check_open()
        reader = self._warehouse.connect_reader(sees_names=self._with_names, autocommit=True)
        with closing(reader) as connection:
            return read_query(connection, query, parameters, self._timezone)

    def _check_open(self) -> None:
        if not self._is_open:
            raise DatabaseError("this connection was closed", hint="Call tapewise.connect again.")


def _expand(path: AnyPath | None) -> Path | None:
    return None if path is None else Path(path).expanduser()
