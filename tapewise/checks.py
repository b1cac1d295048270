"""The checks of `tapewise doctor`. Each check yields findings, which have a verdict and a sentence."""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql

from tapewise.ingest.nightly.run import find_rounds
from tapewise.ingest.nightly.sources import SourcePlan
from tapewise.schema.access.roles import find_revocations, find_temporary_files_limit
from tapewise.schema.database import Warehouse
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.source_states import SourceState
from tapewise.status import describe_span

RECENT = timedelta(days=7)
SUSPECT_LINES = 10
SUSPECT_TIMES = 2
RULE_OF_THREE = 3  # an event never seen in n lines has a share below 3 / n, with 95 % confidence
CLOCK_ERROR = timedelta(hours=1)
MONTH = timedelta(days=30)
LEAST_FREE_RATIO = 0.1
LONGEST_RUN = timedelta(hours=24)
GB = 1e9


@dataclass(frozen=True)
class Finding:
    """A result of a check. A `note` is not a failure; `unknown` means that the check was not possible."""

    check: str
    verdict: Literal["ok", "wrong", "note", "unknown"]
    sentence: str


def check_globs(plans: list[SourcePlan]) -> Iterator[Finding]:
    """Check that every configured glob matches at least one file, and only regular files."""
    is_wrong = False
    for plan in plans:
        label = f"{plan.request.archive}/{plan.request.name}"
        odd = [path for path in plan.paths if path.exists() and not path.is_file()]
        for said in [*plan.unmatched, *(f"{path} is not a regular file" for path in odd)]:
            is_wrong = True
            yield Finding("globs", "wrong", f"Source {label}: {said}{'' if said.endswith('?') else '.'}")
    if plans and not is_wrong:
        count = sum(len(plan.paths) for plan in plans)
        yield Finding("globs", "ok", f"All configured globs match files, {count:,} in total.")


def check_sources(
    connection: psycopg.Connection, plans: list[SourcePlan], states: list[SourceState], now: datetime
) -> Iterator[Finding]:
    """Check that each configured source has a recent line, and note sources that are not configured.

    Silence is not a fault while an outage of the archive lasts.
    """
    known = {(state.archive, state.source): state for state in states}
    for plan in plans:
        state = known.pop((plan.request.archive, plan.request.name), None)
        label = f"{plan.request.archive}/{plan.request.name}"
        if state is None or state.last_event_at is None:
            yield Finding("sources", "wrong", f"The warehouse has no line of source {label} yet.")
            continue
        lag = now - state.last_event_at
        if lag < -CLOCK_ERROR:
            ahead = f"The last line of source {label} is {describe_span(-lag)} ahead of now"
            yield Finding("sources", "wrong", f"{ahead}: a clock or a time zone is wrong.")
            continue
        said = f"The last line of source {label} is {describe_span(lag)} old"
        limit = timedelta(hours=plan.settings.silent_after_hours)
        if lag <= limit:
            yield Finding("sources", "ok", f"{said}.")
            continue
        outage = connection.execute(
            "SELECT note FROM mart.outages WHERE archive = %s AND started_at <= %s"
            " AND (ended_at IS NULL OR ended_at > %s) ORDER BY started_at LIMIT 1",
            [state.archive, now, now],
        ).fetchone()
        if outage is not None:
            yield Finding("sources", "ok", f"{said}: an outage explains it ('{outage[0]}').")
        else:
            yield Finding("sources", "wrong", f"{said}; the limit is {describe_span(limit)}.")
    for state in known.values():
        said = f"Source {state.label} is in the warehouse, but not in the configuration"
        if not state.file_count:
            said += ", and none of its files was loaded: load its logs, or `tapewise sources drop` it"
        yield Finding("sources", "note", f"{said}.")


def check_archives(connection: psycopg.Connection) -> Iterator[Finding]:
    """Note archives without a source. A first load leaves one behind if it is killed at once.

    `connection` must be a loader's.
    """
    for (name,) in connection.execute(
        "SELECT name FROM core.archives WHERE NOT EXISTS"
        " (SELECT FROM ledger.sources WHERE archive_id = archives.id) ORDER BY name"
    ):
        said = f"Archive {name} has no source. Load its logs, or `tapewise archives drop` it."
        yield Finding("sources", "note", said)


def check_rejects(connection: psycopg.Connection, state: SourceState) -> Iterator[Finding]:
    """Check that the share of rejected lines in a source's last 7 days has not risen.

    The finding is "wrong" if at least 10 lines are rejected and their share is more than twice the upper
    bound of the earlier share. That bound is (rejected + 3) / lines. If no earlier line was rejected, it is a
    95 % bound (the rule of three: J. A. Hanley and A. Lippman-Hand, JAMA 249, 1983); if some were, its
    confidence is lower. The finding is also "wrong" if all recent lines (at least 10) are rejected and at
    most half of the earlier lines were. The date of a file is that of its last event or, if it has none, of
    its first reading. So a single log that grows for ever cannot be compared with itself.
    """
    row = connection.execute(
        "WITH files AS (SELECT line_count, rejected_count, coalesce(last_event_at, first_read_at) AS dated_at"
        " FROM mart.log_files WHERE archive = %s AND source = %s),"
        " split AS (SELECT max(dated_at) - %s AS recent_at FROM files)"
        " SELECT coalesce(sum(line_count) FILTER (WHERE dated_at > recent_at), 0)::bigint,"
        " coalesce(sum(rejected_count) FILTER (WHERE dated_at > recent_at), 0)::bigint,"
        " coalesce(sum(line_count) FILTER (WHERE dated_at <= recent_at), 0)::bigint,"
        " coalesce(sum(rejected_count) FILTER (WHERE dated_at <= recent_at), 0)::bigint FROM files, split",
        [state.archive, state.source, RECENT],
    ).fetchone()
    assert row is not None
    line_count, rejected_count, line_count_before, rejected_count_before = row
    if not line_count:
        return
    ratio = rejected_count / line_count
    said = f"In the last 7 days of source {state.label}, {ratio:.2%} of the lines were rejected"
    if line_count_before:
        said += f", and {rejected_count_before / line_count_before:.2%} before that"
    else:
        said += "; there are no older files to compare with"
    # All numbers are whole, so rounding cannot move the limit. Without older lines, `is_risen` is never true.
    most_before = rejected_count_before + RULE_OF_THREE
    is_risen = rejected_count * line_count_before > SUSPECT_TIMES * most_before * line_count
    # With few older lines, the limit above cannot be reached even if all lines are rejected.
    is_all = rejected_count == line_count and SUSPECT_TIMES * rejected_count_before <= line_count_before
    is_wrong = (is_risen or is_all) and rejected_count >= SUSPECT_LINES
    yield Finding("rejects", "wrong" if is_wrong else "ok", f"{said}.")


def check_ledger(connection: psycopg.Connection, row_limit: int) -> Iterator[Finding]:
    """Check that the tables of facts hold as many lines and rows of each file as the ledger says.

    Recounts the lines of each file, and its rows by table and month. Takes the files whose last events are
    the latest, up to `row_limit` lines in total, but at least one file. `connection` must be a loader's.
    """
    files = connection.execute(
        "SELECT id, path, loaded_count, first_event_at, last_event_at FROM ("
        " SELECT *, sum(loaded_count) OVER (ORDER BY last_event_at DESC, id DESC) - loaded_count"
        " AS rows_before"
        " FROM ledger.log_files WHERE last_event_at IS NOT NULL) AS files"
        " WHERE rows_before = 0 OR rows_before + loaded_count <= %s ORDER BY id",
        [row_limit],
    ).fetchall()
    if not files:
        return
    first_at, last_at = min(row[3] for row in files), max(row[4] for row in files)
    numbers = [row[0] for row in files]
    line_counts = dict.fromkeys(numbers, 0)
    row_counts: dict[tuple[int, str, date], int] = {}
    for table in FACT_TABLES:
        found = connection.execute(
            sql.SQL(
                "SELECT log_file_id, date_trunc('month', {time} AT TIME ZONE 'UTC')::date, count(*),"
                " count(*) FILTER (WHERE ordinal = 0)"
                " FROM {table} WHERE {time} BETWEEN %s AND %s AND log_file_id = ANY(%s) GROUP BY 1, 2"
            ).format(
                table=sql.Identifier("core", table.name), time=sql.Identifier(event_time_columns[table.name])
            ),
            [first_at, last_at, numbers],
        )
        for log_file_id, month, row_count, line_count in found:
            row_counts[log_file_id, table.name, month] = row_count
            line_counts[log_file_id] += line_count
    noted = {
        (log_file_id, table_name, month): row_count
        for log_file_id, table_name, month, row_count in connection.execute(
            "SELECT log_file_id, fact_table, month, sum(row_count)::bigint FROM ledger.loaded_rows"
            " WHERE log_file_id = ANY(%s) GROUP BY 1, 2, 3 HAVING sum(row_count) > 0",
            [numbers],
        )
    }
    keys = defaultdict(set)
    for key in noted.keys() | row_counts.keys():
        keys[key[0]].add(key)
    is_wrong = False
    for number, path, loaded_count, *_ in files:
        if line_counts[number] != loaded_count:
            is_wrong = True
            said = f"{path}: the ledger has {loaded_count:,} loaded lines, core has {line_counts[number]:,}."
            yield Finding("ledger", "wrong", said)
            continue
        for key in sorted(keys[number]):
            _, table_name, month = key
            if noted.get(key, 0) != row_counts.get(key, 0):
                is_wrong = True
                said = (
                    f"{path}: the ledger has {noted.get(key, 0):,} rows of {month:%Y-%m} in"
                    f" core.{table_name}, the table has {row_counts.get(key, 0):,}."
                )
                yield Finding("ledger", "wrong", said)
    if not is_wrong:
        yield Finding(
            "ledger",
            "ok",
            f"The {len(files):,} files with the latest events (from {first_at:%Y-%m-%d} on) have"
            f" {sum(row_counts.values()):,} rows, as the ledger says.",
        )


def check_disk(connection: psycopg.Connection, warehouse: Warehouse, now: datetime) -> Iterator[Finding]:
    """Check that at least a tenth of the disk is free, and at least as much as the last 30 days added.

    What was added is estimated as the size of the database times the share of loaded lines whose files were
    first read in those 30 days. On a site's own server, only the size of the database is known.
    """
    row = connection.execute(
        "SELECT pg_database_size(current_database()),"
        " coalesce(sum(loaded_count) FILTER (WHERE first_read_at > %s)"
        " / nullif(sum(loaded_count), 0), 0)::float FROM ledger.log_files",
        [now - MONTH],
    ).fetchone()
    assert row is not None
    database_bytes, added_bytes = row[0], row[0] * row[1]
    if warehouse.server is None:
        yield Finding(
            "disk",
            "unknown",
            f"The database takes {database_bytes / GB:.2f} GB; its server's free space is not known here.",
        )
        return
    seen = set()
    home = warehouse.server.home
    for what, folder in (("data", home / f"postgresql-{warehouse.server.version}"), ("home", home)):
        found = _find_free(folder)
        if found is None or found[0] in seen:
            continue
        seen.add(found[0])
        free_bytes, total_bytes = found[1:]
        is_wrong = free_bytes < max(LEAST_FREE_RATIO * total_bytes, added_bytes)
        yield Finding(
            "disk",
            "wrong" if is_wrong else "ok",
            f"The disk of the {what} folder has {free_bytes / GB:.1f} GB left"
            f" ({free_bytes / total_bytes:.0%}); the database takes {database_bytes / GB:.2f} GB,"
            f" of which {added_bytes / GB:.2f} GB were added in the last 30 days.",
        )


def _find_free(folder: Path) -> tuple[int, int, int] | None:
    """Return the device of a folder and its free and total bytes; None if they cannot be read."""
    try:
        disk = os.statvfs(folder)
        return folder.stat().st_dev, disk.f_bavail * disk.f_frsize, max(1, disk.f_blocks * disk.f_frsize)
    except OSError:
        return None


def check_statistics(connection: psycopg.Connection) -> Iterator[Finding]:
    """Check that the planner's statistics of large tables are at most a tenth off. Needs a loader's login.

    Whatever loads, simulates or deletes facts renews them if they are stale. They can still be stale if
    somebody else's session had the table locked.
    """
    rows = connection.execute("SELECT relation::text FROM core.find_stale_statistics() ORDER BY 1").fetchall()
    if rows:
        said = f"The planner's statistics of {rows[0][0]}"
        said += f" and {len(rows) - 1} other tables are" if len(rows) > 1 else " are"
        yield Finding(
            "plans",
            "note",
            f"{said} stale, so queries may be slow: the next load or `tapewise db upgrade` renews them.",
        )
    else:
        yield Finding("plans", "ok", "The planner's statistics of large tables are up to date.")


def check_run(connection: psycopg.Connection) -> Iterator[Finding]:
    """Note a run over the sources that is in progress. A run of more than a day is "wrong".

    `connection` must be a loader's.
    """
    for age in find_rounds(connection):
        if age is None:
            yield Finding("run", "note", "A run over the sources is in progress; its start is unknown.")
        else:
            verdict: Literal["wrong", "note"] = "wrong" if age > LONGEST_RUN else "note"
            said = f"A run over the sources has been in progress for {describe_span(age)}."
            yield Finding("run", verdict, said)


def check_access(loader: psycopg.Connection, reader: psycopg.Connection) -> Iterator[Finding]:
    """Check whether readers can fill the disk, or the server's memory for locks.

    PostgreSQL lets every role do that, and only a superuser can forbid it. If the owner of the warehouse is
    not a superuser, a note gives the statements that a superuser can run.
    """
    revocations, limit = find_revocations(loader), find_temporary_files_limit(reader)
    if revocations:
        said = "Readers can create large objects and advisory locks without limit; a superuser can stop that"
        yield Finding("access", "note", f"{said} with `{revocations};` in this database.")
    if limit:
        said = "Temporary files of readers' queries can fill the disk; a superuser can stop that with"
        yield Finding("access", "note", f"{said} `{limit};`.")
    if not revocations and not limit:
        yield Finding(
            "access",
            "ok",
            "Readers cannot create large objects or advisory locks, and their temporary files have a limit.",
        )
