"""Prepared answers about envelopes and residuals: its SQL is in the file of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0026"
down_revision = "0023"


def upgrade() -> None:
    """Make the tables; `tapewise refresh` fills them."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the tables: the facts can fill them again."""
    run("DROP TABLE studies.prepared_blocks, studies.prepared_envelopes, studies.envelope_preparations;")
