"""Parses the lines of one file or of several together, and determines the fate of each segment.

Parsing a few lines takes as long as parsing thousands, so small files are parsed together. What depends on
the order of the lines in a file (occurrences, second passes) is kept by file.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.ingest.pseudonyms.hiding import hide_names
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.file_parts import KnownSegment, Part, PartGroup, SegmentFate
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.reading.occurrences import EPOCH, OccurrenceCounter
from tapewise.ingest.reading.second_passes import SecondPasses
from tapewise.ingest.reading.segments import Segment
from tapewise.ingest.records.format import OUTSIDE_WINDOW, Format, LineSettings, ignore_forgotten
from tapewise.ingest.records.further_facts import settle_further


@dataclass(frozen=True)
class OpenLog:
    """A file to be read, what its records depend on besides its lines, and the balance of this reading."""

    reader: LogFileReader
    settings: LineSettings
    tally: Tally


@dataclass(frozen=True)
class Run:
    """Consecutive segments of a file that are to be parsed; `lines` has only their lines."""

    file: int
    segments: list[Segment]
    lines: pl.DataFrame


def slice_lines(lines: pl.DataFrame, segments: Sequence[Segment]) -> pl.DataFrame:
    """Return the lines of consecutive segments, which are among `lines` of their file."""
    begin = segments[0].first_line_number - int(lines["line_number"][0])
    return lines.slice(begin, sum(segment.line_count for segment in segments))


class Parser:
    """Parses the lines of several files together. Each file's lines must be given in order."""

    def __init__(
        self, files: Sequence[OpenLog], log_format: Format, key: PseudonymKey | None, stack: ExitStack
    ) -> None:
        self._files = files
        self._format = log_format
        self._key = key
        self._occurrences = [stack.enter_context(OccurrenceCounter(file.reader.path)) for file in files]
        self._passes = [SecondPasses(file.settings.timezone) for file in files]
        # The files of the segments that may be stored.
        self._fresh: dict[UUID, int] = {}

    def pass_over(self, file: int, segment: Segment, known: KnownSegment, lines: pl.DataFrame) -> Part | None:
        """Return a part with only a known segment, or None if it must be parsed nevertheless."""
        own = slice_lines(lines, [segment])
        # Blank lines often repeat, and are never facts.
        hashes = own["line_hash"].filter(own["text"] != "")
        fate = known.fate
        if not self._occurrences[file].pass_over(hashes, fate.first_event_at, fate.last_event_at):
            return None
        self._passes[file].pass_over(fate.last_event_at)
        return Part(file, segment.first_line_number, segment.line_count, known=[(segment, known)])

    def parse(self, runs: Sequence[Run], known_parts: list[Part]) -> PartGroup:
        """Parse the lines of `runs`; the result also contains `known_parts`, which come before them."""
        if not runs:
            return PartGroup(known_parts)
        starts = np.cumsum([0, *(run.lines.height for run in runs)])
        # Without `rechunk`, each later step would process several chunks and join the results by column.
        lines = pl.concat([run.lines for run in runs]).rechunk()
        places = np.repeat(np.array([run.file for run in runs], np.int32), np.diff(starts))
        records, further = self._parse_texts(lines["text"], places)
        records = lines.hstack([pl.Series("file", places)]).hstack(records)
        if self._key is not None:
            records = hide_names(records, self._format, self._key)
        records = records.with_columns(self._number(records, runs, starts))
        if further is not None:
            lineage = records.select("file", "line_number", "line_hash", "text", "occurrence")[further["row"]]
            further = further.hstack(lineage)
            if self._key is not None:
                further = hide_names(further, self._format, self._key)
        segments = [segment for run in runs for segment in run.segments]
        fates = iter(_find_fates(segments, records, further))
        is_ambiguous = bool(records["is_time_ambiguous"].any())
        parts = []
        for run, begin, end in zip(runs, starts.tolist(), starts[1:].tolist(), strict=False):
            rows = further_rows = None
            if is_ambiguous:
                rows = records.slice(begin, end - begin)
                if further is not None:
                    further_rows = further.filter(pl.col("row").is_between(begin, end, closed="left"))
            parts.append(self._make_part(run, begin, [next(fates) for _ in run.segments], rows, further_rows))
        further = None if further is None else further.drop("row")
        return PartGroup([*known_parts, *parts], records, further)

    def _parse_texts(
        self, texts: pl.Series, places: npt.NDArray[np.int32]
    ) -> tuple[pl.DataFrame, pl.DataFrame | None]:
        """Return the records of lines, and their further facts; `places` are those of their files."""
        by_settings: defaultdict[LineSettings, list[int]] = defaultdict(list)
        for place in np.unique(places).tolist():
            by_settings[self._files[place].settings].append(place)
        parsed = [
            _parse(self._format, texts, settings, None)
            if len(by_settings) == 1
            else _parse(self._format, texts, settings, np.flatnonzero(np.isin(places, own)))
            for settings, own in by_settings.items()
        ]
        records = pl.concat([each.records for each in parsed])
        if len(parsed) > 1:
            records = records[np.argsort(np.concatenate([each.rows for each in parsed]))]
        further = [each.further for each in parsed if each.further is not None]
        return records, pl.concat(further).sort("row", maintain_order=True) if further else None

    def _number(self, records: pl.DataFrame, runs: Sequence[Run], starts: npt.NDArray[np.int64]) -> pl.Series:
        """Return the column `occurrence`, which is null for lines that are not facts."""
        hashes = records["line_hash"].to_numpy()
        is_fact = records["event_at"].is_not_null()
        facts = is_fact.to_numpy()
        times_us = records["event_at"].to_physical().fill_null(0).to_numpy()
        numbers = [
            self._occurrences[run.file].number(hashes[begin:end], times_us[begin:end], facts[begin:end])
            for run, begin, end in zip(runs, starts, starts[1:], strict=False)
        ]
        numbered = pl.DataFrame({"occurrence": np.concatenate(numbers).astype(np.int32), "is_fact": is_fact})
        return numbered.select(pl.when("is_fact").then("occurrence").alias("occurrence")).to_series()

    def _make_part(
        self,
        run: Run,
        first_row: int,
        fates: list[tuple[SegmentFate, bool]],
        records: pl.DataFrame | None,
        further: pl.DataFrame | None,
    ) -> Part:
        """Make the part of a run. `records` and `further` are its own, if the group has ambiguous times."""
        passes = self._passes[run.file]
        repeats = None
        if records is not None:
            repeats = passes.find(records, further)
        else:
            passes.pass_over(
                max((fate.last_event_at for fate, _ in fates if fate.last_event_at), default=None)
            )
        parsed = [(segment, fate) for segment, (fate, _) in zip(run.segments, fates, strict=True)]
        fresh = [each for each, (_, is_lasting) in zip(parsed, fates, strict=True) if is_lasting]
        first = run.segments[0]
        is_copy = (
            first.first_line_number == 1
            and len(run.segments) == 1
            and self._fresh.get(first.digest, run.file) != run.file
        )
        if is_copy:
            fresh = []
        for segment, _ in fresh:
            self._fresh.setdefault(segment.digest, run.file)
        return Part(
            run.file,
            first.first_line_number,
            run.lines.height,
            first_row,
            parsed=parsed,
            fresh=fresh,
            is_copy=is_copy,
            repeats=repeats,
        )


@dataclass(frozen=True)
class _Parsed:
    """The records of lines and their further facts; `rows` are the lines' places among those of the group."""

    rows: npt.NDArray[np.int64]
    records: pl.DataFrame
    further: pl.DataFrame | None


def _parse(
    log_format: Format, texts: pl.Series, settings: LineSettings, rows: npt.NDArray[np.int64] | None
) -> _Parsed:
    """Parse the lines in `rows` (None: all)."""
    own = texts if rows is None else texts.gather(rows)
    rows = np.arange(len(texts)) if rows is None else rows
    records, further = log_format.parse(own, settings), None
    if log_format.parse_further is not None:
        records, further = settle_further(records, log_format.parse_further(own, settings), settings)
        further = further.with_columns(pl.Series(rows).gather(further["row"]).alias("row"))
    return _Parsed(rows, ignore_forgotten(records, settings), further)


def _find_fates(
    segments: Sequence[Segment], records: pl.DataFrame, further: pl.DataFrame | None
) -> list[tuple[SegmentFate, bool]]:
    """Return the fates of the segments, and whether their lines have the same ones wherever they appear.

    `records` has the lines of the segments in order, and `row` of `further` refers to it. A segment may
    contain a line that also appears earlier in the file. In a file that begins with the segment, this line
    has a lower occurrence, which the warehouse holds too.
    """
    starts = np.cumsum([0, *(segment.line_count for segment in segments)])[:-1]
    is_fact = records["table"].is_not_null().to_numpy()
    at_us = records["event_at"].to_physical()
    fact_counts = np.add.reduceat(is_fact, starts, dtype=np.int64)
    first_us = np.minimum.reduceat(at_us.fill_null(np.iinfo(np.int64).max).to_numpy(), starts)
    last_us = np.maximum.reduceat(at_us.fill_null(np.iinfo(np.int64).min).to_numpy(), starts)
    ignored, rejected = (_count_by_segment(records[reason], starts) for reason in ("ignored", "rejected"))
    is_ambiguous = np.logical_or.reduceat(records["is_time_ambiguous"].fill_null(False).to_numpy(), starts)
    if further is not None and not further.is_empty():
        indexes = np.searchsorted(starts, further["row"].to_numpy(), side="right") - 1
        np.minimum.at(first_us, indexes, further["event_at"].to_physical().to_numpy())
        is_ambiguous[indexes[further["is_time_ambiguous"].fill_null(False).to_numpy()]] = True
    return [
        (
            SegmentFate(
                segment.line_count,
                int(fact_counts[index]),
                ignored[index],
                rejected[index],
                _make_time(first_us[index]) if fact_counts[index] else None,
                _make_time(last_us[index]) if fact_counts[index] else None,
            ),
            # Fates may change if a time is in the future, because it will be in the past later, or if a time
            # is ambiguous, because earlier lines of another file may show which time is meant.
            OUTSIDE_WINDOW not in rejected[index] and not is_ambiguous[index],
        )
        for index, segment in enumerate(segments)
    ]


def _make_time(at_us: np.int64) -> datetime:
    return EPOCH + timedelta(microseconds=int(at_us))


def _count_by_segment(reasons: pl.Series, starts: npt.NDArray[np.int64]) -> defaultdict[int, Counter[str]]:
    """Return how many lines have each reason, by segment. The segments begin at rows `starts`."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    rows = reasons.is_not_null().arg_true()
    indexes = np.searchsorted(starts, rows.to_numpy(), side="right") - 1
    for index, reason in zip(indexes.tolist(), reasons.gather(rows), strict=True):
        counts[index][reason] += 1
    return counts
