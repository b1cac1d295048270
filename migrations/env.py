"""Alembic's entry point: runs the revisions on the caller's connection and in its transaction."""

from alembic import context

VERSION_TABLE = "revisions"
VERSION_SCHEMA = "ledger"

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("Run `tapewise db upgrade`: it gives Alembic its connection.")

context.configure(
    connection=connection,
    target_metadata=None,
    version_table=VERSION_TABLE,
    version_table_schema=VERSION_SCHEMA,
)
with context.begin_transaction():
    context.run_migrations()
