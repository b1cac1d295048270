"""Measure how long the dashboards' queries take, next to DuckDB on the same rows.

    python -m benchmarks.answers --rows 10000000 --keep FOLDER

makes up a warehouse of one archive (500 machines, 2,000 users, eight weeks; 80 % NFT, 10 % HSI, 10 % PFTP),
and runs the query of each chart that shows a function of mart: over all time, a week, one interface, one
class of service, and one client. A second run with the same `--keep` uses the warehouse again. With
`--years 8`, the same rows are spread over eight years.

The measure is the CPU time of the backend (a single process without parallel workers), as the minimum of
several runs. Elapsed time would depend on what else the machine does. Reading the CPU time requires Linux.
For some functions, DuckDB answers the same query over all rows, in one thread; its CPU time is printed next
to ours. Only ratios mean anything on another machine. With `--limit-ms`, the exit status is 1 if any query
takes longer.

What cells take on disk is printed next to what facts take.

With `--clients`, the archive counts single clients (`tapewise archives clients`), and the disk and time that
this costs are printed. A later run with the same `--keep` and without the option uses them, too.

With `--pages`, all queries of each page are run instead, as Superset sends them if no filter is set, and the
times of each page are added up.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, LiteralString

import duckdb
import psycopg
import yaml

from benchmarks.lines import WEEKS, ZONE, write_lines
from benchmarks.load import run_apart, working_folder
from tapewise.dashboards.datasets import FUNCTIONS, GROUPINGS, MORE_ARGUMENTS, Dataset, write_groupings
from tapewise.dashboards.notes import ASSETS
from tapewise.ingest.upkeep.client_counts import CELL_TABLES, count_clients
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.derived import ARRAYS_IN_ROWS, activity_cells, month_peaks
from tapewise.schema.tables.upgrade import open_ready_warehouse

ARCHIVE = "bench"
SHARES = {"nft": 0.8, "hsi": 0.1, "pftp": 0.1}
# Scopes of a question, with the arguments that they give to every function. The logs begin on
# 1997-11-03, by the clock of Los Angeles.
SCOPES: dict[str, dict[str, str]] = {
    "all": {},
    "week": {"since": "'1997-11-24 08:00Z'", "until": "'1997-12-01 08:00Z'"},
    "interface": {"interface": "'hsi'"},
    "class": {"class_of_service": "'4'"},
    "client": {"client": "'a1.example.org'"},
}
WEEKS_A_YEAR = 365.25 / 7
# Charts that draw a line show the interface with the most transfers if none is chosen.
DEFAULTS = {name: {"interface": "'nft'"} for name in ("residual_blocks", "size_times")}
# These take a workload model, or read events of tapes, neither of which the benchmark has.
LEFT_OUT = {"class_days", "drive_hours", "drives_busy", "mount_days", "mount_failures", "mount_steps"}
# A query that takes longer than this runs only once, because the minimum matters only for short ones.
ENOUGH_MS = 2_000

# What is copied to DuckDB.
COPIED: dict[str, LiteralString] = {
    "transfers": """
        SELECT transfers.id AS transfer_id, interface, direction, class_of_service, user_id, host_id,
            hosts.name AS client, account, archive_path, file_key, size_bytes, duration_s,
            coalesce(rate_bytes_per_s, size_bytes / nullif(duration_s, 0)) AS rate, status_code, is_failed,
            is_time_ambiguous, is_duration_coarse, is_size_saturated, started_at, ended_at
        FROM core.transfers LEFT JOIN core.hosts ON host_id = hosts.id""",
    "requests": """
        SELECT transfer_id, interface, direction, class_of_service, user_id, client, file_key, size_bytes,
            duration_s, open_s, coalesce(is_failed, false) AS is_failed, is_cached,
            coalesce(submitted_at, started_at, ended_at) AS asked_at, ended_at
        FROM mart.requests WHERE transfer_id IS NOT NULL""",
    "deletes": """
        SELECT file_key, happened_at FROM core.namespace_events
        WHERE kind = 'delete' AND NOT is_failed AND file_key IS NOT NULL""",
    "copies": """
        SELECT size_bytes, happened_at FROM core.namespace_events WHERE kind = 'copy' AND NOT is_failed""",
}
# The same queries in DuckDB, over the rows of core.transfers.
PEERS = {
    "daily_activity": """
        SELECT (ended_at AT TIME ZONE 'America/Los_Angeles')::date AS day, interface, direction, count(*),
            count(*) FILTER (is_failed), sum(size_bytes) FILTER (NOT is_failed),
            sum(duration_s) FILTER (NOT is_failed)
        FROM transfers GROUP BY ALL""",
    "hour_profiles": """
        SELECT isodow(ended_at AT TIME ZONE 'America/Los_Angeles') AS weekday,
            hour(ended_at AT TIME ZONE 'America/Los_Angeles') AS hour, count(*), sum(size_bytes)
        FROM transfers GROUP BY ALL""",
    "monthly_rates": """
        SELECT date_trunc('month', ended_at AT TIME ZONE 'America/Los_Angeles') AS month, interface,
            direction, count(*), quantile_cont(size_bytes / duration_s, [0.1, 0.5, 0.9])
        FROM transfers WHERE NOT is_failed AND size_bytes IS NOT NULL AND duration_s > 0 GROUP BY ALL""",
    "request_quantiles": """
        SELECT direction, quantile_disc(size_bytes, [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]),
            quantile_disc(duration_s, [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "size_times": """
        SELECT interface, direction, floor(log10(greatest(size_bytes, 1)) * 3) AS bin, count(*),
            avg(size_bytes), min(duration_s), quantile_cont(duration_s, [0.1, 0.5, 0.9])
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "user_shares": """
        SELECT interface, direction, user_id, count(*), sum(size_bytes)
        FROM transfers WHERE NOT is_failed GROUP BY ALL""",
    "records": """
        SELECT (ended_at AT TIME ZONE 'America/Los_Angeles')::date AS day, count(*),
            max(size_bytes), max(duration_s)
        FROM transfers GROUP BY ALL""",
    "flagged_transfers": """
        SELECT interface, count(*), count(*) FILTER (is_time_ambiguous), count(*) FILTER (is_duration_coarse),
            count(*) FILTER (is_size_saturated), count(*) FILTER (is_failed)
        FROM transfers GROUP BY ALL""",
}


def main() -> None:
    """Make the warehouse, run the queries, and print a table."""
    parser = argparse.ArgumentParser(
        description="Measure the questions of the dashboards, with DuckDB beside."
    )
    parser.add_argument("--rows", type=int, default=10_000_000, help="lines of all logs together")
    parser.add_argument("--years", type=float, help="spread the lines over so many years, not eight weeks")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each question; the minimum counts")
    parser.add_argument("--only", nargs="*", default=[], metavar="CHART", help="ask only these charts")
    parser.add_argument("--scopes", nargs="*", default=list(SCOPES), choices=list(SCOPES))
    parser.add_argument("--pages", action="store_true", help="run the queries of whole pages instead")
    parser.add_argument(
        "--clients", action="store_true", help="count single clients, and print what it costs"
    )
    parser.add_argument("--limit-ms", type=float, help="fail if an answer takes more CPU time than this")
    arguments = parser.parse_args()
    charts = {name: chart for name, chart in read_charts().items() if name in (arguments.only or [name])}
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "home", folder / "peer.duckdb"
        if not peer.exists():
            fill(home, folder, arguments.rows, arguments.years * WEEKS_A_YEAR if arguments.years else WEEKS)
            # In a separate process, because the rows need more memory than the rest of the benchmark.
            run_apart(copy_to_duckdb, home, peer)
        if arguments.clients:
            run_apart(count_single_clients, home)
        with (
            open_ready_warehouse(read_settings(home=home)) as warehouse,
            warehouse.connect(Role.READER, autocommit=True) as reader,
            duckdb.connect(peer, read_only=True, config={"threads": 1}) as duck,
        ):
            reader.execute("SET max_parallel_workers_per_gather = 0")
            reader.execute("SET statement_timeout = 0")
            print_disk(warehouse)
            if arguments.pages:
                slow_count = print_pages(reader, arguments)
            else:
                slow_count = print_answers(reader, duck, charts, arguments)
    if slow_count:
        sys.exit(f"{slow_count} answers took longer than {arguments.limit_ms:g} ms")


def fill(home: Path, folder: Path, rows: int, weeks: float) -> None:
    """Make up logs of so many weeks and load them."""
    for format_name, share in SHARES.items():
        log = folder / f"{format_name}.log"
        run_apart(write_lines, log, int(rows * share), format_name, weeks=weeks)
        options = ["--archive", ARCHIVE, "--kind", "synthetic", "--format", format_name, "--timezone", ZONE]
        subprocess.run(
            [sys.executable, "-m", "tapewise", "--home", home, "ingest", *options, log],
            check=True,
            cwd=folder,
        )
        log.unlink()


def count_single_clients(home: Path) -> None:
    """Count each client of its own, and print how long it took and how much disk the cells take."""
    with open_ready_warehouse(read_settings(home=home)) as warehouse:
        before = measure_disk(warehouse)
        begin = time.perf_counter()
        counts = count_clients(warehouse, ARCHIVE)
        elapsed_s = time.perf_counter() - begin
        after = measure_disk(warehouse)
    facts_bytes = after["transfers"]
    print(
        f"Counted {counts.client_count:,} single clients in {elapsed_s:,.0f} s."
        if counts.is_changed
        else f"{counts.client_count:,} single clients were counted before."
    )
    for table in CELL_TABLES:
        print(f"{table:20} {before[table] / 1e6:8.1f} MB before {after[table] / 1e6:8.1f} MB after")
    total_bytes = sum(after[table] for table in CELL_TABLES)
    print(f"These are {100 * total_bytes / facts_bytes:.1f} % of {facts_bytes / 1e6:,.0f} MB of transfers.")


def print_disk(warehouse: Warehouse) -> None:
    """Print what cells and facts take on disk, with their indexes.

    Facts are all that is cut into months, requests (derived from several lines) among them. The cells of ten
    minutes, which are older than the others, are printed by themselves.
    """
    with warehouse.connect(Role.OWNER) as connection:
        facts: dict[str, int] = dict(
            connection.execute(
                "SELECT relname::text, sum(pg_total_relation_size(part.relid))::bigint AS bytes"
                " FROM pg_partitioned_table JOIN pg_class ON pg_class.oid = partrelid,"
                " pg_partition_tree(partrelid) AS part"
                " WHERE relnamespace = 'core'::regnamespace GROUP BY relname ORDER BY bytes DESC"
            ).fetchall()
        )
        cells: dict[str, int] = dict(
            connection.execute(
                "SELECT name, pg_total_relation_size(('core.' || name)::regclass) AS bytes"
                " FROM unnest(%s::text[]) AS name ORDER BY bytes DESC",
                [[table.name for table in (*ARRAYS_IN_ROWS, month_peaks, activity_cells)]],
            ).fetchall()
        )
    ten_minutes_bytes = cells.pop(activity_cells.name)
    for what, tables in {"Facts": facts, "Cells": cells}.items():
        parts = [f"{name} {size / 1e6:,.1f}" for name, size in tables.items() if size >= 5e4]
        print(f"{what} take {sum(tables.values()) / 1e6:,.1f} MB: {', '.join(parts)}.")
    shares = [100 * sum(cells.values()) / each for each in (sum(facts.values()), facts["transfers"])]
    print(f"These cells are {shares[0]:.1f} % of the facts ({shares[1]:.1f} % of transfers alone).")
    print(f"Cells of ten minutes take another {ten_minutes_bytes / 1e6:,.1f} MB.")


def measure_disk(warehouse: Warehouse) -> dict[str, int]:
    """Return how many bytes the tables of cells and the transfers take, with their indexes."""
    with warehouse.connect(Role.OWNER) as connection:
        rows = connection.execute(
            "SELECT name, pg_total_relation_size(('core.' || name)::regclass) FROM unnest(%s::text[]) AS name"
            " UNION ALL SELECT 'transfers', sum(pg_total_relation_size(relid))::bigint"
            " FROM pg_partition_tree('core.transfers')",
            [[*CELL_TABLES]],
        ).fetchall()
    return dict(rows)


def copy_to_duckdb(home: Path, peer: Path) -> None:
    """Copy the transfers, requests, deletes and copies into a new DuckDB database."""
    with (
        open_ready_warehouse(read_settings(home=home)) as warehouse,
        warehouse.connect(Role.OWNER) as connection,
        duckdb.connect(peer) as duck,
    ):
        for name, query in COPIED.items():
            copy_rows(connection, query, duck, name)


def copy_rows(
    connection: psycopg.Connection, query: LiteralString, duck: duckdb.DuckDBPyConnection, name: str
) -> None:
    """Make the table `name` in DuckDB from what a query gives in PostgreSQL."""
    duck.execute("SET enable_progress_bar = false")
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER)") as copy:
            for piece in copy:
                file.write(piece)
        file.flush()
        duck.execute(f"CREATE TABLE {name} AS FROM read_csv('{file.name}', sample_size = -1)")


def print_answers(
    reader: psycopg.Connection,
    duck: duckdb.DuckDBPyConnection,
    charts: dict[str, dict[str, Any]],
    arguments: argparse.Namespace,
) -> int:
    """Ask each question and print a row per chart; return how many answers were over the limit."""
    heads = "".join(f"{scope:>11}" for scope in arguments.scopes)
    print(f"{'CPU time in ms':22}{heads}{'DuckDB, all':>13}{'ratio':>8}")
    slow_count = 0
    for name, chart in charts.items():
        taken = {
            scope: measure_backend(reader, write_question(chart, scope), arguments.repeat)
            for scope in arguments.scopes
        }
        row = f"{name:22}" + "".join(f"{taken[scope]:11.1f}" for scope in arguments.scopes)
        if chart["function"] in PEERS and "all" in taken:
            peer = measure_duckdb(duck, PEERS[chart["function"]], arguments.repeat)
            row += f"{peer:13.1f}{taken['all'] / peer:8.2f}"
        print(row, flush=True)
        if arguments.limit_ms is not None:
            slow_count += sum(each > arguments.limit_ms for each in taken.values())
    return slow_count


def print_pages(reader: psycopg.Connection, arguments: argparse.Namespace) -> int:
    """Run the queries of each page and print their times; return how many queries were over the limit."""
    charts = read_all_charts()
    slow_count = 0
    for path in sorted((ASSETS / "dashboards").glob("*.yaml")):
        places = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["position"].values()
        names = [
            each["id"].removeprefix("CHART-")
            for each in places
            if isinstance(each, dict) and each["type"] == "CHART"
        ]
        taken = {
            name: measure_backend(reader, write_page_query(charts[name]), arguments.repeat) for name in names
        }
        print(f"{path.stem}: {sum(taken.values()):,.1f} ms of CPU time")
        for name in sorted(taken, key=lambda each: -taken[each]):
            print(f"  {name:24}{taken[name]:11.1f}", flush=True)
        if arguments.limit_ms is not None:
            slow_count += sum(each > arguments.limit_ms for each in taken.values())
    return slow_count


def read_charts() -> dict[str, dict[str, Any]]:
    """Return the dashboards' charts by name that show what a function of mart returns."""
    return {
        name: chart
        for name, chart in read_all_charts().items()
        if chart["function"] in FUNCTIONS and chart["function"] not in LEFT_OUT
    }


def read_all_charts() -> dict[str, dict[str, Any]]:
    """Return the dashboards' charts by name, each with the name of its dataset as `function`."""
    datasets = {}
    for path in sorted((ASSETS / "datasets").rglob("*.yaml")):
        datasets[yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["uuid"]] = path.stem
    charts = {}
    for path in sorted((ASSETS / "charts").glob("*.yaml")):
        chart = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        charts[path.stem] = chart | {"function": datasets[chart["dataset_uuid"]]}
    return charts


def write_page_query(chart: dict[str, Any]) -> str:
    """Write the query that Superset sends for a chart if no filter is set."""
    dataset = Dataset(chart["function"]).write_sql(with_filters=False)
    return write_selection(chart, f"({dataset}) AS virtual_table")


def write_question(chart: dict[str, Any], scope: str) -> str:
    """Write the query of a chart in a scope. Superset asks for the same columns of the same function."""
    function = chart["function"]
    arguments = {"archive": f"'{ARCHIVE}'"} | DEFAULTS.get(function, {}) | SCOPES[scope]
    call = ", ".join(f"{name} => {value}" for name, value in arguments.items())
    if function in MORE_ARGUMENTS:
        call += f", {MORE_ARGUMENTS[function]}"
    rows = f"mart.{function}({call}) AS answers"
    if function in GROUPINGS:
        rows = f"(SELECT answers.* FROM {write_groupings(function)} CROSS JOIN LATERAL {rows}) AS answers"
    query = write_selection(chart, rows)
    # Days are shown as days, and not as weeks, which the dashboard decides.
    query = query.replace("shown_on", "starts_on")
    # The chart of archives side by side names the role of each, which the dashboard adds.
    return query.replace("role", "kind") if function == "request_quantiles" else query


def write_selection(chart: dict[str, Any], rows: str) -> str:
    """Write the query of a chart for its columns and metrics, from `rows`."""
    params = chart["params"]
    groups = params.get("groupby") or []
    groups = groups if isinstance(groups, list) else [groups]
    axes = [params["x_axis"]] if "x_axis" in params else params.get("columns", [])  # of a box plot
    columns = params.get("all_columns") or [*axes, *groups]
    metrics = params.get("metrics") or ([params["metric"]] if "metric" in params else [])
    shown = [each if isinstance(each, str) else each["sqlExpression"] for each in [*columns, *metrics]]
    query = f"SELECT {', '.join(shown)} FROM {rows}"
    conditions = [f"({each['sqlExpression']})" for each in params["adhoc_filters"]]
    if conditions:
        query += f" WHERE {' AND '.join(conditions)}"
    if metrics:
        query += f" GROUP BY {', '.join(str(number + 1) for number in range(len(columns)))}"
    return query


def measure_backend(reader: psycopg.Connection, question: str, repeat: int) -> float:
    """Return the least CPU time in ms that the backend of `reader` took for a query."""
    schedstat = Path(f"/proc/{reader.info.backend_pid}/schedstat")
    taken = []
    for _ in range(repeat):
        begin = int(schedstat.read_text().split()[0])
        reader.execute(question.encode()).fetchall()
        taken.append((int(schedstat.read_text().split()[0]) - begin) / 1e6)
        if taken[-1] > ENOUGH_MS:
            break
    return min(taken)


def measure_duckdb(duck: duckdb.DuckDBPyConnection, question: str, repeat: int) -> float:
    """Return the least CPU time in ms that DuckDB took for a query, in one thread."""
    taken = []
    for _ in range(repeat):
        begin = time.process_time()
        duck.execute(question).fetchall()
        taken.append((time.process_time() - begin) * 1e3)
    return min(taken)


if __name__ == "__main__":
    main()
