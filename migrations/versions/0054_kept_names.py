"""Kept answers may have names, which not every reader may see."""

from tapewise.migrations.statements import run

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    """Say which answers have names; those that there are have none."""
    run(
        """
        ALTER TABLE studies.kept_answers ADD COLUMN has_names BOOLEAN NOT NULL DEFAULT false;
        ALTER TABLE studies.kept_answers ALTER COLUMN has_names DROP DEFAULT;
        """
    )


def downgrade() -> None:
    """Drop the answers with names, which every reader would see."""
    run(
        """
        DELETE FROM studies.kept_answers WHERE has_names;
        ALTER TABLE studies.kept_answers DROP COLUMN has_names;
        """
    )
