"""Compares mart.line_fates with the ledger's own balance, for files that have been loaded."""

from collections.abc import Callable
from pathlib import Path

import psycopg

from tapewise.ingest.loading.file_results import FileResult
from tests.integration.example_archive import LOGS
from tests.sql.cases import run_query

LEDGER = """
SELECT log_files.archive, log_files.source, each_one.fate, sum(each_one.line_count)::bigint AS line_count
FROM mart.log_files
CROSS JOIN LATERAL (
    VALUES
        ('loaded', loaded_count), ('held', held_count),
        ('ignored', ignored_count), ('rejected', rejected_count)
) AS each_one (fate, line_count)
GROUP BY 1, 2, 3
HAVING sum(each_one.line_count) > 0 OR each_one.fate = 'loaded'
ORDER BY 1, 2, 3
"""
FATES = """
SELECT archive, source, fate, sum(line_count)::bigint AS line_count FROM mart.line_fates
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
"""
RATIOS = "SELECT sum(line_ratio) AS all_ratio FROM mart.line_fates GROUP BY archive, source"


def test_fates_agree_with_the_ledgers_balance(
    load: Callable[..., FileResult], database: psycopg.Connection, tmp_path: Path
) -> None:
    lines = (LOGS / "nft.log").read_bytes().splitlines(keepends=True)
    # The files overlap, and have rejected and ignored lines.
    for name, part in (("a", lines[:600]), ("b", [b"broken\n", b"\n", *lines[400:900]])):
        (tmp_path / name).write_bytes(b"".join(part))
        load(tmp_path / name, "nft")
    load(tmp_path / "a", "nft", archive="other")
    load(LOGS / "hsi.log", "hsi")
    fates = run_query(database, FATES)
    assert fates == run_query(database, LEDGER)
    assert {row["fate"] for row in fates if row["archive"] == "test" and row["source"] == "nft"} == {
        *("loaded", "held", "ignored", "rejected")
    }
    assert all(abs(row["all_ratio"] - 1) < 1e-9 for row in run_query(database, RATIOS))
