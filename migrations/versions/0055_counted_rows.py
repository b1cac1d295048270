"""Statistics are also stale if new rows took the place of deleted ones; the SQL is in the files of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0055"
down_revision = "0054"


def upgrade() -> None:
    """Let months be found stale by the number of their rows, as well as by their size."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Let months be found stale by their size alone."""
    run(Path(__file__).with_name("0055_counted_rows_back.sql").read_text(encoding="utf-8"))
