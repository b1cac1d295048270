"""Requests counted also by local month and year: its SQL is in the file of the same name.

Months and years are made of the days that are there, also of those whose detail was forgotten.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0037"
down_revision = "0033"


def upgrade() -> None:
    """Name the span of each cell, and add up months and years."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Keep only the cells of days."""
    run(
        "DELETE FROM core.request_cells WHERE span <> 'day';"
        " ALTER TABLE core.request_cells DROP CONSTRAINT request_cells_pkey;"
        " ALTER TABLE core.request_cells DROP COLUMN span;"
        " ALTER TABLE core.request_cells RENAME COLUMN starts_on TO day;"
        " ALTER TABLE core.request_cells ADD CONSTRAINT request_cells_pkey PRIMARY KEY (route_id, day);"
        " COMMENT ON TABLE core.request_cells IS"
        " 'One row per route and local day of its archive with requests; derived';"
    )
