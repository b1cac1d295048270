"""Keeps how queries are parsed, which Superset asks about ten times for each chart.

To answer a chart, also from its cache, Superset parses the SQL of the chart's dataset again for each check
and for each annotation: a third of its CPU time for a page. Runs in Superset's environment.
"""

import pickle
from functools import lru_cache

from sqlglot.expressions import Expression
from superset.sql.parse import SQLStatement

# A kept text takes 15 to 50 kB.
KEPT_TEXT_COUNT = 1000


def keep_parse_trees() -> None:
    """Let `SQLStatement` parse a text only once. A caller may change what it gets, so each gets its own."""
    parse = SQLStatement._parse

    @lru_cache(KEPT_TEXT_COUNT)
    def parse_once(script: str, engine: str) -> bytes:
        return pickle.dumps(parse(script, engine), pickle.HIGHEST_PROTOCOL)

    def read_kept(_: type[SQLStatement], script: str, engine: str) -> list[Expression]:
        kept = parse_once(script, engine)
        statements: list[Expression] = pickle.loads(kept)  # noqa: S301 - made in this process
        return statements

    SQLStatement._parse = classmethod(read_kept)
