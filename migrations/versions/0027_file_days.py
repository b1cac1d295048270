"""Files counted by local day: the tables, which `tapewise refresh` fills."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Make the tables."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the tables: a recount fills them again, except for days whose detail was forgotten since."""
    run("DROP TABLE studies.file_days, studies.file_recounts;")
