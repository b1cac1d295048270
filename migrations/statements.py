"""Runs SQL text unchanged.

SQLAlchemy would read `:word` as a parameter, and psycopg `%` as a placeholder, even in comments;
the driver's own connection, used without parameters, does neither.
"""

from alembic import op


def run(text: str) -> None:
    """Execute the statements in `text` in the migration's transaction."""
    connection = op.get_bind().connection.driver_connection
    assert connection is not None
    connection.execute(text)
