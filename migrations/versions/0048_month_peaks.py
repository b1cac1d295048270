"""The busiest ten minutes of each month: the SQL is in the file of the same name.

They are found in the days that are there, also in days whose detail was forgotten since they were counted.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    """Make the table and fill it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the days can fill it again."""
    run("DROP TABLE core.month_peaks;")
