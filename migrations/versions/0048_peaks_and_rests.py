"""The busiest ten minutes of each month, and sizes without a known duration: the SQL is in the file of the same name.

Both are found in what is there. Of days whose detail is forgotten, only their ten minutes are known.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    """Make the table and the columns, and fill them."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop them: the days and the facts can fill them again."""
    run(
        "DROP TABLE core.month_peaks;"
        " ALTER TABLE core.day_cells DROP COLUMN rest_size_bins, DROP COLUMN rest_size_counts,"
        " DROP COLUMN rest_saturated_counts, DROP COLUMN rest_size_bytes;"
    )
