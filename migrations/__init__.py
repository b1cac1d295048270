"""The only thing that changes tables, types and grants (Alembic); published revisions never change."""
