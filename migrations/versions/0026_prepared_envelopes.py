"""Prepared answers about envelopes and residuals, and an index: its SQL is in the file of the same name."""

from pathlib import Path

from tapewise.migrations.statements import run

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Make the tables, which `tapewise refresh` fills, and the index."""
    run(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the tables, which the facts can fill again, and make the index as it was."""
    run("""
        DROP TABLE studies.prepared_blocks, studies.prepared_envelopes, studies.envelope_preparations;
        DROP INDEX core.transfers_brin;
        CREATE INDEX transfers_brin ON core.transfers
        USING brin (ended_at, id, log_file_id) WITH (pages_per_range = 32);
    """)
