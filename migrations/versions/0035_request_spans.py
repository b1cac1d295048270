"""Requests counted also by local month and year: its SQL is in the file of the same name.

Months and years are made of the days that are there, also of those whose detail was forgotten.
"""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Make the table again with spans, and add up months and years."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Make the table again without spans, of the days, so nothing is lost."""
    run(Path(__file__).with_name("0035_request_spans_back.sql").read_text(encoding="utf-8"))
