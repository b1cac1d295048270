"""Transfers counted by route and local day, for charts: its SQL is in the file of the same name.

The cells are filled from the facts that are there. Days whose detail was forgotten before have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Make the tables and fill them."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the tables: the facts can fill them again, except for days whose detail was forgotten since."""
    run("DROP TABLE core.day_cells, core.routes;")
