"""Measure how long functions of drives, mounts and recalls take, next to DuckDB on the same rows.

    python -m benchmarks.tapes --rows 10000000 --keep FOLDER --refresh

makes up the mounts and files of two years (`benchmarks.tape_rows`), or uses those that are in FOLDER, and
asks each function about all time, without filters, about a week near the beginning, and about one drive. The
measure is the CPU time of the backend (a single process), and that of DuckDB in one thread, for questions
that are short in DuckDB's SQL. With `--refresh`, the answers that `tapewise refresh` keeps are kept first
(decision 0049), and what each of them took is printed. With `--limit-s`, the exit status is 1 if an answer
about all time takes longer.

Functions with a row for each file, mount or recall are left out. There are no puts, so questions about copies
on tape show what they cost without any.
"""

import sys
from pathlib import Path

import duckdb
from psycopg import sql

from benchmarks.answers import ARCHIVE, measure_duckdb
from benchmarks.load import run_apart, working_folder
from benchmarks.reports import Question, answer, ask, parse_arguments, refresh
from benchmarks.tape_rows import WEEK, fill_tapes
from tapewise.ingest.upkeep.kept_answers import Call, find_stale_calls
from tapewise.schema.database import Role
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.upgrade import open_ready_warehouse

TAKES_DRIVE = {each.name for each in read_mart() if "drive" in (each.metadata.arguments or {})}

QUESTIONS = [
    ask("drive_usage", """
        SELECT tape_type, requester, count(*), sum(transfer_count), sum(size_bytes),
            sum(epoch(last_event_at - first_event_at)), sum(epoch(positioned_at - first_event_at))
        FROM mounts WHERE drive IS NOT NULL GROUP BY ALL"""),
    ask("drives_busy", """
        SELECT busy, sum(epoch(lasting)) FROM (
            SELECT sum(step) OVER in_time AS busy, lead(moment) OVER in_time - moment AS lasting FROM (
                SELECT first_event_at AS moment, 1 AS step FROM mounts WHERE drive IS NOT NULL
                UNION ALL SELECT last_event_at, -1 FROM mounts WHERE drive IS NOT NULL
            ) WINDOW in_time AS (ORDER BY moment)
        ) GROUP BY ALL"""),
    ask("drive_hours", period="day"),
    ask("mount_days", """
        SELECT (first_event_at AT TIME ZONE 'Europe/Berlin')::date AS day, tape_type, count(*),
            count(DISTINCT vsn), count(*) FILTER (next_at - dismounted_at <= INTERVAL 1 HOUR)
        FROM (SELECT *, lead(first_event_at) OVER (PARTITION BY vsn ORDER BY first_event_at) AS next_at
            FROM mounts WHERE drive IS NOT NULL)
        GROUP BY ALL"""),
    ask("mount_failures"),
    ask("mount_steps", """
        SELECT tape_type, quantile_disc(epoch(positioned_at - received_at), [0.1, 0.5, 0.9, 0.95, 0.99]),
            quantile_disc(epoch(transferred_at - positioned_at), [0.1, 0.5, 0.9, 0.95, 0.99])
        FROM operations GROUP BY ALL"""),
    ask("repack_waits"),
    ask("small_file_tax"),
    ask("tape_rates", """
        SELECT tape_type, task, count(*), sum(size_bytes),
            quantile_disc(size_bytes / epoch(transferred_at - positioned_at), [0, 0.1, 0.5, 0.9, 1])
        FROM operations WHERE NOT is_failed GROUP BY ALL"""),
    ask("recall_latencies", """
        SELECT count(*), quantile_disc(epoch(transferred_at - received_at), [0.5, 0.9, 0.95, 0.99])
        FROM operations WHERE task = 'stage' AND requester = 'client' AND NOT is_failed"""),
    ask("recall_batches"),
    ask("failures"),
    ask("time_to_tape"),
    ask("not_on_tape"),
]  # fmt: skip


def main() -> None:
    """Make the warehouse, ask the questions, and print a table."""
    arguments = parse_arguments(
        "Measure functions of tapes, with DuckDB beside.", "files read from tapes or written to them"
    )
    slow_count = 0
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "home", folder / "peer.duckdb"
        if not home.exists():
            run_apart(fill_home, home, arguments.rows)
        if not peer.exists():
            run_apart(copy_tapes, home, peer)
        with (
            open_ready_warehouse(read_settings(home=home)) as warehouse,
            duckdb.connect(peer, read_only=True, config={"threads": 1}) as duck,
        ):
            if arguments.refresh:
                refresh(warehouse)
            stale = find_stale_calls(warehouse, ARCHIVE)
            heads = "".join(f"{head:>10}" for head in ("all time", "a week", "a drive", "DuckDB"))
            print(f"{'CPU time in s':34}{heads}  age of all time")
            for question in QUESTIONS:
                if question.call.function not in (arguments.only or [question.call.function]):
                    continue
                cells, ages = [], []
                for each in (question, narrow(question, WEEK), narrow(question, {"drive": "'drive20'"})):
                    if "drive" in dict(each.call.given) and each.call.function not in TAKES_DRIVE:
                        cells.append(f"{'':>10}")
                        continue
                    # In a connection of its own, so that each pays for its plan.
                    with warehouse.connect(Role.READER, autocommit=True) as reader:
                        reader.execute("SET max_parallel_workers_per_gather = 0")
                        reader.execute(sql.SQL("SET statement_timeout = {}").format(arguments.timeout * 1000))
                        taken_s, is_whole, age = answer(reader, each, is_current=each.call not in stale)
                    cells.append(f"{'' if is_whole else '>'}{taken_s:.2f}".rjust(10))
                    ages.append(age)
                    if each is question:
                        slow_count += not is_whole or taken_s > (arguments.limit_s or float("inf"))
                duck_s = measure_duckdb(duck, question.peer, 1) / 1e3 if question.peer else None
                cells.append(f"{duck_s:10.2f}" if duck_s is not None else f"{'':>10}")
                print(f"{question.call.describe():34}{''.join(cells)}  {ages[0]}", flush=True)
    if slow_count:
        sys.exit(f"{slow_count} answers took too long")


def narrow(question: Question, given: dict[str, str]) -> Question:
    """Return the same question with further arguments, in SQL."""
    call = question.call
    return Question(Call(call.archive, call.function, (*call.given, *given.items())))


def fill_home(home: Path, rows: int) -> None:
    """Make a warehouse with so many files."""
    with open_ready_warehouse(read_settings(home=home)) as warehouse:
        fill_tapes(warehouse, ARCHIVE, rows)


def copy_tapes(home: Path, peer: Path) -> None:
    """Copy mounts and operations into a new DuckDB database."""
    with (
        open_ready_warehouse(read_settings(home=home)) as warehouse,
        warehouse.connect(Role.OWNER) as connection,
        duckdb.connect(peer) as duck,
    ):
        duck.execute("SET enable_progress_bar = false")
        csv = peer.with_suffix(".csv")
        for name, table in (("mounts", "mounts"), ("operations", "tape_operations")):
            with (
                csv.open("wb") as file,
                connection.cursor().copy(
                    sql.SQL("COPY (SELECT * FROM core.{}) TO STDOUT (FORMAT csv, HEADER)").format(
                        sql.Identifier(table)
                    )
                ) as copy,
            ):
                for piece in copy:
                    file.write(piece)
            duck.execute(f"CREATE TABLE {name} AS FROM read_csv('{csv}')")
            csv.unlink()


if __name__ == "__main__":
    main()
