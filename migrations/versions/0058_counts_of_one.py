"""Counts of 1 are left out of three tables of cells, in which most counts are 1.

The SQL is in the files of the same name.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    """Put what is counted once last, and end the counts before it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Store all counts again, in the order of what is counted."""
    run(Path(__file__).with_name("0058_counts_of_one_back.sql").read_text(encoding="utf-8"))
