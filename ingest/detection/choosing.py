"""Chooses a format if the user did not name one: the source's format, or the format that fits the lines."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tapewise.ingest.detection.scoring import Detection, describe_share, detect_formats
from tapewise.ingest.formats.registry import find_format, restore_format
from tapewise.ingest.records.format import Format
from tapewise.ingest.records.prefixed_lines import strip_format
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import LogFileError, SourceError

# These formats report the same transfers, so an archive must count only one of the two.
SAME_TRANSFERS = ("nft", "stat")
# Some lines may be cut or damaged.
_NEARLY_ALL = 0.95


@dataclass
class Choices:
    """The format of each file, or the error if none could be chosen.

    `reason` says why these formats were chosen, and is None if the user named the format. `empty` lists the
    files that have no complete line yet. Their formats cannot be detected, and skipping them loses nothing.
    """

    reason: str | None
    formats: dict[Path, Format] = field(default_factory=dict)
    failures: dict[Path, LogFileError] = field(default_factory=dict)
    empty: list[Path] = field(default_factory=list)

    @property
    def distinct(self) -> list[Format]:
        """The distinct formats, in the order of the files."""
        return list(dict.fromkeys(self.formats.values()))


def choose_formats(
    warehouse: Warehouse,
    archive: str,
    source: str | None,
    paths: Sequence[Path],
    *,
    is_complete: bool = False,
    prefix: str | None = None,
) -> Choices:
    """Choose the format of each of `paths`, to be loaded into `source` or, if None, their formats' sources.

    A source that has facts keeps its format, whatever the lines look like. Raises SourceError if files of
    several formats would go into one source, or if an archive would get files of two formats that report the
    same transfers.
    """
    if source is not None:
        with closing(warehouse.connect()) as connection:
            held = find_held_format(connection, archive, source)
        if held is not None:
            given = held if prefix is None else strip_format(find_format(held.name), prefix)
            return Choices(f"the format of source '{source}'", dict.fromkeys(paths, given))
    choices = read_formats(paths, is_complete=is_complete, prefix=prefix)
    if source is not None:
        _check_one_source(choices, source)
    _check_counted_once(choices)
    return choices


def read_formats(paths: Sequence[Path], *, is_complete: bool = False, prefix: str | None = None) -> Choices:
    """Detect the format of each of `paths`. A file without a format does not prevent this for the others.

    What matches `prefix` is removed from lines first.
    """
    choices = Choices("detected from its lines")
    distinct = list(dict.fromkeys(paths))
    for path, detection in zip(distinct, detect_formats(distinct, prefix), strict=True):
        if isinstance(detection, LogFileError):
            choices.failures[path] = detection
        elif detection.format is None and _has_no_line_yet(detection, is_complete=is_complete):
            choices.empty.append(path)
        else:
            try:
                choices.formats[path] = strip_format(_settle_format(detection), prefix)
            except LogFileError as error:
                choices.failures[path] = error
    return choices


def find_held_format(connection: psycopg.Connection, archive: str, source: str) -> Format | None:
    """The format of a source; None if the source has no facts yet, so that its format may still change."""
    row = connection.execute(
        "SELECT format, layout_text FROM ledger.sources JOIN core.archives ON archives.id = archive_id"
        " WHERE archives.name = %s AND sources.name = %s AND EXISTS"
        " (SELECT FROM ledger.log_files WHERE source_id = sources.id AND loaded_count > 0)",
        [archive, source],
    ).fetchone()
    return None if row is None else restore_format(*row)


def _has_no_line_yet(detection: Detection, *, is_complete: bool) -> bool:
    """Whether there is nothing to load: only blank lines, or a single unfinished one."""
    return detection.is_whole and (detection.line_count == 0 or (detection.is_unfinished and not is_complete))


def _settle_format(detection: Detection) -> Format:
    """The detected format. If there is none, raises LogFileError with the shares of the two best formats."""
    found = detection.format
    if found is not None:
        return found
    if not detection.line_count:  # only a large file gets here; a small file without lines is skipped
        raise LogFileError(
            f"{detection.path}: no format detected: all lines looked at are blank", hint="Give --format."
        )
    if suggestion := detection.suggest_prefix():
        raise LogFileError(
            f"{detection.path}: no format detected, but {suggestion[0]}",
            hint=f"Give {suggestion[1]} (in tapewise.toml, the keys are `strip` and `format`).",
        )
    if not detection.fits[0].fit_count:
        raise LogFileError(
            f"{detection.path}: no format detected: none of {detection.line_count:,} lines is of any format",
            hint="`tapewise formats` lists the formats. Another one can be described in a file:"
            " docs/how-to/own-format.md.",
        )
    best, second = (f"{fit.format.name} fits {describe_share(fit)}" for fit in detection.fits[:2])
    if _is_of_two_formats(detection):
        name, other = (fit.format.name for fit in detection.fits[:2])
        raise LogFileError(
            f"{detection.path}: no format detected: its lines are of two formats: {best}, {second} of"
            f" {detection.line_count:,} lines",
            hint=f"Write the lines of each format into a file of its own. Or give --format {name}: the lines"
            f" of {other} are then rejected.",
        )
    raise LogFileError(
        f"{detection.path}: no format detected: {best}, {second} of {detection.line_count:,} lines",
        hint="Give --format; `tapewise detect` shows how well each format fits, and `tapewise formats` lists"
        " them. Another format can be described in a file: docs/how-to/own-format.md.",
    )


def _is_of_two_formats(detection: Detection) -> bool:
    """Whether nearly each line is of one of the two best formats, and none of both."""
    best, second = (fit.fit_count for fit in detection.fits[:2])
    return second > 0 and _NEARLY_ALL * detection.line_count <= best + second <= detection.line_count


def _check_one_source(choices: Choices, source: str) -> None:
    if len(choices.distinct) > 1:
        first_paths = {log_format.name: path for path, log_format in reversed(choices.formats.items())}
        listed = ", ".join(f"{path} is {name}" for name, path in sorted(first_paths.items()))
        raise SourceError(
            f"source '{source}' would have several formats: {listed}",
            hint="Omit --source: each file then goes to its format's source. Or load one format at a time.",
        )


def _check_counted_once(choices: Choices) -> None:
    found = [name for name in SAME_TRANSFERS if find_format(name) in choices.distinct]
    if len(found) > 1:
        raise SourceError(
            f"files of formats {' and '.join(found)} report the same transfers, which would count twice",
            hint="Load one format at a time (--format), and give --not-counted for one of them:"
            " docs/how-to/load-logs.md says for which.",
        )
