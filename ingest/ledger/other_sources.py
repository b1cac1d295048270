"""Refuses lines that another source of the archive already holds, because they would be counted twice.

Each load stores the landmarks (digests of a few lines) of what it parses in `ledger.landmarks`. Once it has
the archive's lock, it compares them with the landmarks of the other sources. If a file is loaded into two
sources, the second load fails.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl
import psycopg

from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.reading.file_parts import PartGroup
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
    SELECT %s, digest, (array_agg(log_file_id ORDER BY place DESC))[1], bit_or(fact_lines)
    FROM unnest(%s::bigint[], %s::smallint[], %s::integer[])
        WITH ORDINALITY AS found (digest, fact_lines, log_file_id, place)
    GROUP BY digest
    ON CONFLICT (source_id, digest) DO UPDATE SET
        log_file_id = excluded.log_file_id, fact_lines = held.fact_lines | excluded.fact_lines
"""


@dataclass
class _File:
    """A file that is compared: its landmarks, and the source and path of another one that holds its lines."""

    path: Path
    # By the hash column that is compared.
    finders: dict[str, LandmarkFinder]
    landmarks: list[Landmark] = field(default_factory=list)
    holder: tuple[str, str] | None = None


class OtherHolders:
    """Compares files that are read for `source` with the other sources of the archive.

    `files` are their paths, and the days of their lines. `connection` sees what loads of those sources have
    committed. The caller holds the archive's lock, or writes nothing. If names are pseudonyms, lines are
    hashed with the key, so only sources with the same key can be compared. A source with a key is also
    compared with sources without one, because its plain lines are available here.
    """

    def __init__(
        self, connection: psycopg.Connection, source: Source, files: Iterable[tuple[Path, date | None]]
    ) -> None:
        self._connection = connection
        self._source_id = source.id
        others = connection.execute(
            _SELECT_OTHERS, [source.archive_id, source.id, source.is_shared]
        ).fetchall()
        own = source.pseudonym_key_id
        # The ids of the other sources, by the hash column that is compared.
        self._others = {"line_hash": [number for number, key_id in others if key_id == own]}
        if own is not None:
            self._others["plain_hash"] = [number for number, key_id in others if key_id is None]
        columns = [column for column, numbers in self._others.items() if numbers or column == "line_hash"]
        self._files = []
        for path, day in files:
            name, seed = ledger_path(path), None if source.format.is_year_by_file else day
            self._files.append(_File(path, {column: LandmarkFinder(name, seed) for column in columns}))

    def look_at(self, group: PartGroup, loaded_counts: Sequence[int]) -> None:
        """Compare the next lines of the files; `loaded_counts` of their facts so far are new.

        Raises HeldElsewhereError if a file has new facts and another source holds lines of it.
        """
        is_fact = None if group.records is None else group.records["table"].is_not_null()
        for column in self._files[0].finders:
            found: list[tuple[_File, Landmark]] = []
            for part in group.parts:
                file = self._files[part.file]
                if group.records is None or is_fact is None or part.is_copy or not part.parsed:
                    file.finders[column].pass_over(part.line_count)
                    continue
                hashes, facts = (
                    each.slice(part.first_row, part.line_count) for each in (group.records[column], is_fact)
                )
                found += ((file, landmark) for landmark in file.finders[column].find(hashes, facts))
            self._compare(column, found)
        self._check(loaded_counts)

    def end(self, loaded_counts: Sequence[int]) -> None:
        """Finish the comparison at the end of the files. Raises the same error as `look_at`."""
        for column in self._files[0].finders:
            ends = ((file, landmark) for file in self._files for landmark in file.finders[column].end())
            self._compare(column, list(ends))
        self._check(loaded_counts)

    def write(self, connection: psycopg.Connection, log_file_ids: Sequence[int | None]) -> None:
        """Store the landmarks of the files that have an id; their facts are already in the warehouse."""
        frame = pl.DataFrame(
            [
                (each.digest, each.fact_lines, log_file_id)
                for file, log_file_id in zip(self._files, log_file_ids, strict=True)
                if log_file_id is not None
                for each in file.landmarks
            ],
            schema={"digest": pl.Int64, "fact_lines": pl.Int16, "log_file_id": pl.Int32},
            orient="row",
        )
        if frame.height:
            arrays = ["{" + ",".join(column.cast(pl.String)) + "}" for column in frame]
            connection.execute(_INSERT, [self._source_id, *arrays])

    def _compare(self, column: str, found: list[tuple[_File, Landmark]]) -> None:
        if column == "line_hash":
            for file, landmark in found:
                if landmark.can_prove_copy:
                    file.landmarks.append(landmark)
        if not self._others[column]:
            return
        by_digest: defaultdict[int, list[tuple[_File, Landmark]]] = defaultdict(list)
        for file, landmark in found:
            if file.holder is None:
                by_digest[landmark.digest].append((file, landmark))
        if not by_digest:
            return
        rows = self._connection.execute(_SELECT_HELD, [self._others[column], list(by_digest)]).fetchall()
        for digest, fact_lines, name, path in rows:
            for file, landmark in by_digest[digest]:
                if file.holder is None and landmark.proves_copy(fact_lines):
                    file.holder = name, path

    def _check(self, loaded_counts: Sequence[int]) -> None:
        for file, loaded_count in zip(self._files, loaded_counts, strict=True):
            if file.holder is None or not loaded_count:
                continue
            name, path = file.holder
            from_where = "" if path == ledger_path(file.path) else f", read from {path}"
            raise HeldElsewhereError(
                f"{file.path}: source '{name}' of the same archive holds lines of this file{from_where}",
                hint="Nothing of it was loaded: its lines would count twice. `tapewise sources replace`"
                " re-reads what a source holds with another format or zone, `tapewise sources drop` removes"
                " it. If the files contain lines of two formats, use --shared (in tapewise.toml: shared ="
                " true).",
            )
