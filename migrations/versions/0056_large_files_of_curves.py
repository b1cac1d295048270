"""Kept miss-ratio curves say how many gets are for files that a disk never keeps, or that a run leaves out."""

from tapewise.migrations.statements import run

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    """Add the counts; for the curves that there are, they are not known."""
    run(
        """
        ALTER TABLE studies.study_curves
            ADD COLUMN too_large_count BIGINT,
            ADD COLUMN left_out_get_count BIGINT;
        """
    )


def downgrade() -> None:
    """Drop the counts."""
    run(
        """
        ALTER TABLE studies.study_curves
            DROP COLUMN too_large_count,
            DROP COLUMN left_out_get_count;
        """
    )
