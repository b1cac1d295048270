"""Records, ten minutes, and durations by size, for charts: the SQL is in the files of the same name.

The new columns and cells are filled from the facts that are there. Days whose detail was forgotten have none.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Add the columns and the table, and fill them."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop them: the facts can fill them again, except for days whose detail was forgotten since."""
    run(Path(__file__).with_name("0024_size_cells_back.sql").read_text(encoding="utf-8"))
