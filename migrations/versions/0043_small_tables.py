"""The planner counts tables of a few thousand rows too; the SQL is in the files of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    """Let tables and months from 64 kB on be found stale; the program counts them after an upgrade."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Let only tables of a megabyte be found stale; the statistics stay, which does no harm."""
    run(Path(__file__).with_name("0043_small_tables_back.sql").read_text(encoding="utf-8"))
