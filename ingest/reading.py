"""From a log file's blocks to numbered records, and what becomes of each line.

Needs no database: a dry run, a load and `explain line` read a file in the same way.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from ingest.files import LogFileReader
from ingest.formats.base import Format, LineSettings
from ingest.occurrences import OccurrenceCounter
from ingest.pseudonym_keys import PseudonymKey
from ingest.pseudonyms import hide_names
from schema.models import FACT_TABLES

SAMPLES = 3


@dataclass
class Tally:
    """The balance of one reading of a file: `line_count` is the sum of all the others.

    `loaded` counts new facts by table, `ignored` and `rejected` lines by reason; `held_count` are
    lines whose facts the warehouse had already. The event times span all facts, new or held;
    `rejected_samples` are the first few rejected lines: number, reason, text (None where names are hidden).
    """

    line_count: int = 0
    held_count: int = 0
    loaded: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    rejected_samples: list[tuple[int, str, str | None]] = field(default_factory=list)
    first_event_at: datetime | None = None
    last_event_at: datetime | None = None

    @property
    def loaded_count(self) -> int:
        """Facts that this reading added."""
        return self.loaded.total()

    @property
    def is_all_rejected(self) -> bool:
        """Whether there were lines, and none could be read: then the format is the wrong one."""
        return self.rejected.total() > 0 and self.loaded_count + self.held_count == 0

    def add_block(self, newline_count: int, records: pl.DataFrame) -> None:
        """Count a block: its lines as its bytes have them, and the fates that need no warehouse."""
        self.line_count += newline_count
        self.ignored.update(_count(records["ignored"]))
        rejected = records.filter(pl.col("rejected").is_not_null())
        self.rejected.update(_count(rejected["rejected"]))
        room = SAMPLES - len(self.rejected_samples)
        self.rejected_samples += rejected.select("line_number", "rejected", "text").head(room).rows()
        first, last = records["event_at"].min(), records["event_at"].max()
        if isinstance(first, datetime) and isinstance(last, datetime):
            self.first_event_at = min(first, self.first_event_at or first)
            self.last_event_at = max(last, self.last_event_at or last)

    def add_facts(self, table: str, found_count: int, new_count: int) -> None:
        """Count `found_count` lines that are facts of `table`, `new_count` of them new."""
        self.loaded[table] += new_count
        self.held_count += found_count - new_count


def read_records(
    reader: LogFileReader,
    log_format: Format,
    settings: LineSettings,
    tally: Tally,
    key: PseudonymKey | None = None,
) -> Iterator[pl.DataFrame]:
    """The record frame of each block of the file, with each line's identity beside it.

    To the columns of `RECORD_SCHEMA` come `line_number`, `line_hash`, `text` and `occurrence`.
    Counts lines and fates into `tally`. With a `key` names are pseudonyms, and `text` is null.
    """
    occurrences = OccurrenceCounter()
    for block in reader.blocks():
        records = block.lines.hstack(log_format.parse(block.lines["text"], settings))
        if key is not None:
            records = hide_names(records, log_format, key)
        records = records.with_columns(occurrences.number(records))
        tally.add_block(block.newline_count, records)
        yield records


def split_by_table(records: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The records that are facts, table by table, without the texts of their lines."""
    # Copying costs more than comparing: what facts never have is left behind first.
    told = records.drop("text", "ignored", "rejected")
    for table in FACT_TABLES:
        rows = told.filter(pl.col("table") == table.name)
        if not rows.is_empty():
            yield table.name, rows


def _count(reasons: pl.Series) -> dict[str, int]:
    counted = reasons.drop_nulls().value_counts(name="line_count")
    return dict(zip(counted[reasons.name], counted["line_count"], strict=True))
