"""What viewers may ask: the SQL of the charts that are there, and none of their own.

Superset lets whoever may read a dataset put SQL expressions of his own into a question for data. It runs as
the role that reads mart, so it tells nothing new; but it can call functions, take locks, and keep the server
busy. Whoever may not write charts may use the expressions of the charts that are there, columns, and
Superset's aggregates.
"""

import json
from collections.abc import Iterator
from typing import Any

from freshness import find_last_change
from superset.errors import ErrorLevel, SupersetError, SupersetErrorType
from superset.exceptions import SupersetSecurityException
from superset.security import SupersetSecurityManager

# As in assets/databases/tapewise.yaml.
WAREHOUSE = "f5fb4be1-67e8-5b04-a4cb-19b6a3c94d3f"


class ViewerSecurityManager(SupersetSecurityManager):
    """Superset's, which also looks at what SQL a question for data brings along."""

    def raise_for_access(self, *given: Any, **named: Any) -> None:
        """As Superset's; raises SupersetSecurityException also if a viewer's question brings its own SQL."""
        super().raise_for_access(*given, **named)
        question = named.get("query_context")
        if question is None or self.can_access("can_write", "Chart"):
            return
        brought = {text for query in question.queries for text in find_sql(query)}
        if brought and not brought <= self._find_known():
            raise SupersetSecurityException(
                SupersetError(
                    message="You may use the SQL of the charts that are there, and no other.",
                    error_type=SupersetErrorType.CHART_SECURITY_ACCESS_ERROR,
                    level=ErrorLevel.ERROR,
                )
            )

    def get_rls_cache_key(self, datasource: Any) -> list[str]:
        """As Superset's: what an answer depends on besides its question; here also on the last load."""
        key: list[str] = super().get_rls_cache_key(datasource)
        if str(datasource.database.uuid) == WAREHOUSE:
            key = [*key, find_last_change(datasource.database)]
        return key

    def _find_known(self) -> set[str]:
        """The expressions of all charts, and the names of all columns."""
        from superset import db
        from superset.connectors.sqla.models import TableColumn
        from superset.models.slice import Slice

        known = {plain(name) for (name,) in db.session.query(TableColumn.column_name).distinct()}
        for params, question in db.session.query(Slice.params, Slice.query_context):
            for text in (params, question):
                known |= set(find_expressions(json.loads(text))) if text else set()
        return known


def find_sql(query: Any) -> Iterator[str]:
    """The SQL that one query of a question brings along."""
    asked = [*query.columns, *(query.metrics or []), query.series_limit_metric, *(query.series_columns or [])]
    asked += [each for each, _ in query.orderby or []]
    asked += [each.get("col") for each in query.filter]
    yield from find_expressions([each for each in asked if isinstance(each, dict)])
    yield from find_expressions({name: (query.extras or {}).get(name) for name in ("where", "having")})
    if query.annotation_layers:
        yield "annotations"


def find_expressions(part: Any) -> Iterator[str]:
    """Every SQL expression in what a chart keeps or asks, however deep."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("sqlExpression", "where", "having") and isinstance(value, str):
                if value:
                    yield plain(value)
            else:
                yield from find_expressions(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from find_expressions(value)


def plain(sql: str) -> str:
    """SQL without what Superset's own rewriting changes: blanks, brackets around all, case of words."""
    return "".join(sql.split()).strip("()").lower()
