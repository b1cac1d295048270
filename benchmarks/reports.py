"""Measure how long functions of mart take that reports and analysts ask, next to DuckDB on the same rows.

    python -m benchmarks.reports --rows 10000000 --keep FOLDER --refresh

makes up the warehouse of `benchmarks.answers` and one of as many files on tapes (`benchmarks.tape_rows`), or
uses those that are in FOLDER, and asks each function about all time, without filters
(`benchmarks.questions`). The measure is the CPU time of the backend (a single process), and that of DuckDB in
one thread. The ratio is that of the two. The age says how long ago an answer was computed that is kept
(decision 0049), prepared (0026) or counted (0027); all others are computed when they are asked for. A
question that takes longer than `--timeout` seconds is cancelled; then its time begins with `>`. With
`--limit-s`, the exit status is 1 if an answer takes longer.

With `--refresh`, everything is prepared and kept first, as `tapewise refresh` does, and the CPU time and the
temporary files that each of these answers took are printed.

Functions that list rows (one for each transfer, request, burst, session or gap) are asked about a day,
because nobody reads ten million rows (decision 0068).
"""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString

import duckdb
import psycopg
from psycopg import sql

from benchmarks.answers import ARCHIVE, copy_rows, copy_to_duckdb, fill, measure_duckdb
from benchmarks.lines import WEEKS
from benchmarks.load import run_apart, working_folder
from benchmarks.questions import LISTINGS, QUESTIONS, TAPE_QUESTIONS, Question
from benchmarks.small_files import read_stat
from benchmarks.tape_rows import fill_tapes
from tapewise.ingest.upkeep.kept_answers import Call, find_stale_calls, keep_answers, write_arguments
from tapewise.ingest.upkeep.preparations import find_stale, prepare
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.writing.file_counts import refresh_files

TAPES_COPIED: dict[str, LiteralString] = {
    "mounts": "SELECT * FROM core.mounts",
    "operations": "SELECT * FROM core.tape_operations",
}
# What comparisons of two archives are made of, which is kept for each archive.
PARTS = {"compare_archives": "comparison_figures", "compare_mixes": "comparison_kinds"}
METADATA = {each.name: each.metadata for each in read_mart()}


def main() -> None:
    """Make the warehouses, ask the questions, and print a table."""
    arguments = parse_arguments(
        "Measure functions that reports and analysts ask, with DuckDB beside.",
        "lines of all logs together, and files on tapes",
    )
    slow_count = 0
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "home", folder / "peer.duckdb"
        if not home.exists():
            fill(home, folder, arguments.rows, WEEKS)
        if not peer.exists():
            run_apart(copy_to_duckdb, home, peer)
        slow_count += ask_all(home, peer, [*QUESTIONS, *LISTINGS], arguments)
        home, peer = folder / "tapes", folder / "tapes.duckdb"
        if not home.exists():
            run_apart(fill_home, home, arguments.rows)
        if not peer.exists():
            run_apart(copy_tapes, home, peer)
        slow_count += ask_all(home, peer, TAPE_QUESTIONS, arguments)
    if slow_count:
        sys.exit(f"{slow_count} answers took too long")


def ask_all(home: Path, peer: Path, questions: Sequence[Question], arguments: argparse.Namespace) -> int:
    """Ask a warehouse and DuckDB, and print a line for each question; return how many took too long."""
    slow_count = 0
    with (
        open_ready_warehouse(read_settings(home=home)) as warehouse,
        duckdb.connect(peer, read_only=True, config={"threads": 1}) as duck,
    ):
        if arguments.refresh:
            refresh(warehouse)
        stale = find_stale_calls(warehouse, ARCHIVE)
        print(f"{'CPU time in s':58}{'Tapewise':>10}{'DuckDB':>10}{'ratio':>8}  age")
        for question in questions:
            if question.call.function not in (arguments.only or [question.call.function]):
                continue
            taken_s, is_whole, age = answer_apart(
                warehouse, question, arguments.timeout, is_current=find_kept(question) not in stale
            )
            compared = ""
            if question.peer is not None:
                peer_s = measure_duckdb(duck, question.peer, 1) / 1e3
                compared = f"{peer_s:10.2f}{taken_s / peer_s:8.2f}"
            sign = " " if is_whole else ">"
            print(f"{question.call.describe():58}{sign}{taken_s:9.2f}{compared:18}  {age}", flush=True)
            slow_count += not is_whole or taken_s > (arguments.limit_s or float("inf"))
    return slow_count


def answer_apart(
    warehouse: Warehouse, question: Question, timeout_s: int, *, is_current: bool
) -> tuple[float, bool, str]:
    """Ask a question in a connection of its own, so that each pays for its plan; see `answer`."""
    sees_names = METADATA[question.call.function].has_names
    with closing(warehouse.connect_reader(sees_names=sees_names, autocommit=True)) as reader:
        reader.execute("SET max_parallel_workers_per_gather = 0")
        reader.execute(sql.SQL("SET statement_timeout = {}").format(timeout_s * 1000))
        return answer(reader, question, is_current=is_current)


def is_kept(question: Question) -> bool:
    """Whether `tapewise refresh` keeps the answer."""
    call = find_kept(question)
    return dict(call.given) in [dict(each) for each in METADATA[call.function].kept]


def find_kept(question: Question) -> Call:
    """The call whose answer is kept, which is that of the question, or of what it is made of."""
    if question.function in PARTS:
        return Call(ARCHIVE, PARTS[question.function])
    return question.call


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
    word = "prepared" if call.function in ("lower_envelopes", "residual_blocks", "residuals") else "counted"
    if is_kept(question) and is_current:
        word = "kept"
        moments = [
            computed_at
            for (computed_at,) in reader.execute(
                sql.SQL(
                    "SELECT computed_at FROM mart.answers WHERE function_name = {} AND arguments = {}"
                ).format(sql.Literal(find_kept(question).function), write_arguments(find_kept(question)))
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


def fill_home(home: Path, rows: int) -> None:
    """Make a warehouse with so many files on tapes."""
    with open_ready_warehouse(read_settings(home=home)) as warehouse:
        fill_tapes(warehouse, ARCHIVE, rows)


def copy_tapes(home: Path, peer: Path) -> None:
    """Copy mounts and operations into a new DuckDB database."""
    with (
        open_ready_warehouse(read_settings(home=home)) as warehouse,
        warehouse.connect(Role.OWNER) as connection,
        duckdb.connect(peer) as duck,
    ):
        for name, query in TAPES_COPIED.items():
            copy_rows(connection, query, duck, name)


if __name__ == "__main__":
    main()
