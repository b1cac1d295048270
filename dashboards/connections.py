"""Keeps connections to the warehouse, and what depends on the connection only.

Superset opens a connection for each query, each look at the state of the warehouse and each at the default
schema. In each, the server reads its catalogue and `mart`'s functions again, which takes more CPU time than
most of the pages' queries. Runs in Superset's environment.
"""

import threading
from typing import Any

from sqlalchemy.engine import Engine

# A kept connection is tried before it is used, because the server may have been restarted. Limits of a role
# apply to new connections, so none is kept for ever.
POOL = {"pool_pre_ping": True, "pool_size": 5, "max_overflow": 20, "pool_recycle": 600}


def set_pool(url: Any, parameters: dict[str, Any], *_: Any) -> tuple[Any, dict[str, Any]]:
    """Add the settings of the pool to an engine's parameters if it has one; for DB_CONNECTION_MUTATOR."""
    return url, parameters if "poolclass" in parameters else parameters | POOL


def keep_connections() -> None:
    """Let Superset use an engine, its connections and its default schema again.

    What a query sets in its session is rolled back when the connection is returned. SQL Lab commits, so its
    queries have connections of their own, as before.
    """
    from superset.models.core import Database
    from superset.utils.core import QuerySource

    make_engine, find_schema = Database._get_sqla_engine, Database.get_default_schema
    lock = threading.Lock()
    engines: dict[tuple[Any, ...], Engine] = {}
    schemas: dict[tuple[Any, ...], str | None] = {}

    def get_engine(
        self: Any,
        catalog: str | None = None,
        schema: str | None = None,
        nullpool: bool = True,
        source: Any = None,
        sqlalchemy_uri: str | None = None,
    ) -> Engine:
        if source == QuerySource.SQL_LAB:
            own: Engine = make_engine(self, catalog, schema, nullpool, source, sqlalchemy_uri)
            return own
        # The schema is set with each connection. So there is one pool, and a login's limit of ten suffices.
        if catalog == self.url_object.database:
            catalog = None
        key = (sqlalchemy_uri or self.sqlalchemy_uri_decrypted, self.extra, catalog)
        with lock:
            if key not in engines:
                engines[key] = make_engine(self, catalog, None, False, source, sqlalchemy_uri)
            return engines[key]

    def get_default_schema(self: Any, catalog: str | None) -> str | None:
        key = (self.sqlalchemy_uri_decrypted, self.extra, catalog)
        if key not in schemas:
            schemas[key] = find_schema(self, catalog)
        return schemas[key]

    Database._get_sqla_engine, Database.get_default_schema = get_engine, get_default_schema
