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

import duckdb

from benchmarks.answers import ARCHIVE, measure_duckdb
from benchmarks.load import run_apart, working_folder
from benchmarks.questions import TAPE_QUESTIONS, Question
from benchmarks.reports import answer_apart, copy_tapes, fill_home, parse_arguments, refresh
from benchmarks.tape_rows import WEEK
from tapewise.ingest.upkeep.kept_answers import Call, find_stale_calls
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.mart import read_mart
from tapewise.schema.tables.upgrade import open_ready_warehouse

TAKES_DRIVE = {each.name for each in read_mart() if "drive" in (each.metadata.arguments or {})}


def main() -> None:
    """Make the warehouse, ask the questions, and print a table."""
    arguments = parse_arguments(
        "Measure functions of tapes, with DuckDB beside.", "files read from tapes or written to them"
    )
    slow_count = 0
    with working_folder(arguments.keep) as folder:
        home, peer = folder / "tapes", folder / "tapes.duckdb"
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
            for question in TAPE_QUESTIONS:
                if question.call.function not in (arguments.only or [question.call.function]):
                    continue
                cells, ages = [], []
                for each in (question, narrow(question, WEEK), narrow(question, {"drive": "'drive20'"})):
                    if "drive" in dict(each.call.given) and each.call.function not in TAKES_DRIVE:
                        cells.append(f"{'':>10}")
                        continue
                    taken_s, is_whole, age = answer_apart(
                        warehouse, each, arguments.timeout, is_current=each.call not in stale
                    )
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


if __name__ == "__main__":
    main()
