"""Limits viewers to the SQL of existing charts, so that they cannot send their own.

Superset allows all users who may read a dataset to put SQL expressions into their requests for data. These
expressions run as the role that reads mart, so they reveal nothing new, but they can call functions, take
locks, and keep the server busy. Users who may not write charts may only use the expressions and annotations
of existing charts, columns, and Superset's aggregates.
"""

import json
from collections.abc import Iterator
from typing import Any

from freshness import find_state
from superset.errors import ErrorLevel, SupersetError, SupersetErrorType
from superset.exceptions import SupersetSecurityException
from superset.security import SupersetSecurityManager

# As in assets/databases/tapewise.yaml.
WAREHOUSE = "f5fb4be1-67e8-5b04-a4cb-19b6a3c94d3f"


class ViewerSecurityManager(SupersetSecurityManager):
    """Superset's security manager, which also checks the SQL in a request for data."""

    def raise_for_access(self, *given: Any, **named: Any) -> None:
        """Check access as Superset does; also raise an error if a viewer's request contains its own SQL."""
        super().raise_for_access(*given, **named)
        question = named.get("query_context")
        if question is None or self.can_access("can_write", "Chart"):
            return
        brought = {text for query in question.queries for text in find_sql(query)}
        if brought and not brought <= self._find_known():
            raise SupersetSecurityException(
                SupersetError(
                    message="You may only use the SQL of existing charts.",
                    error_type=SupersetErrorType.CHART_SECURITY_ACCESS_ERROR,
                    level=ErrorLevel.ERROR,
                )
            )

    def get_rls_cache_key(self, datasource: Any) -> list[str]:
        """Return what an answer depends on besides its query, as part of its key."""
        key: list[str] = super().get_rls_cache_key(datasource)
        if str(datasource.database.uuid) == WAREHOUSE:
            key = [*key, *find_state(datasource.database)]
        return key

    def _find_known(self) -> set[str]:
        """Return the expressions and annotations of all charts, and the names of all columns."""
        from superset import db
        from superset.connectors.sqla.models import TableColumn
        from superset.models.slice import Slice

        known = {plain(name) for (name,) in db.session.query(TableColumn.column_name).distinct()}
        for params, question in db.session.query(Slice.params, Slice.query_context):
            for text in (params, question):
                if text:
                    content = json.loads(text)
                    known |= set(find_expressions(content))
                    known |= {write_layer(layer) for layer in content.get("annotation_layers", [])}
        return known


def find_sql(query: Any) -> Iterator[str]:
    """Find every SQL expression in one query of a request."""
    asked = [*query.columns, *(query.metrics or []), query.series_limit_metric, *(query.series_columns or [])]
    asked += [each for each, _ in query.orderby or []]
    asked += [each.get("col") for each in query.filter]
    yield from find_expressions([each for each in asked if isinstance(each, dict)])
    yield from find_expressions({name: (query.extras or {}).get(name) for name in ("where", "having")})
    yield from (write_layer(layer) for layer in query.annotation_layers)


def write_layer(layer: dict[str, Any]) -> str:
    """Write what decides which data an annotation reads. It runs the query of a chart."""
    read = [layer.get(name) for name in ("sourceType", "value", "overrides")]
    return f"annotation {json.dumps(read, sort_keys=True)}"


def find_expressions(part: Any) -> Iterator[str]:
    """Find every SQL expression in a chart's parameters or query, at any depth."""
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
    """Remove what Superset changes when it rewrites SQL: blanks, enclosing brackets and letter case."""
    return "".join(sql.split()).strip("()").lower()
