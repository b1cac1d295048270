"""Tests of views, written as data: a case is a file with given rows, a query, and the rows to expect.

    # tests/sql/open_times/whole_seconds.yaml
    given:                        # rows of core, ledger and studies, by table
      opens:
        - {open_s: 0.999999}
    query: |                      # one query, ordered
      SELECT open_floor_s, request_count FROM mart.open_times(direction => 'get') ORDER BY open_floor_s
    expect:
      - {open_floor_s: 0, request_count: 1}

In `given`, a row refers to its archive, source, client and user by name, as the logs do. Missing values are
filled in: one measured archive `llnl` in UTC, one counted source for each archive, and the values below for
facts. `copies: 25` stands for 25 copies of the row. Requests, mounts and tape operations are derived as in a
load unless rows of one of these tables are given. Transfers and requests are counted in the cells of their
days. A kept answer whose state is `current` gets that of its archive. Further `day_cells` (interface,
direction, class_of_service, day, transfer_count) represent any number of transfers.

In `expect`, each row has exactly the columns of the query. Floats may differ by
`relative_tolerance` (default 1e-9) and `absolute_tolerance` (default 0); a float may be written as a
fraction ("3/7"). Times and dates are strings in ISO format. The session is in UTC.
"""

import datetime
import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import yaml
from psycopg import sql

from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.schema.tables.columns import metadata
from tapewise.schema.tables.facts import event_time_columns
from tests.day_cells import add_day_cell, fill_day_cells
from tests.hit_cells import fill_hit_cells
from tests.hour_months import fill_hour_months
from tests.month_peaks import fill_month_peaks
from tests.open_cells import fill_open_cells
from tests.rate_months import fill_rate_months
from tests.request_cells import fill_request_cells
from tests.stage_cells import fill_stage_cells
from tests.user_cells import fill_user_cells

Row = dict[str, Any]

CASES_FOLDER = Path(__file__).parent
# Tables that are derived from the facts.
DERIVED = ("requests", "mounts", "tape_operations", "stage_starts")
# Files in an object's folder that are not cases.
NO_CASES = {"mutants.yaml", "equivalent.yaml", "putting_together.yaml"}
ELSEWHERE = "America/Los_Angeles"  # the session's zone if all archives are in UTC

_COMMON = {
    "interface": "nft",
    "user_id": None,
    "host_id": None,
    "class_of_service": None,
    "account": None,
    "status_code": None,
    "is_failed": False,
    "is_time_ambiguous": False,
    "log_file_id": 1,
    "occurrence": 1,
}

_DEFAULTS: dict[str, Row] = {
    "transfers": _COMMON
    | {
        "direction": "get",
        "operation": "copy",
        "ended_at": "2000-01-15T12:00:00Z",
        "duration_s": 1.0,
        "size_bytes": 1000,
        "is_duration_coarse": False,
        "is_duration_below_clock": False,
        "is_size_saturated": False,
        "is_rate_inconsistent": False,
    },
    "opens": _COMMON | {"operation": "open", "direction": "get", "opened_at": "2000-01-15T12:00:00Z"},
    "namespace_events": _COMMON
    | {"operation": "delete", "kind": "delete", "happened_at": "2000-01-15T12:00:00Z"},
    "unitree_jobs": _COMMON
    | {
        "interface": "unitree",
        "operation": "get",
        "direction": "get",
        "persona": 1,
        "session_number": 0,
        "job_number": 1,
        "ended_at": "2000-01-15T12:00:00Z",
        "description": "get x",
        "is_failed": None,
        "is_start_after_end": False,
    },
    "stages": _COMMON
    | {
        "interface": "unitree",
        "operation": "staged",
        "staged_at": "2000-01-15T12:00:00Z",
        "is_duration_coarse": False,
        "is_duration_below_clock": False,
    },
    "stage_events": _COMMON
    | {
        "interface": "samqfs",
        "operation": "stage",
        "kind": "started",
        "happened_at": "2000-01-15T11:59:00Z",
        "is_failed": None,
    },
    "cache_reads": _COMMON
    | {
        "interface": "xrootd",
        "operation": "file_close",
        "ended_at": "2000-01-15T12:00:00Z",
        "hit_bytes": 0,
        "missed_bytes": 0,
        "bypassed_bytes": 0,
        "is_failed": None,
    },
    "daily_reports": _COMMON
    | {
        "interface": "hpss",
        "operation": "io_by_application",
        "reported_at": "2000-01-15T12:00:00Z",
        "reported_on": "2000-01-15",
        "figures": "{}",
        "is_total": False,
    },
    "migrations": _COMMON
    | {
        "interface": "dcache",
        "operation": "store",
        "migrated_at": "2000-01-15T12:00:00Z",
        "is_duration_coarse": False,
        "is_duration_below_clock": False,
    },
    "srb_sessions": _COMMON
    | {
        "interface": "srb",
        "operation": "open",
        "open_type": "open",
        "closed_at": "2000-01-15T12:00:00Z",
        "is_failed": None,
    },
    "mount_summaries": _COMMON
    | {
        "interface": "cta",
        "operation": "session",
        "ended_at": "2000-01-15T12:00:00Z",
        "is_failed": None,
    },
    "snapshots": _COMMON
    | {
        "interface": "cta",
        "operation": "list",
        "kind": "volume",
        "listed_at": "2000-01-15T12:00:00Z",
        "is_failed": None,
    },
    "requests": {
        "interface": "unitree",
        "direction": "get",
        "ended_at": "2000-01-15T12:00:00Z",
        "is_counted": True,
        "is_failed": False,
        "is_size_saturated": False,
        "is_time_ambiguous": False,
    },
    "transfer_starts": _COMMON
    | {
        "interface": "unitree",
        "operation": "RETR",
        "direction": "get",
        "began_at": "2000-01-15T12:00:00Z",
    },
    "tape_events": _COMMON
    | {
        "interface": "unitree",
        "operation": "an event",
        "kind": "positioned",
        "task": "stage",
        "requester": "client",
        "capability_key": 1,
        "copy_number": 1,
        "vsn": "D1",
        "happened_at": "2000-01-15T12:00:00Z",
        "is_failed": None,
    },
    "outages": {
        "kind": "unscheduled",
        "note": "a note",
        "started_at": "2000-01-15T12:00:00Z",
        "recorded_at": "2000-02-01T00:00:00Z",
    },
    "config_changes": {
        "kind": "other",
        "note": "a note",
        "started_at": "2000-01-15T12:00:00Z",
        "recorded_at": "2000-02-01T00:00:00Z",
    },
    "compute_powers": {
        "flop_per_s": 10.0,
        "note": "a note",
        "starts_on": "2000-01-15",
        "recorded_at": "2000-02-01T00:00:00Z",
    },
    "activity_cells": {
        "interface": "nft",
        "direction": "get",
        "transfer_count": 1,
        "failed_count": 0,
        "saturated_count": 0,
        "size_bytes": 1000,
        "duration_us": 1_000_000,
    },
    "log_files": {
        "path": "nft.log",
        "content_digest": "0",
        "read_bytes": 0,
        "waiting_bytes": 0,
        "format_version": 1,
        "program_version": "0",
        "first_read_at": "2000-02-01T00:00:00Z",
        "last_read_at": "2000-02-01T00:00:00Z",
        "line_count": 0,
        "loaded_count": 0,
        "held_count": 0,
        "ignored_count": 0,
        "rejected_count": 0,
    },
    "loaded_rows": {"log_file_id": 1, "fact_table": "transfers", "month": "2000-01-01", "row_count": 1}
    | {"filled_columns": "{}"},
    "file_recounts": {"event_count": 1, "last_load_id": 1, "computed_at": "2000-02-01T00:00:00Z"},
    "file_days": {
        "interface": "nft",
        "direction": "put",
        "class_of_service": None,
        "day": "2000-01-15",
        "put_count": 0,
        "copy_count": 0,
        "deleted_count": 0,
        "overwritten_count": 0,
        "unknown_size_count": 0,
        "new_name_count": 0,
        "unnamed_count": 0,
        "put_bytes": 0,
        "copied_bytes": 0,
        "deleted_bytes": 0,
        "overwritten_bytes": 0,
        "age_bins": [],
        "age_get_counts": [],
        "age_unknown_size_counts": [],
        "age_bytes": [],
    },
    "ignored_lines": {"log_file_id": 1, "reason": "comment", "line_count": 1},
    "rejected_lines": {"log_file_id": 1, "reason": "no such date", "line_hash": 0},
    "workload_models": {
        "name": "spring",
        "measure": "service",
        "criterion": "silhouette",
        "idle_s": 60.0,
        "seed": 1,
        "program_version": "0",
        "fitted_at": "2000-02-01T00:00:00Z",
        "first_ended_at": "2000-01-01T00:00:00Z",
        "last_ended_at": "2000-01-31T00:00:00Z",
    },
    "workload_groups": {
        "model_id": 1,
        "interface": "nft",
        "direction": "get",
        "request_count": 1,
        "set_apart": "{}",
        "criterion_values": "{}",
        "bursts": "{}",
    },
    "workload_classes": {
        "model_id": 1,
        "interface": "nft",
        "direction": "get",
        "name": "small gets",
        "request_count": 1,
        "size_bytes": 1000,
        "cached_count": 0,
        "uncached_count": 0,
        "size_log10": 3.0,
        "time_log10": 0.0,
        "size_quantiles_bytes": [1000.0],
        "time_quantiles_s": [1.0],
    },
    "envelope_preparations": {
        "counted": 0,
        "transfer_count": 0,
        "took_s": 1.0,
        "computed_at": "2000-02-01T00:00:00Z",
    },
    "kept_answers": {
        "function_name": "concurrency",
        "arguments": "{}",
        "state": "other",
        "answer": "[]",
        "took_s": 1.0,
        "computed_at": "2000-02-01T00:00:00Z",
        "has_names": False,
    },
    "prepared_envelopes": {
        "preparation_id": 1,
        "interface": "nft",
        "direction": "get",
        "stratum_size": 25,
        "stratum_count": 3,
        "transfer_count": 75,
        "filtered_count": 0,
    },
    "prepared_blocks": {
        "preparation_id": 1,
        "interface": "nft",
        "direction": "get",
        "block_size": 200,
        "transfer_count": 200,
        "smallest_bytes": 1,
        "mean_bytes": 2.0,
        "largest_bytes": 3,
        "is_outlier": False,
        "is_full": True,
    },
    "simulation_runs": {
        "demand": "archive",
        "demand_name": "llnl",
        "options": "{}",
        "machine_title": "a machine",
        "machine": "{}",
        "seed": 1,
        "program_version": "0",
        "simulated_at": "2000-02-01T00:00:00Z",
        "began_at": "2000-01-01T00:00:00Z",
        "steady_at": "2000-01-01T00:00:00Z",
        "ended_at": "2000-01-31T00:00:00Z",
        "job_count": 1,
        "unfinished_count": 0,
        "totals": "{}",
    },
    "simulation_studies": {
        "name": "a study",
        "digest": "0",
        "demand": "archive",
        "demand_name": "llnl",
        "options": "{}",
        "machine_title": "a machine",
        "machine": "{}",
        "program_version": "0",
        "created_at": "2000-02-01T00:00:00Z",
    },
    "study_runs": {
        "study_id": 1,
        "option": "",
        "seed": 1,
        "changed": "{}",
        "figures": "{}",
        "is_warm": True,
        "ran_at": "2000-02-01T00:00:00Z",
    },
    "study_curves": {
        "study_id": 1,
        "policy": "lru",
        "capacity_bytes": 1000,
        "get_count": 10,
        "miss_count": 4,
        "miss_bytes": 400,
        "first_count": 1,
        "pool": "",
        "options": "{}",
        "replayed_at": "2000-02-01T00:00:00Z",
    },
    "simulation_samples": {"quantity": "disk_fill_ratio", "value": 0.5},
    "request_waits": {
        "user_wait_s": 0.0,
        "port_wait_s": 0.0,
        "file_wait_s": 0.0,
        "drive_wait_s": 0.0,
        "load_wait_s": 0.0,
        "space_wait_s": 0.0,
        "latency_s": 0.0,
        "staging_s": 0.0,
        "transfer_s": 0.0,
        "contention_s": 0.0,
    },
}

_RESTART_NUMBERS = """
    SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    FROM pg_sequences WHERE schemaname IN ('core', 'ledger', 'studies')
"""

_EVENT_TIMES = event_time_columns | {
    "requests": "ended_at",
    "mounts": "last_event_at",
    "tape_operations": "last_event_at",
    "stage_starts": "last_event_at",
}
_MAKE_CURRENT = """
    UPDATE studies.kept_answers SET state = archive_states.state
    FROM mart.archive_states JOIN core.archives ON name = archive
    WHERE archives.id = archive_id AND kept_answers.state = 'current'
"""
_SCHEMAS = dict.fromkeys(
    ("log_files", "loaded_rows", "ignored_lines", "rejected_lines"), "ledger"
) | dict.fromkeys(
    (
        *("workload_models", "workload_groups", "workload_classes"),
        *("simulation_runs", "simulation_samples", "request_waits"),
        *("simulation_studies", "study_runs", "study_curves"),
        *("file_recounts", "file_days"),
        *("envelope_preparations", "prepared_envelopes", "prepared_blocks"),
        "kept_answers",
    ),
    "studies",
)


@dataclass(frozen=True)
class Case:
    """One case, read from its file."""

    path: Path

    @property
    def object_name(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return f"{self.object_name}/{self.path.stem}"

    @property
    def given(self) -> dict[str, list[Row]]:
        given: dict[str, list[Row]] = _read_yaml(self.path)["given"]
        return given

    @property
    def timezones(self) -> list[str]:
        """The zones of the archives, or another zone if all are in UTC."""
        zones = {str(row.get("timezone", "UTC")) for row in self.given.get("archives", ())} - {"UTC"}
        return sorted(zones) or [ELSEWHERE]

    @property
    def months(self) -> set[str]:
        """The months (`2000-01-01`) in which the case's events are; the tables have a partition for each."""
        return set().union(*_find_months(self).values())

    @property
    def query(self) -> str:
        return str(_read_yaml(self.path)["query"])

    @property
    def expect(self) -> dict[str, Any]:
        """The expected rows, and the file's tolerances, if any."""
        read = _read_yaml(self.path)
        others = {key: value for key, value in read.items() if key not in ("given", "query", "expect")}
        return {"rows": read["expect"]} | others


def find_cases() -> list[Case]:
    return [Case(path) for path in sorted(CASES_FOLDER.glob("*/*.yaml")) if path.name not in NO_CASES]


def insert_rows(connection: psycopg.Connection, given: Mapping[str, list[Row]]) -> None:
    """Insert `given` into an empty warehouse, with partitions, names and default values."""
    unknown = given.keys() - _DEFAULTS.keys() - {"archives", "sources", "day_cells"}
    assert not unknown, f"given: no such tables: {sorted(unknown)}"
    archives = {
        row["name"]: _insert_one(
            connection, "core", "archives", {"kind": "measured", "timezone": "UTC"} | row
        )
        for row in given.get("archives", [{"name": "llnl"}])
    }
    first_archive = next(iter(archives))
    sources = {}
    for row in given.get("sources", [{"archive": name, "name": f"{name}-log"} for name in archives]):
        archive = row.get("archive", first_archive)
        filled = {"format": "nft", "timezone": "UTC", "clock_resolution_s": 0.001, "is_counted": True}
        filled |= {"earliest_at": "1985-01-01T00:00:00Z", "archive_id": archives[archive]}
        filled |= {"failure_tables": ["migrations", "namespace_events", "opens", "stages", "transfers"]}
        filled |= {key: value for key, value in row.items() if key != "archive"}
        sources[row["name"]] = (archive, _insert_one(connection, "ledger", "sources", filled))
    people: dict[tuple[str, int, str], int] = {}

    def resolve(table: str, number: int, row: Row) -> Row:
        """Return the row as the table expects it, with ids for names and defaults for missing values."""
        row = dict(row)
        if table in ("ignored_lines", "rejected_lines"):
            return _DEFAULTS[table] | ({"line_number": number} if table == "rejected_lines" else {}) | row
        if table in ("workload_groups", "workload_classes"):
            return _DEFAULTS[table] | ({"class_number": number} if table == "workload_classes" else {}) | row
        if table in ("prepared_envelopes", "prepared_blocks") or table.startswith(
            ("simulation_studies", "study_")
        ):
            return _DEFAULTS[table] | row
        archive = row.pop("archive", None)
        if table in ("workload_models", "file_recounts") or table.startswith(
            ("envelope_", "simulation_", "request_waits", "kept_answers")
        ):
            return _DEFAULTS[table] | {"archive_id": archives[archive or first_archive]} | row
        source = row.pop("source", None)
        if source is None:
            archive = archive or first_archive
            source = next((name for name, (owner, _) in sources.items() if owner == archive), None)
        assert source is not None, f"given: archive {archive} has no source"
        archive = archive or sources[source][0]
        if table == "loaded_rows":
            row.setdefault("load_id", number)
        if table in ("log_files", "loaded_rows", "file_days"):
            return _DEFAULTS[table] | {"source_id": sources[source][1]} | row
        filled = _DEFAULTS[table] | {"archive_id": archives[archive]}
        if table in ("activity_cells", "outages", "config_changes", "compute_powers"):
            return filled | row
        filled |= {"source_id": sources[source][1]}
        if table != "requests":
            filled |= {"id": number, "line_number": number, "line_hash": number}
        for key, names, column in (("client", "hosts", "host_id"), ("user", "users", "user_id")):
            name = row.pop(key, None)
            if name is not None:
                where = (names, archives[archive], name)
                if where not in people:
                    values = {"archive_id": archives[archive], "name": name}
                    people[where] = _insert_one(connection, "core", names, values)
                filled[column] = people[where]
        return filled | row

    for table in _DEFAULTS:
        rows = [resolve(table, number, row) for number, row in enumerate(_copies(given.get(table, [])), 1)]
        if rows:
            _insert_all(connection, table, rows)
        if rows and table in event_time_columns and "loaded_rows" not in given:
            _note_rows(connection, table, rows)
    if "transfers" in given:
        fill_day_cells(connection)
        fill_rate_months(connection)
        fill_hour_months(connection)
        fill_month_peaks(connection)
    for row in given.get("day_cells", ()):
        owner = row.get("archive", first_archive)
        source_id = next(source_id for name, source_id in sources.values() if name == owner)
        add_day_cell(connection, source_id, {key: row[key] for key in row if key != "archive"})
    for archive_id in archives.values():
        days = [
            moment.date()
            for table, column in event_time_columns.items()
            for (moment,) in connection.execute(
                sql.SQL("SELECT {} AT TIME ZONE 'UTC' FROM {} WHERE archive_id = %s").format(
                    sql.Identifier(column), sql.Identifier("core", table)
                ),
                [archive_id],
            )
        ]
        if not {"requests", "mounts", "tape_operations"} & given.keys():
            rebuild_derived(connection, connection, archive_id, days)
    if {"transfers", "requests", "opens"} & given.keys():
        fill_request_cells(connection)
        fill_hit_cells(connection)
        fill_user_cells(connection)
        fill_open_cells(connection)
    if "stages" in given:
        fill_stage_cells(connection)
    if any(row.get("state") == "current" for row in given.get("kept_answers", ())):
        connection.execute(_MAKE_CURRENT)


def make_partitions(connection: psycopg.Connection, cases: Iterable[Case]) -> None:
    """Make all partitions that `cases` need in advance, because making one takes as long as a case."""
    months: dict[str, set[str]] = {table: set() for table in _EVENT_TIMES}
    for case in cases:
        for table, found in _find_months(case).items():
            for each in (table, *DERIVED):
                months[each] |= found
    for table, found in months.items():
        connection.execute("SELECT core.make_partitions(%s, %s::date[])", [table, sorted(found)])


def _find_months(case: Case) -> dict[str, set[str]]:
    """Return the months of the rows that `case` gives of each table with partitions."""
    return {
        table: {f"{str(row.get(column, _DEFAULTS[table][column]))[:7]}-01" for row in case.given[table]}
        for table, column in _EVENT_TIMES.items()
        if table in case.given
    }


def restart_numbers(connection: psycopg.Connection) -> None:
    """Restart the sequences. Cases rely on the ids of a new warehouse, and sequences do not roll back."""
    connection.execute(_RESTART_NUMBERS)


def run_case(connection: psycopg.Connection, case: Case, timezone: str) -> list[Row]:
    """Run a case's query in a session with this time zone, which must not affect the result."""
    with connection.transaction():
        # Prepare the statement in UTC, so that its literals are times in UTC. Then execute it in `timezone`.
        connection.execute("SET LOCAL timezone = 'UTC'")
        connection.execute(f"PREPARE query_of_case AS {case.query}".encode())
        connection.execute("SELECT set_config('timezone', %s, true)", [timezone])
        rows = _fetch(connection, "EXECUTE query_of_case")
        connection.execute("DEALLOCATE query_of_case")
    return rows


def run_query(connection: psycopg.Connection, query: str) -> list[Row]:
    with connection.transaction():
        connection.execute("SET LOCAL timezone = 'UTC'")
        return _fetch(connection, query)


def _fetch(connection: psycopg.Connection, query: str) -> list[Row]:
    cursor = connection.execute(query.encode())
    assert cursor.description is not None
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def find_differences(expect: Mapping[str, Any], rows: list[Row]) -> list[str]:
    """Return one sentence for each difference from `expect`."""
    relative = float(expect.get("relative_tolerance", 1e-9))
    absolute = float(expect.get("absolute_tolerance", 0))
    unknown = expect.keys() - {"rows", "relative_tolerance", "absolute_tolerance"}
    found = [f"no such key: {key}" for key in sorted(unknown)]
    expected_rows = expect["rows"]
    if len(expected_rows) != len(rows):
        found.append(f"{len(expected_rows)} rows expected, {len(rows)} found: {rows}")
        return found
    for number, (expected, row) in enumerate(zip(expected_rows, rows, strict=True), 1):
        if list(expected) != list(row):
            found.append(f"row {number}: columns {list(expected)} expected, {list(row)} found")
            continue
        found.extend(
            f"row {number}, {name}: {value!r} expected, {row[name]!r} found"
            for name, value in expected.items()
            if not _is_equal(value, row[name], relative, absolute)
        )
    return found


def _is_equal(expected: Any, found: Any, relative: float, absolute: float) -> bool:
    if isinstance(found, float):
        if expected is None or isinstance(expected, bool):
            return False
        value = float(Fraction(expected)) if isinstance(expected, str) else float(expected)
        return math.isclose(value, found, rel_tol=relative, abs_tol=absolute)
    if isinstance(found, datetime.datetime) and found.tzinfo is not None:
        found = found.astimezone(datetime.UTC)
    if isinstance(found, datetime.datetime | datetime.date):
        return bool(expected == found.isoformat())
    if isinstance(found, Decimal):
        found = int(found) if found == found.to_integral_value() else str(found)
    return type(expected) is type(found) and bool(expected == found)


def _copies(rows: list[Row]) -> Iterator[Row]:
    for row in rows:
        for _ in range(row.get("copies", 1)):
            yield {key: value for key, value in row.items() if key != "copies"}


def _insert_one(connection: psycopg.Connection, schema: str, table: str, row: Row) -> int:
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING id").format(
        sql.Identifier(schema, table),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join(sql.Placeholder() * len(row)),
    )
    found = connection.execute(statement, list(row.values())).fetchone()
    assert found is not None
    return int(found[0])


def _insert_all(connection: psycopg.Connection, table: str, rows: list[Row]) -> None:
    if table in _EVENT_TIMES:
        times = [row[_EVENT_TIMES[table]] for row in rows]
        connection.execute(
            "SELECT core.make_partitions(%s, ARRAY(SELECT DISTINCT (moment AT TIME ZONE 'UTC')::date"
            " FROM unnest(%s::timestamptz[]) AS moment))",
            [table, times],
        )
    for row in rows:
        _check_time(row)
    # Copy rows with the same columns together. One statement per row would take most of the tests' time.
    by_columns: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        by_columns.setdefault(tuple(row), []).append(row)
    for columns, alike in by_columns.items():
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(_SCHEMAS.get(table, "core"), table),
            sql.SQL(", ").join(map(sql.Identifier, columns)),
        )
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in alike:
                copy.write_row(list(row.values()))


def _note_rows(connection: psycopg.Connection, table: str, rows: list[Row]) -> None:
    """Record rows of facts in the ledger, as a load does, but all of them in one month.

    Real loads have positive numbers, so these have negative ones.
    """
    nullable = {column.name for column in metadata.tables[f"core.{table}"].columns if column.nullable}
    of_source: dict[int, list[Row]] = {}
    for row in rows:
        of_source.setdefault(row["source_id"], []).append(row)
    for source_id, alike in of_source.items():
        names = {name for row in alike for name in nullable & row.keys() if row[name] is not None}
        if table == "namespace_events":
            names |= {f"kind {row['kind']}" for row in alike}
        if table == "transfers":
            failed = [row for row in alike if row["is_failed"]]
            names |= {
                f"failed {name}" for row in failed for name in nullable & row.keys() if row[name] is not None
            }
            names |= {"failed" for _ in failed}
        connection.execute(
            "INSERT INTO ledger.loaded_rows AS held"
            " (log_file_id, load_id, fact_table, month, source_id, row_count, filled_columns)"
            " VALUES (1, -%(source)s::integer, %(table)s, '2000-01-01', %(source)s, %(count)s, %(names)s)"
            " ON CONFLICT (log_file_id, load_id, fact_table, month) DO UPDATE SET"
            " row_count = held.row_count + excluded.row_count,"
            " filled_columns = held.filled_columns || excluded.filled_columns",
            {"source": source_id, "table": table, "count": len(alike), "names": sorted(names)},
        )


def _check_time(row: Row) -> None:
    for name, value in row.items():
        if name.endswith("_at") and value is not None:
            moment = value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(value)
            assert moment.tzinfo is not None, f"given: {name} {value} has no zone"


@functools.cache  # a case runs once for each mutant of its object; the result is never modified
def _read_yaml(path: Path) -> dict[str, Any]:
    # Keep times as strings, because the YAML reader would drop their zone.
    read: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_StringTimes)
    return read


class _StringTimes(yaml.CSafeLoader):
    """The safe loader in C, except that times and dates remain strings."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the name and the type are PyYAML's
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
