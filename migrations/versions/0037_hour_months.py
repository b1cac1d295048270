"""Hours of the week by route and local month: its SQL is in the file of the same name.

The months are sums of the days that are there, also of days whose detail was forgotten since they were counted.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    """Make the table and fill it."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table: the days can fill it again."""
    run("DROP TABLE core.hour_months;")
