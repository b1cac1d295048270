"""Measure how long functions of mart take that read single lines, next to DuckDB on the same rows.

    python -m benchmarks.reports --rows 10000000 --keep FOLDER

makes up the warehouse of `benchmarks.answers`, or uses the one that is in FOLDER, and asks each function
about all time, once. The measure is the CPU time of the backend (a single process), and that of DuckDB in
one thread. `tapewise refresh` on the same home keeps the answers of most functions (decision 0049); without
it, they are computed. A question that takes longer than `--timeout` seconds is cancelled; then its time
begins with `>`.
"""

import argparse
from pathlib import Path

import duckdb
import psycopg

from benchmarks.answers import copy_to_duckdb, fill, measure_duckdb
from benchmarks.lines import WEEKS
from benchmarks.load import run_apart, working_folder
from tapewise.schema.database import Role
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

# The call of each function, and the same question in DuckDB over the rows of core.transfers, if it is short.
QUESTIONS = {
    "daily_activity(grouped_by => '{}')": """
        SELECT (ended_at AT TIME ZONE 'America/Los_Angeles')::date AS day, count(*), sum(size_bytes),
            sum(duration_s)
        FROM transfers GROUP BY ALL""",
    "open_times(grouped_by => '{}')": None,
    "shares(ranked_by => 'bytes')": """
        SELECT user_id, count(*), sum(size_bytes) FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "shares(shared_by => 'client')": """
        SELECT host_id, count(*), sum(size_bytes) FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "transfer_sizes()": """
        SELECT length(size_bytes::text) AS digits, count(*), sum(size_bytes)
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "load_over_time(period => 'hour')": None,
    "concurrency()": None,
    "request_figures()": """
        SELECT direction, count(*), avg(duration_s), stddev(duration_s), min(duration_s), max(duration_s),
            quantile_disc(duration_s, [0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99])
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "transfer_rates()": """
        SELECT interface, direction, count(*), min(size_bytes / duration_s), max(size_bytes / duration_s),
            avg(size_bytes / duration_s), quantile_disc(size_bytes / duration_s, [0.1, 0.5, 0.9])
        FROM transfers WHERE NOT is_failed AND size_bytes > 0 AND duration_s > 0 GROUP BY ALL""",
    "recall_latencies()": None,
    "interarrivals()": """
        SELECT count(*), quantile_disc(gap_s, [0.01, 0.1, 0.5, 0.9, 0.99]) FROM (
            SELECT epoch(ended_at - lag(ended_at) OVER (ORDER BY ended_at)) AS gap_s FROM transfers
        )""",
    "arrival_dispersion()": None,
    "failures()": """
        SELECT interface, count(*), count(*) FILTER (is_failed) FROM transfers GROUP BY ALL""",
    "working_sets()": None,
    "hits_by_age()": None,
    "popularity()": None,
    "growth(period => 'month')": None,
    "cold_data()": None,
    "file_fates()": None,
}


def main() -> None:
    """Make the warehouse, ask the questions, and print a table."""
    parser = argparse.ArgumentParser(
        description="Measure functions that read single lines, with DuckDB beside."
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="lines of all logs together")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    parser.add_argument("--only", nargs="*", default=[], metavar="FUNCTION", help="ask only these functions")
    parser.add_argument(
        "--timeout", type=int, default=600, help="seconds after which a question is cancelled"
    )
    arguments = parser.parse_args()
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "home", folder / "peer.duckdb"
        if not peer.exists():
            fill(home, folder, arguments.rows, WEEKS)
            run_apart(copy_to_duckdb, home, peer)
        with (
            open_ready_warehouse(read_settings(home=home)) as warehouse,
            warehouse.connect(Role.READER, autocommit=True) as reader,
            duckdb.connect(peer, read_only=True, config={"threads": 1}) as duck,
        ):
            reader.execute("SET max_parallel_workers_per_gather = 0")
            reader.execute(f"SET statement_timeout = '{arguments.timeout}s'".encode())
            print(f"{'CPU time in s':36}{'Tapewise':>10}{'DuckDB':>10}")
            for call, question in QUESTIONS.items():
                if call.partition("(")[0] in (arguments.only or [call.partition("(")[0]]):
                    beside = "" if question is None else f"{measure_duckdb(duck, question, 1) / 1e3:10.2f}"
                    print(f"{call:36}{ask(reader, call)}{beside}", flush=True)


def ask(reader: psycopg.Connection, call: str) -> str:
    """Return the CPU time that a call took, or what it had taken when it was cancelled."""
    schedstat = Path(f"/proc/{reader.info.backend_pid}/schedstat")
    begin, sign = int(schedstat.read_text().split()[0]), " "
    try:
        reader.execute(f"SELECT * FROM mart.{call}".encode()).fetchall()
    except psycopg.errors.QueryCanceled:
        sign = ">"
    return f"{sign}{(int(schedstat.read_text().split()[0]) - begin) / 1e9:9.2f}"


if __name__ == "__main__":
    main()
