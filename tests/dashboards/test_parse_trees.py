"""Superset parses a text once, and what one of its checks changes does not reach the next."""

import subprocess

from tapewise.dashboards.service import FOLDER, PROGRAMS

# Runs in Superset's environment.
PROGRAM = """\
from unittest.mock import patch

import sqlglot
from parse_trees import keep_parse_trees
from superset.exceptions import SupersetParseError
from superset.sql.parse import SQLScript, SQLStatement

TEXT = "SELECT a, count(*) FROM mart.archives AS b WHERE c = 'd' -- e\\nGROUP BY 1"
before = SQLScript(TEXT, "postgresql").format()
keep_parse_trees()
with patch.object(sqlglot, "parse", wraps=sqlglot.parse) as parse:
    assert SQLScript(TEXT, "postgresql").format() == before
    first = SQLStatement(TEXT, "postgresql")
    first.set_limit_value(7)
    assert first.get_limit_value() == 7
    second = SQLScript(TEXT, "postgresql").statements[0]
    assert second.get_limit_value() is None
    assert {str(table) for table in second.tables} == {"mart.archives"}
    assert parse.call_count == 1
    # The same text means something else to another database, so it is parsed again.
    SQLStatement(TEXT, "mysql")
    assert parse.call_count == 2
    assert SQLScript("SELECT 1; DELETE FROM a", "postgresql").has_mutation()
    for _ in range(2):
        try:
            SQLScript("SELECT (", "postgresql")
        except SupersetParseError:
            continue
        raise AssertionError("a text that cannot be parsed was accepted")
print("done")
"""


def test_a_text_is_parsed_once() -> None:
    python = [PROGRAMS / "python", "-c", PROGRAM]
    done = subprocess.run(python, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]
