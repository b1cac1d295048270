"""The compute power that an archive serves: the SQL is in the files of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0049"
down_revision = "0047"


def upgrade() -> None:
    """Add the table, and keep an archive that has rows in it when its only source turns out to be unused."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the table. What people recorded in it is lost."""
    run(Path(__file__).with_name("0049_compute_powers_back.sql").read_text(encoding="utf-8"))
