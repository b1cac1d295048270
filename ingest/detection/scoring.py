"""Detects which formats fit a log file, by applying one rule to a sample of its lines.

A line fits a format if it becomes a fact, is ignored for a reason, or is rejected for its contents (an
impossible date, a number out of range). A line that is rejected as "not a line of this format" does not fit.
Blank lines do not count. A format whose lines have no date is tried with an arbitrary date, which does not
affect the fit.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from tapewise.ingest.detection.examples import EXAMPLE_DATE
from tapewise.ingest.detection.known_prefixes import KnownPrefix, find_prefix
from tapewise.ingest.formats.registry import list_formats
from tapewise.ingest.reading.files import LogFileReader, open_log
from tapewise.ingest.reading.line_context import unfold_lines
from tapewise.ingest.reading.lines import split_lines
from tapewise.ingest.records.format import BLANK, UNRECOGNISED, Format, LineSettings
from tapewise.ingest.records.prefixed_lines import strip_prefix
from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.schema.errors import LogFileError

# This is ten thousand lines or more. Trying all formats on three pieces takes about a second.
PIECE_BYTES = 600_000
# Files are examined together until there is this much of them.
TOGETHER_BYTES = 1_000_000
# Logs should not have longer lines than this. If one does, only this much of the line is examined.
MAX_LINE_BYTES = 8_000_000
# The best format must fit at least the first percentage of the lines, and every other format at most the
# second.
BEST_PERCENT = 95
OTHERS_PERCENT = 5
WHOLE = ("all",)


@dataclass(frozen=True)
class FormatFit:
    """How many of the `line_count` examined lines (without blank ones) are lines of the format."""

    format: Format
    fit_count: int
    line_count: int

    @property
    def fit_ratio(self) -> float:
        """The share of the lines that fit; 0 if there are no lines."""
        return self.fit_count / self.line_count if self.line_count else 0.0


@dataclass(frozen=True)
class Detection:
    """How well each format fits a file.

    `line_count` nonblank lines were examined at these `places` of the file: the beginning, middle and end, or
    all of it. `fits` contains every format, the best first. `is_unfinished` is true if the file is empty, or
    is a single line without a newline. If no format fits the lines as they are, but one fits most of them
    once what a known program writes before each line is removed, `known_prefix` is what to remove, and
    `behind_prefix` is how the file then looks.
    """

    path: Path
    places: tuple[str, ...]
    line_count: int
    fits: tuple[FormatFit, ...]
    is_unfinished: bool = False
    known_prefix: KnownPrefix | None = None
    behind_prefix: "Detection | None" = None

    @property
    def is_whole(self) -> bool:
        """Whether all lines of the file were examined."""
        return self.places == WHOLE

    @property
    def format(self) -> Format | None:
        """The detected format, or None."""
        return choose_format(self.fits)

    def suggest_prefix(self) -> tuple[str, str] | None:
        """Say which lines there are behind a known prefix, and which options read them; or None."""
        if self.known_prefix is None or self.behind_prefix is None:
            return None
        best = self.behind_prefix.fits[0]
        share = "they are" if best.fit_count == best.line_count else f"{describe_share(best)} are"
        options = f"--strip '{self.known_prefix.pattern}'"
        if self.behind_prefix.format is None:
            options += f" --format {best.format.name}"
        return (
            f"behind what {self.known_prefix.kept_by} writes before each line, {share} lines of"
            f" {best.format.name}",
            options,
        )


def choose_format(fits: Sequence[FormatFit]) -> Format | None:
    """The best format if it fits at least 95 % of the lines and every other one at most 5 %; else None."""
    best, *others = sorted(fits, key=lambda fit: -fit.fit_count)
    is_best = best.line_count > 0 and best.fit_count * 100 >= BEST_PERCENT * best.line_count
    are_apart = all(fit.fit_count * 100 <= OTHERS_PERCENT * fit.line_count for fit in others)
    return best.format if is_best and are_apart else None


@dataclass(frozen=True)
class _Sample:
    """The lines of a file that are examined, without blank ones; the other fields are those of Detection."""

    path: Path
    places: tuple[str, ...]
    lines: pl.Series
    byte_count: int
    is_unfinished: bool


def detect_format(path: Path, prefix: str | None = None) -> Detection:
    """Determine how well each format fits the file, as `detect_formats` does.

    Raises LogFileError if the file cannot be read.
    """
    [found] = detect_formats([path], prefix)
    if isinstance(found, LogFileError):
        raise found
    return found


def detect_formats(paths: Iterable[Path], prefix: str | None = None) -> Iterator[Detection | LogFileError]:
    """Yield for each file how well each format fits it, or why it cannot be read.

    A megabyte or two of a file are examined. A small file is examined completely, a large one at its
    beginning, middle and end. A large compressed file is examined only at its beginning, because reading
    cannot start anywhere else. A last line without a newline may be unfinished, so it does not count unless
    it is the only line. What matches `prefix` is removed from lines first.
    """
    # Trying all formats on a few lines takes as long as on thousands, so small files are examined together.
    waiting: list[_Sample | LogFileError] = []
    waiting_bytes = 0
    for path in paths:
        try:
            sample = _take_sample(path, prefix)
        except LogFileError as error:
            waiting.append(error)
            continue
        waiting.append(sample)
        waiting_bytes += sample.byte_count
        if waiting_bytes >= TOGETHER_BYTES:
            yield from _examine_behind_prefixes(waiting, prefix)
            waiting, waiting_bytes = [], 0
    yield from _examine_behind_prefixes(waiting, prefix)


def _examine_behind_prefixes(
    waiting: Sequence[_Sample | LogFileError], prefix: str | None
) -> Iterator[Detection | LogFileError]:
    """Examine the files, and if no format fits one and no prefix was given, what follows a known prefix."""
    found = list(_examine(waiting))
    prefixes: dict[int, KnownPrefix] = {}
    bare: list[_Sample | LogFileError] = []
    for place, (sample, detection) in enumerate(zip(waiting, found, strict=True)):
        if prefix is None and isinstance(detection, Detection) and isinstance(sample, _Sample):
            known = find_prefix(sample.lines) if detection.format is None else None
            if known is not None:
                prefixes[place] = known
                bare.append(replace(sample, lines=strip_prefix(sample.lines, known.pattern)))
    for (place, known), behind in zip(prefixes.items(), _examine(bare), strict=True):
        detection = found[place]
        if isinstance(detection, Detection) and isinstance(behind, Detection):
            best = behind.fits[0]
            if 2 * best.fit_count > max(behind.line_count, 2 * detection.fits[0].fit_count):
                found[place] = replace(detection, known_prefix=known, behind_prefix=behind)
    yield from found


def _examine(waiting: Sequence[_Sample | LogFileError]) -> Iterator[Detection | LogFileError]:
    samples = [each for each in waiting if isinstance(each, _Sample)]
    formats = list(list_formats().values()) if samples else []
    counts = iter(zip(*(_count_fits(each, samples) for each in formats), strict=True))
    for sample in waiting:
        if isinstance(sample, LogFileError):
            yield sample
            continue
        line_count = sample.lines.len()
        fits = [FormatFit(each, count, line_count) for each, count in zip(formats, next(counts), strict=True)]
        ordered = tuple(sorted(fits, key=lambda fit: -fit.fit_count))
        yield Detection(sample.path, sample.places, line_count, ordered, sample.is_unfinished)


def _take_sample(path: Path, prefix: str | None) -> _Sample:
    with open_log(path) as reader:
        places, pieces, is_unfinished = _take_pieces(reader)
    content = b"".join(pieces)
    lines = strip_prefix(split_lines(content)["text"], prefix)
    lines = lines.filter(lines.str.strip_chars(" \t\r") != "")
    return _Sample(path, places, lines, len(content), is_unfinished)


def describe_share(fit: FormatFit) -> str:
    """The share that fits, to 0.1 %; `100.0 %` only if all lines fit, and `0.0 %` only if none does."""
    tenths = 1000 * fit.fit_count
    # This rounds towards 50 %, so a share that misses a threshold is not shown as reaching it.
    is_most = 2 * fit.fit_count >= fit.line_count
    return f"{(tenths // fit.line_count if is_most else -(-tenths // fit.line_count)) / 10:.1f} %"


def _count_fits(log_format: Format, samples: Sequence[_Sample]) -> list[int]:
    """Return how many lines of each sample fit the format."""
    settings = LineSettings(
        "UTC",
        log_format.clock_resolution_s,
        EARLIEST_AT,
        datetime.max.replace(tzinfo=UTC),
        log_date=EXAMPLE_DATE if log_format.is_dated_by_file else None,
    )
    lines = pl.concat([unfold_lines(sample.lines, log_format) for sample in samples], rechunk=True)
    records = log_format.parse(lines, settings)
    is_none = (pl.col("rejected") == UNRECOGNISED) | (pl.col("ignored") == BLANK)
    is_fit = records.select(is_none.fill_null(False).not_()).to_series().to_numpy()
    places = np.repeat(np.arange(len(samples)), [sample.lines.len() for sample in samples])
    return [int(count) for count in np.bincount(places[is_fit], minlength=len(samples))]


def _take_pieces(reader: LogFileReader) -> tuple[tuple[str, ...], list[bytes], bool]:
    """The names of the sampled places, their complete lines, and whether the file has no newline yet."""
    head = _read_up_to(reader, 3 * PIECE_BYTES)
    if len(head) < 3 * PIECE_BYTES:
        return WHOLE, [_whole_lines(head)], b"\n" not in head
    if reader.read_raw(0, PIECE_BYTES) != head[:PIECE_BYTES]:
        # The file is compressed, and only its beginning was unpacked.
        return ("beginning",), [_whole_lines(_finish_line(reader, head))], False
    pieces = [_whole_lines(_finish_line(reader, head[:PIECE_BYTES], head[PIECE_BYTES:]))]
    for start in ((reader.raw_bytes - PIECE_BYTES) // 2, reader.raw_bytes - PIECE_BYTES):
        # `start` is most likely in the middle of a line, so the part up to the newline is dropped.
        piece = reader.read_raw(start, PIECE_BYTES).partition(b"\n")[2]
        pieces.append(_whole_lines(piece, is_rest=True))
    return ("beginning", "middle", "end"), pieces, False


def _read_up_to(reader: LogFileReader, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := reader.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _finish_line(reader: LogFileReader, head: bytes, rest: bytes = b"") -> bytes:
    """`head`, extended from `rest` and then from the reader until it contains at least one complete line."""
    for piece in _rest_pieces(reader, rest):
        if b"\n" in head or len(head) > MAX_LINE_BYTES:
            break
        head += piece.partition(b"\n")[0] + (b"\n" if b"\n" in piece else b"")
    return head


def _rest_pieces(reader: LogFileReader, rest: bytes) -> Iterator[bytes]:
    yield rest
    while piece := reader.read(PIECE_BYTES):
        yield piece


def _whole_lines(content: bytes, *, is_rest: bool = False) -> bytes:
    """The complete lines of `content`; if there are none, all of it as one line, or nothing if `is_rest`."""
    end = content.rfind(b"\n") + 1
    if end or is_rest or not content:
        return content[:end]
    return content + b"\n"
