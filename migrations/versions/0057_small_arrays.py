"""Arrays of cells take less space: bins of 15 bits, counts of 32, compressed within their rows.

The SQL is in the files of the same name.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0057"
down_revision = "0056"


def upgrade() -> None:
    """Number bins from 2^-256, and store all arrays of cells again."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Number bins by their bits again."""
    run(Path(__file__).with_name("0057_small_arrays_back.sql").read_text(encoding="utf-8"))
