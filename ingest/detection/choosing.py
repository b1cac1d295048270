"""What format a named file is read as where the user does not say: its source's, or what its lines tell."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tapewise.ingest.detection.scoring import Detection, describe_share, detect_format
from tapewise.ingest.formats.registry import find_format, restore_format
from tapewise.ingest.records.format import Format
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import LogFileError, SourceError

# Formats that tell of the same transfers: an archive counts those of one of them.
SAME_TRANSFERS = ("nft", "stat")


@dataclass
class Choices:
    """The format of each file, or its error where none could be chosen.

    `reason` says what has chosen, None that the user has. `empty` are files that have no whole line yet, and
    are passed over: they say no format, and nothing is lost.
    """

    reason: str | None
    formats: dict[Path, Format] = field(default_factory=dict)
    failures: dict[Path, LogFileError] = field(default_factory=dict)
    empty: list[Path] = field(default_factory=list)

    @property
    def distinct(self) -> list[Format]:
        """The formats, each once, in the order of the files."""
        return list(dict.fromkeys(self.formats.values()))


def choose_formats(
    warehouse: Warehouse,
    archive: str,
    source: str | None,
    paths: Sequence[Path],
    *,
    is_complete: bool = False,
) -> Choices:
    """The format of each of `paths`, which are to be loaded into `source` (None: each into its format's own).

    A source that has brought facts has its format, whatever the lines tell. Raises SourceError if files of
    several formats were to go into one source, or such as tell of the same transfers into one archive.
    """
    if source is not None:
        with closing(warehouse.connect()) as connection:
            held = find_held_format(connection, archive, source)
        if held is not None:
            return Choices(f"as source '{source}' is", dict.fromkeys(paths, held))
    choices = read_formats(paths, is_complete=is_complete)
    if source is not None:
        _check_one_source(choices, source)
    _check_counted_once(choices)
    return choices


def read_formats(paths: Sequence[Path], *, is_complete: bool = False) -> Choices:
    """The format of each of `paths` by its lines; one that cannot be read, or tells none, fails by itself."""
    choices = Choices("as its lines tell")
    for path in dict.fromkeys(paths):
        try:
            detection = detect_format(path)
            if detection.format is None and _has_no_line_yet(detection, is_complete=is_complete):
                choices.empty.append(path)
            else:
                choices.formats[path] = _settle_format(detection)
        except LogFileError as error:
            choices.failures[path] = error
    return choices


def find_held_format(connection: psycopg.Connection, archive: str, source: str) -> Format | None:
    """The format of a source that has brought facts; None where there is none: its format is still open."""
    row = connection.execute(
        "SELECT format, layout_text FROM ledger.sources JOIN core.archives ON archives.id = archive_id"
        " WHERE archives.name = %s AND sources.name = %s AND EXISTS"
        " (SELECT FROM ledger.log_files WHERE source_id = sources.id AND loaded_count > 0)",
        [archive, source],
    ).fetchone()
    return None if row is None else restore_format(*row)


def _has_no_line_yet(detection: Detection, *, is_complete: bool) -> bool:
    """Whether there is nothing to load: no line but blank ones, or one that is not finished."""
    return detection.is_whole and (detection.line_count == 0 or (detection.is_unfinished and not is_complete))


def _settle_format(detection: Detection) -> Format:
    """The format of a file. Raises LogFileError, with the shares of the two best, if its lines tell none."""
    found = detection.format
    if found is not None:
        return found
    if not detection.line_count:  # of a large file
        raise LogFileError(
            f"{detection.path}: no format can be told: all lines looked at are blank", hint="Say --format."
        )
    best, second = (f"{fit.format.name} fits {describe_share(fit)}" for fit in detection.fits[:2])
    raise LogFileError(
        f"{detection.path}: no format can be told: {best}, {second} of {detection.line_count:,} lines",
        hint="Say --format; `tapewise detect` shows how well each fits, `tapewise formats` what they are.",
    )


def _check_one_source(choices: Choices, source: str) -> None:
    if len(choices.distinct) > 1:
        first_paths = {log_format.name: path for path, log_format in reversed(choices.formats.items())}
        told = ", ".join(f"{path} is {name}" for name, path in sorted(first_paths.items()))
        raise SourceError(
            f"source '{source}' would have several formats: {told}",
            hint="Without --source each file goes to its format's own source. Or load one format at a time.",
        )


def _check_counted_once(choices: Choices) -> None:
    found = [name for name in SAME_TRANSFERS if find_format(name) in choices.distinct]
    if len(found) > 1:
        raise SourceError(
            f"files of formats {' and '.join(found)} tell of the same transfers, which would count twice",
            hint="Load one format at a time (--format), and say --not-counted of one of them:"
            " docs/how-to/load-logs.md says of which.",
        )
