"""The files of a load, and the result of reading each."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from tapewise.ingest.ledger.log_files import LogFileRow
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.reading.log_dates import LogDate
from tapewise.ingest.reading.parsing import OpenLog
from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.records.format import UNRECOGNISED, Format, LineSettings
from tapewise.schema.errors import LogFileError


@dataclass(frozen=True)
class FileResult:
    """The result of one reading of a file; `path` is as given by the user."""

    path: Path
    tally: Tally
    waiting_bytes: int
    is_unchanged: bool = False
    # The day that was assumed for lines that do not contain it.
    log_date: LogDate | None = None

    def find_fault(self, log_format: Format) -> LogFileError | None:
        """If every line was rejected, return the error that the format or day seems wrong, otherwise None."""
        rejected = self.tally.rejected
        if not self.tally.is_all_rejected:
            return None
        reasons = [reason for reason, _ in rejected.most_common() if reason != UNRECOGNISED]
        if not reasons:
            return LogFileError(f"{self.path}: no line of it is in format {log_format.name}")
        day = f", read {self.log_date.describe()}" if self.log_date is not None else ""
        return LogFileError(
            f"{self.path}: all of its lines are rejected, as {reasons[0]}{day}",
            hint="If this is not the day of the file, give the right one: --date." if day else None,
        )


@dataclass
class FileOfLoad:
    """A file of a load. It continues the reading `known`, or is read as a new file."""

    path: Path
    name: str
    log_date: date | None
    log_date_from: str | None
    known: LogFileRow | None
    tally: Tally = field(default_factory=Tally)
    repeats: list[Repeats] = field(default_factory=list)
    _reader: LogFileReader | None = None

    def open(self, reader: LogFileReader, settings: LineSettings) -> OpenLog:
        """Let `reader` be the one that reads the file."""
        self._reader = reader
        return OpenLog(reader, settings, self.tally)

    @property
    def reader(self) -> LogFileReader:
        """The open file."""
        assert self._reader is not None
        return self._reader

    @property
    def result(self) -> FileResult:
        """The result, once the file was read."""
        return FileResult(self.path, self.tally, self.reader.waiting_bytes)
