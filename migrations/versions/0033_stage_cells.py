"""Stages counted by route, duration and local day, month and year: its SQL is in the file of the same name.

The cells are filled from the facts that are there. Days whose detail was forgotten before have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    """Make the table and fill it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the facts can fill it again, except for days whose detail was forgotten since."""
    run("DROP TABLE core.stage_cells;")
