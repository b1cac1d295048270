"""The migrations (Alembic): only they change tables, types and grants. Published revisions never change."""
