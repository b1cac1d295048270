"""Archives and their sources, which are created by the first load and fixed from then on."""

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import LiteralString
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import dict_row

from tapewise.ingest.formats.registry import restore_format
from tapewise.ingest.layouts.edits import check_layouts
from tapewise.ingest.pseudonyms.keys import PseudonymKey, check_key_id
from tapewise.ingest.records.format import BEFORE_RETENTION, Format, LineSettings
from tapewise.ingest.sources.log_file_rows import delete_log_files
from tapewise.ingest.sources.statements import (
    EXTEND_LAYOUT,
    MAKE_ARCHIVE,
    MAKE_SOURCE,
    SELECT_SOURCE,
    SHARE,
    UPDATE_ARCHIVE,
)
from tapewise.schema.errors import SourceError
from tapewise.schema.moments import check_timezone
from tapewise.schema.writing.archives import analyze_archives, lock_archive
from tapewise.schema.writing.routes import Clients

# No archive's logs are older than this, so an earlier year must have been misread.
EARLIEST_AT = datetime(1985, 1, 1, tzinfo=ZoneInfo("UTC"))
INGESTED_KINDS = ("measured", "synthetic")


@dataclass(frozen=True)
class SourceRequest:
    """The user's description of a stream of logs; `name` distinguishes the sources of an archive.

    `archive_timezone` is the archive's own zone. None means the zone that the archive already has or, for a
    new archive, the zone of the source. With a `key`, names become pseudonyms.
    """

    archive: str
    kind: str
    format: Format
    timezone: str
    name: str
    is_counted: bool = True
    archive_timezone: str | None = None
    key: PseudonymKey | None = None
    # Whether the source's files also contain lines in the formats of other sources. This may be set after the
    # first load.
    is_shared: bool = False

    @property
    def key_id(self) -> str | None:
        """The identifier that the warehouse stores for the key."""
        return None if self.key is None else self.key.id


@dataclass(frozen=True)
class Source:
    """A source as stored in the warehouse. `archive_timezone` is the zone whose days are counted.

    With a `pseudonym_key_id`, names are pseudonyms, and `key` is their key if it was given. `failure_tables`
    and `failures_as` are those of the format at the first load, because the rollup depends on them.
    """

    id: int
    archive_id: int
    archive: str
    kind: str
    archive_timezone: str
    name: str
    format: Format
    timezone: str
    clock_resolution_s: float
    is_counted: bool
    earliest_at: datetime
    latest_at: datetime | None
    failure_tables: tuple[str, ...]
    failures_as: str | None
    retained_since: datetime | None = field(default=None, compare=False)  # not a setting, because it advances
    pseudonym_key_id: str | None = None
    has_client_cells: bool = field(default=False, compare=False)  # of the archive; may be set at any time
    is_shared: bool = field(default=False, compare=False)  # may be set later
    is_unread: bool = field(default=False, compare=False)  # no file had been read when the source was found
    key: PseudonymKey | None = field(default=None, compare=False, repr=False)

    @property
    def lacks_key(self) -> bool:
        """Whether names are pseudonyms and their key is missing, so that no line can be recognised."""
        return self.pseudonym_key_id is not None and self.key is None

    @property
    def clients(self) -> Clients:
        """For which clients the rollups by local day count."""
        return Clients.ALL_AND_EACH if self.has_client_cells else Clients.ALL

    @property
    def request(self) -> SourceRequest:
        """The request that would create this source."""
        return SourceRequest(
            archive=self.archive,
            kind=self.kind,
            format=self.format,
            timezone=self.timezone,
            name=self.name,
            is_counted=self.is_counted,
            archive_timezone=self.archive_timezone,
            key=self.key,
            is_shared=self.is_shared,
        )

    def line_settings(self, now: datetime, log_date: date | None) -> LineSettings:
        """Return the settings for records that are read at `now` from a file of day `log_date`."""
        return LineSettings(
            timezone=self.timezone,
            clock_resolution_s=self.clock_resolution_s,
            earliest_at=self.earliest_at,
            latest_at=self.latest_at or now + timedelta(days=1),
            log_date=log_date,
            retained_since=self.retained_since,
        )


def find_source(connection: psycopg.Connection, request: SourceRequest) -> Source | None:
    """Return the source that `request` describes, or None if it does not exist yet.

    Its format is that of `request`, because the requested layout may know more lines. Raises SourceError if
    the source or its archive exists with other settings, because settings must not change once rows have been
    loaded with them.
    """
    archive = connection.execute(
        "SELECT kind, timezone FROM core.archives WHERE name = %s", [request.archive]
    ).fetchone()
    if archive is None:
        return None
    if archive[0] != request.kind:
        raise SourceError(
            f"archive '{request.archive}' is {archive[0]}, not {request.kind}",
            hint=f"Use --kind {archive[0]}, or choose another name for the archive."
            if archive[0] in INGESTED_KINDS
            else "Logs cannot be read into a simulated archive: choose another name.",
        )
    if request.archive_timezone not in (None, archive[1]):
        raise SourceError(
            f"archive '{request.archive}' has timezone {archive[1]}, not {request.archive_timezone}",
            hint="An archive's settings are fixed at its first load. Give that zone, or drop the archive and"
            " read its logs again.",
        )
    found = _fetch_source(
        connection, "archives.name = %s AND sources.name = %s", [request.archive, request.name]
    )
    if found is None:
        return None
    for setting, held, given in (
        ("format", found.format.name, request.format.name),
        ("timezone", found.timezone, request.timezone),
        ("is_counted", found.is_counted, request.is_counted),
    ):
        if held != given:
            raise SourceError(
                f"source '{request.name}' of archive '{request.archive}' has {setting} {held}, not {given}",
                hint="A source's settings are fixed at its first load. `tapewise sources replace` re-reads"
                " its logs with others. Logs of another host are another source (--source).",
            )
    label = f"source '{request.name}' of archive '{request.archive}'"
    check_layouts(label, found.format, request.format)
    check_key_id(label, found.pseudonym_key_id, request.key_id)
    is_shared = found.is_shared or request.is_shared
    return replace(found, format=request.format, key=request.key, is_shared=is_shared)


def get_source(
    connection: psycopg.Connection, source_id: int, key: PseudonymKey | None = None
) -> Source | None:
    """Return the source with that id, or None if it was dropped. `key` is included if it is the source's."""
    found = _fetch_source(connection, "sources.id = %s", [source_id])
    is_right = found is not None and key is not None and found.pseudonym_key_id == key.id
    return replace(found, key=key) if found is not None and is_right else found


def _fetch_source(
    connection: psycopg.Connection, condition: LiteralString, values: list[object]
) -> Source | None:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(SELECT_SOURCE + condition, values).fetchone()
    if row is None:
        return None
    row["format"] = restore_format(row["format"], row.pop("layout_text"))
    row["failure_tables"] = tuple(row["failure_tables"])
    return Source(**row)


def make_source(connection: psycopg.Connection, request: SourceRequest) -> Source:
    """Return the source of `request`; create it and its archive if they do not exist yet. Commits.

    If the source exists but nothing has been loaded into it, because the first load failed, the new settings
    apply. If two commands create the same source at the same time, both get it. Raises SourceError as
    `find_source` does.
    """
    for zone in (request.timezone, request.archive_timezone or "UTC"):
        check_timezone(zone)
    try:
        found = find_source(connection, request)
    except SourceError:
        found = None  # the code below changes the settings that may change, and tries again
    if found is None:
        connection.execute(MAKE_ARCHIVE, vars(request))
        connection.commit()  # otherwise others would wait for this row while we wait for the lock
        _lock_named(connection, request.archive)
        connection.execute(UPDATE_ARCHIVE, vars(request))
        _forget_rejected(connection, request)
        connection.execute(
            MAKE_SOURCE,
            vars(request)
            | {
                "format": request.format.name,
                "clock_resolution_s": request.format.clock_resolution_s,
                "is_of_parts": request.format.is_of_parts,
                "earliest_at": EARLIEST_AT,
                "before_retention": BEFORE_RETENTION,
                "pseudonym_key_id": request.key_id,
                "layout_text": request.format.layout_text,
                "failure_tables": list(request.format.failure_tables),
                "failures_as": None if request.is_counted else request.format.failures_as,
            },
        )
        analyze_archives(connection)
        connection.commit()
        found = find_source(connection, request)
        assert found is not None
    if request.is_shared:
        connection.execute(SHARE, [found.id])
        connection.commit()
    if request.format.layout_text is not None:
        connection.execute(EXTEND_LAYOUT, {"layout_text": request.format.layout_text, "source_id": found.id})
        connection.commit()
    return found


def _lock_named(connection: psycopg.Connection, archive: str) -> None:
    """Wait for any load of the archive, because settings may only change if that load loads nothing."""
    row = connection.execute("SELECT id FROM core.archives WHERE name = %s", [archive]).fetchone()
    if row is not None:
        lock_archive(connection, row[0])


def _forget_rejected(connection: psycopg.Connection, request: SourceRequest) -> None:
    """Forget which files were read for a source without facts, because its settings may still change."""
    empty = connection.execute(
        "SELECT sources.id FROM ledger.sources JOIN core.archives ON archives.id = archive_id"
        " WHERE archives.name = %s AND sources.name = %s AND NOT EXISTS"
        " (SELECT FROM ledger.log_files WHERE source_id = sources.id AND (loaded_count > 0 OR EXISTS"
        " (SELECT FROM ledger.ignored_lines WHERE log_file_id = log_files.id AND reason = %s)))",
        [request.archive, request.name, BEFORE_RETENTION],
    ).fetchone()
    if empty is not None:
        delete_log_files(connection, empty[0])


def unsaved_source(connection: psycopg.Connection, request: SourceRequest) -> Source:
    """Return a source that is not stored yet, for a dry run before its first load; its archive may exist."""
    row = connection.execute(
        "SELECT retained_since, id FROM core.archives WHERE name = %s", [request.archive]
    )
    archive = row.fetchone()
    return Source(
        id=0,
        archive_id=archive[1] if archive else 0,
        archive=request.archive,
        kind=request.kind,
        archive_timezone=check_timezone(request.archive_timezone or request.timezone),
        name=request.name,
        format=request.format,
        timezone=request.timezone,
        clock_resolution_s=request.format.clock_resolution_s,
        is_counted=request.is_counted,
        is_shared=request.is_shared,
        earliest_at=EARLIEST_AT,
        latest_at=None,
        failure_tables=request.format.failure_tables,
        failures_as=None if request.is_counted else request.format.failures_as,
        retained_since=archive[0] if archive else None,
        pseudonym_key_id=request.key_id,
        key=request.key,
    )
