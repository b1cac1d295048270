"""Refuses lines that another source of the archive already holds, because they would be counted twice.

Each load stores the landmarks (digests of a few lines) of what it parses in `ledger.landmarks`. Once it has
the archive's lock, it compares them with the landmarks of the other sources. If a file is loaded into two
sources, the second load fails.
"""

from collections.abc import Iterable
from datetime import date
from pathlib import Path

import polars as pl
import psycopg

from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.reading.file_parts import Part
from tapewise.ingest.reading.landmarks import Landmark, LandmarkFinder
from tapewise.ingest.sources.sources import Source
from tapewise.schema.errors import HeldElsewhereError

_SELECT_OTHERS = """
    SELECT id, pseudonym_key_id FROM ledger.sources
    WHERE archive_id = %s AND id <> %s AND NOT (is_shared OR %s)
"""
_SELECT_HELD = """
    SELECT digest, fact_lines, sources.name, path FROM ledger.landmarks
    JOIN ledger.sources ON sources.id = landmarks.source_id
    JOIN ledger.log_files ON log_files.id = log_file_id
    WHERE landmarks.source_id = ANY(%s) AND digest = ANY(%s) AND loaded_count + held_count > 0
    ORDER BY sources.name, path
"""
_INSERT = """
    INSERT INTO ledger.landmarks AS held (source_id, digest, log_file_id, fact_lines)
    SELECT %s, digest, %s, bit_or(fact_lines)
    FROM unnest(%s::bigint[], %s::smallint[]) AS found (digest, fact_lines) GROUP BY digest
    ON CONFLICT (source_id, digest) DO UPDATE SET
        log_file_id = excluded.log_file_id, fact_lines = held.fact_lines | excluded.fact_lines
"""


class OtherHolders:
    """Compares a file that is read for `source` with the other sources of the archive.

    `connection` sees what loads of those sources have committed. The caller holds the archive's lock, or
    writes nothing. If names are pseudonyms, lines are hashed with the key, so only sources with the same key
    can be compared. A source with a key is also compared with sources without one, because its plain lines
    are available here.
    """

    def __init__(
        self, connection: psycopg.Connection, source: Source, path: Path, log_date: date | None
    ) -> None:
        self._connection = connection
        self._source_id = source.id
        self._path = path
        day = None if source.format.is_year_by_file else log_date
        others = connection.execute(
            _SELECT_OTHERS, [source.archive_id, source.id, source.is_shared]
        ).fetchall()
        own = source.pseudonym_key_id
        # The ids of the other sources, by the hash column that is compared.
        self._others = {"line_hash": [number for number, key_id in others if key_id == own]}
        if own is not None:
            self._others["plain_hash"] = [number for number, key_id in others if key_id is None]
        self._finders = {
            column: LandmarkFinder(ledger_path(path), day)
            for column, numbers in self._others.items()
            if numbers or column == "line_hash"
        }
        self._landmarks: list[Landmark] = []
        self._holder: tuple[str, str] | None = None

    def look_at(self, part: Part, loaded_count: int) -> None:
        """Compare the next lines of the file; `loaded_count` of its facts so far are new.

        Raises HeldElsewhereError if there are new facts and another source holds lines of the file.
        """
        for column, finder in self._finders.items():
            if part.records is None:
                finder.pass_over(part.line_count)
            else:
                is_fact = part.records["table"].is_not_null()
                self._compare(column, finder.find(part.records[column], is_fact))
        self._check(loaded_count)

    def end(self, loaded_count: int) -> None:
        """Finish the comparison at the end of the file. Raises the same error as `look_at`."""
        for column, finder in self._finders.items():
            self._compare(column, finder.end())
        self._check(loaded_count)

    def write(self, connection: psycopg.Connection, log_file_id: int) -> None:
        """Store the landmarks of the file, whose facts are already in the warehouse."""
        frame = pl.DataFrame(
            {
                "digest": [each.digest for each in self._landmarks],
                "fact_lines": [each.fact_lines for each in self._landmarks],
            },
            schema={"digest": pl.Int64, "fact_lines": pl.Int16},
        )
        arrays = ["{" + ",".join(column.cast(pl.String)) + "}" for column in frame]
        connection.execute(_INSERT, [self._source_id, log_file_id, *arrays])

    def _compare(self, column: str, landmarks: Iterable[Landmark]) -> None:
        found = list(landmarks)
        if column == "line_hash":
            self._landmarks += [each for each in found if each.can_prove_copy]
        if self._holder is not None or not found or not self._others[column]:
            return
        by_digest = {each.digest: each for each in found}
        rows = self._connection.execute(_SELECT_HELD, [self._others[column], list(by_digest)]).fetchall()
        for digest, fact_lines, name, path in rows:
            if by_digest[digest].proves_copy(fact_lines):
                self._holder = name, path
                return

    def _check(self, loaded_count: int) -> None:
        if self._holder is None or not loaded_count:
            return
        name, path = self._holder
        from_where = "" if path == ledger_path(self._path) else f", read from {path}"
        raise HeldElsewhereError(
            f"{self._path}: source '{name}' of the same archive holds lines of this file{from_where}",
            hint="Nothing of it was loaded: its lines would count twice. `tapewise sources replace` re-reads"
            " what a source holds with another format or zone, `tapewise sources drop` removes it. If the"
            " files contain lines of two formats, use --shared (in tapewise.toml: shared = true).",
        )
