"""The dry run of a load: reads a file and compares it with what the warehouse holds, but writes nothing."""

from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime
from functools import partial
from pathlib import Path

from tapewise.ingest.ledger.known_segments import find_segments
from tapewise.ingest.ledger.other_sources import OtherHolders
from tapewise.ingest.ledger.resuming import FileRequest, check_dates, find_last_stops, settle_date
from tapewise.ingest.ledger.stored_identities import StoredIdentities
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.one_load import Progress, check_key
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.interruptions import begins_again, converting_errors
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.reading.parsing import OpenLog
from tapewise.ingest.reading.pipeline import find_new, read_parts
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Role, Warehouse


@begins_again
def preview_file(
    warehouse: Warehouse,
    source: Source,
    path: Path,
    *,
    now: datetime,
    log_date: date | None = None,
    dates: DateRule | None = None,
    is_complete: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,  # noqa: ARG001  # same signature as load_file; it never waits
) -> FileResult:
    """Return the result that `load_file` would give, without writing anything."""
    check_key(source)
    said = settle_date(source, path, log_date, dates)
    day = said.day if said else None
    settings = source.line_settings(now, day)
    with (
        converting_errors(path),
        closing(warehouse.connect(Role.LOADER)) as connection,
        open_log(path, is_complete=is_complete, key=source.key) as reader,
    ):
        tally = Tally()
        if day is not None:
            request = FileRequest(path, log_date=log_date, dates=dates, is_complete=is_complete)
            find_last_stops(connection, source, [request])
        find_known = partial(find_segments, connection, source.id)
        stored = StoredIdentities(connection, connection, source)
        others = OtherHolders(connection, source, [(path, day)])
        log = OpenLog(reader, settings, tally)
        for group in read_parts([log], source.format, find_known, source.key):
            for part in group.parts:
                tally.add_part(part, group)
            for _ in find_new(group, stored.drop_held, [tally]):
                pass
            others.look_at(group, [tally.loaded_count])
            if progress is not None:
                progress(reader.progress_bytes)
        others.end([tally.loaded_count])
        check_dates(connection, source, [(path, None, day, tally, reader.digest)])
        return FileResult(path, tally, reader.waiting_bytes, log_date=said)
