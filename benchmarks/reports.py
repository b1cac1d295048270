"""Measure how long functions of mart take that reports and analysts ask, next to DuckDB on the same rows.

    python -m benchmarks.reports --rows 10000000 --keep FOLDER --refresh

makes up the warehouse of `benchmarks.answers`, or uses the one that is in FOLDER, and asks each function
about all time, without filters. The measure is the CPU time of the backend (a single process), and that of
DuckDB in one thread, for questions that are short in DuckDB's SQL. The age says how long ago an answer was
computed that is kept (decision 0049), prepared (0026) or counted (0027); all others are computed when they
are asked for. A question that takes longer than `--timeout` seconds is cancelled; then its time begins with
`>`. With `--limit-s`, the exit status is 1 if an answer takes longer.

With `--refresh`, everything is prepared and kept first, as `tapewise refresh` does, and the CPU time and the
temporary files that each of these answers took are printed.

Functions with a row for each transfer, request, burst, recall or retry are left out.
"""

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import psycopg
from psycopg import sql

from benchmarks.answers import ARCHIVE, copy_to_duckdb, fill, measure_duckdb
from benchmarks.lines import WEEKS
from benchmarks.load import run_apart, working_folder
from benchmarks.small_files import read_stat
from tapewise.ingest.upkeep.kept_answers import Call, find_stale_calls, keep_answers, write_arguments
from tapewise.ingest.upkeep.preparations import find_stale, prepare
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.writing.file_counts import refresh_files

KEPT = {each.name: each.metadata.kept for each in read_mart()}


@dataclass(frozen=True)
class Question:
    """A call without filters, and the same question in DuckDB, if it is short."""

    call: Call
    peer: str | None = None

    @property
    def is_kept(self) -> bool:
        """Whether `tapewise refresh` keeps the answer."""
        return dict(self.call.given) in [dict(each) for each in KEPT[self.call.function]]


def ask(function: str, peer: str | None = None, **given: str) -> Question:
    """Make a question; `given` are texts."""
    return Question(Call(ARCHIVE, function, tuple((name, f"'{text}'") for name, text in given.items())), peer)


# In the order of what they are about: recalls, load, drives, mounts, room, cold data, copies on tape, cache,
# failures, shares, sizes, rates and bursts. No log of the benchmark reports drives or mounts, so for these,
# it shows what they cost without any.
QUESTIONS = [
    ask("recall_latencies"),
    ask("recall_batches"),
    ask("load_over_time", """
        SELECT epoch(hour), sum(epoch(least(ended_at, hour + INTERVAL 1 HOUR) - greatest(started_at, hour)))
        FROM (
            SELECT started_at, ended_at,
                unnest(generate_series(date_trunc('hour', started_at), ended_at, INTERVAL 1 HOUR)) AS hour
            FROM (SELECT ended_at, ended_at - to_microseconds((duration_s * 1e6)::bigint) AS started_at
                FROM transfers WHERE duration_s > 0)
        ) GROUP BY ALL"""),
    ask("load_over_time", period="day"),
    ask("load_over_time", period="month"),
    ask("concurrency", """
        SELECT under_way, sum(epoch(lasting)) FROM (
            SELECT sum(step) OVER in_time AS under_way, lead(moment) OVER in_time - moment AS lasting FROM (
                SELECT ended_at - to_microseconds((duration_s * 1e6)::bigint) AS moment, 1 AS step
                FROM transfers WHERE duration_s > 0
                UNION ALL SELECT ended_at, -1 FROM transfers WHERE duration_s > 0
            ) WINDOW in_time AS (ORDER BY moment)
        ) GROUP BY ALL"""),
    ask("drive_usage"),
    ask("drives_busy"),
    ask("drive_hours"),
    ask("mount_steps"),
    ask("repack_waits"),
    ask("mount_days"),
    ask("mount_failures"),
    ask("room"),
    ask("growth", period="month"),
    ask("growth_forecast"),
    ask("compute_forecast"),
    ask("cold_data", """
        SELECT floor(log10(greatest(idle_s, 1))) AS bin, count(*), sum(size_bytes) FROM (
            SELECT max(size_bytes) AS size_bytes,
                epoch((SELECT max(ended_at) FROM transfers) - max(ended_at)) AS idle_s
            FROM transfers WHERE NOT is_failed GROUP BY file_key
        ) GROUP BY ALL"""),
    ask("access_ages"),
    ask("file_fates"),
    ask("time_to_tape"),
    ask("not_on_tape"),
    ask("cache_hits"),
    ask("hits_by_age"),
    ask("working_sets", """
        SELECT day, count(*), sum(size_bytes) FROM (
            SELECT (ended_at AT TIME ZONE 'America/Los_Angeles')::date AS day, max(size_bytes) AS size_bytes
            FROM transfers WHERE NOT is_failed GROUP BY day, file_key
        ) GROUP BY ALL"""),
    ask("popularity", """
        SELECT get_count, count(*) FROM (
            SELECT count(*) AS get_count FROM transfers WHERE NOT is_failed AND direction = 'get'
            GROUP BY file_key
        ) GROUP BY ALL"""),
    ask("file_successors"),
    ask("successor_figures", """
        SELECT count(*), count(*) FILTER (next_key <> file_key AND pause_s <= 60) FROM (
            SELECT file_key, lead(file_key) OVER of_user AS next_key,
                epoch(lead(started_at) OVER of_user - ended_at) AS pause_s
            FROM (SELECT *, ended_at - to_microseconds((duration_s * 1e6)::bigint) AS started_at
                FROM transfers WHERE direction = 'get' AND NOT is_failed AND file_key IS NOT NULL)
            WINDOW of_user AS (PARTITION BY user_id ORDER BY started_at)
        )"""),
    ask("open_times", grouped_by="{}"),
    ask("stage_times"),
    ask("stage_time_laws"),
    ask("failures", """
        SELECT interface, count(*), count(*) FILTER (is_failed) FROM transfers GROUP BY ALL"""),
    ask("failures", grouped_by="{code}"),
    ask("shares", """
        SELECT user_id, count(*), sum(size_bytes) FROM transfers WHERE NOT is_failed GROUP BY ALL"""),
    ask("shares", ranked_by="bytes"),
    ask("shares", """
        SELECT host_id, count(*), sum(size_bytes) FROM transfers WHERE NOT is_failed GROUP BY ALL""",
        shared_by="client"),
    ask("shares", shared_by="client", ranked_by="bytes"),
    ask("shares", """
        SELECT class_of_service, count(*), sum(size_bytes) FROM transfers WHERE NOT is_failed GROUP BY ALL""",
        shared_by="class_of_service"),
    ask("daily_activity", """
        SELECT (ended_at AT TIME ZONE 'America/Los_Angeles')::date AS day, count(*), sum(size_bytes),
            sum(duration_s)
        FROM transfers GROUP BY ALL""",
        grouped_by="{}"),
    ask("transfer_sizes", """
        SELECT length(size_bytes::text) AS digits, count(*), sum(size_bytes)
        FROM transfers WHERE NOT is_failed GROUP BY ALL"""),
    ask("small_file_tax"),
    ask("request_figures", """
        SELECT direction, count(*), avg(duration_s), stddev(duration_s), min(duration_s), max(duration_s),
            quantile_disc(duration_s, [0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99])
        FROM transfers WHERE NOT is_failed GROUP BY ALL"""),
    ask("transfer_rates", """
        SELECT interface, direction, count(*), min(size_bytes / duration_s), max(size_bytes / duration_s),
            avg(size_bytes / duration_s), quantile_disc(size_bytes / duration_s, [0.1, 0.5, 0.9])
        FROM transfers WHERE NOT is_failed AND size_bytes > 0 AND duration_s > 0 GROUP BY ALL"""),
    ask("tape_rates"),
    ask("lower_envelopes"),
    ask("residual_blocks"),
    ask("week_profiles"),
    ask("interarrivals", """
        SELECT interface, direction, count(*), quantile_disc(gap_s, [0.01, 0.1, 0.5, 0.9, 0.99]) FROM (
            SELECT interface, direction, epoch(ended_at
                - lag(ended_at) OVER (PARTITION BY interface, direction ORDER BY ended_at)) AS gap_s
            FROM transfers
        ) GROUP BY ALL"""),
    ask("session_figures", """
        SELECT interface, count(*) FROM (
            SELECT interface, epoch(started_at - max(ended_at) OVER (
                PARTITION BY user_id, interface, host_id ORDER BY started_at
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS gap_s
            FROM (
                SELECT *, ended_at - to_microseconds((duration_s * 1e6)::bigint) AS started_at FROM transfers
            )
        ) WHERE gap_s IS NULL OR gap_s > 900 GROUP BY ALL"""),
    ask("arrival_dispersion", """
        SELECT interface, direction, bin_s, var_samp(transfer_count) / avg(transfer_count) FROM (
            SELECT interface, direction, bin_s, floor(epoch(ended_at) / bin_s) AS bin,
                count(*) AS transfer_count
            FROM transfers, (VALUES (60), (600), (3600), (86400)) AS bins (bin_s) GROUP BY ALL
        ) GROUP BY ALL"""),
]  # fmt: skip


def main() -> None:
    """Make the warehouse, ask the questions, and print a table."""
    arguments = parse_arguments(
        "Measure functions that reports and analysts ask, with DuckDB beside.", "lines of all logs together"
    )
    slow_count = 0
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "home", folder / "peer.duckdb"
        if not peer.exists():
            fill(home, folder, arguments.rows, WEEKS)
            run_apart(copy_to_duckdb, home, peer)
        with (
            open_ready_warehouse(read_settings(home=home)) as warehouse,
            duckdb.connect(peer, read_only=True, config={"threads": 1}) as duck,
        ):
            if arguments.refresh:
                refresh(warehouse)
            stale = find_stale_calls(warehouse, ARCHIVE)
            print(f"{'CPU time in s':42}{'Tapewise':>10}{'DuckDB':>10}  age")
            for question in QUESTIONS:
                if question.call.function not in (arguments.only or [question.call.function]):
                    continue
                # In a connection of its own, so that each pays for its plan.
                with warehouse.connect(Role.READER, autocommit=True) as reader:
                    reader.execute("SET max_parallel_workers_per_gather = 0")
                    reader.execute(f"SET statement_timeout = '{arguments.timeout}s'".encode())
                    taken_s, is_whole, age = answer(reader, question, is_current=question.call not in stale)
                peer_s = (
                    "" if question.peer is None else f"{measure_duckdb(duck, question.peer, 1) / 1e3:.2f}"
                )
                sign = " " if is_whole else ">"
                print(f"{question.call.describe():42}{sign}{taken_s:9.2f}{peer_s:>10}  {age}", flush=True)
                slow_count += not is_whole or taken_s > (arguments.limit_s or float("inf"))
    if slow_count:
        sys.exit(f"{slow_count} answers took too long")


def parse_arguments(description: str, rows: str) -> argparse.Namespace:
    """Parse the options of a benchmark of functions; `rows` says of what `--rows` is the number."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rows", type=int, default=10_000_000, help=rows)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    parser.add_argument("--only", nargs="*", default=[], metavar="FUNCTION", help="ask only these functions")
    parser.add_argument("--refresh", action="store_true", help="prepare and keep answers first")
    parser.add_argument(
        "--timeout", type=int, default=600, help="seconds after which a question is cancelled"
    )
    parser.add_argument("--limit-s", type=float, help="fail if an answer takes more CPU time than this")
    return parser.parse_args()


def answer(reader: psycopg.Connection, question: Question, *, is_current: bool) -> tuple[float, bool, str]:
    """Ask a question; return the CPU time in s, whether it was answered, and how old the answer is."""
    call = question.call
    schedstat = Path(f"/proc/{reader.info.backend_pid}/schedstat")
    arguments = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(name), sql.SQL(text)) for name, text in call.given
    )
    query = sql.SQL("SELECT * FROM mart.{}({})").format(sql.Identifier(call.function), arguments)
    begin, rows, columns = int(schedstat.read_text().split()[0]), [], [""]
    try:
        with reader.cursor() as cursor:
            rows = cursor.execute(query).fetchall()
            columns = [each.name for each in cursor.description or ()]
        is_whole = True
    except psycopg.errors.QueryCanceled:
        is_whole = False
    taken_s = (int(schedstat.read_text().split()[0]) - begin) / 1e9
    moments = [row[columns.index("computed_at")] for row in rows] if "computed_at" in columns else []
    word = "counted" if call.function in ("access_ages", "growth") else "prepared"
    if question.is_kept and is_current:
        word = "kept"
        moments = [
            computed_at
            for (computed_at,) in reader.execute(
                sql.SQL(
                    "SELECT computed_at FROM mart.answers WHERE function_name = {} AND arguments = {}"
                ).format(sql.Literal(call.function), write_arguments(call))
            )
        ]
    known = [moment for moment in moments if moment is not None]
    age = (
        f"{word} {(datetime.now(UTC) - min(known)).total_seconds() / 60:,.0f} min ago"
        if known
        else "computed"
    )
    return taken_s, is_whole, age


def refresh(warehouse: Warehouse) -> None:
    """Prepare and keep everything, and print the CPU time and temporary files that each answer took."""
    print(f"{'refreshed':62}{'CPU s':>9}{'temp GB':>9}")
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        server_pid = read_stat(owner.info.backend_pid)[0]

        def measure() -> tuple[float, int]:
            # Of the backends that have ended: each answer has backends of its own.
            time.sleep(0.5)
            owner.execute("SELECT pg_stat_clear_snapshot()")
            row = owner.execute(
                "SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()"
            ).fetchone()
            assert row is not None
            return read_stat(server_pid)[2], row[0]

        before = measure()
        for name in refresh_each(warehouse):
            after = measure()
            print(f"{name:62}{after[0] - before[0]:9.1f}{(after[1] - before[1]) / 1e9:9.2f}", flush=True)
            before = after


def refresh_each(warehouse: Warehouse) -> Iterable[str]:
    """Do what `tapewise refresh` does; yield a description of each part when it is done."""
    if refresh_files(warehouse, ARCHIVE, datetime.now(UTC)) is not None:
        yield "files"
    for done in prepare(warehouse, find_stale(warehouse, ARCHIVE), time_limit_s=1e6):
        yield f"envelopes, {done.question.describe('UTC')}"
    for kept in keep_answers(
        warehouse, find_stale_calls(warehouse, ARCHIVE), deadline=time.monotonic() + 1e6
    ):
        yield f"{kept.call.describe()}, {kept.row_count:,} rows{'' if kept.is_kept else ', too many to keep'}"


if __name__ == "__main__":
    main()
